// halftone/*: electrostatic halftoning of a synthetic image of flat greys, ramps, a checkerboard, a disc and waves.
// Mean ink 0.6, one dot for each unit of ink: 65,536 dots on 330 x 330 pixels. Forces within 5e-4 of the net force at
// a random start.
//
// step/{dots}: one iteration, dots on the device; step_direct/{dots}: the same by every pair. Checked at 500 dots
// against float64 sums. init/{dots}: importance sampling (the paper's figure 7). full/{dots}: from ink on the device
// to dots at 60 dB: stratified sampling, tables of the ink, and the mean number of iterations of five seeds.
//
// Counters: force_error, relative to the net force at a random start; force_error_abs, 1/px; iterations; blurred_psnr,
// dB, mean of five seeds. blurred_psnr compares dots at their exact positions with the ink, both blurred by a Gaussian
// of 1.5 px, without 8 px along the borders.
#include <bench/loop.hpp>
#include <bench/rows.hpp>
#include <benchmark/benchmark.h>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/parallel.hpp>
#include <holotone/core/random.hpp>
#include <holotone/halftone/dot_sampler.hpp>
#include <holotone/halftone/electrostatic.hpp>
#include <holotone/halftone/electrostatic/settings.hpp>
#include <holotone/metrics/blurred_comparison.hpp>
#include <map>
#include <memory>
#include <tests/cases/halftone.hpp>

namespace bench {
namespace {

using holotone::Array;
using holotone::Device;
using holotone::ElectrostaticPlan;
using holotone::Queue;
using holotone::Sampling;
using holotone::Shape;

constexpr int samples = 500;
constexpr int seeds = 5;
constexpr double wanted_db = 60;
constexpr std::int64_t most_iterations = 300;

/// Ink of the synthetic image, scaled to the sum `count`.
Array<float, 2> make_ink(std::int64_t count) {
  Array<float, 2> ink = cases::halftone_ink(count);
  const auto sum_of = [&] {
    double sum = 0;
    for (const float value : ink.host()) sum += static_cast<double>(value);
    return sum;
  };
  for (const bool clip : {true, false}) {
    const double scale = static_cast<double>(count) / sum_of();
    for (float& value : ink.host()) {
      value = static_cast<float>(scale * static_cast<double>(value));
      if (clip) value = std::min(value, 1.0F);
    }
  }
  return ink;
}

/// One problem size, shared by its rows.
struct Problem {
  explicit Problem(std::int64_t dots)
      : count(dots), ink(make_ink(dots)), start({dots, 2}), comparison(ink.view(), blur()) {
    holotone::DotSampler(ink.shape(), count, {}, Sampling::importance).sample(ink.view(), start.view(), 1);
    sum_forces();
  }

  [[nodiscard]] double psnr(const Array<float, 2>& positions) {
    const auto host = positions.to(Device{});
    return comparison.execute(host.view()).front().psnr_db;
  }
  [[nodiscard]] static std::int64_t sample(int i, std::int64_t among) {
    return static_cast<std::int64_t>(holotone::random_bits(7, static_cast<std::uint64_t>(i)) >> 1) % among;
  }

  std::int64_t count;
  Array<float, 2> ink;
  Array<float, 2> start;      ///< random
  std::vector<double> force;  ///< forces at the sampled dots of `start`, {samples, 2}, float64
  holotone::BlurredComparisonPlan comparison;

 private:
  static holotone::BlurOptions blur() {
    holotone::BlurOptions options;
    options.sigma = {1.5};
    options.margin = 8;
    options.structure = false;
    return options;
  }

  /// Sums every pair in float64. The attraction is the library's float64 table, which the tests compare with plain
  /// sums.
  void sum_forces() {
    const auto table = holotone::electrostatic::attraction_table(ink.shape(), ink.data());
    force.assign(2 * samples, 0.0);
    holotone::parallel_for(0, samples, [&](std::int64_t i) {
      const std::int64_t own = sample(static_cast<int>(i), count);
      const auto x = static_cast<double>(start(own, 0));
      const auto y = static_cast<double>(start(own, 1));
      double sum_x = 0;
      double sum_y = 0;
      for (std::int64_t j = 0; j < count; ++j) {
        const double dx = x - static_cast<double>(start(j, 0));
        const double dy = y - static_cast<double>(start(j, 1));
        const double square = dx * dx + dy * dy;
        if (j == own || square == 0) continue;
        sum_x += dx / square;
        sum_y += dy / square;
      }
      const auto attraction = attracted(table, x, y);
      force[static_cast<std::size_t>(2 * i)] = sum_x + attraction[0];
      force[static_cast<std::size_t>(2 * i + 1)] = sum_y + attraction[1];
    });
  }

