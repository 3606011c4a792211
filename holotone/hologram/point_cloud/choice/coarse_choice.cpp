#include <algorithm>
#include <cmath>
#include <holotone/hologram/point_cloud/choice/fast_grid.hpp>

namespace holotone::point_cloud {
namespace {

// Measured on an H200: launches in microseconds, nanoseconds of a point on 32 x 32 places, with its part of the lists
// (Fresnel's; exact, 0.3 to 10 million points on 2.5 gigapixels), and of a pixel in tiles of 128.
constexpr double launches_us = 60;
constexpr double point_ns = 0.07;
constexpr double exact_point_ns = 0.117;
constexpr double pixel_ns = 1.4e-2;
constexpr int strip = 32;

/// Exact waves on coarse nodes: lambda / pitch at most, so that the limit of light, a hyperbola, is a rectangle within
/// its soft edge.
constexpr double max_node_ratio = 0.6;
/// Share of the nearest point's reach that a tile may have: corners of light, whose sums leave out terms of both axes,
/// then lie beyond 0.85 of it.
constexpr double max_reach_share = 0.15;
/// Estimated error of exact waves on nodes, relative to the tolerance: that of filled deep clouds is a little too high.
constexpr double max_node_error = 1.15;

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

/// Half the range of curvatures of the evenly filled cloud, thrice as far as near, that has the spread of this one's
/// sample: a surface before another leaves more of their terms than points between them.
double half_range(const FastCloud& cloud, double middle) {
  double squares = 0;
  for (const auto& position : cloud.summary.sample) {
    const double from_middle = cloud.turns_metre / -static_cast<double>(position[2]) - middle;
    squares += from_middle * from_middle;
  }
  constexpr double filled = 2.46;
  return std::sqrt(filled * squares / static_cast<double>(cloud.summary.sample.size()));
}

/// Estimated relative l2 error of exact waves of points of curvatures up to `steepest`, about `middle` by `half`, in
/// tiles of `side`: numbers on nodes, terms of the fourth order, and what bins and bends leave of the terms of both
/// axes. Fitted to float64 waves within 0.8 of the reach.
double exact_node_error(double steepest, double middle, double half, double ratio, int side) {
  const double t = 0.5 * side;
  const double squares = ratio * ratio;
  const double fourth = 5.8 * steepest * steepest * steepest * squares * t * t * t * t;
  const double bins = 10.4 * middle * middle * squares * t * t;
  const double phase = 2.0 * half * squares * t * t;
  const double second = 0.0173 * phase * phase;
  const double third = 0.69 * std::hypot(2 * middle * half, half * half) * squares * t * t * t;
  return std::hypot(std::hypot(5.5e-4, fourth, bins), second, third);
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
  const double task_ns = grid.wave_ratio > 0 ? exact_point_ns : point_ns;
  return launches_us + 1e-3 * (points * (tasks * task_ns + subtiles * subtile_side * subtile_side * on_chip_pair_ns) +
                               pixels * side / 128 * pixel_ns);
}

FastChoice choose_exact_nodes(const PointCloudOptions& options, const FastCloud& cloud,
                              const FastPrecision& precision) {
  const double ratio = options.wavelength_m / options.pitch_m;
  // Of the common cone: colours end alike.
  const double cosine = limit_cosine(options);
  if (!may_be_coarse_sums(precision.tolerance, precision.on_chip) || !cloud.any_place || !options.band_limit ||
      options.falloff || 2 * cosine > max_node_ratio) {
    return {};
  }
  const double low = cloud.summary.low[2] * cloud.turns_metre;
  const double high = cloud.summary.high[2] * cloud.turns_metre;
  // Of all directions along an axis and across it; that of a bin is the one of a third of the largest square across.
  const double limit = cosine * cosine;
  double deviation = 0;
  for (const double along : {0.0, limit}) {
    const double bin = 0.5 * (low + high) * std::sqrt(1 - along - ratio * ratio / 12) * (1 - along);
    for (const double across : {0.0, limit}) {
      for (const double a : {low, high}) {
        deviation = std::max(deviation, std::abs(a * std::sqrt(1 - along - across) * (1 - along) - bin));
      }
    }
  }
  const double steepest = std::max(std::abs(low), std::abs(high));
  const double nearest_m = cloud.turns_metre / steepest;
  const double middle = 0.5 * (low + high);
  const double half = half_range(cloud, middle);
  const double room = std::min(max_reach_share * cloud.reach_per_metre * nearest_m,
                               static_cast<double>(std::min(cloud.panel[0], cloud.panel[1])));
  FastChoice best;
  for (const int side : {128, 256, 512}) {
    if (deviation > max_coarse_curvature(side) || side > room ||
        exact_node_error(steepest, std::abs(middle), half, ratio, side) > max_node_error * options.tolerance) {
      continue;
    }
    FastGrid grid = products_grid(cloud, side);
    grid.wave_ratio = ratio;
    const double time = coarse_time(cloud, grid);
    if (!best.grid || time < best.microseconds) best = {grid, {}, cloud, time};
  }
  return best;
}

}  // namespace holotone::point_cloud
