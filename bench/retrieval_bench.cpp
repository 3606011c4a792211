// optimize/1080p/gradient: loss and gradient of phase retrieval on four half-pixel positions, 1920 x 1080 pixels of
// 6.4 um, 520 nm, 20 cm, region of 1600 x 880. gradient_samples: at the samples alone. Checked before by a difference
// of two losses along a random direction. Counters: rel_error of that check; transforms, the time of a gradient over
// that of its Fourier transforms alone.
#include <bench/loop.hpp>
#include <bench/rows.hpp>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/random.hpp>
#include <holotone/fft/fft.hpp>
#include <holotone/retrieval/phase_retrieval.hpp>

namespace bench {
namespace {

using holotone::Array;
using holotone::Complex;
using holotone::Device;
using holotone::FftDirection;
using holotone::random_uniform64;
using holotone::Shape;

constexpr Shape<2> shape{1080, 1920};

/// Soft discs, as bright as a photograph.
Array<float, 2> picture() {
  Array<float, 2> values(shape);
  for (std::int64_t row = 0; row < shape[0]; ++row) {
    for (std::int64_t column = 0; column < shape[1]; ++column) {
      double value = 0.1;
      for (std::uint64_t disc = 0; disc < 6; ++disc) {
        const double dx = static_cast<double>(column) / 1080 - 1.8 * random_uniform64(1, 2 * disc);
        const double dy = static_cast<double>(row) / 1080 - random_uniform64(1, 2 * disc + 1);
        value += 0.4 * std::exp(-(dx * dx + dy * dy) * 40);
      }
      values(row, column) = static_cast<float>(value);
    }
  }
  return values;
}

/// Seconds of the transforms of a gradient: one there and one back for the panel, the same for each position.
double transform_seconds(int positions) {
  const Shape<2> padded{holotone::fft_friendly_size(2 * shape[0]), holotone::fft_friendly_size(2 * shape[1])};
  const holotone::FftPlan plan(padded, {}, {.scale_inverse = false, .first_row = 0, .rows = shape[0]});
  Array<Complex, 2> values(padded);
  return seconds_of(Device{}, 3, [&] {
    for (int i = 0; i <= positions; ++i) {
      plan.execute(values.view(), FftDirection::forward);
      plan.execute(values.view(), FftDirection::inverse);
    }
  });
}

void run_gradient(benchmark::State& state, bool between_samples) {
  constexpr double tolerance = 1e-2;  // of the difference of two losses
  constexpr float step = 1e-2F;
  holotone::PhaseRetrievalPlan plan({.grid = {shape[1], shape[0], 6.4e-6, 520e-9},
                                     .planes = {{.distance_m = 0.2}},
                                     .region = {100, 160, 880, 1600},
                                     .between_samples = between_samples});
  plan.set_target(picture().view());
  const auto phase = holotone::starting_phase({1, shape[0], shape[1]});
  Array<float, 3> derivative(phase.shape());
  plan.gradient(phase.view(), derivative.view());
  const auto direction = holotone::starting_phase({1, shape[0], shape[1]}, 1, 2);
  double slope = 0;
  for (std::int64_t i = 0; i < phase.size(); ++i) {
    slope += static_cast<double>(derivative.data()[i]) * static_cast<double>(direction.data()[i]);
  }
  const auto loss_at = [&](float by) {
    auto moved = copy_of(phase.view(), Device{});
    for (std::int64_t i = 0; i < moved.size(); ++i) moved.data()[i] += by * direction.data()[i];
    Array<float, 3> unused(phase.shape());
    return plan.gradient(moved.view(), unused.view());
  };
  const double expected = (loss_at(step) - loss_at(-step)) / (2 * static_cast<double>(step));
  const double error = std::abs(slope - expected) / std::abs(expected);
  if (!(error <= tolerance)) {
    state.SkipWithError(fmt::format("the gradient is wrong by {:.2e}", error).c_str());
    return;
  }
  const double seconds = time_iterations(state, Device{}, [&] { plan.gradient(phase.view(), derivative.view()); });
  state.counters["rel_error"] = error;
  state.counters["transforms"] = seconds / transform_seconds(between_samples ? 4 : 1);
}

}  // namespace

void add_retrieval_rows() {
  register_row("optimize/1080p/gradient", [](benchmark::State& state) { run_gradient(state, true); });
  register_row("optimize/1080p/gradient_samples", [](benchmark::State& state) { run_gradient(state, false); });
}

}  // namespace bench
