#include <algorithm>
#include <cmath>
#include <holotone/hologram/point_cloud/choice/spectrum_layout.hpp>
#include <holotone/hologram/point_cloud/precision.hpp>
#include <limits>

namespace holotone::point_cloud {
namespace {

constexpr std::int64_t tile_counts[] = {1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64, 96, 128};
constexpr std::int64_t smallest_tile = 32;
/// Tiles a side whose surfaces are looked at for an estimate.
constexpr std::int64_t max_sampled_tiles = 5;
/// Samples a side of a tile for an estimate.
constexpr int estimate_samples = 5;
/// An edge of the light on the panel is blurred over zones of sqrt(lambda d), which are sqrt(lambda / d) in direction.
/// Light that does not reach the rectangle is left out from `margin` zones beyond it, over edge_zones: the error is
/// 1e-4 at the rectangle's ends (one zone), 4e-6 (two). `margin` + 2 zones beyond the edge's foot the light is below
/// that.
constexpr double edge_zones = 3;
constexpr double margin_zones(double tolerance) { return tolerance < 1e-4 ? 2 : 1; }
/// The same for the band limit's edge where it is narrower than a zone, in pixels of a pitch whose edge it is; the
/// cone's, of finer pitches, is as wide in wavelengths.
constexpr double tail_pixels = 120;
/// Numbers of a block's spectrum, at most, if blocks of some extent can have so few.
constexpr double wanted_numbers = 1 << 27;
constexpr std::int64_t block_extents[] = {8192, 6144, 4096, 3072, 2048, 1024, 512};
/// Share of the tolerance that the near term's 1 / K may lose by the K of its tile's middle.
constexpr double near_share = 0.2;
/// Nanoseconds of a sample of a tile beside its transforms, a first estimate: two square roots, sines and cosines.
constexpr double surface_sample = 12;

std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

SpectrumCloud find_range(const PointCloudOptions& options, const PanelBlock& block,
                         std::span<const PixelPoint> points) {
  constexpr double huge = std::numeric_limits<double>::max();
  SpectrumCloud range{{huge, huge}, {-huge, -huge}, {huge, -huge}, huge};
  for (const auto& point : points) {
    const double place[2] = {point.row - static_cast<double>(block.first_row),
                             point.column - static_cast<double>(block.first_column)};
    for (const int axis : {0, 1}) {
      range.low[axis] = std::min(range.low[axis], place[axis]);
      range.high[axis] = std::max(range.high[axis], place[axis]);
    }
    const double distance = point_distance_m(options, point);
    range.depth_m[0] = std::min(range.depth_m[0], distance);
    range.depth_m[1] = std::max(range.depth_m[1], distance);
    range.nearest_m = std::min(range.nearest_m, std::abs(distance));
  }
  return range;
}

/// Sets the light on both axes and the grid's period.
void set_period(SpectrumLayout& layout, const PanelBlock& block, const SpectrumCloud& range, double tolerance,
                QuickLength column_length) {
  const double lambda = layout.wavelength_m;
  const double farthest = std::max(std::abs(range.depth_m[0]), std::abs(range.depth_m[1]));
  const double margin = margin_zones(tolerance);
  double end_cosine[2];
  double full_cosine[2];
  for (const std::size_t axis : {0, 1}) {
    const auto last = static_cast<double>(block.shape[axis] - 1);
    const double offset_m = layout.pitch_m * (1 + std::max({last - range.low[axis], range.high[axis], 0.0}));
    const double needed = offset_m / std::hypot(offset_m, range.nearest_m);
    const double zone = std::sqrt(lambda / range.nearest_m);
    full_cosine[axis] = needed + margin * zone;
    end_cosine[axis] = std::min({full_cosine[axis] + edge_zones * zone, layout.limit, cone_end});
  }
  const double steepest = std::min(std::hypot(end_cosine[0], end_cosine[1]), cone_end);
  const double fall = std::sqrt(1 - steepest * steepest);  // of the steepest light; its zones are as much longer
  for (const std::size_t axis : {0, 1}) {
    const double reach_m = farthest * std::min(end_cosine[axis], steepest) / fall;
    const double zone = std::sqrt(lambda * farthest / fall) / (tolerance < 1e-3 ? fall : 1.0) / layout.pitch_m;
    const double tail = std::max((2 + margin) * zone, margin * tail_pixels * std::max(1.0, layout.limit / cone_end));
    const double reach = reach_m / layout.pitch_m + tail;
    const auto extent = static_cast<double>(block.shape[axis]);
    const double period = std::max({extent, range.high[axis] + reach, extent - range.low[axis] + reach}) + 1;
    const auto least = static_cast<std::int64_t>(std::min(period, 1e9));
    layout.period[axis] = axis == 0 ? column_length(least) : quick_row_length(least);
    const double index = static_cast<double>(layout.period[axis]) * layout.pitch_m / lambda;  // for a cosine of 1
    layout.edge[axis] = {full_cosine[axis] * index, end_cosine[axis] * index};
    // Beyond the band limit's own edge this one ends nothing.
    if (end_cosine[axis] >= std::min(layout.limit, cone_end)) layout.edge[axis] = {1e30, 2e30};
    layout.half[axis] =
        std::min(static_cast<std::int64_t>(std::ceil(end_cosine[axis] * index)) - 1, (layout.period[axis] - 1) / 2);
    layout.half[axis] = std::max<std::int64_t>(layout.half[axis], 0);
  }
}

struct Estimate {
  double nanoseconds = 0;
  double numbers = 0;  ///< of the largest grid
};

/// Estimates a grid, or some number of nanoseconds above `enough` if it takes more than that.
Estimate estimate(const SpectrumLayout& layout, const FastLayout& grid, const SpectrumCloud& range, std::size_t points,
                  const FastCosts& costs, double enough) {
  const std::int64_t extent[2] = {2 * layout.half[0] + 1, 2 * layout.half[1] + 1};
  const std::int64_t tiles[2] = {divide_up(extent[0], grid.tile[0]), divide_up(extent[1], grid.tile[1])};
  const double depth = range.depth_m[1] - range.depth_m[0];
  Estimate sum;
  const std::int64_t down = std::min(tiles[0], max_sampled_tiles);
  const std::int64_t across = std::min(tiles[1], max_sampled_tiles);
  const double share = static_cast<double>(tiles[0] * tiles[1]) / static_cast<double>(down * across);
  for (std::int64_t i = 0; i < down && share * sum.nanoseconds <= enough; ++i) {
    for (std::int64_t j = 0; j < across; ++j) {
      // From the first to the last tile, evenly.
      const std::int64_t row = down > 1 ? i * (tiles[0] - 1) / (down - 1) : 0;
      const std::int64_t column = across > 1 ? j * (tiles[1] - 1) / (across - 1) : 0;
      const auto tile = spectrum_tile(layout, row * grid.tile[0] - layout.half[0],
                                      column * grid.tile[1] - layout.half[1], grid.tile, estimate_samples);
      const double turns = depth * (tile.high - tile.low) * FastLayout::depth_margin * grid.window.upsampling;
      const double planes = std::ceil(turns) + grid.window.width + 1;
      const double turns_row =
          (range.high[0] - range.low[0]) / static_cast<double>(layout.period[0]) + depth * std::abs(tile.slope[0]);
      sum.nanoseconds += fast_tile_nanoseconds(grid, turns_row, planes, points, costs) +
                         surface_sample * static_cast<double>(element_count(grid.tile));
      sum.numbers = std::max(sum.numbers, planes * static_cast<double>(element_count(grid.grid)));
    }
  }
  sum.nanoseconds *= share;
  return sum;
}

}  // namespace

std::int64_t quick_row_length(std::int64_t minimum) {
  constexpr std::int64_t step = 8;
  std::int64_t length = fft_friendly_size(minimum);
  while (length % step != 0) length = fft_friendly_size(length + 1);
  return length;
}

double SpectrumLayout::depth_frequency(double row, double column) const {
  const double fy = frequency(0, row);
  const double fx = frequency(1, column);
  const double full = 1 / wavelength_m;
  const double least = (1 - cone_end * cone_end) * full * full;
  const double squares = fx * fx + fy * fy;
  const double rest = full * full - squares;
  // K - 1 / lambda without cancellation.
  return rest > least ? -squares / (std::sqrt(rest) + full) : std::sqrt(least) - full;
}

SpectrumTile spectrum_tile(const SpectrumLayout& layout, std::int64_t row, std::int64_t column, const Shape<2>& shape,
                           int samples) {
  SpectrumTile tile;
  tile.row = static_cast<double>(row + shape[0] / 2);
  tile.column = static_cast<double>(column + shape[1] / 2);
  const double first[2] = {static_cast<double>(-(shape[0] / 2)), static_cast<double>(-(shape[1] / 2))};
  const double last[2] = {first[0] + static_cast<double>(shape[0] - 1), first[1] + static_cast<double>(shape[1] - 1)};
  const auto at = [&](double y, double x) { return layout.depth_frequency(tile.row + y, tile.column + x); };
  tile.level = at(0, 0);
  if (shape[0] > 1) tile.slope[0] = (at(last[0], 0) - at(first[0], 0)) / (last[0] - first[0]);
  if (shape[1] > 1) tile.slope[1] = (at(0, last[1]) - at(0, first[1])) / (last[1] - first[1]);
  const double end = cone_end / layout.wavelength_m;
  const auto look = [&](double y, double x) {
    const double r = at(y, x) - tile.level - tile.slope[0] * y - tile.slope[1] * x;
    tile.low = std::min(tile.low, r);
    tile.high = std::max(tile.high, r);
  };
  // Looks at a line's samples within the cone, and at its ends there, where K falls most steeply.
  const auto look_along = [&](std::size_t axis, double across) {
    const double f = layout.frequency(1 - axis, (axis == 0 ? tile.column : tile.row) + across);
    if (std::abs(f) > end) return;
    const double half = std::sqrt(end * end - f * f) / layout.frequency(axis, 1);
    const double middle = axis == 0 ? tile.row : tile.column;
    const double from = std::max(first[axis], -half - middle);
    const double to = std::min(last[axis], half - middle);
    for (int i = 0; i < samples && from <= to; ++i) {
      const double along = from + (to - from) * i / (samples - 1);
      if (axis == 0) look(along, across);
      if (axis == 1) look(across, along);
    }
  };
  for (int i = 0; i < samples; ++i) {
    for (const std::size_t axis : {0, 1}) {
      look_along(axis, first[1 - axis] + (last[1 - axis] - first[1 - axis]) * i / (samples - 1));
    }
  }
  // A turn over ten kilometres: a flat surface has some extent too.
  tile.high = std::max(tile.high, tile.low + 1e-4);
  return tile;
}

double near_distance_m(const SpectrumLayout& layout, const SpectrumTile& tile, const Shape<2>& shape,
                       double tolerance) {
  if (layout.falloff) return 0;
  const double full = 1 / layout.wavelength_m;
  const double k = full + tile.level;
  const double change = std::max(-tile.low, tile.high) + std::abs(tile.slope[0]) * static_cast<double>(shape[0] / 2) +
                        std::abs(tile.slope[1]) * static_cast<double>(shape[1] / 2);
  const double least = std::max(k - change, std::sqrt(1 - cone_end * cone_end) * full);
  // Beyond the cone's end, where k is the least, those within it are larger.
  return std::max(1 / least - 1 / k, 1 / k - 1 / (k + change)) / (two_pi * near_share * tolerance);
}

std::vector<float> axis_light(const SpectrumLayout& layout, std::size_t axis) {
  const std::int64_t half = layout.half[axis];
  std::vector<float> light(static_cast<std::size_t>(2 * half + 1));
  for (std::int64_t m = -half; m <= half; ++m) {
    const auto size = static_cast<double>(std::abs(m));
    const double cosine = layout.wavelength_m * layout.frequency(axis, size);
    const auto& edge = layout.edge[axis];
    light[static_cast<std::size_t>(m + half)] = static_cast<float>(
        light_of_axis(cosine, layout.limit) * soft_edge((size - edge.full) / (edge.end - edge.full)));
  }
  return light;
}

LitPoints points_of_block(std::span<const PixelPoint> points, const PanelBlock& block) {
  LitPoints lit;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto& point = points[i];
    if (point.row_begin < block.first_row + block.shape[0] && point.row_end > block.first_row &&
        point.column_begin < block.first_column + block.shape[1] && point.column_end > block.first_column) {
      lit.points.push_back(point);
      lit.index.push_back(static_cast<std::uint32_t>(i));
    }
  }
  return lit;
}

