#include <algorithm>
#include <cmath>
#include <holotone/core/parallel.hpp>
#include <holotone/hologram/point_cloud/choice/fast_grid.hpp>
#include <holotone/hologram/point_cloud/choice/fast_layout.hpp>
#include <holotone/hologram/point_cloud/engine.hpp>
#include <holotone/hologram/point_cloud/precision.hpp>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace holotone::point_cloud {
namespace {

constexpr double upsamplings[] = {1.25, 1.5, 2.0};
constexpr int tile_counts[] = {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 20, 24, 32};
constexpr int smallest_tile = 24;
constexpr std::int64_t max_operand_elements = std::int64_t{1} << 31;
constexpr std::int64_t max_cells = std::int64_t{1} << 29;

constexpr double max_partly = 3e8;  ///< maximum records (points times tiles) gathered for products
constexpr double sorted_records = 200000;
constexpr double loosest_window = 0.05;
/// Panels up to the first extent are summed at once, larger ones in blocks of at most the second, those of coarse sums
/// in blocks of at most the first.
constexpr std::int64_t widest_undivided = 8192;
constexpr std::int64_t widest_block = 4096;
/// Relative widening of ranges: points at their ends stay inside after rounding.
constexpr double range_slack = 1e-3;

int round_up(int value, int step) { return (value + step - 1) / step * step; }

/// Bounds of a cloud: column and row in pixels, curvature in turns per square pixel.
struct CloudRange {
  double low[3];
  double high[3];
};

CloudRange find_range(const FastCloud& cloud) {
  const auto& s = cloud.summary;
  CloudRange range{{s.low[0] * cloud.inverse_pitch + cloud.center_x, cloud.center_y - s.high[1] * cloud.inverse_pitch,
                    s.low[2] * cloud.turns_metre},
                   {s.high[0] * cloud.inverse_pitch + cloud.center_x, cloud.center_y - s.low[1] * cloud.inverse_pitch,
                    s.high[2] * cloud.turns_metre}};
  for (int axis = 0; axis < 3; ++axis) {
    const double size = std::max(std::abs(range.low[axis]), std::abs(range.high[axis]));
    const double slack = range_slack * (range.high[axis] - range.low[axis]) + 1e-6 * size;
    range.low[axis] -= slack;
    range.high[axis] += slack;
  }
  return range;
}

/// Range of frequencies -2 a u, in grid steps, of points u in [low, high] with a in the cloud's range.
struct Span {
  double low;
  double high;
};
Span frequency_span(const CloudRange& range, int axis, double origin, double steps, bool band_limited) {
  Span span{std::numeric_limits<double>::max(), std::numeric_limits<double>::lowest()};
  for (const double u : {range.low[axis] - origin, range.high[axis] - origin}) {
    for (const double a : {range.low[2], range.high[2]}) {
      span.low = std::min(span.low, -2 * a * u * steps);
      span.high = std::max(span.high, -2 * a * u * steps);
    }
  }
  // A point that lights a whole tile has less than half a turn per pixel at the tile's origin: light ends at half a
  // turn.
  if (band_limited) span = {std::clamp(span.low, -0.5 * steps, 0.0), std::clamp(span.high, 0.0, 0.5 * steps)};
  return span;
}

/// Places the boxes of the tiles along an axis: sets their first steps and returns their common extent.
int lay_boxes(const CloudRange& range, int axis, int tiles, int tile, double steps, int width, bool band_limited,
              int* first, bool& wrap) {
  double extent = 0;
  for (int t = 0; t < tiles; ++t) {
    const Span span = frequency_span(range, axis, t * tile + tile / 2, steps, band_limited);
    const double begin = std::ceil(span.low - 0.5 * width - 0.01);
    first[t] = static_cast<int>(std::clamp(begin, -1e9, 1e9));
    extent = std::max(extent, std::floor(span.high + 0.5 * width + 0.01) + 1 - begin);
  }
  const int period = box_period(steps, width);
  wrap = extent > period;
  return wrap ? period : static_cast<int>(extent);
}

FastGrid make_grid(const FastCloud& cloud, CloudRange range, int tiles_x, int tiles_y, const SpreadWindow& window,
                   const FastPrecision& precision) {
  FastGrid grid{};
  const bool band_limited = cloud.reach_per_metre > 0;
  grid.panel_width = static_cast<int>(cloud.panel[1]);
  grid.panel_height = static_cast<int>(cloud.panel[0]);
  grid.tile_width = round_up((grid.panel_width + tiles_x - 1) / tiles_x, 8);
  grid.tile_height = round_up((grid.panel_height + tiles_y - 1) / tiles_y, 2);
  grid.tiles_x = (grid.panel_width + grid.tile_width - 1) / grid.tile_width;
  grid.tiles_y = (grid.panel_height + grid.tile_height - 1) / grid.tile_height;
  if (band_limited) {
    // Points of larger curvature light no tile wholly, except perhaps one that the panel's end cuts; products sum them
    // there.
    const double steepest = 1.0 / (2 * std::max(1, std::max(std::min(grid.tile_width, grid.panel_width),
                                                            std::min(grid.tile_height, grid.panel_height)) -
                                                       1));
    range.low[2] = std::clamp(range.low[2], -steepest, steepest);
    range.high[2] = std::clamp(range.high[2], -steepest, steepest);
  }
  grid.lowest_curvature = range.low[2];
  grid.highest_curvature = range.high[2];
  grid.middle_curvature = 0.5 * (range.low[2] + range.high[2]);
  grid.steps_x = std::ceil(window.upsampling * grid.tile_width);
  grid.steps_y = std::ceil(window.upsampling * grid.tile_height);
  const double radius =
      std::max(1.0, 0.25 * (1.0 * grid.tile_width * grid.tile_width + 1.0 * grid.tile_height * grid.tile_height));
  grid.middle_radius = 0.5 * radius;
  grid.steps_m = FastLayout::depth_margin * window.upsampling * radius;
  grid.window_width = window.width;
  grid.window_beta = static_cast<float>(window.beta);
  grid.split = precision.split;
  grid.on_chip = precision.on_chip;
  const double half_depth = 0.5 * (range.high[2] - range.low[2]) * grid.steps_m;
  const double first_plane = std::ceil(-half_depth - 0.5 * window.width - 0.01);
  grid.first_plane = static_cast<int>(std::max(first_plane, -1e8));
  grid.planes = static_cast<int>(std::min(std::floor(half_depth + 0.5 * window.width + 0.01) + 1 - first_plane, 2e8));
  const int width = window.width;
  if (cloud.any_place) {
    grid.wrap_columns = grid.wrap_rows = true;
    grid.columns = box_period(grid.steps_x, width);
    grid.rows = box_period(grid.steps_y, width);
  } else {
    grid.columns = lay_boxes(range, 0, grid.tiles_x, grid.tile_width, grid.steps_x, width, band_limited,
                             grid.first_column, grid.wrap_columns);
    grid.rows = lay_boxes(range, 1, grid.tiles_y, grid.tile_height, grid.steps_y, width, band_limited, grid.first_row,
                          grid.wrap_rows);
  }
  // Boxes of other parts: without a band limit, those of the first and the last part are the largest.
  for (const double shift : {-cloud.center_y_span, cloud.center_y_span}) {
    if (shift == 0 || grid.wrap_rows) continue;
    CloudRange moved = range;
    moved.low[1] += shift;
    moved.high[1] += shift;
    int first[max_fast_tiles];
    grid.rows = std::max(grid.rows, lay_boxes(moved, 1, grid.tiles_y, grid.tile_height, grid.steps_y, width,
                                              band_limited, first, grid.wrap_rows));
  }
  // Tensor cores require depths in multiples of 16 halves; a point's pair of columns may exceed the box by two.
  grid.column_chunks = 1;
  grid.plane_chunk = grid.planes;
  grid.columns = round_up(grid.columns, 8);
  grid.rows = round_up(grid.rows, 4);
  if (grid.split == 3) {
    const double max_depth = std::max(256.0, step_share * precision.tolerance / grid_error_a_step);
    grid.column_chunks = static_cast<int>(std::ceil(2.0 * grid.columns / max_depth));
    grid.columns = round_up(grid.columns, 8 * grid.column_chunks);
    grid.rows = round_up(grid.rows, 8);
    grid.plane_chunk = std::clamp(static_cast<int>(max_depth / (2.0 * grid.rows)), 1, grid.planes);
    grid.planes = round_up(grid.planes, grid.plane_chunk);
  } else if (grid.planes % 2 != 0 && grid.rows % 8 != 0) {
    if (grid.planes * 4 < grid.rows) {
      grid.rows += 4;
    } else {
      ++grid.planes;
    }
    grid.plane_chunk = grid.planes;
  }
  return grid;
}

/// Number of tiles along an axis that each sampled point lights, and that it lights wholly; the same of subtiles.
struct TileCounts {
  std::vector<float> lit;
  std::vector<float> whole;
  std::vector<float> lit_subtiles;
  std::vector<float> whole_subtiles;  ///< of the tiles that it lights wholly
};

TileCounts count_tiles(const FastCloud& cloud, int axis, int tiles, int extent) {
  TileCounts counts;
  const auto reaches = [](double center, double reach, int begin, int end) {
    return center + reach >= begin && center - reach <= end - 1;
  };
  const int tile = round_up((extent + tiles - 1) / tiles, axis == 0 ? 8 : 2);
  const int subtiles = (tile + subtile_side - 1) / subtile_side;
  const int subtile = (tile + subtiles - 1) / subtiles;
  for (const auto& position : cloud.summary.sample) {
    const double center = axis == 0 ? cloud.center_x + position[0] * cloud.inverse_pitch
                                    : cloud.center_y - position[1] * cloud.inverse_pitch;
    const double reach = cloud.reach_per_metre * std::abs(position[2]);
    float lit = 0;
    float whole = 0;
    float lit_subtiles = 0;
    float whole_subtiles = 0;
    for (int begin = 0; begin < extent; begin += tile) {
      const int end = std::min(begin + tile, extent);
      lit += reaches(center, reach, begin, end) ? 1.0F : 0.0F;
      const bool is_whole = center + reach >= end - 1 && center - reach <= begin;
      whole += is_whole ? 1.0F : 0.0F;
      if (is_whole) whole_subtiles += static_cast<float>((end - begin + subtile - 1) / subtile);
      for (int part = begin; part < end; part += subtile) {
        const int part_end = std::min(part + subtile, end);
        lit_subtiles += reaches(center, reach, part, part_end) ? 1.0F : 0.0F;
      }
    }
    counts.lit.push_back(lit);
    counts.whole.push_back(whole);
    counts.lit_subtiles.push_back(lit_subtiles);
    counts.whole_subtiles.push_back(whole_subtiles);
  }
  return counts;
}

/// Mean number of tiles that a point lights wholly, and in part, and of subtiles that it lights of the latter.
struct Lighting {
  double whole;
  double partly;
  double subtiles;
};
Lighting mean_lighting(const TileCounts& x, const TileCounts& y) {
  double whole = 0;
  double lit = 0;
  double subtiles = 0;
  for (std::size_t i = 0; i < x.lit.size(); ++i) {
    whole += x.whole[i] * y.whole[i];
    lit += x.lit[i] * y.lit[i];
    subtiles += x.lit_subtiles[i] * y.lit_subtiles[i] - x.whole_subtiles[i] * y.whole_subtiles[i];
  }
  const auto n = static_cast<double>(x.lit.size());
  return {whole / n, (lit - whole) / n, subtiles / n};
}

/// Estimated microseconds of the masked products on an H200.
double masked_time(const FastGrid& grid, std::int64_t count, const Lighting& lighting, const FastPrecision& precision) {
  const double pair_us = 1e-3 * static_cast<double>(count);
  if (precision.on_chip) {
    return pair_us * lighting.subtiles * subtile_side * subtile_side * on_chip_pair_ns;
  }
  return pair_us * lighting.partly * grid.tile_width * grid.tile_height * fast_pair_ns(precision.tolerance);
}

/// Estimated microseconds on an H200 (fitted to holotone_bench's rows).
double estimated_time(const FastGrid& grid, std::int64_t count, const Lighting& lighting,
                      const FastPrecision& precision) {
  const auto cells = static_cast<double>(grid.cells());
  const double spread = spread_time(grid, count, static_cast<double>(count) * lighting.whole, precision.tolerance);
  const double middle = 2.0 * grid.tiles() * grid.depth_rows() * grid.tile_width;
  const double traffic = cells * (16 + 4 * grid.split) + middle * (grid.split == 1 ? 6 : 20) + 4e7;
  return fast_launches_us + spread + traffic / 2.5e6 + product_flops(grid) / 5.6e8 +
         masked_time(grid, count, lighting, precision);
}

/// Returns the narrowest window whose error, together with the storage errors, keeps the tolerance; none if no window
/// does.
std::optional<SpreadWindow> window_for(double tolerance, double upsampling, int split) {
  const double lost = split == 1 ? 0 : step_share * tolerance + (tolerance >= sorted_tolerance ? place_error : 0);
  const double stored = split == 1 ? half_error : pair_error;
  double share = 0.9;
  for (int attempt = 0; attempt < 6; ++attempt, share *= 0.7) {
    const auto window = choose_window(std::min(loosest_window, share * tolerance), upsampling, 3);
    if (window.width > widest_fast_window) return std::nullopt;
    const double error =
        std::hypot(std::sqrt(3.0) * window_error(window), stored * std::pow(window_noise_gain(window), 3), lost);
    if (error <= error_share * tolerance) return window;
  }
  return std::nullopt;
}

}  // namespace

