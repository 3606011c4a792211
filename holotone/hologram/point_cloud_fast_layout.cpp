#include <algorithm>
#include <cmath>
#include <holotone/fft/fft.hpp>
#include <holotone/hologram/point_cloud_fast_layout.hpp>
#include <limits>

namespace holotone::point_cloud {
namespace {

constexpr double upsamplings[] = {1.25, 1.5, 2.0};
constexpr std::int64_t tile_counts[] = {1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64};
constexpr std::int64_t smallest_tile = 32;
constexpr std::int64_t most_samples = 256;
/// The windows may take this share of the tolerance; rounding has the rest.
constexpr double window_share = 0.85;
/// Planes, rows and columns of the largest spread grid and what follows it, in complex numbers.
constexpr double most_memory = 1 << 28;

std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

FastLayout make_layout(const Shape<2>& panel, const Shape<2>& tiles, const SpreadWindow& window) {
  FastLayout layout;
  layout.window = window;
  for (const std::size_t axis : {0, 1}) {
    layout.tile[axis] = divide_up(panel[axis], tiles[axis]);
    layout.tiles[axis] = divide_up(panel[axis], layout.tile[axis]);
    const auto least = static_cast<std::int64_t>(std::ceil(window.upsampling * static_cast<double>(layout.tile[axis])));
    layout.grid[axis] = fft_friendly_size(std::max<std::int64_t>(least, 2 * window.width));
  }
  return layout;
}

/// Pixels begin .. end-1 that lie in tiles wholly inside of it, on one axis.
std::int64_t whole_tiles_pixels(std::int64_t begin, std::int64_t end, std::int64_t tile, std::int64_t extent) {
  const std::int64_t first = divide_up(begin, tile) * tile;
  const std::int64_t last = end == extent ? extent : end / tile * tile;
  return std::max<std::int64_t>(0, last - first);
}

/// Means over some of the points: tiles they light wholly, pixels they light in other tiles, turns a pixel their frequencies
/// down a tile span.
struct Sampled {
  double whole_tiles = 0;
  double masked_pixels = 0;
  double rows_turns = 0;
};

Sampled sample(const FastLayout& layout, const Shape<2>& panel, std::span<const PixelPoint> points) {
  Sampled result;
  const auto count = std::ssize(points);
  const std::int64_t step = std::max<std::int64_t>(1, count / most_samples);
  double low = std::numeric_limits<double>::max();
  double high = -low;
  std::int64_t taken = 0;
  for (std::int64_t j = 0; j < count; j += step) {
    const auto& point = points[static_cast<std::size_t>(j)];
    const double lit = static_cast<double>(point.row_end - point.row_begin) *
                       static_cast<double>(point.column_end - point.column_begin);
    const double whole =
        static_cast<double>(whole_tiles_pixels(point.row_begin, point.row_end, layout.tile[0], panel[0])) *
        static_cast<double>(whole_tiles_pixels(point.column_begin, point.column_end, layout.tile[1], panel[1]));
    result.whole_tiles += whole / static_cast<double>(element_count(layout.tile));
    result.masked_pixels += lit - whole;
    const double frequency = 2 * point.curvature * (point.row - 0.5 * static_cast<double>(panel[0]));
    low = std::min(low, frequency);
    high = std::max(high, frequency);
    ++taken;
  }
  if (taken == 0) return result;
  result.whole_tiles /= static_cast<double>(taken);
  result.masked_pixels /= static_cast<double>(taken);
  result.rows_turns = std::min(1.0, high - low);
  return result;
}

}  // namespace

double FastLayout::radius_squared() const {
  const double y = std::floor(0.5 * static_cast<double>(tile[0]));
  const double x = std::floor(0.5 * static_cast<double>(tile[1]));
  return std::max(1.0, x * x + y * y);
}

std::int64_t FastLayout::planes(const CurvatureRange& range) const {
  return static_cast<std::int64_t>(std::ceil((range.high - range.low) * depth_steps())) + window.width + 1;
}

double fast_seconds(const FastLayout& layout, const Shape<2>& panel, const CurvatureRange& range,
                    std::span<const PixelPoint> points, const FastCosts& costs) {
  const auto sampled = sample(layout, panel, points);
  const auto count = static_cast<double>(points.size());
  const auto planes = static_cast<double>(layout.planes(range));
  const double nodes = std::pow(layout.window.width, 3);
  const auto grid_y = static_cast<double>(layout.grid[0]);
  const auto grid_x = static_cast<double>(layout.grid[1]);
  const double rows = std::min(grid_y, sampled.rows_turns * grid_y + layout.window.width);
  const double spread = count * sampled.whole_tiles * (costs.spread_point + nodes * costs.spread_node);
  const double transform = static_cast<double>(element_count(layout.tiles)) * planes * costs.transform_sample *
                           (rows * grid_x + static_cast<double>(layout.tile[1]) * grid_y);
  return 1e-9 * (spread + transform + count * sampled.masked_pixels * costs.masked_pair);
}

FastLayout choose_fast_layout(const Shape<2>& panel, const CurvatureRange& range, std::span<const PixelPoint> points,
                              double tolerance, const FastCosts& costs) {
  FastLayout best;
  double least = std::numeric_limits<double>::max();
  for (const double upsampling : upsamplings) {
    const auto window = choose_window(window_share * tolerance, upsampling, 3);
    for (const auto down : tile_counts) {
      for (const auto across : tile_counts) {
        if (divide_up(panel[0], down) < std::min(panel[0], smallest_tile)) continue;
        if (divide_up(panel[1], across) < std::min(panel[1], smallest_tile)) continue;
        const auto layout = make_layout(panel, {down, across}, window);
        const double memory =
            static_cast<double>(layout.planes(range)) * static_cast<double>(element_count(layout.grid));
        const double seconds =
            fast_seconds(layout, panel, range, points, costs) * (memory > most_memory ? memory / most_memory : 1.0);
        if (seconds < least) {
          least = seconds;
          best = layout;
        }
      }
    }
  }
  return best;
}

}  // namespace holotone::point_cloud
