#pragma once
// Factors of a plane wave outside the sums of its tile, for the kernels of the sum and of its adjoint. Not for users.
#include <holotone/hologram/point_cloud/fast/fast_values_cuda.cuh>
#include <holotone/hologram/point_cloud/spectrum/spectrum_cuda.cuh>

namespace holotone::point_cloud {

__device__ __forceinline__ float2 times(float2 a, float2 b) {
  return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

/// Returns the square root of a number within the range of floats to 1e-14: its float, and one step of Newton's.
__device__ __forceinline__ double square_root(double square) {
  const double inverse = rsqrtf(static_cast<float>(square));
  const double root = square * inverse;
  return root + 0.5 * inverse * (square - root * root);
}

struct WaveFactors {
  float2 step;     ///< phase from one plane of its tile to the next
  float2 outside;  ///< all others: windows, light, phases of the boxes and of the middle depth, i scale / K^2 or / K
};

/// Factors of the plane wave at row and column of the light's panel, {y, x} of its tile.
__device__ __forceinline__ WaveFactors wave_factors(const FastGrid& grid, const FastFactors& factors,
                                                    const SpectrumEnd& end, const WaveTile& about, int row, int column,
                                                    int y, int x) {
  const int from_y = y - grid.tile_height / 2;
  const int from_x = x - grid.tile_width / 2;
  const double fy = (row - end.half_rows) * end.row_step;
  const double fx = (column - end.half_columns) * end.column_step;
  const double squares = fx * fx + fy * fy;
  const double square = fmax(end.full * end.full - squares, end.least_square);
  const double k = square_root(square);
  const double r = (k - end.full) - about.level - about.row_slope * from_y - about.column_slope * from_x;
  const double along = (r - about.middle) * about.turns_step;
  const double row_turns = grid.wrap_rows ? 0.0 : about.first_row * from_y * end.row_turns_step;
  const float2 phase = unit(about.first_plane * along + row_turns + 0.25 + end.middle_m * (k - end.full));
  const float place =
      fminf(fabsf(static_cast<float>(along)) * factors.depth_scale, static_cast<float>(FastFactors::table_size));
  const int index = static_cast<int>(place);
  const float low = factors.depth[index];
  const float window = low + (place - static_cast<float>(index)) * (factors.depth[index + 1] - low);
  float light = 0;
  if (column < grid.panel_width) light = end.row_light[row] * end.column_light[column];
  if (squares > end.steep_squares) light *= static_cast<float>(light_of_cone(sqrt(squares) / end.full));
  float factor =
      light * window * __fdividef(static_cast<float>(end.scale), static_cast<float>(end.falloff ? k : square));
  if (grid.near_terms) {
    factor *= about.near_term * static_cast<float>(((about.level + end.full) / k - 1) / grid.largest_m);
  }
  return {unit(along), make_float2(factor * phase.x, factor * phase.y)};
}

}  // namespace holotone::point_cloud