FastGrid products_grid(const FastCloud& cloud, int coarse_side) {
  FastGrid grid{};
  grid.panel_width = grid.tile_width = static_cast<int>(cloud.panel[1]);
  grid.panel_height = grid.tile_height = static_cast<int>(cloud.panel[0]);
  grid.tiles_x = grid.tiles_y = 1;
  grid.lowest_curvature = 1;
  grid.highest_curvature = -1;
  grid.split = 1;
  grid.wrap_columns = grid.wrap_rows = true;
  grid.on_chip = true;
  grid.coarse_side = coarse_side;
  const CloudRange range = find_range(cloud);
  grid.coarse_curvature = 0.5 * (range.low[2] + range.high[2]);
  return grid;
}

int box_period(double steps, int width) { return static_cast<int>(steps) + 2 * width + 2; }

double product_flops(const FastGrid& grid) {
  const double columns = 2.0 * grid.tiles() * grid.depth_rows() * 2 * grid.tile_width * 2 * grid.columns;
  const double depth = 2.0 * grid.tiles() * 2 * grid.tile_height * grid.tile_width * 2 * grid.depth_rows();
  return (columns + depth) * grid.split;
}

bool fits(const FastGrid& grid) {
  const double operand = 2.0 * grid.tiles() * grid.tile_width * grid.planes * grid.rows * grid.split;
  const double cells = 1.0 * grid.tiles() * grid.planes * grid.rows * grid.columns;
  constexpr int max_blocks = 65535;  // along a launch's second and third axes
  return operand <= static_cast<double>(max_operand_elements) && cells <= static_cast<double>(max_cells) &&
         std::max({grid.tile_width, grid.tile_height, grid.planes}) <= max_blocks;
}

