#pragma once
#include <cstdint>
#include <functional>
#include <holotone/core/array.hpp>
#include <holotone/core/device.hpp>
#include <holotone/display/monitor.hpp>
#include <holotone/display/safe_pattern.hpp>
#include <memory>
#include <string>
#include <vector>

namespace holotone {

struct PanelWindowOptions {
  /// Number, name or size of the monitor (find_monitor).
  std::string monitor{};
  /// {ny, nx}: draws in memory instead of on a monitor, on a machine without a display; {0, 0}: on `monitor`. A refresh
  /// takes no time there.
  Shape<2> offscreen{};
  /// CUDA device that draws `offscreen`; EGL's first if it lacks that one, or for the CPU. Its own codes need no host.
  Device device{};
  double refresh_hz = 0;  ///< a rate of the monitor; 0: the present one
  bool centre = false;    ///< shows pictures smaller than the panel in its middle, code 0 around them
  /// What is sent for each code of one byte, 256 values: undoes a table in the driver of the panel. Empty: the code.
  std::vector<std::uint8_t> display_lut{};
  /// Channels of "rgb" that get the high and the low byte of 16-bit codes, "rg" or another pair. Empty: such codes are
  /// refused, as a panel of 8 bits would show their bytes.
  std::string packing{};
  SafePattern safe{};
  /// Shows the safe pattern while another window has the keyboard, once this one had it. The window never takes the
  /// keyboard by itself.
  bool safe_without_focus = true;
  std::function<double()> clock{};  ///< seconds, rising; none: the system's steady clock
};

/// A window that fills a panel's monitor and shows codes pixel for pixel: without borders, scaling, cursor or screen
/// saver, on top, with a linear gamma ramp that is put back at the end. It shows the safe pattern from its start to
/// the first codes, at its end, and whenever show_safe is called; an exception that ends its life counts as its end.
/// One window at a time draws in a thread; all calls come from the thread that made it, on a monitor the main thread.
class PanelWindow {
 public:
  /// Opens the window and shows the safe pattern. Throws invalid_argument, listing the monitors, for one that is not
  /// there or lacks the refresh rate; unsupported without GLFW, a display or OpenGL 3.2.
  explicit PanelWindow(const PanelWindowOptions& options);
  /// Shows the safe pattern once more and closes.
  ~PanelWindow();
  PanelWindow(const PanelWindow&) = delete;
  PanelWindow& operator=(const PanelWindow&) = delete;

  /// Shows codes and returns when the panel does: the time, in seconds of the clock, of the refresh that shows them.
  /// Of the panel's shape unless `centre`. Grey {ny, nx} and 16-bit codes {ny, nx}, split in two channels, may lie on
  /// any device, ordered after the work of `queue`: from CUDA they reach the window's memory without the host where the
  /// driver allows it. Throws what poll throws.
  double show(View<const std::uint8_t, 2> codes, const Queue& queue = {});
  double show(View<const std::uint16_t, 2> codes, const Queue& queue = {});
  /// A channel for each colour {ny, nx, 3}.
  double show(View<const std::uint8_t, 3> codes, const Queue& queue = {});
  double show_safe();

  /// Handles what happened to the window; call it every 0.1 s or so while nothing is shown. Shows the safe pattern when
  /// the focus is lost, and the codes when it returns. Throws cancelled if the user closed the window (Escape, q), io
  /// if the monitor is gone.
  void poll();

  /// What was sent last, {ny, nx, 3}.
  [[nodiscard]] Array<std::uint8_t, 3> sent() const;
  [[nodiscard]] const Monitor& monitor() const;
  /// Seconds of the clock.
  [[nodiscard]] double now_s() const;
  /// True if the last codes reached the window's memory without the host.
  [[nodiscard]] bool direct() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace holotone