Shape<2> choose_spectrum_block(const PointCloudOptions& options, std::span<const PixelPoint> points) {
  if (points.empty()) return options.shape;
  const auto numbers = [&](const Shape<2>& shape, const SpectrumCloud& range) {
    const auto layout = spectrum_layout(options, {0, 0, shape}, range);
    return static_cast<double>(layout.period[0]) * static_cast<double>(layout.period[1]);
  };
  const PanelBlock panel{0, 0, options.shape};
  auto range = find_range(options, panel, points);
  if (numbers(options.shape, range) <= wanted_numbers) return options.shape;
  const double farthest = std::max(std::abs(range.depth_m[0]), std::abs(range.depth_m[1]));
  const double reach = reach_of_light(options) * farthest / options.pitch_m;
  Shape<2> best{};
  double least = std::numeric_limits<double>::max();
  for (const auto extent : block_extents) {
    const Shape<2> shape{std::min(extent, options.shape[0]), std::min(extent, options.shape[1])};
    SpectrumCloud around = range;  // the points that light a block
    for (const std::size_t axis : {0, 1}) {
      around.low[axis] = std::max(range.low[axis] - static_cast<double>(options.shape[axis]), -reach);
      around.high[axis] = std::min(range.high[axis], static_cast<double>(shape[axis]) + reach);
    }
    const double one = numbers(shape, around);
    const double blocks = static_cast<double>(divide_up(options.shape[0], shape[0])) *
                          static_cast<double>(divide_up(options.shape[1], shape[1]));
    const double work = blocks * one * std::max(1.0, std::pow(one / wanted_numbers, 4));
    if (work < least) {
      least = work;
      best = shape;
    }
  }
  return best;
}

