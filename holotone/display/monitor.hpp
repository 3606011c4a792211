#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace holotone {

/// A monitor of this machine, or a modulator that is connected as one.
struct Monitor {
  int number = 0;                          ///< 1, 2, ... in the order of the system; 1 is the primary one
  std::string name;                        ///< as the system calls it
  std::int64_t nx = 0;                     ///< pixels of the present mode
  std::int64_t ny = 0;                     ///<
  double refresh_hz = 0;                   ///< of the present mode
  int x_px = 0;                            ///< place of the upper left corner on the desktop
  int y_px = 0;                            ///<
  double width_m = 0;                      ///< of the picture, 0 if the monitor does not say
  double height_m = 0;                     ///<
  std::vector<double> refresh_rates_hz{};  ///< that it has at this size, rising
};

/// The monitors, in the order of their numbers. Throws unsupported without GLFW (libglfw3) or a display to open.
/// Call it in the main thread, as all of this module.
std::vector<Monitor> monitors();

/// The monitor of a number ("2"), a name or part of one that only one has ("HOLOEYE"), or a size that only one has
/// ("1920x1080"). Throws invalid_argument, listing the monitors, for none or several.
Monitor find_monitor(std::string_view which, const std::vector<Monitor>& among);

/// "1: eDP-1, 1920 x 1080 pixels, 60 Hz, at 0, 0"
std::string to_string(const Monitor& monitor);

}  // namespace holotone