double spread_time(const FastGrid& grid, std::int64_t count, double records, double tolerance) {
  if (!sorts_points(grid, count, tolerance)) return 10 + records * 5.5e-4 * std::pow(grid.window_width, 3) / 125;
  // Passes over the points, products, and every filled bin added to the grid.
  const int width = grid.window_width;
  const double bin_cells = 1.0 * bin_columns(width) * bin_rows(width) * bin_planes(width);
  const double filled_bins = std::min(records, static_cast<double>(grid.cells()) / bin_cells);
  const double classified = static_cast<double>(count) * grid.tiles();
  return 30 + classified * 6e-5 + records * 1.9e-4 + filled_bins * 6e-3;
}

double fast_pair_ns(double tolerance) {
  return tolerance >= float16_three_error ? 1.7e-5 : tolerance >= long_batch_tolerance ? 6e-5 : 2e-4;
}

bool sorts_points(const FastGrid& grid, std::int64_t count, double tolerance) {
  return tolerance >= sorted_tolerance && static_cast<double>(count) * grid.tiles() >= sorted_records;
}

bool lights_whole_panel(const FastCloud& cloud) {
  if (cloud.reach_per_metre <= 0) return true;
  const CloudRange range = find_range(cloud);
  // |distance| is turns_metre / |curvature|: with the sum's own cone, 1 / (4 |curvature|).
  const double reach =
      cloud.reach_per_metre * cloud.turns_metre / std::max(std::abs(range.low[2]), std::abs(range.high[2]));
  const auto near = [&](int axis, std::int64_t extent) {
    return std::max(range.high[axis], static_cast<double>(extent - 1) - range.low[axis]) <= reach;
  };
  return near(0, cloud.panel[1]) && near(1, cloud.panel[0]);
}

