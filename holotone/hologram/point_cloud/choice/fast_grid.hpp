#pragma once
// Tiles of the CUDA engine of `fast`, all of one shape and summed together (fast_layout.hpp has the formula).
// Frequencies fill only a box of a tile's grid, so dense products with constant matrices replace FFTs. Computed on the
// host, read by the kernels. Not for users.
#include <functional>
#include <holotone/core/random.hpp>
#include <holotone/hologram/point_cloud/engine.hpp>
#include <holotone/nufft/window.hpp>
#include <optional>
#include <vector>

namespace holotone::point_cloud {

constexpr int max_fast_tiles = 32;  ///< per axis
constexpr int widest_fast_window = 8;

/// A tile of plane waves of the exact wave's spectrum (spectrum_layout.hpp) for the kernels.
struct WaveTile {
  double row, column;                        ///< m of the origin
  double level;                              ///< K - 1 / lambda there, in turns a metre
  double row_slope, column_slope;            ///< of K, in turns a metre and index
  double middle;                             ///< of the range of r
  double depth_steps, turns_step;            ///< steps of the third axis for a turn a unit of r, and the inverse
  float near_term;                           ///< 1 / (2 pi K) at the origin
  float near_m;                              ///< distance below which other K of the tile need what that leaves
  int first_row, first_column, first_plane;  ///< first steps of the box
};

/// Parameters of the tiles for the kernels; frequencies in steps of the grids nx, ny, nm.
struct FastGrid {
  int panel_width, panel_height;
  int tiles_x, tiles_y;
  int tile_width, tile_height;                 ///< pixels; the panel's end may cut the last ones
  int columns, rows, planes;                   ///< extents of the box; 0 planes: products of factors alone
  double steps_x, steps_y, steps_m;            ///< nx, ny (for 1 turn per pixel), nm (for 1 turn per square pixel)
  double middle_curvature;                     ///< a0
  double lowest_curvature, highest_curvature;  ///< range of the points in the box
  double middle_radius;                        ///< r0
  int first_plane;
  int window_width;
  float window_beta;
  int split;          ///< 1: fp16; 3: pairs of fp16, [high low high] x [high high low]
  int column_chunks;  ///< number of parts in which the first product's depth is summed
  int plane_chunk;    ///< planes per part of the second product's depth: tensor cores lose precision at every step
  int first_column[max_fast_tiles];  ///< first step of the box of each column of tiles
  int first_row[max_fast_tiles];
  bool wrap_columns, wrap_rows;  ///< true if boxes are as long as the period
  bool on_chip;                  ///< masked products are those of MaskedProducts
  double bend;                   ///< of exact waves that a filter completes (far_grid.hpp), pitch^4 / (8 lambda)
  int coarse_side;               ///< extent of the tiles of CoarseSums there; 0: none
  double coarse_curvature;       ///< mean of the cloud's
  double wave_ratio;             ///< lambda / pitch: CoarseSums are of exact waves; 0: of Fresnel's
  // The exact wave's spectrum: samples are plane waves m, the panel's extents those of the light, and a tile has boxes
  // of its own.
  const WaveTile* wave_tiles;                 ///< on the device; null: tiles of pixels
  double inverse_period_x, inverse_period_y;  ///< of the periodic panel, in pixels
  double middle_m, largest_m;                 ///< d0, also of `bend`; the distance by which strengths are divided
  double lit_width, lit_height;               ///< of the panel of pixels
  bool near_terms;                            ///< points nearer than near_m alone, and of them the near term alone
  bool falloff;                               ///< amplitudes fall as 1 / r

