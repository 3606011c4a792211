#pragma once
// Formulas of phase retrieval shared by the CPU loops and the CUDA kernels. Not for users.
#include <cmath>
#include <cstdint>
#include <holotone/optics/propagation_math.h>

namespace holotone::retrieval {

/// Factor of the light whose sum over frames has the simulated amplitude: that of the derivative of
///   1/2 weight (s a - T)^2, or with intensities 1/2 weight (s a^2 - T^2)^2
/// a is what is seen, simulated or measured. `gain` is weight s.
HOLOTONE_HOST_DEVICE inline float error_factor(bool of_intensity, float s, float gain, float simulated, float seen,
                                               float target) {
  if (of_intensity) return 2 * gain * (s * seen * seen - target * target);
  return simulated > 0 ? gain * (s * seen - target) / simulated : 0.0F;
}

/// Step of Adam (Kingma and Ba 2015) for one phase.
struct AdamStep {
  float rate = 0;
  float unbias_m = 1;  ///< 1 / (1 - keep^iteration)
  float unbias_v = 1;
  bool is_first = false;
};

inline AdamStep adam_step(double rate, int iteration) {
  return {static_cast<float>(rate), static_cast<float>(1 / (1 - std::pow(0.9, iteration))),
          static_cast<float>(1 / (1 - std::pow(0.999, iteration))), iteration == 1};
}

HOLOTONE_HOST_DEVICE inline void move_by_adam(const AdamStep& step, float slope, float& m, float& v, float& phase) {
  constexpr float keep_m = 0.9F;
  constexpr float keep_v = 0.999F;
  m = keep_m * (step.is_first ? 0.0F : m) + (1 - keep_m) * slope;
  v = keep_v * (step.is_first ? 0.0F : v) + (1 - keep_v) * slope * slope;
  phase -= step.rate * step.unbias_m * m / (std::sqrt(step.unbias_v * v) + 1e-12F);
}

/// A level, and the distance to it on the circle.
struct Nearest {
  float level = 0;
  float distance = 0;
};

/// Nearest of `count` levels, sorted, in [0, 2 pi).
HOLOTONE_HOST_DEVICE inline Nearest nearest_level(float phase, const float* levels, int count) {
  constexpr float turn = 6.28318531F;
  const float wrapped = phase >= 0 && phase < turn ? phase : phase - turn * std::floor(phase / turn);
  int above = 0;  // the first level that is not below
  for (int left = count; left > 0;) {
    const int half = left / 2;
    if (levels[above + half] < wrapped) {
      above += half + 1;
      left -= half + 1;
    } else {
      left = half;
    }
  }
  const Nearest up =
      above == count ? Nearest{levels[0], levels[0] + turn - wrapped} : Nearest{levels[above], levels[above] - wrapped};
  const Nearest down = above == 0 ? Nearest{levels[count - 1], wrapped + turn - levels[count - 1]}
                                  : Nearest{levels[above - 1], wrapped - levels[above - 1]};
  return up.distance < down.distance ? up : down;
}

/// Bin of a distance among `bins` equal ones up to pi.
HOLOTONE_HOST_DEVICE inline int level_bin(float distance, int bins) {
  constexpr float inverse_pi = 0.318309886F;
  const int bin = static_cast<int>(distance * inverse_pi * static_cast<float>(bins));
  return bin < bins ? bin : bins - 1;
}

/// Ratio by which the goal of a spot grows where light is missing: Di Leonardo et al. 2007.
HOLOTONE_HOST_DEVICE inline float goal_growth(float target, float seen) { return seen > 0 ? target / seen : 1.0F; }

/// A goal at the targets' energy, within ten times the target: light that cannot come must not rule the rest.
HOLOTONE_HOST_DEVICE inline float bounded_goal(float goal, float target) {
  constexpr float most = 10;
  const float low = target / most;
  const float high = target * most;
  return goal < low ? low : goal > high ? high : goal;
}

/// H of the way to a plane at a frequency of the padded array, times the pixels' aperture.
HOLOTONE_HOST_DEVICE inline void light_transfer(const propagation::Transfer& t, std::int64_t ky, std::int64_t kx,
                                                float aperture, float& real, float& imaginary) {
  const double fx = static_cast<double>(kx) * t.step_x;
  const double fy = static_cast<double>(ky) * t.step_y;
  const double rest = propagation::transfer_rest(t, fx * fx, fy * fy);
  float sine = 0;
  float cosine = 0;
  sincos_turns(propagation::transfer_turns(t, rest), sine, cosine);
  const float gain = propagation::transfer_kept(t, rest, fx * fx, fy * fy) ? t.gain * aperture : 0.0F;
  real = gain * cosine;
  imaginary = gain * sine;
}

}  // namespace holotone::retrieval
