#pragma once
// The sum over points in float64, in the plainest form. Includes nothing of the library.
#include <algorithm>
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
  bool falloff = false;          ///< amplitudes A / r
};

/// 1 up to `begin`, 0 from `end` on, between them cos^2(pi / 2 s(t)), s(t) = 10 t^3 - 15 t^4 + 6 t^5.
inline double soft_edge(double value, double begin, double end) {
  constexpr double pi = 3.14159265358979323846;
  if (value >= end) return 0;
  const double t = std::max(0.0, (value - begin) / (end - begin));
  const double s = 10 * std::pow(t, 3) - 15 * std::pow(t, 4) + 6 * std::pow(t, 5);
  return std::pow(std::cos(pi / 2 * s), 2);
}

/// Band limit b of the exact wave for direction cosines; 1 without one.
inline double light_of_direction(const PointPanel& panel, double sx, double sy) {
  if (!panel.band_limit) return 1;
  const double s1 = (panel.cone_wavelength_m > 0 ? panel.cone_wavelength_m : panel.wavelength_m) / (2 * panel.pitch_m);
  return soft_edge(std::abs(sx), 0.95 * s1, s1) * soft_edge(std::abs(sy), 0.95 * s1, s1) *
         soft_edge(std::hypot(sx, sy), 0.93, 0.98);
}

/// U at pixel (row, col); row 0 is the top.
///   fresnel    sum A exp(i (phi + pi ((x - xj)^2 + (y - yj)^2) / (lambda d))),  d = -z
///   spherical  sum A b exp(i (phi + sign(d) k (r - |d|))), b at the direction (x - xj, y - yj) / r;
///              with falloff divided by r
/// With a band limit, Fresnel's only over the points with |x - xj| and |y - yj| <= lambda |d| / (2 pitch), lambda the
/// cone's.
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
    if (panel.band_limit && !panel.spherical && (std::abs(dx) > reach || std::abs(dy) > reach)) continue;
    double phase = points.phase_rad.empty() ? 0.0 : static_cast<double>(points.phase_rad[j]);
    double amplitude = static_cast<double>(points.amplitude[j]);
    if (panel.spherical) {
      const double r = std::sqrt(dx * dx + dy * dy + d * d);
      amplitude *= light_of_direction(panel, dx / r, dy / r) / (panel.falloff ? r : 1);
      phase += (d > 0 ? 1 : -1) * 2 * pi / panel.wavelength_m * (r - std::abs(d));
    } else {
      phase += pi * (dx * dx + dy * dy) / (panel.wavelength_m * d);
    }
    sum += amplitude * std::complex<double>(std::cos(phase), std::sin(phase));
  }
  return sum;
}

/// The definition of the band-limited exact wave: its plane waves, sum_j A_j exp(i phi_j) b(lambda f)
/// i d / (lambda K^2) (1 + i / (2 pi K d)) exp 2 pi i (-fx xj - fy yj + d (K - 1 / lambda)), K^2 = 1 / lambda^2 - f^2,
/// and i sign(d) / K in place of the second line's factors with falloff (Weyl 1919), on a grid of `period` by `period`
/// frequencies m / (period pitch).
class PointSpectrum {
 public:
  PointSpectrum(const PointWaves& points, const PointPanel& panel, std::int64_t period)
      : panel_(panel), period_(period), value_(static_cast<std::size_t>(period * period)) {
    constexpr double pi = 3.14159265358979323846;
    const double step = 1 / (static_cast<double>(period) * panel.pitch_m);
#pragma omp parallel for
    for (std::int64_t i = 0; i < period * period; ++i) {
      const double fy = static_cast<double>(i / period - period / 2) * step;
      const double fx = static_cast<double>(i % period - period / 2) * step;
      const double b = light_of_direction(panel, panel.wavelength_m * fx, panel.wavelength_m * fy);
      if (b == 0) continue;
      const double k = std::sqrt(1 / (panel.wavelength_m * panel.wavelength_m) - fx * fx - fy * fy);
      for (std::size_t j = 0; j < points.position_m.size(); ++j) {
        const double d = -static_cast<double>(points.position_m[j][2]);
        const double phase = (points.phase_rad.empty() ? 0.0 : static_cast<double>(points.phase_rad[j])) +
                             2 * pi *
                                 (-fx * static_cast<double>(points.position_m[j][0]) -
                                  fy * static_cast<double>(points.position_m[j][1]) + d * (k - 1 / panel.wavelength_m));
        const std::complex<double> weight =
            panel.falloff ? std::complex<double>(0, (d > 0 ? 1 : -1) / k)
                          : std::complex<double>(-1 / (2 * pi * k), d) / (panel.wavelength_m * k * k);
        value_[static_cast<std::size_t>(i)] +=
            b * static_cast<double>(points.amplitude[j]) * weight * std::polar(1.0, phase);
      }
    }
  }

  /// U at pixel (row, col): the sum of the plane waves.
  [[nodiscard]] std::complex<double> pixel(std::int64_t row, std::int64_t col) const {
    const double y = static_cast<double>(panel_.ny - 1) / 2 - static_cast<double>(row);
    const double x = static_cast<double>(col) - static_cast<double>(panel_.nx - 1) / 2;
    std::vector<std::complex<double>> along_x;
    for (std::int64_t m = 0; m < period_; ++m) along_x.push_back(wave(x, m));
    std::complex<double> sum = 0;
    for (std::int64_t i = 0; i < period_; ++i) {
      const std::complex<double>* line = value_.data() + i * period_;
      double re = 0;
      double im = 0;
      for (std::int64_t m = 0; m < period_; ++m) {
        const auto& a = line[m];
        const auto& b = along_x[static_cast<std::size_t>(m)];
        re += a.real() * b.real() - a.imag() * b.imag();
        im += a.real() * b.imag() + a.imag() * b.real();
      }
      sum += std::complex<double>(re, im) * wave(y, i);
    }
    const double side = static_cast<double>(period_) * panel_.pitch_m;
    return sum / (side * side);
  }

 private:
  [[nodiscard]] std::complex<double> wave(double place, std::int64_t m) const {
    constexpr double pi = 3.14159265358979323846;
    return std::polar(1.0, 2 * pi * place * static_cast<double>(m - period_ / 2) / static_cast<double>(period_));
  }

  PointPanel panel_;
  std::int64_t period_;
  std::vector<std::complex<double>> value_;
};

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
