#include <algorithm>
#include <cmath>
#include <holotone/smoe/fit_steps.hpp>

namespace holotone::smoe {
namespace {

// Mean PSNR of kodim05, 15 (and 23) fitted with 5,000 components: gates 0.06 and 0.1, 35.48 and 35.57 dB after 500 steps with 23;
// 0.1 and 0.2, 33.65 and 33.64 dB after 1,000; experts 0.006 and 0.012, 33.81 and 33.87 dB after 1,000. Squares' decay 0.9 and
// 0.95 within 0.02 dB, 0.99 0.4 dB worse after 300; means' 0.8 0.04 dB worse, 0.95 0.4 dB worse after 300.

/// Steps of logarithms of densities, of centres and widths in standard deviations, and of colours.
constexpr double gate_rate = 0.1;
constexpr double expert_rate = 0.012;
constexpr double mean_decay = 0.9;
constexpr double square_decay = 0.95;
/// Below this a gradient, in squared colours, is nothing to follow.
constexpr double least_gradient = 1e-7;

/// Of one component: the peak's logarithm; e where z becomes z - e, the experts' planes staying where they are; E, where A becomes
/// (I + E) A, on its pattern; then for each channel {a, b} where m becomes m + a + b . z.
constexpr std::size_t most_parameters = 1 + 4 + 10 + 5 * most_smoe_channels;
using Step = std::array<double, most_parameters>;

using Pattern = std::vector<std::array<std::size_t, 2>>;

Matrix matrix_of(const FitComponent& own) {
  const auto& m = own.shear;
  return {Vector{own.pixels.a00, 0, m[0][0], m[0][1]}, Vector{own.pixels.a10, own.pixels.a11, m[1][0], m[1][1]},
          Vector{0, 0, own.views.a00, 0}, Vector{0, 0, own.views.a10, own.views.a11}};
}

void set_matrix(FitComponent& own, const Matrix& a) {
  own.pixels = {a[0][0], a[1][0], a[1][1]};
  own.shear = {{{a[0][2], a[0][3]}, {a[1][2], a[1][3]}}};
  own.views = {a[2][2], a[3][2], a[3][3]};
}

Step gradient_of(const FitSums& sums, std::size_t dimensions, std::size_t channels, const Pattern& pattern) {
  Step gradient{};
  std::size_t at = 0;
  gradient[at++] = sums.s;
  for (std::size_t i = 0; i < dimensions; ++i) gradient[at++] = sums.s1[i];
  for (const auto& [i, k] : pattern) gradient[at++] = -sums.s2[below(std::max(i, k), std::min(i, k))];
  for (std::size_t c = 0; c < channels; ++c) {
    for (std::size_t i = 0; i <= dimensions; ++i) gradient[at++] = sums.p[c][i];
  }
  return gradient;
}

void move(FitComponent& own, const Step& step, std::size_t dimensions, std::size_t channels, const Pattern& pattern) {
  std::size_t at = 0;
  own.peak += step[at++];
  Vector e{};
  for (std::size_t i = 0; i < dimensions; ++i) e[i] = step[at++];
  const Vector shift = unwhitened(own, e);
  for (std::size_t i = 0; i < dimensions; ++i) own.centre[i] += shift[i];
  const Matrix old = matrix_of(own);
  Matrix a = old;
  for (const auto& [i, k] : pattern) {
    const double factor = i == k ? std::exp(step[at]) - 1 : step[at];
    for (std::size_t column = 0; column < dimensions; ++column) a[i][column] += factor * old[k][column];
    ++at;
  }
  for (std::size_t c = 0; c < channels; ++c) {
    for (std::size_t i = 0; i < dimensions; ++i) own.colour[c] += own.slope[c][i] * shift[i];
    own.colour[c] += step[at++];
    Vector b{};
    for (std::size_t i = 0; i < dimensions; ++i) b[i] = step[at++];
    const Vector slope = natural_slope(own, b);
    for (std::size_t i = 0; i < dimensions; ++i) own.slope[c][i] += slope[i];
  }
  set_matrix(own, a);
}

}  // namespace

Descent::Descent(int dimensions, int channels)
    : dimensions_(static_cast<std::size_t>(dimensions)), channels_(static_cast<std::size_t>(channels)) {
  for (std::size_t i = 0; i < dimensions_; ++i) {
    for (std::size_t k = i < 2 ? 0 : 2; k < dimensions_; ++k) {
      if (k <= i || (i < 2 && k >= 2)) shape_.push_back({i, k});
    }
  }
  width_ = 1 + dimensions_ + shape_.size() + channels_ * (1 + dimensions_);
}

void Descent::resize(std::size_t components) {
  mean_.resize(components * width_, 0);
  square_.resize(components * width_, 0);
}

void Descent::forget(std::size_t component) {
  std::fill_n(mean_.begin() + static_cast<std::ptrdiff_t>(component * width_), width_, 0);
  std::fill_n(square_.begin() + static_cast<std::ptrdiff_t>(component * width_), width_, 0);
}

void Descent::step(FitComponents& components, const std::vector<FitSums>& sums, double rate,
                   const WidthLimits& pixels) {
  ++steps_;
  const double first = 1 - std::pow(mean_decay, static_cast<double>(steps_));
  const double second = 1 - std::pow(square_decay, static_cast<double>(steps_));
  const std::size_t gates = 1 + dimensions_ + shape_.size();
  over_components(std::ssize(components), [&](std::size_t j) {
    Step step = gradient_of(sums[j], dimensions_, channels_, shape_);
    double* const mean = mean_.data() + j * width_;
    double* const square = square_.data() + j * width_;
    for (std::size_t i = 0; i < width_; ++i) {
      mean[i] += (1 - mean_decay) * (step[i] - mean[i]);
      square[i] += (1 - square_decay) * (step[i] * step[i] - square[i]);
      const double own_rate = rate * (i < gates ? gate_rate : expert_rate);
      step[i] = -own_rate * mean[i] / first / (std::sqrt(square[i] / second) + least_gradient);
    }
    move(components[j], step, dimensions_, channels_, shape_);
    limit_widths(components[j], pixels);
  });
}

}  // namespace holotone::smoe