SpectrumLayout spectrum_layout(const PointCloudOptions& options, const PanelBlock& block, const SpectrumCloud& cloud,
                               QuickLength column_length) {
  SpectrumLayout layout;
  layout.wavelength_m = options.wavelength_m;
  layout.pitch_m = options.pitch_m;
  layout.limit = limit_cosine(options);
  layout.falloff = options.falloff;
  layout.depth_m[0] = cloud.depth_m[0];
  layout.depth_m[1] = cloud.depth_m[1];
  layout.middle_m = 0.5 * (cloud.depth_m[0] + cloud.depth_m[1]);
  set_period(layout, block, cloud, options.tolerance, column_length);
  return layout;
}

SpectrumLayout choose_spectrum_layout(const PointCloudOptions& options, const PanelBlock& block,
                                      std::span<const PixelPoint> points, const FastCosts& costs) {
  const auto range = find_range(options, block, points);
  SpectrumLayout layout = spectrum_layout(options, block, range);
  layout.nanoseconds = std::numeric_limits<double>::max();
  const Shape<2> extent{2 * layout.half[0] + 1, 2 * layout.half[1] + 1};
  for (const double upsampling : fast_upsamplings) {
    const auto window = fast_window(options.tolerance, upsampling);
    if (!window) continue;
    for (const auto down : tile_counts) {
      for (const auto across : tile_counts) {
        const Shape<2> tile{divide_up(extent[0], down), divide_up(extent[1], across)};
        if (tile[0] < std::min(extent[0], smallest_tile) || tile[1] < std::min(extent[1], smallest_tile)) continue;
        const auto cost =
            estimate(layout, fast_tile_layout(tile, *window), range, points.size(), costs, layout.nanoseconds);
        if (!(cost.numbers <= fast_too_many_numbers)) continue;
        const double nanoseconds = cost.nanoseconds * std::max(1.0, cost.numbers / fast_max_numbers);
        if (nanoseconds >= layout.nanoseconds) continue;
        layout.nanoseconds = nanoseconds;
        layout.tile = tile;
        layout.window = *window;
      }
    }
  }
  return layout;
}

}  // namespace holotone::point_cloud
