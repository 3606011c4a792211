#pragma once
// Parts of the CUDA engine of the method `fast` (fast_grid.hpp, fast_layout.hpp). Not for users.
//
// All tiles are computed together. Points are spread over boxes of frequencies. One product transforms columns with
// exp(2 pi i kx X / nx). A second one transforms planes and rows at once with exp(2 pi i (ky Y / ny + m (Y^2 - r0) /
// nm)). The planes' phase of X^2 is applied in between.
#include <cuda_fp16.h>
#include <holotone/hologram/point_cloud/choice/fast_grid.hpp>
#include <holotone/hologram/point_cloud/engine_cuda.cuh>

namespace holotone::point_cloud {

/// Points in metres, and their conversion to pixels.
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

/// Point of a tile, sorted by bin: position within the bin in fixed point (22, 21 and 20 bits for column, row and
/// plane, 17 of them fractional), and strength.
struct SpreadRecord {
  unsigned low;
  unsigned high;
  float re;
  float im;
};

/// Memory of a counting sort.
struct SortMemory {
  int* bin_count;       ///< bins + 1
  int* bin_begin;       ///< bins + 1: first record of each bin
  uint2* bin_and_rank;  ///< per tile and point; bin ~0: not spread in this tile
  SpreadRecord* record;
  unsigned* order;  ///< 4 per tile and point, to sort the points of a bin by their number; null: as atomics happen to
  void* scratch;
  std::size_t scratch_bytes;
};

int fast_bins(const FastGrid& grid);
std::size_t fast_scan_bytes(int bins);
/// Bytes of scratch to sort records, with `ordered` those of a bin by their number.
std::size_t fast_sort_bytes(int bins, std::int64_t records, bool ordered);
/// begin[i] = sum of count[0 .. i - 1] for 0 <= i <= bins; count has bins + 1 elements too, memory fast_scan_bytes.
void fast_scan(const int* count, int* begin, int bins, void* memory, cudaStream_t stream);

/// Adds points [first, first + count) that light a tile wholly to cells[tile][plane][row][column], unsorted; fastest
/// for few points. Cell: float2, or double2 where equal points crowd: float32 sums lose some (longest_float_sum); or
/// longlong2 of strengths times `scale`, a power of two: integers give the same sum in every order. Others: scale 1.
template <class Cell>
void spread_unsorted(const FastGrid& grid, const RawPoints& points, std::int64_t first, std::int64_t count, float scale,
                     Cell* cells, cudaStream_t stream);
/// Rounds cells times `scale` to float32. Cell: double2 or longlong2.
template <class Cell>
void round_cells(std::int64_t count, const Cell* cells, double scale, float2* rounded, cudaStream_t stream);
/// Adds the same points through bins and the tensor cores. Strengths and windows are rounded to fp16 or, with `split`,
/// to pairs of fp16. Cell: float2, or longlong2 of sums times `scale`, the same in every run if the memory has an
/// `order`.
template <class Cell>
void spread_sorted(const FastGrid& grid, const RawPoints& points, std::int64_t first, std::int64_t count,
                   const SortMemory& memory, float scale, Cell* cells, cudaStream_t stream);

/// Reciprocals 1 / phihat of the windows' transforms: for a tile's columns and rows, and for |r - r0| / nm over [0, r0
/// / nm] in table_size steps.
struct FastFactors {
  static constexpr int table_size = 4096;
  const float* column;
  const float* row;
  const float* depth;
  float depth_scale;  ///< table steps per unit of |r - r0|
};

/// Computes the constant matrices columns[2 X + c][2 kx + c'] and depth[c height + Y][2 (plane, ky) + c'] (with
/// `split`, three segments each).
void make_fast_matrices(const FastGrid& grid, const FastFactors& factors, __half* columns, __half* depth,
                        cudaStream_t stream);
/// Computes the factors between the products, middle[tile column][plane][X].
void make_middle(const FastGrid& grid, const FastFactors& factors, float2* middle, cudaStream_t stream);

/// Converts the spread grid times `scale` to rows of the first product.
void convert_cells(const FastGrid& grid, const float2* cells, float scale, __half* rows, cudaStream_t stream);
/// Converts the first product [2 X + c][tile, plane, ky], __half or with `split` float, to the operand of the second,
/// [tile][X][2 (plane, ky) + c'].
void apply_middle(const FastGrid& grid, const void* product, const float2* middle, __half* operand,
                  cudaStream_t stream);

/// Sums from which write_pixels computes the panel's pixels.
struct FastSums {
  const float* product;  ///< second product [tile][c height + Y][X]; null: none
  float scale;           ///< factor of the product
  const float2* extra;   ///< products of factors to add, one value per panel pixel; null: none
};
/// Writes some rows of the grid's panel, the first to pixel `first_target` of outputs that are `target_width` wide.
void write_pixels(const FastGrid& grid, const FastSums& sums, const FastFactors& factors, const RowRange& rows,
                  std::int64_t first_target, std::int64_t target_width, const OutputPointers& output,
                  cudaStream_t stream);

}  // namespace holotone::point_cloud
