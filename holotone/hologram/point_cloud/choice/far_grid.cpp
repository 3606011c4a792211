#include <algorithm>
#include <cmath>
#include <holotone/hologram/point_cloud/choice/far_grid.hpp>
#include <holotone/hologram/point_cloud/choice/spectrum_grid.hpp>
#include <holotone/hologram/point_cloud/precision.hpp>

namespace holotone::point_cloud {
namespace {

/// Pixels around the panel at least: at its ends the filter sees the end of the field.
constexpr double min_margin = 32;
/// Zones of sqrt(lambda / d) between the steepest light and the band limit's edge.
constexpr double zones = 2;
/// Share of the tolerance that tiles may leave of the phases of points at the ends of the cloud's ranges; windows and
/// storage have 0.75.
constexpr double bend_share = 0.65;
/// Widening of the cloud's ranges: bent waves have other slopes and curvatures.
constexpr float bent_slack = 2e-3F;
/// Nanoseconds a number of both transforms and the filter, on an H200.
constexpr double filter_ns = 5e-2;
/// Time of its sum on an H200 over the estimate of choose_fast_grid (30,000 to 1,000,000 points at 1080p and 50 cm).
constexpr double far_price = 0.66;

struct Range {
  double nearest;
  double farthest;
  double offset[2];  ///< largest distance from a point to a pixel of the panel, rows and columns
};

Range find_range(const PointCloudOptions& options, const FastCloud& cloud) {
  const auto& s = cloud.summary;
  Range range{1 / static_cast<double>(s.high[2]), 1 / static_cast<double>(s.low[2]), {}};
  if (std::abs(range.nearest) > std::abs(range.farthest)) std::swap(range.nearest, range.farthest);
  for (const std::size_t axis : {0, 1}) {
    const std::size_t of = 1 - axis;
    range.offset[axis] = 0.5 * options.pitch_m * static_cast<double>(options.shape[axis]) +
                         static_cast<double>(std::max(std::abs(s.low[of]), std::abs(s.high[of])));
  }
  return range;
}

/// Returns (sqrt(1 - s^2) - 1 + s^2 / 2) / lambda.
double correction(double lambda, double squares) {
  const double root = 1 + std::sqrt(1 - squares);
  return -0.5 * squares * squares / (root * root) / lambda;
}

/// Largest root mean square, over tiles and pixels, of what a grid's tiles leave of the phase of points at the ends of
/// the cloud's ranges, in rad.
double left_phase_rad(const PointCloudOptions& options, const FastGrid& grid, const Range& range) {
  constexpr double nodes[] = {-0.775, 0, 0.775};  // Gauss's of three, of half a tile
  const double lambda = options.wavelength_m;
  const double pitch = options.pitch_m;
  double largest = 0;
  for (const double d : {range.nearest, range.farthest}) {
    const double bend = grid.bend * (d - grid.middle_m) / (d * d * d * d);
    double sum = 0;
    // By symmetry points at one corner of the largest rectangle stand for all.
    const double point[2] = {range.offset[0] / pitch - 0.5 * static_cast<double>(options.shape[0]),
                             range.offset[1] / pitch - 0.5 * static_cast<double>(options.shape[1])};
    for (int tile = 0; tile < grid.tiles(); ++tile) {
      const double v = point[0] - (tile / grid.tiles_x + 0.5) * grid.tile_height + 0.5 * grid.panel_height;
      const double u = point[1] - (tile % grid.tiles_x + 0.5) * grid.tile_width + 0.5 * grid.panel_width;
      const double w = u * u + v * v;
      for (const double down : nodes) {
        for (const double across : nodes) {
          const double x = 0.5 * across * grid.tile_width;
          const double y = 0.5 * down * grid.tile_height;
          const double squares = ((x - u) * (x - u) + (y - v) * (y - v)) * pitch * pitch / (d * d);
          const double exact = (d - grid.middle_m) * correction(lambda, std::min(squares, 1.0));
          const double made = -bend * w * w + 4 * bend * w * (u * x + v * y) - 4 * bend * w * (x * x + y * y);
          sum += (exact - made) * (exact - made);
        }
      }
    }
    largest = std::max(largest, two_pi * std::sqrt(sum / (9.0 * grid.tiles())));
  }
  return largest;
}

}  // namespace

FarGrid choose_far_grid(const PointCloudOptions& options, const FastCloud& cloud, const FastPrecision& precision,
                        double max_us) {
  const auto& s = cloud.summary;
  if (!(s.low[2] > 0) && !(s.high[2] < 0)) return {};  // points on both sides of the panel
  const double lambda = options.wavelength_m;
  const Range range = find_range(options, cloud);
  const double nearest = std::abs(range.nearest);
  const double farthest = std::abs(range.farthest);
  const double limit = edge_begin * limit_cosine(options);
  FarGrid made;
  // Nearest and farthest points leave the same, (d - d0) / d^4.
  const double near_share = std::pow(farthest, 4);
  const double far_share = std::pow(nearest, 4);
  made.middle_m = (range.nearest * near_share + range.farthest * far_share) / (near_share + far_share);
  double steepest[2] = {};
  for (const std::size_t axis : {0, 1}) {
    // Light moves by d s^3 / 2 under the filter.
    const double slope = range.offset[axis] / nearest;
    const double moved = 2 * farthest * slope * slope * slope / options.pitch_m;
    const auto least = static_cast<double>(options.shape[axis]) + 2 * (min_margin + moved);
    if (!(least < 1e6)) return {};
    made.shape[axis] = axis == 0 ? quick_column_length(static_cast<std::int64_t>(least))
                                 : quick_row_length(static_cast<std::int64_t>(least));
    made.margin[axis] = (made.shape[axis] - options.shape[axis]) / 8 * 4;
    const double beyond = options.pitch_m * static_cast<double>(made.shape[axis] - options.shape[axis]);
    steepest[axis] = (range.offset[axis] + beyond) / nearest;
    if (!(steepest[axis] + zones * std::sqrt(lambda / nearest) <= limit)) return {};
  }
  const double squares = steepest[0] * steepest[0] + steepest[1] * steepest[1];
  const double depth = (farthest - nearest) / nearest;
  // Near terms, and what the correction changes of amplitudes.
  const double left = std::max(lambda / (two_pi * nearest), 0.25 * depth * squares);
  if (!(squares <= 0.25 && left <= 0.3 * options.tolerance)) return {};
  for (const std::size_t axis : {0, 1}) {
    const auto half = made.shape[axis] / 2;
    for (std::int64_t m = 0; m <= half; ++m) {
      const double cosine = lambda * static_cast<double>(m) / (static_cast<double>(made.shape[axis]) * options.pitch_m);
      const double end = lambda / (2 * options.pitch_m);
      made.share[axis].push_back(static_cast<float>(soft_edge((cosine - steepest[axis]) / (end - steepest[axis]))));
    }
  }
  FastCloud wide = fast_cloud(options, {-made.margin[0], -made.margin[1], made.shape}, cloud.count, cloud.summary);
  wide.reach_per_metre = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    auto& low = wide.summary.low[axis];
    auto& high = wide.summary.high[axis];
    const float slack = bent_slack * (high - low + (axis == 2 ? 0 : std::max(std::abs(low), std::abs(high))));
    low -= slack;
    high += slack;
  }
  const double pitch_squares = options.pitch_m * options.pitch_m;
  const auto bent = [&](FastGrid grid) {
    grid.bend = pitch_squares * pitch_squares / (8 * lambda);
    grid.middle_m = made.middle_m;
    return grid;
  };
  const double filter_us = filter_ns * 1e-3 * static_cast<double>(element_count(made.shape)) + fast_launches_us;
  made.fast = choose_fast_grid(wide, precision, (max_us - filter_us) / far_price, [&](const FastGrid& grid) {
    return left_phase_rad(options, bent(grid), range) <= bend_share * options.tolerance;
  });
  if (!made.fast.grid) return {};
  made.fast.grid = bent(*made.fast.grid);
  made.microseconds = far_price * made.fast.microseconds + filter_us;
  return made;
}

}  // namespace holotone::point_cloud
