#pragma once
// Encodings in float64, in the papers' form. Includes nothing of the library.
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace reference {

constexpr double pi64 = 3.14159265358979323846;

/// arg(u) / 2 pi in [0, 1); 0 for zero of either sign.
inline double turns(std::complex<double> u) {
  if (u == 0.0) return 0;
  const double t = std::arg(u) / (2 * pi64);
  return t < 0 ? t + 1 : t;
}

/// Distance of two phases on the circle, in turns: 0 to 1/2.
inline double circle_distance(double a, double b) {
  const double d = std::abs(a - b - std::floor(a - b));
  return std::min(d, 1 - d);
}

/// Phases in turns of the codes of a stroke of `range_turns` in 2^bits equal steps, below one turn.
inline std::vector<double> equal_levels(int bits, double range_turns) {
  std::vector<double> levels;
  const double count = std::ldexp(1.0, bits);
  for (double l = 0; l < count && l * range_turns / count < 1 - 1e-12; ++l) levels.push_back(l * range_turns / count);
  return levels;
}

/// Distance on the circle to the nearest level; ignores NaN entries.
inline double nearest_distance(double t, const std::vector<double>& level_turns) {
  double best = std::numeric_limits<double>::infinity();
  for (double level : level_turns) {
    if (!std::isnan(level)) best = std::min(best, circle_distance(t, level));
  }
  return best;
}

/// Plane wave exp(2 pi i (x sin ax + y sin ay) / lambda) in turns at pixel (row, column).
inline double plane_wave_turns(std::int64_t row, std::int64_t column, std::int64_t ny, std::int64_t nx, double pitch,
                               double wavelength, double angle_x, double angle_y) {
  const double x = (static_cast<double>(column) - static_cast<double>(nx - 1) / 2) * pitch;
  const double y = (static_cast<double>(ny - 1) / 2 - static_cast<double>(row)) * pitch;
  const double t = (x * std::sin(angle_x) + y * std::sin(angle_y)) / wavelength;
  return t - std::floor(t);
}

/// Hsueh and Sawchuk 1978: the phase in turns of a square of the checkerboard, + on even squares.
inline double double_phase_turns(std::complex<double> u, double peak, bool odd) {
  const double half = std::acos(std::min(1.0, std::abs(u) / peak)) / (2 * pi64);
  const double t = turns(u) + (odd ? -half : half);
  return t - std::floor(t);
}

/// Burckhardt 1970: u as non-negative multiples of the two directions 1, exp(-2 pi i/3), exp(-4 pi i/3) that enclose
/// it (the third multiple is zero), by the law of sines.
inline std::array<double, 3> burckhardt(std::complex<double> u) {
  std::array<double, 3> amplitude{};
  double t = turns(std::conj(u)) * 3;  // measured along the directions, in sectors
  const auto sector = static_cast<std::size_t>(std::min(2.0, std::floor(t)));
  t -= static_cast<double>(sector);
  const double angle = t * 2 * pi64 / 3;
  amplitude[sector] = std::abs(u) * std::sin(2 * pi64 / 3 - angle) / std::sin(2 * pi64 / 3);
  amplitude[(sector + 1) % 3] = std::abs(u) * std::sin(angle) / std::sin(2 * pi64 / 3);
  return amplitude;
}

/// (v - low) / (high - low) (2^bits - 1), clamped, not rounded.
inline double amplitude_level(double v, double low, double high, int bits) {
  const double top = std::ldexp(1.0, bits) - 1;
  return std::clamp((v - low) / (high - low) * top, 0.0, top);
}

}  // namespace reference
