#pragma once
#include <array>
#include <complex>
#include <cstdint>
#include <holotone/core/array.hpp>
#include <string_view>

namespace holotone {

using Complex = std::complex<float>;

/// Range of wavelengths, extreme ultraviolet to terahertz, and of pitches. Others are taken for a wrong unit.
inline constexpr double min_wavelength_m = 10e-9;
inline constexpr double max_wavelength_m = 1e-3;
inline constexpr double min_pitch_m = 1e-9;
inline constexpr double max_pitch_m = 1;

/// Sampling grid of a complex field. Pixel (row, col) has its centre at x = (col - (nx-1)/2) pitch, y = ((ny-1)/2 -
/// row) pitch; row 0 is the top. Phasor exp(-i omega t): a diverging wave is exp(+ikr)/r.
struct FieldGrid {
  std::int64_t nx = 0;
  std::int64_t ny = 0;
  double pitch_m = 0;
  double wavelength_m = 0;
  [[nodiscard]] Shape<2> shape() const { return {ny, nx}; }
};

/// A sampled complex field {ny, nx} and its grid.
struct Field {
  Array<Complex, 2> values;
  FieldGrid grid;
};

/// Largest number of pixels along one side of a field: a metre of 1 um.
inline constexpr std::int64_t largest_grid_side = 1 << 20;
/// Largest number of samples along one side of a picture, of a chart, and of the window that an eye's light passes.
inline constexpr std::int64_t largest_picture_side = 65536;

/// Throws invalid_argument unless pitch and wavelength are in their ranges.
void require_units(std::string_view where, double pitch_m, double wavelength_m);

/// Throws invalid_argument unless 1 <= nx, ny <= largest_grid_side and pitch_m and wavelength_m are in their ranges.
void require_grid(std::string_view where, const FieldGrid& grid);

}  // namespace holotone