  HOLOTONE_HOST_DEVICE int tiles() const { return tiles_x * tiles_y; }
  HOLOTONE_HOST_DEVICE int depth_rows() const { return planes * rows; }
  HOLOTONE_HOST_DEVICE std::int64_t cells() const { return std::int64_t{1} * tiles() * planes * rows * columns; }
};

/// A cloud and the panel, or the part of one, that it lights.
struct FastCloud {
  Shape<2> panel{};
  std::int64_t count = 0;
  double inverse_pitch = 0;  ///< pixels per metre
  double center_x = 0;       ///< column of x = 0
  double center_y = 0;       ///< row of y = 0
  double center_y_span = 0;  ///< for parts of a larger panel: maximum deviation of center_y, in rows
  double turns_metre = 0;    ///< pitch^2 / (2 lambda): divided by the distance it is the curvature
  /// lambda of the cone / (2 pitch^2): times |distance| it is the lit half width in pixels; 0: all pixels are lit
  double reach_per_metre = 0;
  bool any_place = false;  ///< the grid serves all blocks of a panel: its boxes are as long as the period
  PointSummary summary;
};

/// True if CoarseSums may serve wide panels. on_chip: the device makes masked products on chip.
bool may_be_coarse_sums(double tolerance, bool on_chip);
/// Returns the extents of the blocks that fast sums at once on CUDA: all columns of rows_at_once rows, or even shares
/// of them on panels that are wider or higher than the tiles of one grid cover well; larger ones for coarse sums.
Shape<2> fast_block_shape(const Shape<2>& panel, std::int64_t rows_at_once, bool coarse);

/// A panel's blocks on average.
struct FastBlocks {
  FastCloud cloud;  ///< points that light a block, those of the sample each beside one of the blocks it lights
  std::int64_t lit_blocks = 0;  ///< blocks that some point of the sample lights
};
FastBlocks fast_blocks(const PointCloudOptions& options, const Shape<2>& block, std::int64_t count,
                       const PointSummary& summary);

/// Storage format for a tolerance, and for each upsampling a window that keeps the tolerance in this format.
struct FastPrecision {
  double tolerance = 0;
  int split = 1;  ///< see FastGrid
  std::vector<SpreadWindow> windows;
  bool on_chip = false;  ///< masked products are those of MaskedProducts
};
FastPrecision fast_precision(double tolerance);

/// Returns the cloud relative to a block of the panel.
FastCloud fast_cloud(const PointCloudOptions& options, const PanelBlock& block, std::int64_t count,
                     const PointSummary& summary);

/// Returns the summary with the sum of squares and the crowd that so many points can have at most.
PointSummary bounded_summary(const FastCloud& cloud);

/// Grid and window of least estimated time on an H200; none if that is not below `max_us` microseconds.
struct FastChoice {
  std::optional<FastGrid> grid;
  SpreadWindow window;
  FastCloud cloud;          ///< cloud that the grid was made for
  double microseconds = 0;  ///< estimate for this cloud
};
/// Largest deviation of a point's curvature from the cloud's mean, in turns per square pixel, in tiles of CoarseSums.
constexpr double max_coarse_curvature(int coarse_side) {
  return coarse_side == 512 ? 6.5e-6 : coarse_side == 256 ? 2.6e-5 : 8e-5;
}
/// Extent of a subtile of MaskedProducts, at most, in pixels.
constexpr int subtile_side = 128;
/// Bins and spreading of `records` points of tiles, sorted or not: estimated microseconds on an H200.
double spread_time(const FastGrid& grid, std::int64_t count, double records, double tolerance);
/// Of both products of a grid.
double product_flops(const FastGrid& grid);
/// True if a grid's operands and cells have sizes that the kernels can address.
bool fits(const FastGrid& grid);
/// Extent of a box that holds all frequencies of an axis.
int box_period(double steps, int width);
/// Launch time of the kernels of a sum, in microseconds, both for fast and for products of factors.
constexpr double fast_launches_us = 20;
/// Returns the nanoseconds per point and pixel in products of factors, fitted to fast's benchmark rows together with
/// fast's other estimates. Used for masked products of tiles that are not made on chip, and for all points in the
/// comparison of fast and separable. Products of a whole panel alone take less (method.cpp, separable).
double fast_pair_ns(double tolerance);
/// Nanoseconds per point and pixel in MaskedProducts, measured on an H200.
constexpr double on_chip_pair_ns = 2.3e-5;
/// Estimated microseconds of coarse sums, with the products that remain, on an H200. Bound: tiles times points of the
/// sample.
double coarse_time(const FastCloud& cloud, const FastGrid& grid);
/// `accepts`: grids that may be chosen; null: all.
FastChoice choose_fast_grid(const FastCloud& cloud, const FastPrecision& precision, double max_us,
                            const std::function<bool(const FastGrid&)>& accepts = nullptr);

/// Returns a grid of one tile that no point lights wholly: products sum all points, or coarse sums in tiles of
/// coarse_side.
FastGrid products_grid(const FastCloud& cloud, int coarse_side);
/// Returns the grid of CoarseSums of exact waves of least estimated time; none if no tiles keep all points' curvatures,
/// or light reaches so far aside that its limit is no rectangle.
FastChoice choose_exact_nodes(const PointCloudOptions& options, const FastCloud& cloud, const FastPrecision& precision);

/// Places the grid's boxes for the same cloud and another part of the panel. Returns false, without a change, if the
/// boxes would have to be larger.
bool move_fast_grid(FastGrid& grid, const FastCloud& cloud);
/// Returns a grid with the same number of tiles and the same window for the cloud relative to another part.
FastGrid remade_fast_grid(const FastGrid& grid, const SpreadWindow& window, const FastCloud& cloud, double tolerance);

/// True if points are sorted into bins before spreading: from 200,000 points times tiles on, at tolerances from
/// sorted_tolerance on.
bool sorts_points(const FastGrid& grid, std::int64_t count, double tolerance);

/// True if every point lights every pixel of the panel.
bool lights_whole_panel(const FastCloud& cloud);

/// Extents of a bin of sorted points in columns, rows and planes; the bin of a point contains the first node of its
/// window. The windows of a bin cover at most 24 columns, 8 rows and 8 planes.
HOLOTONE_HOST_DEVICE constexpr int bin_columns(int window_width) {
  return window_width <= 5 ? 20 : (25 - window_width) / 2 * 2;
}
HOLOTONE_HOST_DEVICE constexpr int bin_rows(int window_width) { return window_width <= 5 ? 4 : 9 - window_width; }
HOLOTONE_HOST_DEVICE constexpr int bin_planes(int window_width) { return bin_rows(window_width); }

}  // namespace holotone::point_cloud