  [[nodiscard]] std::array<double, 2> attracted(const std::vector<double>& table, double x, double y) const {
    const auto spline = [](double distance) {
      const double d = std::abs(distance);
      if (d >= 2) return 0.0;
      return d >= 1 ? (2 - d) * (2 - d) * (2 - d) / 6 : 2.0 / 3 - d * d * (1 - d / 2);
    };
    const auto column = static_cast<std::int64_t>(std::floor(x - 0.5));
    const auto row = static_cast<std::int64_t>(std::floor(y - 0.5));
    std::array<double, 2> sum{};
    for (std::int64_t j = row - 1; j <= row + 2; ++j) {
      for (std::int64_t i = column - 1; i <= column + 2; ++i) {
        const double weight = static_cast<double>(count) * spline(x - 0.5 - static_cast<double>(i)) *
                              spline(y - 0.5 - static_cast<double>(j));
        const auto entry = static_cast<std::size_t>(((j + 2) * (ink.shape()[1] + 4) + i + 2) * 2);
        sum[0] += weight * table[entry];
        sum[1] += weight * table[entry + 1];
      }
    }
    return sum;
  }
};

Problem& problem(std::int64_t count) {
  static std::map<std::int64_t, std::unique_ptr<Problem>> all;
  auto& own = all[count];
  if (!own) own = std::make_unique<Problem>(count);
  return *own;
}

/// Options of the rows: forces within 5e-4 of the net force at a random start (the default is tighter).
holotone::ElectrostaticOptions row_options(holotone::ForceSum sum = holotone::ForceSum::ewald) {
  holotone::ElectrostaticOptions options;
  options.sum = sum;
  options.tolerance = 5e-4;
  return options;
}

/// Root mean square error of the forces at the start, relative and in 1/px.
std::array<double, 2> force_error(const Problem& on, ElectrostaticPlan& plan) {
  Array<float, 2> forces({on.count, 2}, plan.queue());
  plan.forces(forces.view());
  const auto got = forces.to(Device{});
  double difference = 0;
  double norm = 0;
  for (int i = 0; i < samples; ++i) {
    for (std::int64_t axis = 0; axis < 2; ++axis) {
      const double expected = on.force[static_cast<std::size_t>(2 * i + axis)];
      difference += std::pow(static_cast<double>(got(Problem::sample(i, on.count), axis)) - expected, 2);
      norm += expected * expected;
    }
  }
  return {std::sqrt(difference / norm), std::sqrt(difference / samples)};
}

double seconds_a_run(benchmark::State& state, const Queue& queue, int rounds, const std::function<void()>& work) {
  if (queue.device().backend == holotone::Backend::cpu) return time_iterations(state, queue, work);
  double seconds = 0;
  for (auto _ : state) {
    seconds = rounds > 0 ? rested_seconds_of(queue, rounds, work) : seconds_of(queue, 25, work);
    state.SetIterationTime(seconds);
  }
  return seconds;
}

void run_step(benchmark::State& state, std::int64_t count, Device device, holotone::ForceSum sum) {
  const Problem& on = problem(count);
  const auto queue = Queue::create(device);
  const auto options = row_options(sum);
  ElectrostaticPlan plan(on.ink.shape(), count, queue, options);
  const auto ink = on.ink.to(device);
  const auto start = on.start.to(device);
  plan.set_ink(ink.view());
  plan.set_positions(start.view());
  const auto [relative, absolute] = force_error(on, plan);
  if (!(relative <= options.tolerance)) {
    state.SkipWithError(fmt::format("force error {:.2e} is above {:.0e}", relative, options.tolerance).c_str());
    return;
  }
  const bool direct = sum == holotone::ForceSum::direct;
  const double seconds = seconds_a_run(state, queue, direct ? 3 : 0, [&] { plan.step(); });
  state.counters["force_error"] = relative;
  state.counters["force_error_abs"] = absolute;
  state.counters["dots_per_s"] = static_cast<double>(count) / seconds;
  state.SetLabel(plan.info().arithmetic);
}

void run_init(benchmark::State& state, std::int64_t count, Device device) {
  const Problem& on = problem(count);
  const auto queue = Queue::create(device);
  const auto ink = on.ink.to(device);
  Array<float, 2> positions({count, 2}, queue);
  holotone::DotSampler sampler(on.ink.shape(), count, queue, Sampling::importance);
  sampler.sample(ink.view(), positions.view(), 1);
  queue.synchronize();
  const auto got = positions.to(Device{});
  std::int64_t other = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    if (got(i, 0) != on.start(i, 0) || got(i, 1) != on.start(i, 1)) ++other;
  }
  // Rounding moves about one random number in several million to the next pixel.
  if (other > 2 + count / 100000) {
    state.SkipWithError(fmt::format("{} dots are not where the CPU draws them", other).c_str());
    return;
  }
  const double seconds = seconds_a_run(state, queue, 0, [&] { sampler.sample(ink.view(), positions.view(), 1); });
  state.counters["dots_per_s"] = static_cast<double>(count) / seconds;
}

/// A complete halftone.
class FullRun {
 public:
  FullRun(const Problem& on, Device device)
      : queue_(Queue::create(device)),
        ink_(on.ink.to(device)),
        positions_({on.count, 2}, queue_),
        sampler_(on.ink.shape(), on.count, queue_),
        plan_(on.ink.shape(), on.count, queue_, row_options()) {}

