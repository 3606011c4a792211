#pragma once
// Formulas of the propagation from tile to window shared by the CPU loops and the CUDA kernels. Not for users.
#include <cmath>
#include <cstdint>
#include <holotone/optics/phase_math.h>

namespace holotone::window {

/// Distance from the window at which the soft edge of the band limit is 1/2, in units of the blur
/// sqrt(lambda r^3 / d^2).
inline constexpr double edge_middle = 2.75;
/// Half width of the soft edge, in blurs; beyond it the weight is 0. The edge is the integral of a Gaussian of variance
/// 1 / (2 pi), which diffraction widens least: its trace at the window is exp(-pi edge_middle^2 / 2), 7e-6.
inline constexpr double edge_tail = 1.75;
/// Distance beyond the window, in blurs, up to which light must not alias into the window.
inline constexpr double clear_of = 2 * edge_middle;

/// Weight of light that lands `beyond` blurs outside the window (negative: inside).
HOLOTONE_HOST_DEVICE inline double edge(double beyond) {
  const double sqrt_pi = 1.7724538509055160;
  return 0.5 * std::erfc(sqrt_pi * (beyond - edge_middle));
}

/// One axis (0: down, 1: right) of a tile's route to the window. Bin i is the frequency step (first + i).
struct TileAxis {
  std::int64_t count = 0;   ///< number of samples of the tile
  std::int64_t bins = 0;    ///< number of frequencies computed of the tile
  std::int64_t first = 0;   ///< index of the first frequency
  std::int64_t period = 0;  ///< bins of the window's spectrum: bin k is at k mod period
  double rate = 0;          ///< pitch step / 2
  double step = 0;          ///< spacing of the frequencies, 1/m
  double shift = 0;         ///< offset from the tile's first sample to the window's, m
  double between = 0;       ///< offset from the tile's centre to the window's, m
  double half = 0;          ///< sum of the half widths of tile and window, m
};

struct TileWay {
  TileAxis axis[2];
  double inverse_wavelength_squared = 0;
  double distance_m = 0;
  double blur_m = 0;
  float gain = 0;
};

/// Terms of sum_n u_n exp(-2 pi i a n (first + i)), a = 2 rate, with n i = (n^2 + i^2 - (i - n)^2) / 2. In turns: the
/// factor of sample n before the convolution, the kernel at j = i - n, and the factor of bin i after it.
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

/// Index of bin i in the window's spectrum.
HOLOTONE_HOST_DEVICE inline std::int64_t place(const TileAxis& axis, std::int64_t i) {
  const std::int64_t rest = (axis.first + i) % axis.period;
  return rest < 0 ? rest + axis.period : rest;
}

/// Distance outside the window, in blurs, at which light of direction cosine ratio f / w lands along an axis.
HOLOTONE_HOST_DEVICE inline double beyond(const TileWay& way, const TileAxis& axis, double f_over_w) {
  const double miss = way.distance_m * f_over_w - axis.between;
  return ((miss < 0 ? -miss : miss) - axis.half) / way.blur_m;
}

/// Pupil on the first samples of a window, which divide its width and height equally.
struct Mask {
  std::int64_t count[2] = {0, 0};
  bool ellipse = false;
};

/// Fraction of a sample inside the pupil. The ellipse g = u^2 + v^2 = 1 is (1 - g) / |grad g| samples away.
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
