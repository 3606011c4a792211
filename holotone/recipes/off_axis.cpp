#include <algorithm>
#include <array>
#include <cmath>
#include <holotone/core/error.hpp>
#include <holotone/recipes/off_axis.hpp>
#include <limits>

namespace holotone {
namespace {

struct Sides {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void include(double middle, double side) {
    low = std::min(low, middle - side / 2);
    high = std::max(high, middle + side / 2);
  }
};

/// Places along an axis of the panel that see the window at its largest and smallest frequencies: the edges, and the
/// place nearest to the viewer, from where the other axis' frequencies are largest.
std::array<double, 3> places(std::int64_t count, double pitch_m, double viewer_m) {
  const double edge = static_cast<double>(count) / 2 * pitch_m;
  return {-edge, std::clamp(viewer_m, -edge, edge), edge};
}

}  // namespace

SignalWindow window_over_panel(const FieldGrid& grid, const Viewer& viewer) {
  require_grid("window_over_panel", grid);
  Sides x;
  Sides y;
  for (const double right : places(grid.nx, grid.pitch_m, viewer.x_m)) {
    for (const double up : places(grid.ny, grid.pitch_m, viewer.y_m)) {
      const auto window = signal_window(grid, viewer, right, up);
      x.include(window.xi, window.width);
      y.include(window.eta, window.height);
    }
  }
  return {(x.low + x.high) / 2, (y.low + y.high) / 2, x.high - x.low, y.high - y.low};
}

SignalWindow less_beam(SignalWindow window, const FieldGrid& grid, const ReferenceBeam& beam) {
  window.xi -= std::sin(beam.angle_x_rad) * grid.pitch_m / grid.wavelength_m;
  window.eta += std::sin(beam.angle_y_rad) * grid.pitch_m / grid.wavelength_m;  // rows run down
  return window;
}

bool is_off_axis(const FieldGrid& grid, const Viewer& viewer, const ReferenceBeam& beam) {
  const auto all = less_beam(window_over_panel(grid, viewer), grid, beam);
  return std::abs(all.xi) >= all.width / 2 || std::abs(all.eta) >= all.height / 2;
}

std::optional<ReferenceBeam> off_axis_beam(const FieldGrid& grid, const Viewer& viewer, double margin) {
  require_range("off_axis_beam", "margin", margin, 0, 0.5);
  const auto all = window_over_panel(grid, viewer);
  std::optional<ReferenceBeam> best;
  double least = std::numeric_limits<double>::infinity();
  // The beam's frequencies from `low` to `high` separate the window.
  const auto consider = [&](double low, double high, bool along_y) {
    if (low > high) return;
    const double cycles = std::clamp(0.0, low, high);
    const double sine = cycles * grid.wavelength_m / grid.pitch_m;
    constexpr double equal = 1e-9;
    if (std::abs(cycles) > least - equal || std::abs(sine) >= 1) return;
    least = std::abs(cycles);
    const double angle = std::asin(sine);
    best = along_y ? ReferenceBeam{0, -angle} : ReferenceBeam{angle, 0};  // rows run down
  };
  for (const bool along_y : {true, false}) {
    const double middle = along_y ? all.eta : all.xi;
    const double half = (along_y ? all.height : all.width) / 2;
    consider(middle + half + margin, middle - half + 0.5, along_y);
    consider(middle + half - 0.5, middle - half - margin, along_y);
  }
  return best;
}

}  // namespace holotone
