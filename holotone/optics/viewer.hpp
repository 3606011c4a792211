#pragma once

namespace holotone {

/// Viewing window: a rectangle parallel to the panel.
struct Viewer {
  double width_m = 0;
  double height_m = 0;
  double distance_m = 0;  ///< distance in front of the panel
  double x_m = 0;         ///< centre, from the panel's axis
  double y_m = 0;
};

}  // namespace holotone
