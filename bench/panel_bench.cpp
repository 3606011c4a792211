// panel/points/N: from N points in page-locked memory to a 1920x1080 panel's picture in OpenGL's memory, without a
// display: points to the device, sum, 8-bit phase, texture, drawing, and the wait until all is done. sum_ms: the same
// to the phase on the device; texture_ms: until the phase is in OpenGL's texture. Checked: the picture is the phase.
#include <algorithm>
#include <bench/loop.hpp>
#include <bench/rows.hpp>
#include <cstring>
#include <fmt/format.h>
#include <holotone/display/panel_window.hpp>
#if HOLOTONE_DISPLAY
#include <holotone/display/opengl/canvas.hpp>
#include <holotone/display/opengl/surface.hpp>
#endif

namespace bench {
namespace {

/// Seconds from `sum` to a texture that holds its codes; it is drawn in between, as on a panel.
template <class Sum>
double texture_seconds([[maybe_unused]] const holotone::Array<std::uint8_t, 2>& phase,
                       [[maybe_unused]] const holotone::Queue& queue, [[maybe_unused]] const Sum& sum) {
#if HOLOTONE_DISPLAY
  const auto surface = holotone::display::offscreen_surface(phase.shape(), queue.device().index);
  const holotone::display::Gl gl([&](const char* name) { return surface->find_address(name); });
  const holotone::display::Canvas canvas(gl, {.shape = phase.shape()});
  holotone::display::Texture texture(gl);
  std::vector<double> times;
  for (int i = 0; i < 50; ++i) {
    const Stopwatch clock;
    sum();
    texture.write({phase.data(), phase.shape(), 1, 1, phase.device()}, queue);
    queue.synchronize();
    times.push_back(clock.seconds());
    canvas.draw(texture);
    surface->present(gl);
    texture.expect_write();
  }
  std::nth_element(times.begin(), times.begin() + 25, times.end());
  return times[25];
#else
  return 0;
#endif
}

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
  holotone::PointCloudPlan plan(c.options, queue);
  holotone::Array<std::uint8_t, 2> phase(c.options.shape, queue);
  const auto sum = [&] {
    plan.set_points(sources);
    plan.execute({{}, {}, phase.view()});
  };
  state.counters["texture_ms"] = 1e3 * texture_seconds(phase, queue, sum);
  holotone::PanelWindow window({.offscreen = c.options.shape, .device = queue.device()});
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
