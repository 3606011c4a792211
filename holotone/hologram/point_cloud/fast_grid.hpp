#pragma once
// How the CUDA engine of `fast` cuts a panel into tiles, all of one shape and summed together
// (point_cloud_fast_layout.hpp has the formula). Frequencies fill only a box of a tile's grid, so dense products with
// constant matrices replace FFTs. Plain arithmetic on the host, read by the kernels. Not for users.
#include <holotone/core/random.hpp>
#include <holotone/hologram/point_cloud/engine.hpp>
#include <holotone/nufft/window.hpp>
#include <optional>
#include <vector>

namespace holotone::point_cloud {

constexpr int most_fast_tiles = 32;  ///< an axis
constexpr int widest_fast_window = 8;

/// Everything the kernels know of the tiles; frequencies in steps of the grids nx, ny, nm.
struct FastGrid {
  int panel_width, panel_height;
  int tiles_x, tiles_y;
  int tile_width, tile_height;                 ///< pixels; the panel's end may cut the last ones
  int columns, rows, planes;                   ///< of the box: its extents
  double steps_x, steps_y, steps_m;            ///< nx, ny (a turn a pixel), nm (a turn a square pixel)
  double middle_curvature;                     ///< a0
  double lowest_curvature, highest_curvature;  ///< of the points that the box holds
  double middle_radius;                        ///< r0
  int first_plane;
  int window_width;
  float window_beta;
  int split;          ///< 1: fp16; 3: pairs of fp16, [high low high] x [high high low]
  int column_chunks;  ///< the first product's depth is summed in so many parts,
  int plane_chunk;    ///< the second's in parts of so many planes: tensor cores lose a little at every step
  int first_column[most_fast_tiles];  ///< of the box of a column of tiles
  int first_row[most_fast_tiles];
  bool wrap_columns, wrap_rows;  ///< boxes as long as the period

  HOLOTONE_HOST_DEVICE int tiles() const { return tiles_x * tiles_y; }
  HOLOTONE_HOST_DEVICE int depth_rows() const { return planes * rows; }
  HOLOTONE_HOST_DEVICE std::int64_t cells() const { return std::int64_t{1} * tiles() * planes * rows * columns; }
};

/// A cloud and the panel, or the part of one, that it lights.
struct FastCloud {
  Shape<2> panel{};
  std::int64_t count = 0;
  double inverse_pitch = 0;  ///< pixels a metre
  double center_y = 0;       ///< the row of y = 0
  double center_y_span = 0;  ///< parts of a larger panel: center_y will lie up to so many rows to either side
  double turns_metre = 0;    ///< pitch^2 / (2 lambda): divided by the distance it is the curvature
  double reach_per_metre =
      0;  ///< lambda of the cone / (2 pitch^2): times |distance| the lit half width in pixels; 0: all pixels are lit
  PointSummary summary;
};

/// How numbers are stored for a tolerance, and a window for each upsampling that keeps it with them.
struct FastPrecision {
  double tolerance = 0;
  int split = 1;  ///< see FastGrid
  std::vector<SpreadWindow> windows;
};
FastPrecision fast_precision(double tolerance);

/// A cloud seen from a panel, or from a part of one whose first row is `first_row` and whose extents are `part`.
FastCloud fast_cloud(const PointCloudOptions& options, const Shape<2>& part, std::int64_t first_row, std::int64_t count,
                     const PointSummary& summary);

/// Grid and window of least estimated time on an H200; none where that is not below `most_us` microseconds.
struct FastChoice {
  std::optional<FastGrid> grid;
  SpreadWindow window;
  FastCloud cloud;  ///< that the grid holds
};
/// What launching the kernels of a sum takes, in microseconds, of fast and of products of factors alike.
constexpr double fast_launches_us = 20;
/// Nanoseconds of a point and a pixel in products of factors beside fast's other estimates, with which it was fitted to
/// fast's rows: masked products of tiles, and all points where fast and separable are compared. The products of a whole
/// panel alone take less (method.cpp, separable).
double fast_pair_ns(double tolerance);
FastChoice choose_fast_grid(const FastCloud& cloud, const FastPrecision& precision, double most_us);

/// Lays the grid's boxes for the same cloud seen from another part of the panel. False, and nothing is changed, if they
/// would have to be larger.
bool move_fast_grid(FastGrid& grid, const FastCloud& cloud);
/// A grid of as many tiles and the same window for the cloud as it is seen from there.
FastGrid remade_fast_grid(const FastGrid& grid, const SpreadWindow& window, const FastCloud& cloud, double tolerance);

/// Whether points are sorted into bins before they are spread, which pays from some hundred thousand on.
bool sorts_points(const FastGrid& grid, std::int64_t count, double tolerance);

/// Whether every point lights every pixel of the panel.
bool lights_whole_panel(const FastCloud& cloud);

/// Bins that sorted points fall into: cells of columns, rows and planes by the node their window begins at. A bin's
/// windows reach over 24 columns, 8 rows and 8 planes.
HOLOTONE_HOST_DEVICE constexpr int bin_columns(int window_width) {
  return window_width <= 5 ? 20 : (25 - window_width) / 2 * 2;
}
HOLOTONE_HOST_DEVICE constexpr int bin_rows(int window_width) { return window_width <= 5 ? 4 : 9 - window_width; }
HOLOTONE_HOST_DEVICE constexpr int bin_planes(int window_width) { return bin_rows(window_width); }

}  // namespace holotone::point_cloud
