#include <algorithm>
#include <cmath>
#include <holotone/fft/fft.hpp>
#include <holotone/hologram/point_cloud/choice/fast_layout.hpp>
#include <holotone/hologram/point_cloud/precision.hpp>
#include <limits>

namespace holotone::point_cloud {
namespace {

constexpr std::int64_t tile_counts[] = {1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64};
constexpr std::int64_t smallest_tile = 32;
constexpr std::int64_t max_samples = 256;
/// Share of the tolerance for the windows; the rest is for rounding.
constexpr double window_share = 0.6;
/// Loosest tolerance of a window: excludes windows of two nodes, whose error depends on the position of a tile's pixels
/// in its range.
constexpr double loosest = 0.05;

std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Spans of the frequencies of some points: rows in turns per pixel, curvature in turns per square pixel.
struct Spans {
  double rows = 0;
  double curvature = 0;
};

/// Computes the spans of points[index], from a sample of them; an empty `index` means all points.
Spans sample_spans(std::span<const PixelPoint> points, std::span<const std::uint32_t> index) {
  constexpr double huge = std::numeric_limits<double>::max();
  double low[2] = {huge, huge};
  double high[2] = {-huge, -huge};
  const std::size_t count = index.empty() ? points.size() : index.size();
  // All points are read if `index` is empty: a single deep one determines the number of planes.
  const std::size_t step = index.empty() ? 1 : std::max<std::size_t>(1, count / max_samples);
  for (std::size_t i = 0; i < count; i += step) {
    const auto& point = points[index.empty() ? i : index[i]];
    // Row 0 serves as origin instead of the tile's: only the span is needed.
    const double value[2] = {2 * point.curvature * point.row, point.curvature};
    for (int k = 0; k < 2; ++k) {
      low[k] = std::min(low[k], value[k]);
      high[k] = std::max(high[k], value[k]);
    }
  }
  return count == 0 ? Spans{} : Spans{std::min(1.0, high[0] - low[0]), high[1] - low[1]};
}

double count_planes(const FastLayout& layout, const Spans& spans) {
  return std::ceil(spans.curvature * layout.depth_steps()) + layout.window.width + 1;
}

double tile_nanoseconds(const FastLayout& layout, const Spans& spans, std::size_t points, const FastCosts& costs) {
  return fast_tile_nanoseconds(layout, spans.rows, count_planes(layout, spans), points, costs);
}

/// Complex numbers of a tile's grid over all planes.
double tile_numbers(const FastLayout& layout, const Spans& spans) {
  return count_planes(layout, spans) * static_cast<double>(element_count(layout.grid));
}

}  // namespace

double FastLayout::radius_squared() const {
  const double y = std::floor(0.5 * static_cast<double>(tile[0]));
  const double x = std::floor(0.5 * static_cast<double>(tile[1]));
  return std::max(1.0, x * x + y * y);
}

std::optional<SpreadWindow> fast_window(double tolerance, double upsampling) {
  const auto window = choose_window(std::min(window_share * tolerance, loosest), upsampling, 3);
  const bool finest = upsampling == fast_upsamplings[std::size(fast_upsamplings) - 1];
  if (!finest && float32_grid_error * std::pow(window_noise_gain(window), 3) > 0.3 * tolerance) return {};
  return window;
}

FastLayout fast_tile_layout(const Shape<2>& tile, const SpreadWindow& window) {
  FastLayout layout{tile, window, {}, 0};
  for (const std::size_t axis : {0, 1}) {
    const auto least = static_cast<std::int64_t>(std::ceil(window.upsampling * static_cast<double>(tile[axis])));
    layout.grid[axis] = fft_friendly_size(std::max<std::int64_t>(least, 2 * window.width));
  }
  return layout;
}

double fast_tile_nanoseconds(const FastLayout& layout, double row_turns, double planes, std::size_t points,
                             const FastCosts& costs) {
  const double nodes = std::pow(layout.window.width, 3);
  const auto grid_y = static_cast<double>(layout.grid[0]);
  const auto grid_x = static_cast<double>(layout.grid[1]);
  const double rows = std::min(grid_y, row_turns * grid_y + layout.window.width);
  return static_cast<double>(points) * (costs.spread_point + nodes * costs.spread_node) +
         planes * costs.transform_sample * (rows * grid_x + static_cast<double>(layout.tile[1]) * grid_y);
}

double fast_tile_nanoseconds(const Shape<2>& tile, const SpreadWindow& window, std::span<const PixelPoint> points,
                             std::span<const std::uint32_t> index, const FastCosts& costs) {
  if (index.empty()) return 0;
  return tile_nanoseconds(fast_tile_layout(tile, window), sample_spans(points, index), index.size(), costs);
}

FastLayout choose_fast_layout(const Shape<2>& panel, std::span<const PixelPoint> points, double tolerance,
                              const FastCosts& costs) {
  FastLayout best;
  double least = std::numeric_limits<double>::max();
  const Spans spans = sample_spans(points, {});
  for (const double upsampling : fast_upsamplings) {
    const auto window = fast_window(tolerance, upsampling);
    if (!window) continue;
    for (const auto down : tile_counts) {
      for (const auto across : tile_counts) {
        const Shape<2> tile{divide_up(panel[0], down), divide_up(panel[1], across)};
        if (tile[0] < std::min(panel[0], smallest_tile) || tile[1] < std::min(panel[1], smallest_tile)) continue;
        const auto layout = fast_tile_layout(tile, *window);
        const auto tiles = static_cast<double>(divide_up(panel[0], tile[0]) * divide_up(panel[1], tile[1]));
        const double excess = std::max(1.0, tile_numbers(layout, spans) / fast_max_numbers);
        if (!(tile_numbers(layout, spans) <= fast_too_many_numbers)) continue;
        const double cost = excess * tiles * tile_nanoseconds(layout, spans, points.size(), costs);
        if (cost < least) {
          least = cost;
          best = layout;
          best.nanoseconds = cost;
        }
      }
    }
  }
  return best;
}

}  // namespace holotone::point_cloud
