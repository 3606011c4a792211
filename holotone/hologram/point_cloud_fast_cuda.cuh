#pragma once
// The parts of the CUDA engine of the method `fast` (point_cloud_fast_layout.hpp has the formula). Not for users.
//
// All tiles go together. Frequencies fill only a box of a tile's grid, so dense products with constant matrices replace FFTs: along
// columns with exp(2 pi i kx X / nx), and along planes and rows at once with exp(2 pi i (ky Y / ny + m (Y^2 - r0) / nm)), the
// planes' phase of X^2 coming in between.
#include <cuda_fp16.h>
#include <holotone/hologram/point_cloud_cuda.cuh>
#include <holotone/hologram/point_cloud_fast_layout.hpp>

namespace holotone::point_cloud {

/// Below this tolerance the tensor cores' accumulators lose too much.
constexpr double point_cloud_fast_cuda_tolerance_floor = 1e-4;
constexpr int most_fast_tiles = 32;  ///< an axis
constexpr int widest_fast_window = 8;

/// Everything the kernels know of the tiles; frequencies in steps of the grids nx, ny, nm.
struct FastGrid {
  int tiles_x, tiles_y;
  int tile_width, tile_height;       ///< pixels
  int columns, rows, planes;         ///< of the box: its extents
  double steps_x, steps_y, steps_m;  ///< nx, ny (a turn a pixel), nm (a turn a square pixel)
  double middle_curvature;           ///< a0
  double middle_radius;              ///< r0
  int first_plane;
  int window_width;
  float window_beta;
  int split;                          ///< 1: fp16; 3: pairs of fp16, [high low high] x [high high low]
  int first_column[most_fast_tiles];  ///< of the box of a column of tiles
  int first_row[most_fast_tiles];
  bool wrap_columns, wrap_rows;  ///< boxes as long as the period

  __host__ __device__ int tiles() const { return tiles_x * tiles_y; }
  __host__ __device__ int depth_rows() const { return planes * rows; }
  __host__ __device__ std::int64_t cells() const { return std::int64_t{1} * tiles() * planes * rows * columns; }
};

/// Bins that points are sorted into: cells of columns, rows, planes.
constexpr int bin_columns = 16;
constexpr int bin_rows = 8;
constexpr int bin_planes = 4;

/// Points in the order of their bins.
struct SortedPoints {
  int* bin_count;       ///< bins + 1
  int* bin_begin;       ///< bins + 1: where each bin begins
  uint2* bin_and_rank;  ///< a point of a tile
  float4* record;       ///< {column, row, plane, re}
  float* imaginary;
  void* scan_memory;
  std::size_t scan_bytes;
};

int fast_bins(const FastGrid& grid);
std::size_t fast_scan_bytes(int bins);

/// grid[tile][plane][row][column] += the points, which come in any order; best for few.
void spread_unsorted(const FastGrid& grid, const PointRecords& points, std::int64_t count, float2* cells,
                     cudaStream_t stream);
/// The same through bins and, for windows up to five nodes, the tensor cores.
void spread_sorted(const FastGrid& grid, const PointRecords& points, std::int64_t count, const SortedPoints& sorted,
                   float2* cells, cudaStream_t stream);

/// The windows' transforms: 1 / phihat for a tile's columns and rows, and for |r - r0| / nm over [0, 1 / 2) in table_size steps.
struct FastFactors {
  static constexpr int table_size = 4096;
  const float* column;
  const float* row;
  const float* depth;
  float depth_scale;  ///< table steps for a turn of r - r0
};

/// Constant matrices: columns[2 X + c][2 kx + c'] and depth[c height + Y][2 (plane, ky) + c'] (with `split`, three segments each), and
/// the factors between them, middle[tile column][plane][X].
void make_fast_matrices(const FastGrid& grid, const FastFactors& factors, __half* columns, __half* depth,
                        float2* middle, cudaStream_t stream);

/// Spread grid to fp16 rows of the first product, scaled so that nothing overflows.
void convert_cells(const FastGrid& grid, const float2* cells, const unsigned* statistics, std::int64_t count,
                   __half* rows, cudaStream_t stream);
/// First product [2 X + c][tile, plane, ky] to the second's operand [tile][X][2 (plane, ky) + c'].
void apply_middle(const FastGrid& grid, const float* product, const float2* middle, __half* operand,
                  cudaStream_t stream);
/// Second product [tile][c height + Y][X] to the panel.
void write_pixels(const FastGrid& grid, const float* product, const FastFactors& factors, const unsigned* statistics,
                  std::int64_t count, Shape<2> panel, const OutputPointers& output, cudaStream_t stream);

}  // namespace holotone::point_cloud
