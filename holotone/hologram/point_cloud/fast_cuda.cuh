#pragma once
// The parts of the CUDA engine of the method `fast` (point_cloud_fast_grid.hpp, point_cloud_fast_layout.hpp). Not for
// users.
//
// All tiles go together: points are spread over boxes of frequencies; one product goes along columns with exp(2 pi i kx
// X / nx), one along planes and rows at once with exp(2 pi i (ky Y / ny + m (Y^2 - r0) / nm)), the planes' phase of X^2
// coming in between.
#include <cuda_fp16.h>
#include <holotone/hologram/point_cloud/engine_cuda.cuh>
#include <holotone/hologram/point_cloud/fast_grid.hpp>

namespace holotone::point_cloud {

/// Points as the user gave them, and how metres become pixels.
struct RawPoints {
  const float* position;
  const float* amplitude;
  const float* phase_rad;  ///< null: zero
  std::int64_t count;
  double inverse_pitch;
  double center_x;
  double center_y;
  double turns_metre;
  double reach_per_metre;  ///< 0: all pixels are lit
};

/// A point of a tile in the order of its bin: places within the bin as fixed-point numbers (22, 21 and 20 bits of
/// columns, rows and planes with 17 after the point), and its strength.
struct SpreadRecord {
  unsigned low;
  unsigned high;
  float re;
  float im;
};

/// Memory of a counting sort.
struct SortMemory {
  int* bin_count;       ///< bins + 1
  int* bin_begin;       ///< bins + 1: where each bin begins
  uint2* bin_and_rank;  ///< a point of a tile; bin ~0: not there
  SpreadRecord* record;
  void* scan_memory;
  std::size_t scan_bytes;
};

int fast_bins(const FastGrid& grid);
std::size_t fast_scan_bytes(int bins);

/// cells[tile][plane][row][column] += points [first, first + count) that light the tile wholly, in any order; best for
/// few.
void spread_unsorted(const FastGrid& grid, const RawPoints& points, std::int64_t first, std::int64_t count,
                     float2* cells, cudaStream_t stream);
/// The same through bins and the tensor cores, strengths and windows rounded to fp16 or, with `split`, to pairs of it.
void spread_sorted(const FastGrid& grid, const RawPoints& points, std::int64_t first, std::int64_t count,
                   const SortMemory& memory, float2* cells, cudaStream_t stream);

/// The windows' transforms: 1 / phihat for a tile's columns and rows, and for |r - r0| / nm over [0, 1 / 2) in
/// table_size steps.
struct FastFactors {
  static constexpr int table_size = 4096;
  const float* column;
  const float* row;
  const float* depth;
  float depth_scale;  ///< table steps for a turn of r - r0
};

/// Constant matrices: columns[2 X + c][2 kx + c'] and depth[c height + Y][2 (plane, ky) + c'] (with `split`, three
/// segments each), and the factors between them, middle[tile column][plane][X].
void make_fast_matrices(const FastGrid& grid, const FastFactors& factors, __half* columns, __half* depth,
                        float2* middle, cudaStream_t stream);

/// Spread grid times `scale` to rows of the first product.
void convert_cells(const FastGrid& grid, const float2* cells, float scale, __half* rows, cudaStream_t stream);
/// First product [2 X + c][tile, plane, ky], __half or with `split` float, to the second's operand [tile][X][2 (plane,
/// ky) + c'].
void apply_middle(const FastGrid& grid, const void* product, const float2* middle, __half* operand,
                  cudaStream_t stream);

/// What becomes the panel's pixels.
struct FastSums {
  const float* product;  ///< second product [tile][c height + Y][X]; null: none
  float scale;           ///< of it
  const float2* extra;   ///< sums of factors to add, a panel; null: none
};
/// Writes some rows of the grid's panel to rows of the output from `first_target` on.
void write_pixels(const FastGrid& grid, const FastSums& sums, const FastFactors& factors, const RowRange& rows,
                  std::int64_t first_target, const OutputPointers& output, cudaStream_t stream);

}  // namespace holotone::point_cloud
