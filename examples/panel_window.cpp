// Shows the hologram of a turning ring on a panel that is a monitor: panel_window MONITOR. Without an argument the
// panel is drawn in memory, for a machine without a display.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <holotone/display/frame_pacer.hpp>
#include <holotone/display/panel_window.hpp>
#include <holotone/hologram/point_cloud.hpp>
#include <thread>

int main(int argc, char** argv) try {
  using namespace holotone;
  PanelWindowOptions options;
  if (argc > 1) options.monitor = argv[1];
  if (argc == 1) options.offscreen = {270, 480};
  PanelWindow window(options);  // shows the safe pattern
  const Monitor& monitor = window.monitor();

  const Device device = parse_device("auto");
  const Queue queue = Queue::create(device);
  PointCloudPlan plan({.wavelength_m = 532e-9, .pitch_m = 8e-6, .shape = {monitor.ny, monitor.nx}}, queue);
  Array<std::uint8_t, 2> codes({monitor.ny, monitor.nx}, queue);
  constexpr std::int64_t points = 400;
  Array<float, 2> position({points, 3});
  Array<float, 1> amplitude({points});
  std::fill_n(amplitude.data(), points, 1.0F);
  FramePacer pacer({.refresh_hz = monitor.refresh_hz, .fps = 30});
  for (int frame = 0; frame < 30; ++frame) {
    for (std::int64_t i = 0; i < points; ++i) {
      const double around = 6.2832 * static_cast<double>(i) / points;
      const double turn = 6.2832 * frame / 30;
      position(i, 0) = static_cast<float>(1e-3 * std::cos(around) * std::cos(turn));
      position(i, 1) = static_cast<float>(1e-3 * std::sin(around));
      position(i, 2) = static_cast<float>(-0.2 + 1e-3 * std::cos(around) * std::sin(turn));
    }
    plan.set_points({.position_m = position.view(), .amplitude = amplitude.view()});
    plan.execute({.field = {}, .real = {}, .phase = codes.view()});
    const double wait_s = pacer.next(window.now_s()).start_s - window.now_s();
    if (wait_s > 0) std::this_thread::sleep_for(std::chrono::duration<double>(wait_s));
    pacer.shown(window.show(codes.view(), queue));
  }
  const FrameCounts& counts = pacer.counts();
  std::printf("%s: %lld frames, %lld late, codes %s the host\n", to_string(monitor).c_str(),
              static_cast<long long>(counts.shown), static_cast<long long>(counts.late),
              window.direct() ? "without" : "through");
  return counts.shown == 30 ? 0 : 1;  // the window shows the safe pattern once more and closes
} catch (const holotone::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return error.code() == holotone::ErrorCode::unsupported ? 77 : 2;  // 77: no display here, nor OpenGL in memory
}
