#include <algorithm>
#include <cmath>
#include <holotone/core/parallel.hpp>
#include <holotone/smoe/fit_steps.hpp>
#include <numbers>

namespace holotone::smoe {
namespace {

constexpr std::int64_t block = 256;
/// Steps of logarithms of densities, of centres and widths in standard deviations, and of colours.
constexpr double gate_rate = 0.1;
constexpr double expert_rate = 0.006;
constexpr double mean_decay = 0.9;
constexpr double square_decay = 0.95;
/// Below this a gradient, in squared colours, is nothing to follow.
constexpr double least_gradient = 1e-7;

/// {peak, centre, centre, shape, shape, shape, three for each channel} as ComponentGradient.
using Step = std::array<double, 6 + 3 * most_smoe_channels>;

void move(ImageComponent& own, const Step& step, int channels) {
  const Whitening a = whitening(own);
  const double dx = step[1] / a.a00;
  const double dy = (step[2] - a.a10 * dx) / a.a11;
  own.x += dx;
  own.y += dy;
  own.peak += step[0] / std::numbers::ln2;
  for (std::size_t c = 0; c < static_cast<std::size_t>(channels); ++c) {
    const double* const e = step.data() + 6 + 3 * c;
    const double plane = static_cast<double>(own.slope_x[c]) * dx + static_cast<double>(own.slope_y[c]) * dy;
    own.colour[c] += static_cast<float>(e[0] + plane);
    own.slope_x[c] += static_cast<float>(a.a00 * e[1] + a.a10 * e[2]);
    own.slope_y[c] += static_cast<float>(a.a11 * e[2]);
  }
  const double down = std::exp(step[5]);
  set_whitening(own, {a.a00 * std::exp(step[3]), a.a10 * down + step[4] * a.a00, a.a11 * down});
}

}  // namespace

void Descent::resize(std::size_t components, int channels) {
  channels_ = channels;
  width_ = 6 + 3 * static_cast<std::size_t>(channels);
  mean_.resize(components * width_, 0);
  square_.resize(components * width_, 0);
}

void Descent::forget(std::size_t component) {
  std::fill_n(mean_.begin() + static_cast<std::ptrdiff_t>(component * width_), width_, 0);
  std::fill_n(square_.begin() + static_cast<std::ptrdiff_t>(component * width_), width_, 0);
}

void Descent::step(Components& components, const std::vector<ComponentSums>& sums, double rate, double largest_width) {
  ++steps_;
  const double first = 1 - std::pow(mean_decay, static_cast<double>(steps_));
  const double second = 1 - std::pow(square_decay, static_cast<double>(steps_));
  parallel_for(0, (std::ssize(components) + block - 1) / block, [&](std::int64_t part) {
    const auto end = std::min(components.size(), static_cast<std::size_t>((part + 1) * block));
    for (auto j = static_cast<std::size_t>(part * block); j < end; ++j) {
      const auto gradient = component_gradient(components[j], sums[j], channels_);
      Step step{gradient.peak,     gradient.centre[0], gradient.centre[1],
                gradient.shape[0], gradient.shape[1],  gradient.shape[2]};
      for (std::size_t i = 6; i < width_; ++i) step[i] = gradient.expert[(i - 6) / 3][(i - 6) % 3];
      double* const mean = mean_.data() + j * width_;
      double* const square = square_.data() + j * width_;
      for (std::size_t i = 0; i < width_; ++i) {
        mean[i] += (1 - mean_decay) * (step[i] - mean[i]);
        square[i] += (1 - square_decay) * (step[i] * step[i] - square[i]);
        const double own_rate = rate * (i < 6 ? gate_rate : expert_rate);
        step[i] = -own_rate * mean[i] / first / (std::sqrt(square[i] / second) + least_gradient);
      }
      move(components[j], step, channels_);
      limit_widths(components[j], largest_width);
    }
  });
}

}  // namespace holotone::smoe
