#pragma once
// Kernels of the exact wave's spectrum on CUDA (spectrum_grid.hpp), besides those of fast. Not for users.
#include <holotone/hologram/point_cloud/choice/spectrum_grid.hpp>
#include <holotone/hologram/point_cloud/fast/fast_cuda.cuh>

namespace holotone::point_cloud {

/// Computes the factors between the products, middle[tile][X].
void make_wave_middle(const FastGrid& grid, const FastFactors& factors, float2* middle, cudaStream_t stream);
/// Converts the first product [2 X + c][tile, plane, ky], __half or with `split` float, to the operand of the second,
/// [tile, plane][X][2 ky + c'].
void apply_wave_middle(const FastGrid& grid, const void* product, const float2* middle, __half* operand,
                       cudaStream_t stream);

/// What all points have in common.
struct SpectrumEnd {
  SpectrumEnd(const SpectrumLayout& layout, const FastGrid& grid);
  int half_rows, half_columns;   ///< largest |m| with light
  int rows, columns;             ///< of the periodic panel
  double row_step, column_step;  ///< of fy and fx
  double row_turns_step;         ///< turns of a row for a step of its axis
  double full;                   ///< 1 / lambda
  double least_square;           ///< K^2 at the cone's end
  double steep_squares;          ///< fx^2 + fy^2 where the cone's edge begins
  double middle_m;
  double scale;                      ///< of 1 / K^2, or of 1 / K
  bool falloff;                      ///< amplitudes fall as 1 / r
  const float* row_light = nullptr;  ///< of m = -half .. half
  const float* column_light = nullptr;
};
/// Sums the second product [tile, plane][c height + Y][X], __half or with `split` float, times product_scale over the
/// planes, and writes the finished spectrum, or adds that of near terms; frequency m is number m modulo the period. The
/// others must be zero.
void finish_spectrum(const FastGrid& grid, const FastFactors& factors, const SpectrumEnd& end, const void* product,
                     float product_scale, float2* spectrum, cudaStream_t stream);

/// The filter of a far field (far_grid.hpp) on a periodic panel.
struct FarFilter {
  int rows, columns;
  double row_step, column_step;  ///< of fy and fx
  double full;                   ///< 1 / lambda
  double middle_m;
  double scale;            ///< of all numbers
  const float* row_share;  ///< of the correction, of |m| = 0 .. rows / 2
  const float* column_share;
};
/// Multiplies a spectrum by the filter.
void correct_far_field(const FarFilter& filter, float2* spectrum, cudaStream_t stream);

/// Some rows of a block in outputs of `width` columns, where they begin at number `first`.
struct BlockTarget {
  RowRange rows;
  std::int64_t columns;
  std::int64_t first;
  std::int64_t width;
};
/// Writes some rows of a block, the first rows and columns of the transformed spectrum.
void write_panel(const float2* spectrum, std::int64_t spectrum_columns, const BlockTarget& target,
                 const OutputPointers& output, cudaStream_t stream);

}  // namespace holotone::point_cloud
