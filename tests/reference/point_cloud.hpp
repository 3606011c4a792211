#pragma once
// The sum over points in float64, in the plainest form. Includes nothing of the library.
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace reference {

struct PointWaves {
  std::vector<std::array<float, 3>> position_m;  ///< x right, y up, z toward the viewer; panel at z = 0
  std::vector<float> amplitude;
  std::vector<float> phase_rad;  ///< one per point, or empty
};

struct PointPanel {
  double wavelength_m;
  double pitch_m;
  std::int64_t ny;
  std::int64_t nx;
  bool band_limit;
  bool spherical;
  double cone_wavelength_m = 0;  ///< of the band limit; 0: wavelength_m
};

/// U at pixel (row, col); row 0 is the top.
///   fresnel    sum A exp(i (phi + pi ((x - xj)^2 + (y - yj)^2) / (lambda d))),  d = -z
///   spherical  sum A exp(i (phi + sign(d) k (r - |d|)))
/// With a band limit, only over the points with |x - xj| and |y - yj| <= lambda |d| / (2 pitch), lambda the cone's.
inline std::complex<double> point_cloud_pixel(const PointWaves& points, const PointPanel& panel, std::int64_t row,
                                              std::int64_t col) {
  constexpr double pi = 3.14159265358979323846;
  const double x = (static_cast<double>(col) - static_cast<double>(panel.nx - 1) / 2) * panel.pitch_m;
  const double y = (static_cast<double>(panel.ny - 1) / 2 - static_cast<double>(row)) * panel.pitch_m;
  std::complex<double> sum = 0;
  for (std::size_t j = 0; j < points.position_m.size(); ++j) {
    const double dx = x - static_cast<double>(points.position_m[j][0]);
    const double dy = y - static_cast<double>(points.position_m[j][1]);
    const double d = -static_cast<double>(points.position_m[j][2]);
    const double reach = (panel.cone_wavelength_m > 0 ? panel.cone_wavelength_m : panel.wavelength_m) * std::abs(d) /
                         (2 * panel.pitch_m);
    if (panel.band_limit && (std::abs(dx) > reach || std::abs(dy) > reach)) continue;
    double phase = points.phase_rad.empty() ? 0.0 : static_cast<double>(points.phase_rad[j]);
    if (panel.spherical) {
      const double r = std::sqrt(dx * dx + dy * dy + d * d);
      phase += (d > 0 ? 1 : -1) * 2 * pi / panel.wavelength_m * (r - std::abs(d));
    } else {
      phase += pi * (dx * dx + dy * dy) / (panel.wavelength_m * d);
    }
    sum += static_cast<double>(points.amplitude[j]) * std::complex<double>(std::cos(phase), std::sin(phase));
  }
  return sum;
}

/// The adjoint for each point: the sum over pixels of the field and the conjugate wave of amplitude 1 and phase 0.
inline std::vector<std::complex<double>> point_cloud_adjoint(const PointWaves& points, const PointPanel& panel,
                                                             const std::vector<std::complex<double>>& field) {
  std::vector<std::complex<double>> values(points.position_m.size());
#pragma omp parallel for
  for (std::size_t j = 0; j < values.size(); ++j) {
    const PointWaves one{{points.position_m[j]}, {1}, {}};
    for (std::int64_t i = 0; i < panel.ny * panel.nx; ++i) {
      values[j] +=
          std::conj(point_cloud_pixel(one, panel, i / panel.nx, i % panel.nx)) * field[static_cast<std::size_t>(i)];
    }
  }
  return values;
}

/// Every pixel, row-major.
inline std::vector<std::complex<double>> point_cloud_field(const PointWaves& points, const PointPanel& panel) {
  std::vector<std::complex<double>> field(static_cast<std::size_t>(panel.ny * panel.nx));
#pragma omp parallel for
  for (std::int64_t i = 0; i < panel.ny * panel.nx; ++i) {
    field[static_cast<std::size_t>(i)] = point_cloud_pixel(points, panel, i / panel.nx, i % panel.nx);
  }
  return field;
}

}  // namespace reference
