#pragma once
#include <array>
#include <holotone/hologram/point_cloud.hpp>

// How a panel shows a cloud: with the band limit of PointCloudOptions a point lights only the pixels around it.
namespace holotone {

/// Whether any point lights any pixel, and if none does, where the points with an amplitude lie.
struct PointCoverage {
  bool has_amplitude = false;      ///< some amplitude is not 0
  bool is_lit = false;             ///< some point with an amplitude lights a pixel
  std::array<double, 2> low_m{};   ///< smallest x and y
  std::array<double, 2> high_m{};  ///< largest x and y
  double reach_m = 0;              ///< largest lambda |d| / (2 pitch): how far around it a point lights pixels
};

/// Looks for a point that lights a pixel of the panel. `points`: in host memory. Cost: O(points up to the first).
PointCoverage find_coverage(const PointSources& points, const PointCloudOptions& sum);

/// Factor of an object's size, about its centre at `distance_m`, at which every point lights pixels.
struct PanelFit {
  double scale = 1;      ///< at most 1
  bool crosses = false;  ///< the object crosses the panel, or lies in its plane
};

/// A point at s (x, y) and distance D + s (d - D), D = `distance_m`, lights pixels if it lies within half the panel and
/// lambda |distance| / (2 pitch). `points`: in host memory. Cost: O(n).
PanelFit fit_to_panel(const PointSources& points, const PointCloudOptions& sum, double distance_m);

}  // namespace holotone
