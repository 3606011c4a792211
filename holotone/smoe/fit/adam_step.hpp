#pragma once
// A component's step of Adam, the same on every device. Not for users.
#include <holotone/smoe/fit/component.hpp>

namespace holotone::smoe {

// Mean PSNR of kodim05, 15 (and 23) fitted with 5,000 components.
// Gates 0.06 and 0.1: 35.48 and 35.57 dB after 500 steps with 23; 0.1 and 0.2: 33.65 and 33.64 dB after 1,000.
// Experts 0.006 and 0.012: 33.81 and 33.87 dB after 1,000.
// Decay of squares 0.9 and 0.95: within 0.02 dB; 0.99: 0.4 dB worse after 300.
// Decay of means 0.8: 0.04 dB worse; 0.95: 0.4 dB worse after 300.

/// Learning rates: gates, of logarithms of densities and of centres and widths in standard deviations; experts, of
/// colours.
inline constexpr double gate_rate = 0.1;
inline constexpr double expert_rate = 0.012;
inline constexpr double mean_decay = 0.9;
inline constexpr double square_decay = 0.95;
/// Epsilon of Adam, in squared colours: smaller gradients have little effect.
inline constexpr double min_gradient = 1e-7;

/// True if A may be nonzero in this row and column.
constexpr bool in_pattern(int row, int column) {
  return row < 2 ? column <= row || column >= 2 : 2 <= column && column <= row;
}

/// Number of parameters of a component, in this order: the logarithm of the peak; e, where z becomes z - e with the
/// experts' planes unchanged; E, where A becomes (I + E) A, on its pattern; then for each channel {a, b}, where m
/// becomes m + a + b . z.
constexpr int count_parameters(int dimensions, int channels) {
  int gates = 1 + dimensions;
  for (int row = 0; row < dimensions; ++row) {
    for (int column = 0; column < dimensions; ++column) gates += in_pattern(row, column) ? 1 : 0;
  }
  return gates + channels * (1 + dimensions);
}

/// Parameters of a step that all components share.
struct DescentStep {
  double rate = 0;
  double first = 1;   ///< 1 - mean_decay^steps
  double second = 1;  ///< 1 - square_decay^steps

  static DescentStep number(std::int64_t steps, double rate) {
    return {rate, 1 - std::pow(mean_decay, static_cast<double>(steps)),
            1 - std::pow(square_decay, static_cast<double>(steps))};
  }
};

/// Running means of one component's gradients and of their squares, `stride` numbers from parameter to parameter.
struct DescentMemory {
  double* mean;
  double* square;
  std::int64_t stride;
};

/// Computes the steps of parameters, one after another.
class DescentSteps {
 public:
  HOLOTONE_HOST_DEVICE DescentSteps(const DescentStep& step, const DescentMemory& memory)
      : step_(step), memory_(memory) {}
  HOLOTONE_HOST_DEVICE double next(double gradient, double rate) {
    double& mean = *memory_.mean;
    double& square = *memory_.square;
    memory_.mean += memory_.stride;
    memory_.square += memory_.stride;
    mean += (1 - mean_decay) * (gradient - mean);
    square += (1 - square_decay) * (gradient * gradient - square);
    return -step_.rate * rate * mean / step_.first / (std::sqrt(square / step_.second) + min_gradient);
  }

 private:
  DescentStep step_;
  DescentMemory memory_;
};

template <int Dimensions>
HOLOTONE_HOST_DEVICE inline void descend(FitComponent& component, const FitSums& sums, int channels,
                                         const DescentStep& step, const DescentMemory& memory,
                                         const WidthLimits& pixels) {
  DescentSteps steps(step, memory);
  component.peak += steps.next(sums.s, gate_rate);
  Vector e{};
  HOLOTONE_UNROLL for (int i = 0; i < Dimensions; ++i) e[i] = steps.next(sums.s1[i], gate_rate);
  const Vector shift = unwhitened(component, e);
  HOLOTONE_UNROLL for (int i = 0; i < Dimensions; ++i) component.centre[i] += shift[i];
  const Matrix old{Vector{component.pixels.a00, 0, component.shear[0][0], component.shear[0][1]},
                   Vector{component.pixels.a10, component.pixels.a11, component.shear[1][0], component.shear[1][1]},
                   Vector{0, 0, component.views.a00, 0}, Vector{0, 0, component.views.a10, component.views.a11}};
  Matrix a = old;
  HOLOTONE_UNROLL for (int i = 0; i < Dimensions; ++i) {
    HOLOTONE_UNROLL for (int k = 0; k < Dimensions; ++k) {
      if (!in_pattern(i, k)) continue;
      const double own_step = steps.next(-sums.s2[i > k ? below(i, k) : below(k, i)], gate_rate);
      const double factor = i == k ? std::exp(own_step) - 1 : own_step;
      HOLOTONE_UNROLL for (int column = 0; column < Dimensions; ++column) a[i][column] += factor * old[k][column];
    }
  }
  HOLOTONE_UNROLL for (int c = 0; c < max_smoe_channels; ++c) {
    if (c >= channels) break;
    HOLOTONE_UNROLL for (int i = 0; i < Dimensions; ++i) component.colour[c] += component.slope[c][i] * shift[i];
    component.colour[c] += steps.next(sums.p[c][0], expert_rate);
    Vector b{};
    HOLOTONE_UNROLL for (int i = 0; i < Dimensions; ++i) b[i] = steps.next(sums.p[c][1 + i], expert_rate);
    const Vector slope = natural_slope(component, b);
    HOLOTONE_UNROLL for (int i = 0; i < Dimensions; ++i) component.slope[c][i] += slope[i];
  }
  component.pixels = {a[0][0], a[1][0], a[1][1]};
  component.shear[0] = {a[0][2], a[0][3]};
  component.shear[1] = {a[1][2], a[1][3]};
  component.views = {a[2][2], a[3][2], a[3][3]};
  limit_widths(component, pixels);
}

}  // namespace holotone::smoe
