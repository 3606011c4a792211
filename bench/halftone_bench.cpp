// halftone/*: electrostatic halftoning of a synthetic image of flat greys, ramps, a checkerboard, a disc and waves.
// Mean ink 0.6, one dot for each unit of ink: 65,536 dots on 330 x 330 pixels. Forces within 5e-4 of the net force at
// a random start; rows with _default: within the default tolerance.
//
// step/{dots}, step_default/{dots}: one iteration, dots on the device. step_direct/{dots}: the same by every pair,
// float32 with partial sums in float64; step_direct_float32/{dots}: sums in float32 too, as a plain kernel has them.
// Checked at 500 dots against float64 sums. init/{dots}: importance sampling (the paper's figure 7). full/{dots},
// full_default/{dots}: from ink on the device to dots at 60 dB: stratified sampling, tables of the ink, and the mean
// number of iterations of five seeds.
//
// Counters: force_error, relative to the net force at a random start; force_error_abs, 1/px; iterations; blurred_psnr,
// dB, mean of five seeds. blurred_psnr compares dots at their exact positions with the ink, both blurred by a Gaussian
// of 1.5 px, without 8 px along the borders.
#include <bench/baselines/gwosdek.hpp>
#include <bench/loop.hpp>
#include <bench/rows.hpp>
#include <bench/sampled_forces.hpp>
#include <benchmark/benchmark.h>
#include <cmath>
#include <fmt/format.h>
#include <holotone/halftone/dot_sampler.hpp>
#include <holotone/halftone/electrostatic.hpp>
#include <holotone/metrics/blurred_comparison.hpp>
#include <map>
#include <memory>
#include <tests/cases/halftone.hpp>

