#include <algorithm>
#include <cmath>
#include <holotone/hologram/point_cloud/choice/fast_grid.hpp>

namespace holotone::point_cloud {
namespace {

// Measured on an H200: launches in microseconds, nanoseconds of a point on 32 x 32 places, with its part of the lists,
// and of a pixel in tiles of 128.
constexpr double launches_us = 60;
constexpr double point_ns = 0.07;
constexpr double pixel_ns = 3e-5;
constexpr int strip = 32;

/// What a point lights along an axis of the tiles of CoarseSums.
struct CoarseLighting {
  double whole = 0;         ///< tiles lit wholly
  double strips = 0;        ///< lit strips of other tiles
  double subtiles = 0;      ///< lit subtiles
  double cut_subtiles = 0;  ///< of them, those of tiles that are not lit wholly
};
CoarseLighting coarse_lighting(double center, double reach, std::int64_t extent, int side) {
  const std::int64_t tiles = (extent + side - 1) / side;
  const std::int64_t tile = (extent + tiles - 1) / tiles;
  const auto lit = [&](std::int64_t first, std::int64_t end, std::int64_t step) {
    const double from = std::max(center - reach, static_cast<double>(first));
    const double to = std::min(center + reach, static_cast<double>(end - 1));
    if (from > to) return 0.0;
    const auto number = [&](double pixel) {
      return std::floor((pixel - static_cast<double>(first)) / static_cast<double>(step));
    };
    return number(to) - number(from) + 1;
  };
  CoarseLighting lighting;
  for (std::int64_t first = 0; first < extent; first += tile) {
    const std::int64_t end = std::min(first + tile, extent);
    const double subtiles = lit(first, end, subtile_side);
    lighting.subtiles += subtiles;
    if (center - reach <= static_cast<double>(first) && center + reach >= static_cast<double>(end - 1)) {
      lighting.whole += 1;
    } else {
      lighting.strips += lit(first, end, strip);
      lighting.cut_subtiles += subtiles;
    }
  }
  return lighting;
}

}  // namespace

double coarse_time(const FastCloud& cloud, const FastGrid& grid) {
  const int side = grid.coarse_side;
  double tasks = 0;
  double subtiles = 0;
  for (const auto& position : cloud.summary.sample) {
    const double reach = cloud.reach_per_metre * std::abs(static_cast<double>(position[2]));
    const auto x = coarse_lighting(cloud.center_x + position[0] * cloud.inverse_pitch, reach, cloud.panel[1], side);
    const auto y = coarse_lighting(cloud.center_y - position[1] * cloud.inverse_pitch, reach, cloud.panel[0], side);
    const double curvature = position[2] != 0 ? cloud.turns_metre / -static_cast<double>(position[2]) : 1e30;
    if (std::abs(curvature - grid.coarse_curvature) <= max_coarse_curvature(side)) {
      tasks += x.whole * (y.whole + y.strips) + x.strips * y.whole;
      subtiles += x.cut_subtiles * y.cut_subtiles;
    } else {
      subtiles += x.subtiles * y.subtiles;
    }
  }
  const double points = static_cast<double>(cloud.count) / static_cast<double>(cloud.summary.sample.size());
  const auto tiles = [side](std::int64_t extent) { return static_cast<double>((extent + side - 1) / side); };
  const double pixels = tiles(cloud.panel[0]) * tiles(cloud.panel[1]) * side * side;
  return launches_us + 1e-3 * (points * (tasks * point_ns + subtiles * subtile_side * subtile_side * on_chip_pair_ns) +
                               pixels * side / 128 * pixel_ns);
}

}  // namespace holotone::point_cloud
