#pragma once
// Factors of a plane wave outside the sums of its tile, for the kernels of the sum and of its adjoint. Not for users.
#include <holotone/hologram/point_cloud/fast/fast_values_cuda.cuh>
#include <holotone/hologram/point_cloud/spectrum/spectrum_cuda.cuh>

namespace holotone::point_cloud {

struct WaveFactors {
  float2 step;     ///< phase from one plane of its tile to the next
  float2 outside;  ///< all others: windows, light, phases of the boxes and of the middle depth, i scale / K^2
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
  const double least = (1 - cone_end * cone_end) * end.full * end.full;
  const double square = fmax(end.full * end.full - squares, least);
  const double k = sqrt(square);
  const double r = (k - end.full) - about.level - about.row_slope * from_y - about.column_slope * from_x;
  const double along = (r - about.middle) / about.depth_steps;
  const double row_turns = grid.wrap_rows ? 0.0 : static_cast<double>(about.first_row) * from_y / grid.steps_y;
  const float2 phase = unit(about.first_plane * along + row_turns + 0.25 - end.middle_m * squares / (k + end.full));
  const float place =
      fminf(fabsf(static_cast<float>(along)) * factors.depth_scale, static_cast<float>(FastFactors::table_size));
  const int index = static_cast<int>(place);
  const float low = factors.depth[index];
  const float window = low + (place - static_cast<float>(index)) * (factors.depth[index + 1] - low);
  float light = 0;
  if (column < grid.panel_width) light = end.row_light[row] * end.column_light[column];
  const double sine = sqrt(squares) / end.full;
  if (sine > cone_begin) light *= static_cast<float>(light_of_cone(sine));
  float factor = light * window * static_cast<float>(end.scale / square);
  if (grid.near_terms) {
    factor *= about.near_term * static_cast<float>(((about.level + end.full) / k - 1) / grid.largest_m);
  }
  return {unit(along), make_float2(factor * phase.x, factor * phase.y)};
}

}  // namespace holotone::point_cloud