namespace bench {
namespace {

using holotone::Array;
using holotone::Device;
using holotone::ElectrostaticPlan;
using holotone::ForceSum;
using holotone::ImageForce;
using holotone::Queue;
using holotone::Sampling;
using holotone::Shape;

constexpr int seeds = 5;
constexpr double wanted_db = 60;
constexpr std::int64_t max_iterations = 300;

/// Ink of the synthetic image, scaled to the sum `count`.
Array<float, 2> make_ink(std::int64_t count) {
  Array<float, 2> ink = cases::halftone_ink(count);
  const auto compute_sum = [&] {
    double sum = 0;
    for (const float value : ink.host()) sum += static_cast<double>(value);
    return sum;
  };
  for (const bool clip : {true, false}) {
    const double scale = static_cast<double>(count) / compute_sum();
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
  }

  [[nodiscard]] double psnr(const Array<float, 2>& positions) {
    const auto host = positions.to(Device{});
    return comparison.execute(host.view()).front().psnr_db;
  }
  /// Float64 forces at `start`.
  [[nodiscard]] const SampledForces& forces(ImageForce image) {
    auto& force = forces_[image];
    if (!force) force = std::make_unique<SampledForces>(ink.view(), start.view(), image);
    return *force;
  }

  std::int64_t count;
  Array<float, 2> ink;
  Array<float, 2> start;  ///< random
  holotone::BlurredComparisonPlan comparison;

 private:
  static holotone::BlurOptions blur() {
    holotone::BlurOptions options;
    options.sigma = {1.5};
    options.margin = 8;
    options.structure = false;
    return options;
  }

  std::map<ImageForce, std::unique_ptr<SampledForces>> forces_;
};

Problem& problem(std::int64_t count) {
  static std::map<std::int64_t, std::unique_ptr<Problem>> all;
  auto& made = all[count];
  if (!made) made = std::make_unique<Problem>(count);
  return *made;
}

/// Tolerance of the rows without another one in their name.
constexpr double coarse = 5e-4;
const double standard = holotone::ElectrostaticOptions{}.tolerance;

holotone::ElectrostaticOptions row_options(double tolerance, ForceSum sum = ForceSum::ewald) {
  holotone::ElectrostaticOptions options;
  options.sum = sum;
  options.tolerance = tolerance;
  return options;
}

/// Error of the plan's forces at the start.
std::array<double, 2> force_error(Problem& on, ElectrostaticPlan& plan) {
  Array<float, 2> forces({on.count, 2}, plan.queue());
  plan.forces(forces.view());
  const auto got = forces.to(Device{});
  return on.forces(ImageForce::spots).error(got.view());
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

void set_counters(benchmark::State& state, const std::array<double, 2>& error, std::int64_t count, double seconds) {
  state.counters["force_error"] = error[0];
  state.counters["force_error_abs"] = error[1];
  state.counters["dots_per_s"] = static_cast<double>(count) / seconds;
}

void run_step(benchmark::State& state, std::int64_t count, Device device,
              const holotone::ElectrostaticOptions& options) {
  Problem& on = problem(count);
  const auto queue = Queue::create(device);
  ElectrostaticPlan plan(on.ink.shape(), count, queue, options);
  const auto ink = on.ink.to(device);
  const auto start = on.start.to(device);
  plan.set_ink(ink.view());
  plan.set_positions(start.view());
  const auto error = force_error(on, plan);
  if (!(error[0] <= options.tolerance)) {
    state.SkipWithError(fmt::format("force error {:.2e} is above {:.0e}", error[0], options.tolerance).c_str());
    return;
  }
  const bool direct = options.sum == ForceSum::direct;
  const double seconds = seconds_a_run(state, queue, direct ? 3 : 0, [&] { plan.step(); });
  set_counters(state, error, count, seconds);
  state.SetLabel(plan.info().arithmetic);
}

/// The sum of every pair in float32 throughout, with the paper's image force and its steps.
void run_step_float32(benchmark::State& state, std::int64_t count, Device device) {
  constexpr double max_error = 0.1;
  Problem& on = problem(count);
  const auto queue = Queue::create(device);
  GwosdekOptions options;
  options.sum = GwosdekSum::direct;
  GwosdekStep step(on.ink.shape(), count, queue, options);
  const auto start = on.start.to(device);
  step.set_ink(on.ink.view());
  step.set_positions(start.view());
  Array<float, 2> forces({count, 2}, queue);
  step.forces(forces.view());
  const auto got = forces.to(Device{});
  const auto error = on.forces(ImageForce::points).error(got.view());
  if (!(error[0] <= max_error)) {
    state.SkipWithError(fmt::format("force error {:.2e} is above {:.0e}", error[0], max_error).c_str());
    return;
  }
  const double seconds = seconds_a_run(state, queue, 3, [&] { step.step(); });
  set_counters(state, error, count, seconds);
  state.SetLabel("float32 pairs added in float32 (bench/baselines/gwosdek.hpp)");
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
  FullRun(const Problem& on, Device device, double tolerance)
      : queue_(Queue::create(device)),
        ink_(on.ink.to(device)),
        positions_({on.count, 2}, queue_),
        sampler_(on.ink.shape(), on.count, queue_),
        plan_(on.ink.shape(), on.count, queue_, row_options(tolerance)) {}

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

void run_full(benchmark::State& state, std::int64_t count, Device device, double tolerance) {
  constexpr std::int64_t stride = 5;
  Problem& on = problem(count);
  FullRun full(on, device, tolerance);
  full.begin(1);
  std::int64_t iterations = 0;
  double reached = 0;
  while (reached < wanted_db && iterations < max_iterations) {
    full.iterate(stride);
    iterations += stride;
    reached = on.psnr(full.positions());
  }
  double mean = 0;
  while (reached >= wanted_db && iterations <= max_iterations && (mean = mean_psnr(on, full, iterations)) < wanted_db) {
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
    for (const auto& [suffix, tolerance] : {std::pair("", coarse), {"_default", standard}}) {
      add(fmt::format("step{}", suffix), count,
          [=, tolerance = tolerance](auto& state) { run_step(state, count, device, row_options(tolerance)); });
      add(fmt::format("full{}", suffix), count,
          [=, tolerance = tolerance](auto& state) { run_full(state, count, device, tolerance); });
    }
    add("init", count, [=](auto& state) { run_init(state, count, device); });
  }
  constexpr std::int64_t many = 1048576;
  add("step_direct", many, [=](auto& state) { run_step(state, many, device, row_options(coarse, ForceSum::direct)); });
  if (device.backend == holotone::Backend::cpu) return;  // the CPU's plain loops take an hour
  add("step_direct_float32", many, [=](auto& state) { run_step_float32(state, many, device); });
}

}  // namespace bench
