// vded/24576/p{1,3,6}: 24,576 x 24,576 pixels, 750 nm, 635 nm, hogels of 2048, 8 bits of phase, 27 weights by Eq. (1)
// for a viewer of 9.2 mm at 36 mm. Field and codes are on the device, the scale is given. On a CPU vded/8192/p{1,3,6}.
//
// vded/moving/24576 (CPU: 8192): a viewer who moves, on a circle of 5 mm. Timed for each frame, from the viewer's place
// to the codes: the windows and the least-squares weights of 144 hogels on the host, their copy, the codes (p = 3).
// Taps are chosen once for all places, and one plan serves all frames. Field and codes are on the device. Counters:
// weights_ms and eq1_weights_ms, the host's part by least squares and by Eq. (1); codes_ms, the codes alone.
//
// error_diffusion/8192: Floyd-Steinberg, 8192 x 8192 values to one bit of amplitude, the scale given.
//
// Speckle. On a GPU every code must equal the CPU's. On a CPU the noise in a hogel's window must be 4 dB below that of
// truncation (Floyd-Steinberg: the mean must be preserved). Counter: pixels_per_s.
#include <algorithm>
#include <bench/loop.hpp>
#include <bench/rows.hpp>
#include <benchmark/benchmark.h>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/parallel.hpp>
#include <holotone/core/random.hpp>
#include <holotone/quantize/error_diffusion.hpp>
#include <holotone/quantize/window_noise.hpp>
#include <holotone/recipes/hogel_weights.hpp>
#include <numeric>
#include <optional>

