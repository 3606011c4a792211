#pragma once
// The field near the back focal plane of a lens in float64, as the sum is written. Includes nothing of the library.
#include <complex>
#include <cstdint>
#include <vector>

namespace reference {

struct Lens {
  std::int64_t ny = 0;
  std::int64_t nx = 0;
  double pitch_m = 0;
  double wavelength_m = 0;
  double focal_length_m = 0;
};

/// Field {ny, nx} of a panel's field, on pixels shifted by parts of a pixel; O((nx ny)^2).
inline std::vector<std::complex<double>> focal_field(const std::vector<std::complex<double>>& field, const Lens& lens,
                                                     double defocus_m, double down, double right) {
  constexpr double pi = 3.14159265358979323846;
  const double lambda_f = lens.wavelength_m * lens.focal_length_m;
  const double rows = static_cast<double>(lens.ny);
  const double columns = static_cast<double>(lens.nx);
  const auto middle = [](double i, double count) { return i - (count - 1) / 2; };
  std::vector<std::complex<double>> picture(field.size());
  for (std::int64_t row = 0; row < lens.ny; ++row) {
    for (std::int64_t column = 0; column < lens.nx; ++column) {
      const double down_m = (middle(static_cast<double>(row), rows) + down) * lambda_f / (rows * lens.pitch_m);
      const double right_m =
          (middle(static_cast<double>(column), columns) + right) * lambda_f / (columns * lens.pitch_m);
      std::complex<double> sum = 0;
      for (std::int64_t j = 0; j < lens.ny; ++j) {
        for (std::int64_t i = 0; i < lens.nx; ++i) {
          const double y = middle(static_cast<double>(j), rows) * lens.pitch_m;
          const double x = middle(static_cast<double>(i), columns) * lens.pitch_m;
          const double phase = -2 * pi * (x * right_m + y * down_m) / lambda_f -
                               pi * defocus_m * (x * x + y * y) / (lambda_f * lens.focal_length_m);
          sum += field[static_cast<std::size_t>(j * lens.nx + i)] * std::polar(1.0, phase);
        }
      }
      picture[static_cast<std::size_t>(row * lens.nx + column)] = sum / std::sqrt(rows * columns);
    }
  }
  return picture;
}

}  // namespace reference
