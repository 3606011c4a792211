// optimize/*: phase retrieval, 1920 x 1080 pixels of 6.4 um, 520 nm, 20 cm. Start, phases and picture on the device.
// optimize/1080p/gradient: loss and gradient on four half-pixel positions, region of 1600 x 880. gradient_samples: at
// the samples alone. Checked before by a difference of two losses along a random direction. Counters: rel_error of that
// check; on the CPU transforms, the time of a gradient over that of its Fourier transforms alone.
// With `--target neural_holography_1.png` (1920 x 1080; its green light), from a start by seed to rounded phases:
// optimize/1080p/region41, region43, full36, full39: one frame of 8 bits from a smooth phase, in the region and in the
// whole frame; the number is the PSNR in dB that counts as reached. optimize/1080p/transport45, transport_full45: the
// same from the start by optimal transport, which is timed too, as `holotone optimize` does. optimize/subframes8: eight
// frames of 4 bits from a random phase, region. Counters: psnr_worst of four half-pixel positions, psnr_samples,
// efficiency, steps, vortices.
// optimize/transport: that start alone, of soft discs.
#include <bench/loop.hpp>
#include <bench/rows.hpp>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/random.hpp>
#include <holotone/fft/fft.hpp>
#include <holotone/io/images/image.hpp>
#include <holotone/retrieval/phase_retrieval.hpp>
#include <holotone/retrieval/transport/transport.hpp>
#include <numbers>

