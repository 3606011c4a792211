#pragma once
// A hogel in float64 as a plain sum of waves. Includes nothing of the library.
#include <cmath>
#include <complex>
#include <cstdint>
#include <vector>

namespace reference {

/// A wave of a hogel: exp(i phase) at its top left pixel's centre, a direction, and a curvature about the hogel's
/// centre.
struct HogelWave {
  double amplitude = 0;
  double phase_rad = 0;
  double cosine_x = 0;
  double cosine_y = 0;   ///< upwards
  double curvature = 0;  ///< 1 / m
};

/// 1/N sum of waves at a pixel of N x N, row 0 at the top.
///   A exp(i (phase + k (cx (x - x0) + cy (y - y0)) + k c (x^2 + y^2) / 2)),  k = 2 pi / lambda
inline std::complex<double> hogel_pixel(const std::vector<HogelWave>& waves, std::int64_t n, double pitch_m,
                                        double wavelength_m, std::int64_t row, std::int64_t column) {
  const double k = 2 * 3.14159265358979323846 / wavelength_m;
  const double edge = 0.5 * static_cast<double>(n - 1) * pitch_m;
  const double x = static_cast<double>(column) * pitch_m - edge;
  const double y = edge - static_cast<double>(row) * pitch_m;
  std::complex<double> sum = 0;
  for (const auto& wave : waves) {
    sum += std::polar(wave.amplitude, wave.phase_rad + k * (wave.cosine_x * (x + edge) + wave.cosine_y * (y - edge)) +
                                          0.5 * k * wave.curvature * (x * x + y * y));
  }
  return sum / static_cast<double>(n);
}

/// All pixels of a hogel.
inline std::vector<std::complex<double>> hogel_field(const std::vector<HogelWave>& waves, std::int64_t n,
                                                     double pitch_m, double wavelength_m) {
  std::vector<std::complex<double>> field;
  for (std::int64_t i = 0; i < n * n; ++i) field.push_back(hogel_pixel(waves, n, pitch_m, wavelength_m, i / n, i % n));
  return field;
}

/// Curvatures on the panel of a spherical wave from a point at depth d, along and across the plane of the ray and the
/// axis.
struct TwoCurvatures {
  double along = 0;
  double across = 0;
};
inline TwoCurvatures curvatures_of(double cosine_x, double cosine_y, double distance_m) {
  // Path length from the point to (s, t) on the panel, s along the ray's tilt: r = sqrt((a + s)^2 + t^2 + d^2).
  const double sine2 = cosine_x * cosine_x + cosine_y * cosine_y;
  const double cosine = std::sqrt(1 - sine2);
  const double length = distance_m / cosine;
  return {(1 - sine2) / length, 1 / length};
}

}  // namespace reference
