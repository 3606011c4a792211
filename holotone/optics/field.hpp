#pragma once
#include <array>
#include <complex>
#include <cstdint>
#include <holotone/core/array.hpp>
#include <string_view>

namespace holotone {

using Complex = std::complex<float>;

/// Wavelengths that belong to some source of waves a panel could show: extreme ultraviolet to terahertz. The program and
/// its files keep to this range; plans take any wavelength > 0.
inline constexpr double least_wavelength_m = 10e-9;
inline constexpr double most_wavelength_m = 1e-3;

/// Where a sampled complex field lives: pixel (row, col) has its centre at x = (col - (nx-1)/2) pitch,
/// y = ((ny-1)/2 - row) pitch; row 0 is the top. Phasor exp(-i omega t): a diverging wave is exp(+ikr)/r.
struct FieldGrid {
  std::int64_t nx = 0;
  std::int64_t ny = 0;
  double pitch_m = 0;
  double wavelength_m = 0;
  [[nodiscard]] Shape<2> shape() const { return {ny, nx}; }
};

/// A sampled complex field {ny, nx} and where it lives.
struct Field {
  Array<Complex, 2> values;
  FieldGrid grid;
};

/// The most pixels along one side of a field.
inline constexpr std::int64_t largest_grid_side = 65536;

/// Throws invalid_argument unless 1 <= nx, ny <= largest_grid_side and pitch_m and wavelength_m are finite and > 0.
void require_grid(std::string_view where, const FieldGrid& grid);

}  // namespace holotone
