#include <algorithm>
#include <cmath>
#include <holotone/hologram/point_cloud/choice/spectrum_grid.hpp>
#include <holotone/hologram/point_cloud/precision.hpp>
#include <limits>

namespace holotone::point_cloud {
namespace {

constexpr int tile_counts[] = {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 20, 24, 32, 48, 64};
constexpr int smallest_tile = 24;
/// Samples a side of a tile's surface: for its tables, and for an estimate, which looks at a few tiles a side.
constexpr int table_samples = 17;
constexpr int estimate_samples = 3;
constexpr int estimate_tiles = 3;
/// Of three nodes, an error of 1.02e-2 was found at a tolerance of 1e-2.
constexpr int narrowest_window = 4;
/// Tolerance with windows of four nodes and more, for looser ones.
constexpr double loosest_tolerance = 5e-3;
/// Elements of the tiles' planes at most, 8 GiB in half precision, and of one group's where there are several.
constexpr double max_plane_elements = 4294967296.0;
constexpr double max_group_elements = 1073741824.0;
/// Relative widening of ranges: points at their ends stay inside after rounding.
constexpr double range_slack = 1e-3;

/// Lengths of which cuFFT 12 transforms the columns of an array on an H200 in at most 17 ps a number, 26 above 4096;
/// others take up to 70. Rows take 5 whatever their length.
constexpr std::int64_t quick_columns[] = {
    512,  540,  560,  576,  588,  600,  630,  640,  648,  672,  700,  720,  750,  756,  768,  784,  800,
    810,  840,  864,  896,  900,  960,  972,  980,  1000, 1024, 1050, 1120, 1134, 1152, 1176, 1200, 1250,
    1260, 1280, 1344, 1350, 1400, 1440, 1458, 1470, 1512, 1536, 1600, 1620, 1680, 1750, 1764, 1800, 1890,
    1960, 2016, 2048, 2058, 2100, 2160, 2240, 2250, 2268, 2304, 2352, 2400, 2430, 2450, 2500, 2520, 2646,
    2688, 2700, 2744, 2800, 2940, 3000, 3024, 3072, 3360, 3600, 3840, 4096, 4536, 4608, 4704, 5040, 5120,
    5400, 5760, 5832, 5880, 6048, 6144, 6400, 6480, 7000, 7056, 7560, 7840, 8192};

int round_up(int value, int step) { return (value + step - 1) / step * step; }

/// Depth that tensor cores sum in pairs of fp16 within their share of the tolerance.
double max_pair_depth(double tolerance) { return std::max(256.0, step_share * tolerance / grid_error_a_step); }
int chunks_of_pairs(double extent, double tolerance) {
  return static_cast<int>(std::ceil(2 * extent / max_pair_depth(tolerance)));
}

/// Extent of a box or a tile, so that products over it have whole parts.
int round_extent(int extent, int split, double tolerance) {
  return round_up(extent, split == 3 ? 8 * chunks_of_pairs(extent, tolerance) : 8);
}

bool fits_memory(const FastGrid& grid, double max_elements) {
  constexpr int max_blocks = 65535;  // along a launch's second axis
  const double planes = 2.0 * grid.tiles() * grid.planes * grid.tile_width * grid.tile_height * grid.split;
  return fits(grid) && planes <= max_elements && std::max(grid.rows, grid.columns) <= max_blocks;
}

/// Returns the number of groups of equally many rows of tiles that fit in memory; 0: no row of tiles does.
int count_groups(FastGrid grid, bool in_groups) {
  if (fits_memory(grid, max_plane_elements)) return 1;
  const int rows = grid.tiles_y;
  for (int groups = 2; in_groups && groups <= rows; ++groups) {
    grid.tiles_y = (rows + groups - 1) / groups;
    if (fits_memory(grid, max_group_elements)) return groups;
  }
  return 0;
}

/// Ranges of the cloud. Points beside the panel's light are left out by the kernels.
SpectrumCloud find_range(const FastCloud& cloud) {
  const auto& s = cloud.summary;
  const double inverse[2] = {static_cast<double>(s.low[2]), static_cast<double>(s.high[2])};
  SpectrumCloud range{};
  range.nearest_m = 1 / std::max(std::abs(inverse[0]), std::abs(inverse[1]));
  range.depth_m[0] = static_cast<double>(s.low[3]);
  range.depth_m[1] = static_cast<double>(s.high[3]);
  // Widened ranges of inverses stay on their side of the panel.
  if (inverse[0] > 0) range.depth_m[0] = std::max(range.depth_m[0], range.nearest_m);
  if (inverse[1] < 0) range.depth_m[1] = std::min(range.depth_m[1], -range.nearest_m);
  const double reach =
      cloud.reach_per_metre * std::max(std::abs(range.depth_m[0]), std::abs(range.depth_m[1])) + exact_blur;
  const double low[2] = {cloud.center_y - static_cast<double>(s.high[1]) * cloud.inverse_pitch,
                         static_cast<double>(s.low[0]) * cloud.inverse_pitch + cloud.center_x};
  const double high[2] = {cloud.center_y - static_cast<double>(s.low[1]) * cloud.inverse_pitch,
                          static_cast<double>(s.high[0]) * cloud.inverse_pitch + cloud.center_x};
  for (const std::size_t axis : {0, 1}) {
    if (cloud.any_place) {
      range.low[axis] = -reach;
      range.high[axis] = static_cast<double>(cloud.panel[axis]) + reach;
      continue;
    }
    const double slack =
        range_slack * (high[axis] - low[axis]) + 1e-6 * std::max(std::abs(low[axis]), std::abs(high[axis]));
    const auto extent = static_cast<double>(cloud.panel[axis]);
    range.low[axis] = std::clamp(low[axis] - slack, -reach, extent + reach);
    range.high[axis] = std::clamp(high[axis] + slack, -reach, extent + reach);
  }
  return range;
}

/// Steps of an axis between two numbers of turns a sample, and the window around them.
struct Box {
  double first;
  double count;
};
Box make_box(double low, double high, double steps, int width) {
  const double first = std::ceil(low * steps - 0.5 * width - 0.01);
  return {first, std::floor(high * steps + 0.5 * width + 0.01) + 1 - first};
}
int to_int(double value) { return static_cast<int>(std::clamp(value, -1e9, 1e9)); }

/// Makes tiles of plane waves. `all`: every tile, for the kernels; else some, for an estimate.
void make_tiles(SpectrumGrid& made, const SpectrumCloud& range, int tiles_x, int tiles_y,
                const FastPrecision& precision, bool all) {
  FastGrid& grid = made.grid;
  const SpectrumLayout& layout = made.layout;
  const SpreadWindow& window = made.window;
  grid = {};
  grid.panel_width = static_cast<int>(2 * layout.half[1]);  // m = half has no light
  grid.panel_height = static_cast<int>(2 * layout.half[0] + 1);
  grid.split = precision.split;
  grid.tile_width = round_extent((grid.panel_width + tiles_x - 1) / tiles_x, grid.split, precision.tolerance);
  grid.tile_height = round_extent((grid.panel_height + tiles_y - 1) / tiles_y, grid.split, precision.tolerance);
  grid.tiles_x = (grid.panel_width + grid.tile_width - 1) / grid.tile_width;
  grid.tiles_y = (grid.panel_height + grid.tile_height - 1) / grid.tile_height;
  grid.steps_x = std::ceil(window.upsampling * grid.tile_width);
  grid.steps_y = std::ceil(window.upsampling * grid.tile_height);
  grid.window_width = window.width;
  grid.window_beta = static_cast<float>(window.beta);
  grid.inverse_period_x = 1 / static_cast<double>(layout.period[1]);
  grid.inverse_period_y = 1 / static_cast<double>(layout.period[0]);
  grid.middle_m = layout.middle_m;
  // At least two wavelengths, so that near terms make no strength larger than its amplitude.
  grid.largest_m = std::max({std::abs(layout.depth_m[0]), std::abs(layout.depth_m[1]), 2 * layout.wavelength_m});
  grid.falloff = layout.falloff;
  const double half_depth = (0.5 + range_slack) * (layout.depth_m[1] - layout.depth_m[0]);
  const Shape<2> shape{grid.tile_height, grid.tile_width};
  double columns = 0;
  double rows = 0;
  double planes = 0;
  made.tiles.clear();
  made.near = false;
  made.groups = 1;
  made.tile_rows = grid.tiles_y;
  const auto add = [&](int y, int x) {
    const auto about = spectrum_tile(layout, std::int64_t{y} * grid.tile_height - layout.half[0],
                                     std::int64_t{x} * grid.tile_width - layout.half[1], shape,
                                     all ? table_samples : estimate_samples);
    const double near_m = near_distance_m(layout, about, shape, precision.tolerance);
    made.near = made.near || range.nearest_m < near_m;
    const double steps = FastLayout::depth_margin * window.upsampling * (about.high - about.low);
    const double row_lean = half_depth * std::abs(about.slope[0]);
    const double column_lean = half_depth * std::abs(about.slope[1]);
    const Box down = make_box(-range.high[0] * grid.inverse_period_y - row_lean,
                              -range.low[0] * grid.inverse_period_y + row_lean, grid.steps_y, window.width);
    const Box across = make_box(-range.high[1] * grid.inverse_period_x - column_lean,
                                -range.low[1] * grid.inverse_period_x + column_lean, grid.steps_x, window.width);
    const Box deep = make_box(-half_depth, half_depth, steps, window.width);
    rows = std::max(rows, down.count);
    columns = std::max(columns, across.count);
    planes = std::max(planes, deep.count);
    made.tiles.push_back({about.row, about.column, about.level, about.slope[0], about.slope[1],
                          0.5 * (about.low + about.high), steps, 1 / steps,
                          static_cast<float>(1 / (two_pi * (about.level + 1 / layout.wavelength_m))),
                          static_cast<float>(near_m), to_int(down.first), to_int(across.first), to_int(deep.first)});
  };
  const int down = all ? grid.tiles_y : std::min(grid.tiles_y, estimate_tiles);
  const int across = all ? grid.tiles_x : std::min(grid.tiles_x, estimate_tiles);
  for (int i = 0; i < down; ++i) {
    for (int j = 0; j < across; ++j) {
      // Some tiles: from the first to the last, evenly.
      const int y = all || down == 1 ? i : i * (grid.tiles_y - 1) / (down - 1);
      const int x = all || across == 1 ? j : j * (grid.tiles_x - 1) / (across - 1);
      add(y, x);
    }
  }
  const int longest[2] = {box_period(grid.steps_x, window.width), box_period(grid.steps_y, window.width)};
  grid.wrap_columns = columns > longest[0];
  grid.wrap_rows = rows > longest[1];
  // Tensor cores require depths in multiples of 16 halves; a point's pair of columns may exceed the box by two.
  grid.columns =
      round_extent(grid.wrap_columns ? longest[0] : static_cast<int>(columns), grid.split, precision.tolerance);
  grid.rows = round_extent(grid.wrap_rows ? longest[1] : static_cast<int>(rows), grid.split, precision.tolerance);
  grid.planes = static_cast<int>(std::min(planes, 1e6));
}

/// Estimated microseconds on an H200; prices by least squares over 110 grids of 30,000 to 10 million points, 1,920 x
/// 1,080 to 3,840 x 2,160 pixels, within 25 % of each.
double estimate(const SpectrumGrid& made, std::int64_t count, double tolerance) {
  constexpr double start = 60;
  constexpr double record = 9.8e-5;  // a point in a tile: two passes and its products
  constexpr double cell = 1.47e-5;   // cleared, summed and converted
  constexpr double flop = 1.27e-9;
  constexpr double value = 5.3e-6;    // of the first product, converted
  constexpr double number = 1.33e-6;  // of the second product
  constexpr double sample = 1.6e-5;   // of the spectrum, cleared and transformed
  const FastGrid& grid = made.grid;
  const auto records = static_cast<double>(count) * grid.tiles();
  const auto cells = static_cast<double>(grid.cells());
  const double values = 1.0 * grid.tiles() * grid.depth_rows() * grid.tile_width;
  const double numbers = 1.0 * grid.tiles() * grid.planes * grid.tile_width * grid.tile_height;
  const double spread =
      sorts_points(grid, count, tolerance) ? records * record : spread_time(grid, count, records, tolerance);
  const bool pairs = grid.split > 1;  // more bytes
  const double once = spread + cells * cell * (pairs ? 1.4 : 1) + product_flops(grid) * flop +
                      values * value * (pairs ? 3.3 : 1) + numbers * number * (pairs ? 2 : 1);
  const auto samples = static_cast<double>(element_count(made.layout.period));
  return start + samples * sample + (made.near ? 2 : 1) * once;
}

/// True if the spectrum of a cloud on its panel has at most max_device_spectrum numbers.
bool fits_device_spectrum(const PointCloudOptions& options, const FastCloud& cloud) {
  const auto [rows, columns] =
      spectrum_layout(options, {0, 0, cloud.panel}, find_range(cloud), quick_column_length).period;
  return static_cast<double>(rows) * static_cast<double>(columns) <= max_device_spectrum;
}

}  // namespace

std::int64_t quick_column_length(std::int64_t minimum) {
  const auto* const found = std::ranges::lower_bound(quick_columns, minimum);
  if (minimum < quick_columns[0] || found == std::end(quick_columns)) return fft_friendly_size(minimum);
  return *found;
}

std::int64_t depth_parts(const FastGrid& grid, std::int64_t extent, double tolerance) {
  if (grid.split == 1) return 1;
  std::int64_t chunks = chunks_of_pairs(static_cast<double>(extent), tolerance);
  while (extent / 8 % chunks != 0) ++chunks;
  return 3 * chunks;
}

Shape<2> device_spectrum_block(const PointCloudOptions& options, std::int64_t rows_at_once,
                               const PointSummary& summary) {
  FastCloud cloud = fast_cloud(options, {0, 0, options.shape}, 1, summary);
  if (fits_device_spectrum(options, cloud)) return options.shape;
  cloud.any_place = true;
  Shape<2> best{};
  double least = std::numeric_limits<double>::max();
  for (const std::int64_t extent : {8192, 6144, 4096, 3072, 2048, 1024}) {
    // Even shares of the rows at once and of the columns.
    std::int64_t blocks = 1;
    for (const std::size_t axis : {0, 1}) {
      const std::int64_t all = axis == 0 ? rows_at_once : options.shape[1];
      const std::int64_t shares = (all + extent - 1) / extent;
      cloud.panel[axis] = (all + shares - 1) / shares;
      blocks *= shares;
    }
    if (!fits_device_spectrum(options, cloud)) continue;
    const auto layout = spectrum_layout(options, {0, 0, cloud.panel}, find_range(cloud), quick_column_length);
    const double work = static_cast<double>(blocks) * static_cast<double>(element_count(layout.period));
    if (work >= least) continue;
    least = work;
    best = cloud.panel;
  }
  return best;
}

SpectrumGrid choose_spectrum_grid(const PointCloudOptions& options, const FastCloud& cloud,
                                  const FastPrecision& precision, bool in_groups) {
  if (!fits_device_spectrum(options, cloud)) return {};
  const auto wide = [](const SpreadWindow& window) { return window.width >= narrowest_window; };
  if (precision.tolerance > loosest_tolerance && std::ranges::none_of(precision.windows, wide)) {
    return choose_spectrum_grid(options, cloud, fast_precision(loosest_tolerance), in_groups);
  }
  const SpectrumCloud range = find_range(cloud);
  SpectrumGrid made;
  made.cloud = cloud;
  made.layout = spectrum_layout(options, {0, 0, cloud.panel}, range, quick_column_length);
  // Four neighbours are one access. The period is a multiple of eight, so that no frequency is there twice.
  made.layout.half[1] = round_up(static_cast<int>(made.layout.half[1]) + 1, 4);
  struct Candidate {
    double microseconds;
    SpreadWindow window;
    int down;
    int across;
  };
  std::vector<Candidate> candidates;
  for (const auto& window : precision.windows) {
    if (!wide(window)) continue;
    made.window = window;
    for (const int down : tile_counts) {
      for (const int across : tile_counts) {
        if ((across > 1 && 2 * made.layout.half[1] / across < smallest_tile) ||
            (down > 1 && 2 * made.layout.half[0] / down < smallest_tile)) {
          continue;
        }
        make_tiles(made, range, across, down, precision, false);
        if (count_groups(made.grid, in_groups) == 0) continue;
        candidates.push_back({estimate(made, cloud.count, precision.tolerance), window, down, across});
      }
    }
  }
  std::ranges::sort(candidates, {}, &Candidate::microseconds);
  for (const auto& one : candidates) {
    made.window = one.window;
    make_tiles(made, range, one.across, one.down, precision, true);
    made.groups = count_groups(made.grid, in_groups);
    if (made.groups == 0) continue;  // some tile is larger than those of the estimate
    made.grid.tiles_y = (made.tile_rows + made.groups - 1) / made.groups;
    made.grid.lit_width = static_cast<double>(cloud.panel[1]);
    made.grid.lit_height = static_cast<double>(cloud.panel[0]);
    made.microseconds = one.microseconds;
    return made;
  }
  return {};
}

}  // namespace holotone::point_cloud