FastPrecision fast_precision(double tolerance) {
  for (const int split : {1, 3}) {
    FastPrecision precision{tolerance, split, {}};
    std::optional<SpreadWindow> windows[std::size(upsamplings)];
    parallel_for(0, std::ssize(upsamplings), [&](std::int64_t i) {
      windows[i] = window_for(tolerance, upsamplings[i], split);  // 2 ms each
    });
    for (const auto& window : windows) {
      if (window) precision.windows.push_back(*window);
    }
    if (!precision.windows.empty()) return precision;
  }
  return {tolerance, 1, {}};
}

bool may_be_coarse_sums(double tolerance, bool on_chip) { return on_chip && tolerance >= coarse_tolerance; }

Shape<2> fast_block_shape(const Shape<2>& panel, std::int64_t rows_at_once, bool coarse) {
  if (std::max(rows_at_once, panel[1]) <= widest_undivided) return {rows_at_once, panel[1]};
  const std::int64_t widest = coarse ? widest_undivided : widest_block;
  const auto share = [widest](std::int64_t extent) {
    const std::int64_t blocks = (extent + widest - 1) / widest;
    return (extent + blocks - 1) / blocks;
  };
  return {share(rows_at_once), share(panel[1])};
}

FastCloud fast_cloud(const PointCloudOptions& options, const PanelBlock& block, std::int64_t count,
                     const PointSummary& summary) {
  const double pitch = options.pitch_m;
  FastCloud cloud;
  cloud.panel = block.shape;
  cloud.count = count;
  cloud.inverse_pitch = 1 / pitch;
  cloud.center_x = 0.5 * static_cast<double>(options.shape[1] - 1) - static_cast<double>(block.first_column);
  cloud.center_y = 0.5 * static_cast<double>(options.shape[0] - 1) - static_cast<double>(block.first_row);
  cloud.turns_metre = pitch * pitch / (2 * options.wavelength_m);
  cloud.reach_per_metre = reach_per_metre(options);
  cloud.summary = summary;
  return cloud;
}

