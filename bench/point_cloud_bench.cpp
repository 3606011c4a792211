// hologram/*: 1920x1080, 8 um, 532 nm, z 0.5 to 0.6 m (near: 0.2 to 0.21 m, where the band limit matters), amplitudes
// with random signs, tolerance 1e-3. Timed: from points on the device to the complex field and its 8-bit phase there
// (real: only the real part). video adds the upload of points and the download of the phase for every frame. adjoint:
// from the field to a value for each point, checked at 64 of them.
#include <bench/loop.hpp>
#include <bench/rows.hpp>
#include <benchmark/benchmark.h>
#include <cstring>
#include <fmt/format.h>
#include <map>
#include <memory>

namespace bench {
namespace {

using holotone::PointMethod;

struct Prepared {
  cases::PointCloudCase c;
  reference::PointWaves points;
  cases::PixelSample samples;
};

/// Points and reference of one cloud, computed once for consecutive rows that use it.
const Prepared& prepared(bool near, std::int64_t count) {
  static std::map<std::pair<bool, std::int64_t>, std::unique_ptr<Prepared>> all;
  auto& entry = all[{near, count}];
  if (!entry) {
    entry = std::make_unique<Prepared>();
    entry->c.count = count;
    entry->c.near_m = near ? 0.2 : 0.5;
    entry->c.far_m = near ? 0.21 : 0.6;
    entry->points = cases::make_points(entry->c);
    entry->samples = cases::sample_reference(entry->c, entry->points, 512);
  }
  return *entry;
}

/// Rates from the seconds of one frame: Google Benchmark would use the calling thread's processor time.
void set_counters(benchmark::State& state, const cases::PointCloudCase& c, double relative_error, double seconds,
                  bool real_only) {
  const double frames_per_s = 1 / seconds;
  state.counters["rel_error"] = relative_error;
  state.counters["points"] = static_cast<double>(c.count);
  state.counters["pairs_per_s"] = static_cast<double>(c.count) * static_cast<double>(c.pixels()) * frames_per_s;
  state.counters["flops_per_s"] = c.flops(real_only) * frames_per_s;
  state.counters["frames_per_s"] = frames_per_s;
}

/// Seconds of one frame. On a GPU the row is the median of single frames on a rested card; a counter holds the time
/// under full load.
template <class Work>
double time_frames(benchmark::State& state, const holotone::Queue& queue, const Work& work) {
  if (queue.device().backend == holotone::Backend::cpu) return time_iterations(state, queue, work);
  double seconds = 0;
  for (auto _ : state) {
    seconds = rested_seconds_of(queue, 15, work);
    state.SetIterationTime(seconds);
  }
  state.counters["sustained_ms"] = 1e3 * seconds_of(queue, 25, work);
  return seconds;
}

struct Row {
  PointMethod method;
  bool near;
  PointCloudRun::Output output;
  std::int64_t count;
  double tolerance = 1e-3;
};

void run_sum(benchmark::State& state, const Row& row, holotone::Device device) {
  const auto& input = prepared(row.near, row.count);
  auto c = input.c;
  c.options.method = row.method;
  c.options.tolerance = row.tolerance;
  PointCloudRun run(c, input.points, input.samples, device, row.output);
  const bool real_only = row.output == PointCloudRun::Output::real;
  if (!(run.relative_error() <= c.options.tolerance)) {
    state.SkipWithError(
        fmt::format("relative error {:.2e} is above {:.0e}", run.relative_error(), c.options.tolerance).c_str());
    return;
  }
  const double seconds = time_frames(state, run.queue(), [&] { run.run(); });
  set_counters(state, c, run.relative_error(), seconds, real_only);
  if (!real_only) state.counters["phase_error_levels"] = run.phase_error_levels();
  state.SetLabel(run.plan().info().arithmetic);
}

/// Frame after frame: points up, sum, 8-bit phase down.
void run_video(benchmark::State& state, std::int64_t count, holotone::Device device) {
  const auto& input = prepared(false, count);
  const auto& c = input.c;
  const auto queue = holotone::Queue::create(device);
  const auto pixels = static_cast<std::size_t>(c.pixels());
  const auto points = static_cast<std::size_t>(count);
  const HostMemory position(points * 3 * sizeof(float), device);
  const HostMemory amplitude(points * sizeof(float), device);
  const HostMemory levels(pixels, device);
  std::memcpy(position.data(), input.points.position_m.data(), points * 3 * sizeof(float));
  std::memcpy(amplitude.data(), input.points.amplitude.data(), points * sizeof(float));
  const holotone::PointSources sources{{static_cast<const float*>(position.data()), {count, 3}},
                                       {static_cast<const float*>(amplitude.data()), {count}},
                                       {}};
  holotone::PointCloudPlan plan(c.options, queue);
  holotone::Array<std::uint8_t, 2> phase(c.options.shape, queue);
  const holotone::View<std::uint8_t, 2> host(static_cast<std::uint8_t*>(levels.data()), c.options.shape);
  const auto frame = [&] {
    plan.set_points(sources);
    plan.execute({{}, {}, phase.view()});
    copy<std::uint8_t, 2>(host, phase.view(), queue);
  };
  // The tolerance is checked on the field of the same plan; the phase is compared in levels.
  holotone::Array<std::complex<float>, 2> field(c.options.shape, queue);
  frame();
  plan.execute({field.view(), {}, {}});
  queue.synchronize();
  const double error = cases::relative_error(input.samples, field.to(holotone::Device{}).data());
  const double levels_off = cases::phase_error_levels(input.samples, static_cast<std::uint8_t*>(levels.data()));
  if (!(error <= c.options.tolerance && levels_off < 0.4)) {
    state.SkipWithError(fmt::format("relative error {:.2e}, phase off by {:.2f} levels", error, levels_off).c_str());
    return;
  }
  set_counters(state, c, error, time_iterations(state, queue, frame), false);
  state.counters["phase_error_levels"] = levels_off;
  state.SetLabel(plan.info().arithmetic);
}

/// The adjoint of a field of the case's points, so that most terms of a point's own value are in phase.
void run_adjoint(benchmark::State& state, std::int64_t count, holotone::Device device) {
  const auto& input = prepared(false, count);
  const auto sources = cases::sources(input.points);
  const auto queue = holotone::Queue::create(device);
  holotone::PointCloudPlan plan(input.c.options, queue);
  plan.set_points(sources);
  holotone::Array<std::complex<float>, 2> field(input.c.options.shape, queue);
  plan.execute({field.view(), {}, {}});
  holotone::Array<std::complex<float>, 1> values({count}, queue);
  const auto work = [&] { plan.adjoint(field.view(), values.view()); };
  work();
  const auto host_values = values.to(holotone::Device{});
  const auto host_field = field.to(holotone::Device{});
  reference::PointWaves few{};
  std::vector<std::complex<float>> got;
  for (std::int64_t j = 0; j < count; j += std::max<std::int64_t>(count / 64, 1)) {
    few.position_m.push_back(input.points.position_m[static_cast<std::size_t>(j)]);
    got.push_back(host_values(j));
  }
  const auto expected = reference::point_cloud_adjoint(
      few, cases::panel_of(input.c.options),
      std::vector<std::complex<double>>(host_field.host().begin(), host_field.host().end()));
  double error = 0;
  double norm = 0;
  for (std::size_t j = 0; j < expected.size(); ++j) {
    error += std::norm(std::complex<double>(got[j]) - expected[j]);
    norm += std::norm(expected[j]);
  }
  error = std::sqrt(error / norm);
  if (!(error <= 2e-6)) {
    state.SkipWithError(fmt::format("relative error {:.2e} is above 2e-6", error).c_str());
    return;
  }
  set_counters(state, input.c, error, time_frames(state, queue, work), false);
}

/// A row for each price of point_cloud/choice/method.cpp and number of points, from few, whose time is the fixed cost.
template <class AddSum>
void add_price_rows(const AddSum& add_sum) {
  for (const auto& [text, tolerance] : {std::pair{"1e-3", 1e-3}, {"1e-4", 1e-4}, {"1e-5", 1e-5}}) {
    for (const auto method : {PointMethod::direct, PointMethod::recurrence, PointMethod::separable}) {
      for (const std::int64_t count : {16, 128, 1024, 8192, 30720}) {
        add_sum(fmt::format("price/{}/{}", to_string(method), text),
                {method, false, PointCloudRun::Output::field_and_phase, count, tolerance});
      }
    }
  }
}

}  // namespace

void add_point_cloud_rows(const RowOptions& options) {
  const auto device = options.device;
  const auto add_sum = [&](const std::string& name, const Row& row) {
    if (row.count > options.max_points) return;
    auto* const registered = register_row(fmt::format("hologram/{}/{}", name, row.count),
                                          [row, device](benchmark::State& state) { run_sum(state, row, device); });
    if (device.backend != holotone::Backend::cpu) registered->Iterations(1);
  };
  using Output = PointCloudRun::Output;
  const auto both = Output::field_and_phase;
  add_sum("direct", {PointMethod::direct, false, both, 30720});
  add_sum("recurrence", {PointMethod::recurrence, false, both, 30720});
  add_sum("direct_real", {PointMethod::direct, false, Output::real, 30720});
  add_sum("recurrence_real", {PointMethod::recurrence, false, Output::real, 30720});
  if (device.backend == holotone::Backend::opencl) return;  // which lacks the rest
  if (options.prices) add_price_rows(add_sum);
  for (const std::int64_t count : {1024, 10240, 30720, 102400, 1024000}) {
    add_sum("separable", {PointMethod::separable, false, both, count});
    add_sum("separable_real", {PointMethod::separable, false, Output::real, count});
    add_sum("separable_near", {PointMethod::separable, true, both, count});
  }
  if (options.max_points >= 30720) {
    auto* const adjoint = register_row("hologram/adjoint/30720",
                                       [device](benchmark::State& state) { run_adjoint(state, 30720, device); });
    if (device.backend != holotone::Backend::cpu) adjoint->Iterations(1);
    register_row("hologram/video/30720", [device](benchmark::State& state) { run_video(state, 30720, device); });
  }
}

}  // namespace bench