namespace bench {
namespace {

using holotone::Array;
using holotone::Complex;
using holotone::Device;
using holotone::FftDirection;
using holotone::PhaseRetrievalPlan;
using holotone::Queue;
using holotone::random_uniform64;
using holotone::Shape;

constexpr Shape<2> shape{1080, 1920};
constexpr holotone::FieldGrid grid{shape[1], shape[0], 6.4e-6, 520e-9};
constexpr holotone::SignalRegion region{100, 160, 880, 1600};

/// Soft discs, as bright as a photograph.
Array<float, 2> discs() {
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

/// Amplitude of a photograph's green light.
Array<float, 2> green_amplitude(const std::string& path) {
  const auto codes = holotone::to_float(holotone::read_image(path));
  const auto [rows, columns, channels] = codes.shape();
  if (rows != shape[0] || columns != shape[1]) {
    holotone::throw_io(path, fmt::format("{} x {} pixels", shape[1], shape[0]), fmt::format("{} x {}", columns, rows));
  }
  Array<float, 2> amplitude(shape);
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < columns; ++column) {
      const auto code = static_cast<double>(codes(row, column, channels > 2 ? 1 : 0));
      const double light = code <= 0.04045 ? code / 12.92 : std::pow((code + 0.055) / 1.055, 2.4);
      amplitude(row, column) = static_cast<float>(std::sqrt(light));
    }
  }
  return amplitude;
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

/// Times work() as the other rows do; returns seconds.
template <class Work>
double time_row(benchmark::State& state, const Queue& queue, int rounds, const Work& work) {
  if (is_processor(queue.device())) return time_iterations(state, queue, work);
  double seconds = 0;
  for (auto _ : state) {
    seconds = rested_seconds_of(queue, rounds, work);
    state.SetIterationTime(seconds);
  }
  return seconds;
}

void run_gradient(benchmark::State& state, bool between_samples, Device device) {
  constexpr double tolerance = 1e-2;  // of the difference of two losses
  constexpr float step = 1e-2F;
  const auto queue = Queue::create(device);
  PhaseRetrievalPlan plan(
      {.grid = grid, .planes = {{.distance_m = 0.2}}, .region = region, .between_samples = between_samples}, queue);
  plan.set_target(discs().to(device).view());
  const auto start = holotone::starting_phase({1, shape[0], shape[1]});
  const auto direction = holotone::starting_phase(start.shape(), 1, 2);
  const auto phase = start.to(device);
  Array<float, 3> derivative(start.shape(), queue);
  plan.gradient(phase.view(), derivative.view());
  const auto slopes = derivative.to(Device{});
  double slope = 0;
  for (std::int64_t i = 0; i < slopes.size(); ++i) {
    slope += static_cast<double>(slopes.data()[i]) * static_cast<double>(direction.data()[i]);
  }
  const auto loss_at = [&](float by) {
    auto moved = copy_of(start.view(), Device{});
    for (std::int64_t i = 0; i < moved.size(); ++i) moved.data()[i] += by * direction.data()[i];
    return plan.gradient(moved.to(device).view(), derivative.view());
  };
  const double expected = (loss_at(step) - loss_at(-step)) / (2 * static_cast<double>(step));
  const double error = std::abs(slope - expected) / std::abs(expected);
  if (!(error <= tolerance)) {
    state.SkipWithError(fmt::format("the gradient is wrong by {:.2e}", error).c_str());
    return;
  }
  const double seconds = time_row(state, queue, 15, [&] { plan.gradient(phase.view(), derivative.view()); });
  state.counters["rel_error"] = error;
  if (is_processor(device)) state.counters["transforms"] = seconds / transform_seconds(between_samples ? 4 : 1);
}

/// An optimization and what it has to reach.
struct Goal {
  const char* name;
  holotone::SignalRegion region;
  int steps;
  double psnr_db;
  std::int64_t frames = 1;
  int bits = 8;
  bool by_stages = false;
  double spread_rad = 0.5;
  double transported = 0;  ///< share of the light of a start by transport; 0: none
};

void run_optimize(benchmark::State& state, const Goal& goal, const std::string& path, Device device) {
  const auto queue = Queue::create(device);
  PhaseRetrievalPlan plan({.grid = grid, .planes = {{.distance_m = 0.2}}, .frames = goal.frames, .region = goal.region},
                          queue);
  const auto target = green_amplitude(path);
  plan.set_target(target.to(device).view());
  std::vector<double> levels(std::size_t{1} << goal.bits);
  for (std::size_t i = 0; i < levels.size(); ++i) {
    levels[i] = 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(levels.size());
  }
  const auto noise = holotone::starting_phase({goal.frames, shape[0], shape[1]}, goal.spread_rad);
  const auto start = noise.to(device);
  Array<float, 3> phase(start.shape(), queue);
  holotone::SolverOptions solver{.iterations = goal.steps};
  if (goal.by_stages) solver.level_phase_rad = levels;
  time_row(state, queue, 5, [&] {
    holotone::copy<float, 3>(phase.view(), start.view(), queue);
    if (goal.transported > 0) {
      auto transported =
          holotone::transport_phase(plan.options(), target.view(), {}, goal.transported, queue).phase_rad;
      for (std::int64_t i = 0; i < transported.size(); ++i) transported.data()[i] += noise.data()[i];
      holotone::copy<float, 3>(phase.view(), {transported.data(), start.shape()}, queue);
    }
    plan.optimize(phase.view(), solver);
    if (!goal.by_stages) plan.optimize(phase.view(), {.iterations = 0, .level_phase_rad = levels});
  });
  const auto quality = plan.quality(phase.view())[0];
  state.counters["psnr_worst"] = quality.psnr_worst_db;
  state.counters["psnr_samples"] = quality.psnr_db;
  state.counters["efficiency"] = quality.efficiency;
  state.counters["steps"] = goal.steps;
  state.counters["vortices"] = static_cast<double>(plan.vortices(phase.view())[0]);
  if (quality.psnr_worst_db < goal.psnr_db) {
    state.SkipWithError(fmt::format("{:.2f} dB, not {} dB", quality.psnr_worst_db, goal.psnr_db).c_str());
  }
}

void run_transport(benchmark::State& state, Device device) {
  const auto queue = Queue::create(device);
  const holotone::PhaseRetrievalOptions options{.grid = grid, .planes = {{.distance_m = 0.2}}, .region = region};
  const auto target = discs();
  time_row(state, queue, 5, [&] { holotone::transport_phase(options, target.view(), {}, 0.75, queue); });
}

}  // namespace

void add_retrieval_rows(const RowOptions& options) {
  const Device device = options.device;
  const auto add = [device](const std::string& name, const auto& body) {
    auto* const row = register_row(name, body);
    if (!is_processor(device)) row->Iterations(1);
  };
  add("optimize/1080p/gradient", [=](benchmark::State& state) { run_gradient(state, true, device); });
  add("optimize/1080p/gradient_samples", [=](benchmark::State& state) { run_gradient(state, false, device); });
  add("optimize/transport", [=](benchmark::State& state) { run_transport(state, device); });
  if (options.target.empty()) return;
  for (const Goal& goal : {Goal{"1080p/region41", region, 23, 41}, Goal{"1080p/region43", region, 56, 43},
                           Goal{"1080p/full36", {}, 21, 36.5}, Goal{"1080p/full39", {}, 72, 39.5},
                           Goal{"1080p/transport45", region, 20, 44.5, 1, 8, false, 0.25, 0.75},
                           Goal{"1080p/transport_full45", {}, 20, 45, 1, 8, false, 0.25, 0.75},
                           Goal{"subframes8", region, 12, 36.5, 8, 4, true, std::numbers::pi}}) {
    add(fmt::format("optimize/{}", goal.name),
        [=, path = options.target](benchmark::State& state) { run_optimize(state, goal, path, device); });
  }
}

}  // namespace bench