PointSummary bounded_summary(const FastCloud& cloud) {
  PointSummary summary = cloud.summary;
  summary.squares = std::min(summary.squares, static_cast<float>(cloud.count) * summary.largest * summary.largest);
  summary.crowd = std::min(summary.crowd, cloud.count);
  return summary;
}

FastBlocks fast_blocks(const PointCloudOptions& options, const Shape<2>& block, std::int64_t count,
                       const PointSummary& summary) {
  const FastCloud panel = fast_cloud(options, {0, 0, options.shape}, count, summary);
  const Shape<2> blocks{(options.shape[0] + block[0] - 1) / block[0], (options.shape[1] + block[1] - 1) / block[1]};
  // Numbers of the first block of an axis that a point lights, and of the one after the last.
  const auto lit = [&](std::size_t axis, double center, double reach) {
    const auto number = [&](double pixel) {
      return std::clamp(std::floor(pixel / static_cast<double>(block[axis])), -1.0, static_cast<double>(blocks[axis]));
    };
    return std::pair{
        static_cast<std::int64_t>(std::max(number(center - reach), 0.0)),
        static_cast<std::int64_t>(std::min(number(center + reach) + 1, static_cast<double>(blocks[axis])))};
  };
  FastBlocks result{fast_cloud(options, {0, 0, block}, count, summary), 0};
  result.cloud.any_place = true;
  std::vector<bool> is_lit(static_cast<std::size_t>(blocks[0] * blocks[1]));
  std::int64_t pairs = 0;
  for (std::size_t i = 0; i < summary.sample.size(); ++i) {
    auto& position = result.cloud.summary.sample[i];
    const double reach = panel.reach_per_metre > 0 ? panel.reach_per_metre * std::abs(position[2]) : 1e30;
    const auto rows = lit(0, panel.center_y - position[1] * panel.inverse_pitch, reach);
    const auto columns = lit(1, panel.center_x + position[0] * panel.inverse_pitch, reach);
    for (auto row = rows.first; row < rows.second; ++row) {
      for (auto column = columns.first; column < columns.second; ++column) {
        is_lit[static_cast<std::size_t>(row * blocks[1] + column)] = true;
      }
    }
    const std::int64_t down = std::max<std::int64_t>(rows.second - rows.first, 0);
    const std::int64_t across = std::max<std::int64_t>(columns.second - columns.first, 0);
    pairs += down * across;
    if (down * across == 0) continue;
    // As it lies beside one of its blocks: the cloud is relative to the first block of the panel.
    const auto chosen = static_cast<std::int64_t>(random_bits(1, i) % static_cast<std::uint64_t>(down * across));
    const auto row = static_cast<double>((rows.first + chosen / across) * block[0]);
    const auto column = static_cast<double>((columns.first + chosen % across) * block[1]);
    position[0] -= static_cast<float>(column / panel.inverse_pitch);
    position[1] += static_cast<float>(row / panel.inverse_pitch);
  }
  result.lit_blocks = std::count(is_lit.begin(), is_lit.end(), true);
  const double share = static_cast<double>(pairs) / static_cast<double>(summary.sample.size()) /
                       static_cast<double>(std::max<std::int64_t>(result.lit_blocks, 1));
  result.cloud.count = std::max<std::int64_t>(1, std::llround(static_cast<double>(count) * share));
  return result;
}