  void run(std::uint64_t seed, std::int64_t iterations) {
    begin(seed);
    iterate(iterations);
  }
  void begin(std::uint64_t seed) {
    sampler_.sample(ink_.view(), positions_.view(), seed);
    plan_.set_ink(ink_.view());
    plan_.set_positions(positions_.view());
  }
  void iterate(std::int64_t iterations) {
    holotone::DescentOptions options;
    options.iterations = iterations;
    options.check_interval = iterations;
    options.patience = 0;
    electrostatic_halftone(plan_, options);
    plan_.positions(positions_.view());
  }
  [[nodiscard]] const Array<float, 2>& positions() {
    queue_.synchronize();
    return positions_;
  }
  [[nodiscard]] const Queue& queue() const { return queue_; }
  [[nodiscard]] std::string arithmetic() const { return plan_.info().arithmetic; }

 private:
  Queue queue_;
  Array<float, 2> ink_;
  Array<float, 2> positions_;
  holotone::DotSampler sampler_;
  ElectrostaticPlan plan_;
};

double mean_psnr(Problem& on, FullRun& full, std::int64_t iterations) {
  double sum = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    full.run(seed, iterations);
    sum += on.psnr(full.positions()) / seeds;
  }
  return sum;
}

void run_full(benchmark::State& state, std::int64_t count, Device device) {
  constexpr std::int64_t stride = 5;
  Problem& on = problem(count);
  FullRun full(on, device);
  full.begin(1);
  std::int64_t iterations = 0;
  double reached = 0;
  while (reached < wanted_db && iterations < most_iterations) {
    full.iterate(stride);
    iterations += stride;
    reached = on.psnr(full.positions());
  }
  double mean = 0;
  while (reached >= wanted_db && iterations <= most_iterations &&
         (mean = mean_psnr(on, full, iterations)) < wanted_db) {
    iterations += stride;
  }
  if (!(mean >= wanted_db)) {
    state.SkipWithError(fmt::format("{:.2f} dB after {} iterations", std::max(mean, reached), iterations).c_str());
    return;
  }
  std::uint64_t seed = 0;
  const double seconds =
      seconds_a_run(state, full.queue(), 2 * seeds, [&] { full.run(1 + seed++ % seeds, iterations); });
  state.counters["iterations"] = static_cast<double>(iterations);
  state.counters["blurred_psnr"] = mean;
  state.counters["dots_per_s"] = static_cast<double>(count) / seconds;
  state.SetLabel(full.arithmetic());
}

}  // namespace

void add_halftone_rows(const RowOptions& options) {
  const auto device = options.device;
  const auto add = [&](const std::string& name, std::int64_t count, auto body) {
    if (count > options.max_points) return;
    auto* const row = register_row(fmt::format("halftone/{}/{}", name, count), body);
    if (device.backend != holotone::Backend::cpu) row->Iterations(1);
  };
  for (const std::int64_t count : {16384, 65536, 262144, 1048576}) {
    add("step", count, [=](auto& state) { run_step(state, count, device, holotone::ForceSum::ewald); });
    add("full", count, [=](auto& state) { run_full(state, count, device); });
    add("init", count, [=](auto& state) { run_init(state, count, device); });
  }
  add("step_direct", 1048576, [=](auto& state) { run_step(state, 1048576, device, holotone::ForceSum::direct); });
}

}  // namespace bench
