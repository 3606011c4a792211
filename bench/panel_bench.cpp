// panel/points/N: from N points in page-locked memory to a 1920x1080 panel's picture in OpenGL's memory, without a
// display: points to the device, sum, 8-bit phase, texture, drawing, and the wait until all is done. sum_ms: the same to
// the phase on the device. Checked: the picture is the phase.
#include <bench/loop.hpp>
#include <bench/rows.hpp>
#include <cstring>
#include <fmt/format.h>
#include <holotone/display/panel_window.hpp>

namespace bench {
namespace {

void run_panel(benchmark::State& state, std::int64_t count, holotone::Device device) {
  cases::PointCloudCase c;
  c.count = count;
  c.near_m = 0.5;
  c.far_m = 0.6;
  const auto points = cases::make_points(c);
  const auto queue = holotone::Queue::create(device);
  const auto bytes = static_cast<std::size_t>(count) * sizeof(float);
  const HostMemory position(3 * bytes, device);
  const HostMemory amplitude(bytes, device);
  std::memcpy(position.data(), points.position_m.data(), 3 * bytes);
  std::memcpy(amplitude.data(), points.amplitude.data(), bytes);
  const holotone::PointSources sources{{static_cast<const float*>(position.data()), {count, 3}},
                                       {static_cast<const float*>(amplitude.data()), {count}},
                                       {}};
  holotone::PanelWindow window({.offscreen = c.options.shape});
  holotone::PointCloudPlan plan(c.options, queue);
  holotone::Array<std::uint8_t, 2> phase(c.options.shape, queue);
  const auto sum = [&] {
    plan.set_points(sources);
    plan.execute({{}, {}, phase.view()});
  };
  const auto frame = [&] {
    sum();
    window.show(phase.view(), queue);
  };
  frame();
  const auto sent = window.sent();
  const auto expected = phase.to(holotone::Device{});
  for (std::int64_t i = 0; i < expected.size(); ++i) {
    if (sent.data()[3 * i] != expected.data()[i]) return state.SkipWithError("the panel shows other codes");
  }
  state.counters["sum_ms"] = 1e3 * seconds_of(queue, 25, sum);
  const double seconds = time_iterations(state, queue, frame);
  state.counters["points"] = static_cast<double>(count);
  state.counters["frames_per_s"] = 1 / seconds;
  state.SetLabel(
      fmt::format("{}, {}", plan.info().arithmetic, window.direct() ? "without the host" : "through the host"));
}

}  // namespace

void add_panel_rows(const RowOptions& options) {
  for (const std::int64_t count : {30'000, 437'645, 1'000'000}) {
    if (count > options.max_points) continue;
    register_row(fmt::format("panel/points/{}", count),
                 [=, device = options.device](benchmark::State& state) { run_panel(state, count, device); });
  }
}

}  // namespace bench