namespace bench {
namespace {

using holotone::Array;
using holotone::Complex;
using holotone::Device;
using holotone::DiffusionWeights;
using holotone::ErrorDiffusionOptions;
using holotone::ErrorDiffusionPlan;
using holotone::Queue;
using holotone::Shape;
using holotone::SignalWindow;

Array<Complex, 2> speckle(Shape<2> shape) {
  Array<Complex, 2> field(shape);
  holotone::parallel_for(0, shape[0], [&](std::int64_t row) {
    for (std::int64_t column = 0; column < shape[1]; ++column) {
      const auto at = static_cast<std::uint64_t>(row * shape[1] + column);
      const double modulus = std::sqrt(-std::log(1 - holotone::random_uniform64(1, 2 * at)));
      field(row, column) = Complex(std::polar(modulus, 2 * M_PI * holotone::random_uniform64(1, 2 * at + 1)));
    }
  });
  return field;
}

struct Case {
  ErrorDiffusionOptions options;
  DiffusionWeights weights;
  std::optional<SignalWindow> window;  ///< of the first hogel; none: Floyd-Steinberg
  Shape<2> shape;
};

constexpr holotone::Viewer viewer{9.2e-3, 9.2e-3, 36e-3, 0, 0};

holotone::FieldGrid make_grid(std::int64_t side) { return {side, side, 750e-9, 635e-9}; }

holotone::WindowWeightOptions weight_options(holotone::WeightRule rule, int parallelism) {
  holotone::WindowWeightOptions options;
  options.hogel_px = 2048;
  options.weights.rule = rule;
  options.weights.parallelism = parallelism;
  return options;
}

ErrorDiffusionOptions diffusion_options() {
  ErrorDiffusionOptions options;
  options.hogel_px = 2048;
  options.scale = 2.5;
  return options;
}

SignalWindow first_window(const holotone::FieldGrid& grid, const holotone::Viewer& seen_by) {
  const double x_m = -0.5 * static_cast<double>(grid.nx - diffusion_options().hogel_px) * grid.pitch_m;
  return signal_window(grid, seen_by, x_m, -x_m);
}

Case view_dependent(std::int64_t side, int parallelism) {
  const auto grid = make_grid(side);
  const auto weights = weight_options(holotone::WeightRule::eq1, parallelism);
  return {diffusion_options(), window_weights(grid, viewer, weights).weights, first_window(grid, viewer), grid.shape()};
}

Case floyd_steinberg(std::int64_t side) {
  Case changed;
  changed.shape = {side, side};
  changed.options.modulation = holotone::Modulation::amplitude;
  changed.options.bits = 1;
  changed.options.scale = 2.5;
  changed.weights = holotone::floyd_steinberg_weights();
  return changed;
}

Array<std::uint8_t, 2> codes_by_cpu(const Case& diffused, const Array<Complex, 2>& field) {
  Array<std::uint8_t, 2> codes(diffused.shape);
  ErrorDiffusionPlan(diffused.options, diffused.weights, diffused.shape).execute(field.view(), codes.view());
  return codes;
}

/// Error message for the codes; empty if they are correct.
std::string wrong_with(const Case& tried, const Array<Complex, 2>& field, const Array<std::uint8_t, 2>& codes,
                       Device device) {
  if (device.backend != holotone::Backend::cpu) {
    const auto expected = codes_by_cpu(tried, field);
    const auto differing =
        std::inner_product(codes.data(), codes.data() + codes.size(), expected.data(), std::int64_t{0}, std::plus<>(),
                           [](auto a, auto b) { return std::int64_t{a != b}; });
    return differing == 0 ? "" : fmt::format("{} codes are not the CPU's", differing);
  }
  if (!tried.window) {
    double mean = 0;
    for (std::int64_t i = 0; i < codes.size(); ++i) {
      const double wanted =
          (1 + std::clamp(static_cast<double>(field.data()[i].real()) / tried.options.scale, -1.0, 1.0)) / 2;
      mean += (codes.data()[i] - wanted) / static_cast<double>(codes.size());
    }
    return std::abs(mean) < 1e-3 ? "" : fmt::format("the mean is off by {:.2e}", mean);
  }
  constexpr std::int64_t part = 1024;
  Array<Complex, 2> some({part, part});
  Array<std::uint8_t, 2> own_codes({part, part});
  for (std::int64_t row = 0; row < part; ++row) {
    std::copy_n(&field(row, 0), part, &some(row, 0));
    std::copy_n(&codes(row, 0), part, &own_codes(row, 0));
  }
  const auto noise = [&](const Array<std::uint8_t, 2>& of) {
    return window_noise(some.view(), of.view(), tried.options, tried.options.scale, *tried.window).noise;
  };
  const double diffused = noise(own_codes);
  auto options = tried.options;
  options.hogel_px = 0;
  ErrorDiffusionPlan(options, {{}, Array<float, 2>({1, 0})}, some.shape()).execute(some.view(), own_codes.view());
  const double db = 10 * std::log10(diffused / noise(own_codes));
  return db < -4 ? "" : fmt::format("noise in the window is {:.1f} dB of truncation's", db);
}

void run(benchmark::State& state, const Case& diffused, Device device) {
  const auto field = speckle(diffused.shape);
  const auto queue = Queue::create(device);
  const auto there = copy_of(field.view(), device);
  Array<std::uint8_t, 2> codes(diffused.shape, queue);
  ErrorDiffusionPlan plan(diffused.options, diffused.weights, diffused.shape, queue);
  const auto work = [&] { plan.execute(there.view(), codes.view()); };
  work();
  queue.synchronize();
  if (const auto words = wrong_with(diffused, field, codes.to(Device{}), device); !words.empty()) {
    state.SkipWithError(words.c_str());
    return;
  }
  double seconds = 0;
  if (device.backend == holotone::Backend::cpu) {
    seconds = time_iterations(state, queue, work);
  } else {
    for (auto _ : state) state.SetIterationTime(seconds = rested_seconds_of(queue, 15, work));
    state.counters["sustained_ms"] = 1e3 * seconds_of(queue, 25, work);
  }
  state.counters["pixels_per_s"] = static_cast<double>(diffused.shape[0] * diffused.shape[1]) / seconds;
}

holotone::Viewer viewer_at(int frame) {
  constexpr double radius_m = 5e-3;
  auto moved = viewer;
  moved.x_m = radius_m * std::cos(0.1 * frame);
  moved.y_m = radius_m * std::sin(0.1 * frame);
  return moved;
}

void run_moving(benchmark::State& state, std::int64_t side, Device device) {
  constexpr double reach_m = 5e-3;
  const auto grid = make_grid(side);
  auto options = weight_options(holotone::WeightRule::least_squares, 3);
  auto from = viewer;
  auto to = viewer;
  from.x_m = from.y_m = -reach_m;
  to.x_m = to.y_m = reach_m;
  options.weights.given_taps = viewer_taps(grid, from, to, options);
  const auto make_weights = [&](int frame) { return window_weights(grid, viewer_at(frame), options).weights; };
  const auto field = speckle(grid.shape());
  const auto queue = Queue::create(device);
  const auto there = copy_of(field.view(), device);
  Array<std::uint8_t, 2> codes(grid.shape(), queue);
  int frame = 0;
  ErrorDiffusionPlan plan(diffusion_options(), make_weights(frame), grid.shape(), queue);
  const auto work = [&] {
    plan.set_weights(make_weights(++frame));
    plan.execute(there.view(), codes.view());
  };
  work();
  queue.synchronize();
  const Case last{diffusion_options(), make_weights(frame), first_window(grid, viewer_at(frame)), grid.shape()};
  if (const auto words = wrong_with(last, field, codes.to(Device{}), device); !words.empty()) {
    state.SkipWithError(words.c_str());
    return;
  }
  const double seconds = time_iterations(state, queue, work);
  state.counters["pixels_per_s"] = static_cast<double>(side * side) / seconds;
  const Queue host;
  state.counters["weights_ms"] = 1e3 * seconds_of(host, 5, [&] { (void)make_weights(++frame); });
  options.weights.rule = holotone::WeightRule::eq1;
  state.counters["eq1_weights_ms"] = 1e3 * seconds_of(host, 5, [&] { (void)make_weights(++frame); });
  state.counters["codes_ms"] = 1e3 * seconds_of(queue, 5, [&] { plan.execute(there.view(), codes.view()); });
}

}  // namespace

void add_error_diffusion_rows(const RowOptions& options) {
  const auto device = options.device;
  const bool on_cpu = device.backend == holotone::Backend::cpu;
  const std::int64_t side = on_cpu ? 8192 : 24576;
  const auto add = [&](const std::string& name, const auto& make) {
    auto* const row = register_row(name, [=](benchmark::State& state) { run(state, make(), device); });
    if (!on_cpu) row->Iterations(1);  // the median of single runs on a rested card
  };
  for (const int p : {1, 3, 6}) {
    add(fmt::format("vded/{}/p{}", side, p), [side, p] { return view_dependent(side, p); });
  }
  register_row(fmt::format("vded/moving/{}", side), [=](benchmark::State& state) { run_moving(state, side, device); });
  add(fmt::format("vded/carry/{}", side), [side] {
    auto changed = view_dependent(side, 3);
    changed.options.borders = holotone::HogelBorders::carry;
    return changed;
  });
  add("error_diffusion/8192", [] { return floyd_steinberg(8192); });
}

}  // namespace bench
