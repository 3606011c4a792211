// hologram/fast/*: 1920x1080, 8 um, 532 nm, z 0.5 to 0.6 m, no band limit, amplitudes with random signs, tolerance
// 1e-3 (fast_fine: 1e-4; fast_near: z 0.2 to 0.4 m at 5e-3; fast_dragon: a scan's vertices in the same box). Timed:
// from points on the device, checked and sorted in every run, to the complex field and its 8-bit phase there.
// fast_replan: a new depth range in every run, so new tables too. exact/*: what a user gets who gives nothing, the
// method automatic and exact waves with the band limit; fresnel/*: the same with Fresnel's.
#include <algorithm>
#include <bench/loop.hpp>
#include <bench/rows.hpp>
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/io/points/points.hpp>
#include <optional>
#include <utility>

namespace bench {
namespace {

struct Row {
  std::string name;
  double near_m;
  double far_m;
  double tolerance;
  std::int64_t count;
  std::string scan{};  ///< file with the points
  /// What differs from the rows without a band limit.
  std::optional<holotone::Wave> limited{};
  double pitch_m = 8e-6;
  holotone::Shape<2> shape = {1080, 1920};
  double extent = 0.8;  ///< of the cloud, as a share of the panel
};

cases::PointCloudCase make_case(const Row& row) {
  cases::PointCloudCase c;
  c.count = row.count;
  c.near_m = row.near_m;
  c.far_m = row.far_m;
  c.options.method = holotone::PointMethod::fast;
  c.options.tolerance = row.tolerance;
  c.options.pitch_m = row.pitch_m;
  c.options.shape = row.shape;
  c.extent = row.extent;
  c.options.band_limit = row.limited.has_value();
  if (row.limited) {
    c.options.wave = *row.limited;
    c.options.method = holotone::PointMethod::automatic;
  }
  return c;
}

/// Replaces the points' positions with the scan's vertices, scaled to the case's box.
void take_scan(const cases::PointCloudCase& c, const std::string& path, reference::PointWaves& points) {
  const auto mesh = holotone::read_scene(path);
  const auto& vertices = mesh.position;
  if (std::ssize(vertices) < c.count) {
    holotone::throw_io(path, fmt::format("{} vertices", c.count), std::to_string(vertices.size()));
  }
  holotone::Vec3f low = vertices.at(0);
  holotone::Vec3f high = low;
  for (const auto& vertex : vertices) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      low[axis] = std::min(low[axis], vertex[axis]);
      high[axis] = std::max(high[axis], vertex[axis]);
    }
  }
  const double pitch = c.options.pitch_m;
  const double scale = c.extent * pitch *
                       std::min(static_cast<double>(c.options.shape[1]) / (high[0] - low[0]),
                                static_cast<double>(c.options.shape[0]) / (high[1] - low[1]));
  for (std::size_t j = 0; j < points.position_m.size(); ++j) {
    for (std::size_t axis = 0; axis < 2; ++axis) {
      points.position_m[j][axis] = static_cast<float>(scale * (vertices[j][axis] - 0.5 * (low[axis] + high[axis])));
    }
    const double depth = (high[2] - vertices[j][2]) / (high[2] - low[2]);
    points.position_m[j][2] = static_cast<float>(-(c.near_m + (c.far_m - c.near_m) * depth));
  }
}

