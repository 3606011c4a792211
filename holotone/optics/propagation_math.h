#pragma once
// Formulas of propagation shared by the CPU loops and the CUDA kernels. Not for users.
#include <cmath>
#include <cstdint>
#include <holotone/optics/phase_math.h>

namespace holotone::propagation {

/// Transfer function of the angular spectrum: H = gain exp(2 pi i d w), w^2 = 1/lambda^2 - f^2.
struct Transfer {
  double distance_m = 0;
  double inverse_wavelength_squared = 0;
  double step_x = 0;   ///< 1 / (Lx pitch)
  double step_y = 0;   ///< 1 / (Ly pitch)
  double limit_x = 0;  ///< (2 step_x d)^2, or 0 without band limit
  double limit_y = 0;  ///< (2 step_y d)^2, or 0 without band limit
  float gain = 1;      ///< 1 / (Lx Ly): the scale of the inverse transform
};

/// w^2 at a pair of squared frequencies; H is non-zero where `transfer_kept`.
HOLOTONE_HOST_DEVICE inline double transfer_rest(const Transfer& t, double fx2, double fy2) {
  return t.inverse_wavelength_squared - fx2 - fy2;
}

/// True for a propagating wave (w^2 > 0) whose phase d w changes by at most half a turn a frequency sample:
///   |d| f / w <= 1 / (2 df) along both axes (Matsushima and Shimobaba 2009).
HOLOTONE_HOST_DEVICE inline bool transfer_kept(const Transfer& t, double rest, double fx2, double fy2) {
  return rest > 0 && rest >= t.limit_x * fx2 && rest >= t.limit_y * fy2;
}

/// Phase of H in turns, reduced. float64: d w is about 1e5 to 1e7 turns.
HOLOTONE_HOST_DEVICE inline float transfer_turns(const Transfer& t, double rest) {
  return reduce_turns(t.distance_m * std::sqrt(rest > 0 ? rest : 0.0));
}

/// Taps of the kernel that interpolates the Fresnel transform, one axis.
inline constexpr int tap_count = 8;
/// Shape for an FFT twice as long as the grid: 2.30 a tap (Barnett, Magland and af Klinteberg, "A parallel nonuniform
/// fast Fourier transform library based on an exponential of semicircle kernel", SIAM J. Sci. Comput. 41(5), 2019).
inline constexpr double tap_shape = 2.30 * tap_count;

/// exp(beta (sqrt(1 - (2 t / w)^2) - 1)) for |t| <= w/2, else 0.
HOLOTONE_HOST_DEVICE inline double tap_kernel(double t) {
  const double u = 2 * t / tap_count;
  const double inside = 1 - u * u;
  return inside < 0 ? 0.0 : std::exp(tap_shape * (std::sqrt(inside) - 1));
}

/// One axis of the Fresnel transform: n samples in an FFT of even length L.
struct FresnelAxis {
  std::int64_t count = 0;   ///< n: samples of the input and of the output
  std::int64_t length = 0;  ///< L >= 2 n
  double input_rate = 0;    ///< pitch^2 / (2 lambda d): the input chirp's turns at m pixels from the axis are rate m^2
  double output_rate = 0;   ///< output_pitch^2 / (2 lambda d)
  double step = 0;          ///< pitch output_pitch / (lambda d): cycles a sample from one output pixel to the next
  double offset_turns = 0;  ///< added to the output's phase
  float gain = 1;           ///< multiplies the output
};

/// exp(i pi x^2 / (lambda d)) at input sample n, in turns.
HOLOTONE_HOST_DEVICE inline float input_chirp_turns(const FresnelAxis& axis, std::int64_t n) {
  const double m = static_cast<double>(n) - 0.5 * static_cast<double>(axis.count - 1);
  return reduce_turns(axis.input_rate * m * m);
}

/// Position of output sample m in the FFT, and its factor.
struct FresnelSample {
  std::int32_t first = 0;  ///< first tap, in 0..L-1
  float sine = 0;          ///< sine of the output factor; both are zero beyond half a cycle a sample
  float cosine = 0;
};

/// Fills one sample and its taps. The input's centre is at index L/2 of the FFT's array, hence the sign (-1)^k of tap
/// k. The centre pixel n/2 is (n/2 - (n-1)/2) pixels from the axis, hence the ramp in the phase.
HOLOTONE_HOST_DEVICE inline FresnelSample fresnel_sample(const FresnelAxis& axis, std::int64_t m, float* taps) {
  FresnelSample sample;
  const double from_axis = static_cast<double>(m) - 0.5 * static_cast<double>(axis.count - 1);
  const double cycles = axis.step * from_axis;
  const bool lit = cycles <= 0.5 && cycles >= -0.5;
  const double position = (lit ? cycles : 0.0) * static_cast<double>(axis.length);
  // Taps are placed by this integer only. A compiler that fuses multiply-adds may round `position` differently in two
  // expressions, so a second ceil could differ.
  const auto start = static_cast<std::int64_t>(std::ceil(position - 0.5 * tap_count));
  for (int j = 0; j < tap_count; ++j) {
    const double weight = tap_kernel(position - static_cast<double>(start + j));
    taps[j] = static_cast<float>(((start + j) & 1) != 0 ? -weight : weight);
  }
  sample.first = static_cast<std::int32_t>(start < 0 ? start + axis.length : start);
  const double middle = static_cast<double>(axis.count / 2) - 0.5 * static_cast<double>(axis.count - 1);
  sincos_turns(reduce_turns(axis.output_rate * from_axis * from_axis - middle * cycles + axis.offset_turns),
               sample.sine, sample.cosine);
  const float gain = lit ? axis.gain : 0.0F;
  sample.sine *= gain;
  sample.cosine *= gain;
  return sample;
}

}  // namespace holotone::propagation
