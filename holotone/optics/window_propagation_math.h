#pragma once
// Formulas of the propagation from window to window shared by the CPU loops and the CUDA kernels. Not for users.
#include <cmath>
#include <cstdint>
#include <holotone/optics/phase_math.h>

namespace holotone::window {

/// A soft edge of where light is to fall, in units of the blur sqrt(lambda r^3 / d^2): half of an edge this far out ...
inline constexpr double edge_middle = 2.75;
/// ... and nothing this much further. The edge is the integral of a Gaussian of variance 1 / (2 pi), which diffraction
/// widens least: its trace at the window is exp(-pi edge_middle^2 / 2), 7e-6.
inline constexpr double edge_tail = 1.75;
/// What lands up to here beyond the window must not come back into it from the other side.
inline constexpr double clear_of = 2 * edge_middle;

/// How much of light counts that lands `beyond` blurs outside the window (negative: inside).
HOLOTONE_HOST_DEVICE inline double edge(double beyond) {
  const double sqrt_pi = 1.7724538509055160;
  return 0.5 * std::erfc(sqrt_pi * (beyond - edge_middle));
}

/// One axis (0: down, 1: right) of a tile's way to the window. Bin i is the frequency step (first + i).
struct TileAxis {
  std::int64_t count = 0;   ///< samples of the tile
  std::int64_t bins = 0;    ///< frequencies wanted of it
  std::int64_t first = 0;   ///< the first of them
  std::int64_t period = 0;  ///< bins of the window's spectrum: bin k lies at k mod period
  double rate = 0;          ///< pitch step / 2
  double step = 0;          ///< between frequencies, 1/m
  double shift = 0;         ///< from the tile's first sample to the window's, m
  double between = 0;       ///< from the tile's middle to the window's, m
  double half = 0;          ///< half the width of both, m
};

struct TileWay {
  TileAxis axis[2];
  double inverse_wavelength_squared = 0;
  double distance_m = 0;
  double blur_m = 0;
  float gain = 0;
};

/// sum_n u_n exp(-2 pi i a n (first + i)), a = 2 rate, by n i = (n^2 + i^2 - (i - n)^2) / 2: turns that sample n is multiplied
/// with, those of the kernel at j = i - n, and those of bin i afterwards.
HOLOTONE_HOST_DEVICE inline double input_turns(const TileAxis& axis, std::int64_t n) {
  const auto m = static_cast<double>(n);
  return -axis.rate * m * (m + 2 * static_cast<double>(axis.first));
}
HOLOTONE_HOST_DEVICE inline double kernel_turns(double rate, std::int64_t j) {
  const auto m = static_cast<double>(j);
  return rate * m * m;
}
HOLOTONE_HOST_DEVICE inline double output_turns(const TileAxis& axis, std::int64_t i) {
  const auto m = static_cast<double>(i);
  return -axis.rate * m * m;
}

HOLOTONE_HOST_DEVICE inline double frequency(const TileAxis& axis, std::int64_t i) {
  return axis.step * static_cast<double>(axis.first + i);
}

/// Where bin i lies in the window's spectrum.
HOLOTONE_HOST_DEVICE inline std::int64_t place(const TileAxis& axis, std::int64_t i) {
  const std::int64_t rest = (axis.first + i) % axis.period;
  return rest < 0 ? rest + axis.period : rest;
}

/// How far outside the window light of direction cosine ratio f / w lands along an axis, in blurs.
HOLOTONE_HOST_DEVICE inline double beyond(const TileWay& way, const TileAxis& axis, double f_over_w) {
  const double miss = way.distance_m * f_over_w - axis.between;
  return ((miss < 0 ? -miss : miss) - axis.half) / way.blur_m;
}

/// A pupil on the first samples of a window: they share its width and height equally.
struct Mask {
  std::int64_t count[2] = {0, 0};
  bool ellipse = false;
};

/// The part of a sample that lies within the pupil. The ellipse g = u^2 + v^2 = 1 is (1 - g) / |grad g| samples away.
HOLOTONE_HOST_DEVICE inline float mask_value(const Mask& mask, std::int64_t row, std::int64_t col) {
  if (!mask.ellipse) return 1.0F;
  const double b = 0.5 * static_cast<double>(mask.count[0]);
  const double a = 0.5 * static_cast<double>(mask.count[1]);
  const double v = (static_cast<double>(row) + 0.5 - b) / b;
  const double u = (static_cast<double>(col) + 0.5 - a) / a;
  const double slope = 2 * std::sqrt(u * u / (a * a) + v * v / (b * b));
  const double part = 0.5 + (1 - u * u - v * v) / (slope > 0 ? slope : 1.0);
  return static_cast<float>(part < 0 ? 0.0 : part > 1 ? 1.0 : part);
}

}  // namespace holotone::window