/// Points and outputs on the device, and a plan, checked against the float64 sum.
class FastRun {
 public:
  FastRun(const Row& row, holotone::Device device) : queue_(holotone::Queue::create(device)), case_(make_case(row)) {
    auto points = cases::make_points(case_);
    if (!row.scan.empty()) take_scan(case_, row.scan, points);
    // Number of reference pixels for five billion waves in total, 32 to 512.
    const auto samples = std::clamp<std::int64_t>(5'000'000'000 / case_.count, 32, 512);
    auto expected = cases::sample_reference(case_, points, samples);
    const auto sources = cases::sources(points);
    position_m_ = copy_of(sources.position_m, device);
    amplitude_ = copy_of(sources.amplitude, device);
    field_ = holotone::Array<std::complex<float>, 2>(case_.options.shape, queue_);
    phase_ = holotone::Array<std::uint8_t, 2>(case_.options.shape, queue_);
    queue_.synchronize();
    if (row.limited == holotone::Wave::spherical) take_plane_waves(expected);
    plan_.emplace(case_.options, queue_);
    run();
    queue_.synchronize();
    const auto host = field_.to(holotone::Device{});
    relative_error = cases::relative_error(expected, host.data());
    largest_error = cases::largest_error(expected, host.data());
  }

  void run() {
    plan_->set_points({position_m_.view(), amplitude_.view(), {}});
    plan_->execute({field_.view(), {}, phase_.view()});
  }
  /// Runs the cloud at another depth than the run before: the plan computes its tables again, but reuses the products'
  /// algorithms.
  void run_elsewhere() {
    if (elsewhere_m_.data() == nullptr) {
      auto host = position_m_.to(holotone::Device{});
      for (std::int64_t j = 0; j < case_.count; ++j) host(j, 2) -= 0.1F;
      elsewhere_m_ = copy_of(std::as_const(host).view(), queue_.device());
      queue_.synchronize();
    }
    std::swap(position_m_, elsewhere_m_);
    run();
  }

  [[nodiscard]] const holotone::Queue& queue() const { return queue_; }
  [[nodiscard]] const holotone::PointCloudPlan& plan() const { return *plan_; }
  [[nodiscard]] const cases::PointCloudCase& source() const { return case_; }
  double relative_error = 0;
  double largest_error = 0;
  double edge_error = 0;  ///< of the definition by directions to the pixels, for an exact row

 private:
  /// The reference has the band limit at the direction to the pixel, whose edge is another than that of plane waves
  /// (docs/holograms.md). Puts the sum at a tolerance of 1e-5, which the tests compare with that of plane waves in
  /// float64, in its place.
  void take_plane_waves(cases::PixelSample& expected) {
    auto options = case_.options;
    options.tolerance = holotone::point_cloud_fast_tolerance_floor;
    plan_.emplace(options, queue_);
    run();
    queue_.synchronize();
    const auto host = field_.to(holotone::Device{});
    edge_error = cases::relative_error(expected, host.data());
    for (std::size_t i = 0; i < expected.index.size(); ++i) expected.value[i] = host.data()[expected.index[i]];
  }

  holotone::Queue queue_;
  cases::PointCloudCase case_;
  holotone::Array<float, 2> position_m_;
  holotone::Array<float, 2> elsewhere_m_;
  holotone::Array<float, 1> amplitude_;
  holotone::Array<std::complex<float>, 2> field_;
  holotone::Array<std::uint8_t, 2> phase_;
  std::optional<holotone::PointCloudPlan> plan_;
};

void time_row(benchmark::State& state, const Row& row, holotone::Device device, bool anew) {
  FastRun run(row, device);
  if (!(run.relative_error <= row.tolerance && run.largest_error <= 10 * row.tolerance && run.edge_error <= 0.2)) {
    state.SkipWithError(fmt::format("relative error {:.2e}, largest {:.2e}, tolerance {:.0e}", run.relative_error,
                                    run.largest_error, row.tolerance)
                            .c_str());
    return;
  }
  const auto work = [&] { anew ? run.run_elsewhere() : run.run(); };
  if (anew) {
    for (int i = 0; i < 2; ++i) work();  // chooses both depths' algorithms
  }
  double seconds = 0;
  if (device.backend == holotone::Backend::cpu || anew) {
    seconds = time_iterations(state, run.queue(), work);
  } else {
    for (auto _ : state) {
      seconds = rested_seconds_of(run.queue(), 15, work);
      state.SetIterationTime(seconds);
    }
    state.counters["sustained_ms"] = 1e3 * seconds_of(run.queue(), 25, work);
  }
  const auto& c = run.source();
  state.counters["rel_error"] = run.relative_error;
  state.counters["max_error"] = run.largest_error;
  if (run.edge_error > 0) state.counters["edge_error"] = run.edge_error;
  state.counters["points"] = static_cast<double>(c.count);
  state.counters["points_per_s"] = static_cast<double>(c.count) / seconds;
  state.counters["pairs_per_s"] = static_cast<double>(c.count) * static_cast<double>(c.pixels()) / seconds;
  state.counters["workspace_bytes"] = static_cast<double>(run.plan().info().workspace_bytes);
  state.SetLabel(run.plan().info().arithmetic);
}

}  // namespace

void add_point_cloud_fast_rows(const RowOptions& options) {
  const bool gpu = options.device.backend != holotone::Backend::cpu;
  const auto add = [&](const Row& row, bool anew = false) {
    // A fast sum costs about a hundredth of the others, so it may have a hundred times their limit of points.
    if (row.count > 100 * options.max_points) return;
    const auto name = fmt::format("hologram/{}/{}", row.name, row.count);
    auto* const registered =
        register_row(name, [row, anew, device = options.device](auto& state) { time_row(state, row, device, anew); });
    if (gpu) registered->Iterations(anew ? 5 : 1);
  };
  for (const std::int64_t count : {30000, 100000, 1000000, 10000000, 100000000}) {
    add({"fast", 0.5, 0.6, 1e-3, count});
  }
  add({"fast_fine", 0.5, 0.6, 1e-4, 1000000});
  add({"fast_near", 0.2, 0.4, 5e-3, 1000000});
  add({"fast_replan", 0.5, 0.6, 1e-3, 100000}, true);
  const auto add_limited = [&](const std::string& name, holotone::Wave wave) {
    for (const std::int64_t count : {30000, 300000, 1000000, 10000000}) {
      add({name + "/1080p_20cm", 0.2, 0.21, 1e-3, count, {}, wave});
      add({name + "/1080p_50cm", 0.5, 0.6, 1e-3, count, {}, wave});
      add({name + "/1080p_20cm_8mm", 0.2, 0.208, 1e-3, count, {}, wave, 8e-6, {1080, 1920}, 0.52});
      add({name + "/4k_5cm", 0.05, 0.06, 1e-3, count, {}, wave, 3.74e-6, {2160, 3840}});
    }
  };
  add_limited("fresnel", holotone::Wave::fresnel);
  if (options.device.backend != holotone::Backend::opencl) add_limited("exact", holotone::Wave::spherical);
  if (!options.scan.empty()) add({"fast_dragon", 0.5, 0.6, 1e-3, 437645, options.scan});
}

}  // namespace bench
