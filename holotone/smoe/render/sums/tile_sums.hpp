#pragma once
// Sums of components over a tile of pixels, in plain loops for HOLOTONE_SIMD_CLONES. The renderer's lower bound
// (bench/cpu_limits_bench.cpp) is the time of this loop alone. Not for users.
#include <cstddef>
#include <holotone/core/simd.hpp>
#include <holotone/smoe/render/power_of_two.hpp>
#include <holotone/smoe/render/selection/select.hpp>

namespace holotone::smoe {

inline constexpr int tile_rows = static_cast<int>(tile_shape[0]);
inline constexpr int tile_columns = static_cast<int>(tile_shape[1]);

/// A component over a tile's columns, float32: in row r, log2 density = base - (skewed + down r)^2, expert = colour +
/// slope_y r.
template <int Channels>
struct alignas(64) TileColumns {
  float base[tile_columns];
  float skewed[tile_columns];
  float colour[Channels][tile_columns];
  float down;
  float slope_y[Channels];
};

/// Sums over components: weighted colours, and as last channel the weights.
template <int Channels>
using TileSums = float[tile_rows][Channels + 1][tile_columns];

/// Adds components to a tile's sums. Each pair of a component and a pixel costs a power of two, 1 + Channels
/// multiply-adds and 2 + Channels additions.
template <int Channels>
HOLOTONE_ALWAYS_INLINE void add_components(const TileColumns<Channels>* components, std::size_t count,
                                           TileSums<Channels>& __restrict sums) {
  for (std::size_t j = 0; j < count; ++j) {
    const TileColumns<Channels>& columns = components[j];
    // Rows are the inner loop: a column's numbers stay in registers, and sixteen columns are a vector.
    for (int i = 0; i < tile_columns; ++i) {
      float v = columns.skewed[i];
      float colour[Channels];
      for (int c = 0; c < Channels; ++c) colour[c] = columns.colour[c][i];
#pragma GCC unroll 8
      for (auto& sum : sums) {
        const float weight = power_of_two(columns.base[i] - v * v);
        v += columns.down;
        sum[Channels][i] += weight;
        for (int c = 0; c < Channels; ++c) {
          sum[c][i] += weight * colour[c];
          colour[c] += columns.slope_y[c];
        }
      }
    }
  }
}

}  // namespace holotone::smoe