bool move_fast_grid(FastGrid& grid, const FastCloud& cloud) {
  if (grid.wrap_rows) return true;  // a box of a whole period holds all frequencies
  CloudRange range = find_range(cloud);
  range.low[2] = grid.lowest_curvature;
  range.high[2] = grid.highest_curvature;
  int first[max_fast_tiles];
  bool wrap = false;
  const int extent = lay_boxes(range, 1, grid.tiles_y, grid.tile_height, grid.steps_y, grid.window_width,
                               cloud.reach_per_metre > 0, first, wrap);
  if (wrap || extent > grid.rows) return false;
  std::copy_n(first, grid.tiles_y, grid.first_row);
  return true;
}

FastGrid remade_fast_grid(const FastGrid& grid, const SpreadWindow& window, const FastCloud& cloud, double tolerance) {
  return make_grid(cloud, find_range(cloud), grid.tiles_x, grid.tiles_y, window,
                   {tolerance, grid.split, {}, grid.on_chip});
}

FastChoice choose_fast_grid(const FastCloud& cloud, const FastPrecision& precision, double max_us,
                            const std::function<bool(const FastGrid&)>& accepts) {
  const CloudRange range = find_range(cloud);
  const bool all_lit = lights_whole_panel(cloud);
  const auto width = static_cast<int>(cloud.panel[1]);
  const auto height = static_cast<int>(cloud.panel[0]);
  std::vector<TileCounts> columns;
  std::vector<TileCounts> rows;
  for (const int tiles : tile_counts) {
    if (all_lit) break;
    columns.push_back(count_tiles(cloud, 0, tiles, width));
    rows.push_back(count_tiles(cloud, 1, tiles, height));
  }
  FastChoice best;
  double least = max_us;
  if (precision.on_chip && !all_lit) {
    const FastGrid products = products_grid(cloud, 0);
    TileCounts of_rows = rows.front();  // one tile
    of_rows.whole_subtiles.assign(of_rows.whole_subtiles.size(), 0);
    const Lighting lighting = mean_lighting(columns.front(), of_rows);
    const auto consider = [&](const FastGrid& grid, double time) {
      if (time >= least) return;
      least = time;
      best = {grid, {}, cloud, time};
    };
    consider(products, fast_launches_us + masked_time(products, cloud.count, lighting, precision));
    if (may_be_coarse_sums(precision.tolerance, precision.on_chip) && cloud.any_place) {
      for (const int side : {128, 256, 512}) {
        const FastGrid coarse = products_grid(cloud, side);
        consider(coarse, coarse_time(cloud, coarse));
      }
    }
  }
  for (const auto& window : precision.windows) {
    for (std::size_t y = 0; y < std::size(tile_counts); ++y) {
      for (std::size_t x = 0; x < std::size(tile_counts); ++x) {
        const int tiles_x = tile_counts[x];
        const int tiles_y = tile_counts[y];
        if ((tiles_x > 1 && width / tiles_x < smallest_tile) || (tiles_y > 1 && height / tiles_y < smallest_tile))
          continue;
        const FastGrid grid = make_grid(cloud, range, tiles_x, tiles_y, window, precision);
        if (!fits(grid)) continue;
        const Lighting lighting = all_lit ? Lighting{1.0 * grid.tiles(), 0, 0} : mean_lighting(columns[x], rows[y]);
        if (!precision.on_chip && static_cast<double>(cloud.count) * lighting.partly > max_partly) continue;
        const double time = estimated_time(grid, cloud.count, lighting, precision);
        if (time < least && (!accepts || accepts(grid))) {
          least = time;
          best = {grid, window, cloud, time};
        }
      }
    }
  }
  return best;
}

}  // namespace holotone::point_cloud
