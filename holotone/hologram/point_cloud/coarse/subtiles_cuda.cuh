#pragma once
// Division of a panel into subtiles of at most 128 x 128 pixels, and which points light them. Not for users.
#include <holotone/hologram/point_cloud/choice/fast_grid.hpp>
#include <holotone/hologram/point_cloud/engine_cuda.cuh>

namespace holotone::point_cloud {

/// A point along an axis, in pixels: its place is whole + rest, it lights `first` to `last`.
using AxisRecord = float4;  // {whole, rest, first, last}

/// Points of masked products and coarse sums. wave: {a high, a low, amplitude, turns}.
struct MaskedPoints {
  const AxisRecord* columns;
  const AxisRecord* rows;
  const float4* waves;
  const int* flags;
  double wave_ratio;  ///< FastGrid::wave_ratio
};
constexpr int never_whole = 1;    ///< flag: the point's curvature is outside the grid's range
constexpr int may_be_coarse = 2;  ///< flag: CoarseSums may sum the point

/// Points a warp of the kernels that list them tests.
constexpr int list_threads = 256;
constexpr int list_rounds = 8;
constexpr int warp_points = 32 * list_rounds;

/// Pixels [first, last] along an axis; none if last < first.
struct Extent {
  int first;
  int last;
};
struct SubtileExtents {
  Extent subtile;
  Extent tile;  ///< that contains it
};

/// Division of a grid's tiles into subtiles.
struct Subtiles {
  int panel_width = 0;
  int panel_height = 0;
  int tile_width = 0;
  int tile_height = 0;
  int across_tile = 1;  ///< subtiles of a tile
  int down_tile = 1;
  int width = 0;  ///< pixels; a tile's end may cut the last ones
  int height = 0;
  int columns = 0;  ///< subtiles of the panel
  int rows = 0;

  Subtiles() = default;
  explicit Subtiles(const FastGrid& grid);
  [[nodiscard]] HOLOTONE_HOST_DEVICE int count() const { return columns * rows; }

  [[nodiscard]] HOLOTONE_HOST_DEVICE SubtileExtents column_extents(int column) const {
    return find_extents(column, across_tile, tile_width, width, panel_width);
  }
  [[nodiscard]] HOLOTONE_HOST_DEVICE SubtileExtents row_extents(int row) const {
    return find_extents(row, down_tile, tile_height, height, panel_height);
  }

 private:
  static HOLOTONE_HOST_DEVICE SubtileExtents find_extents(int number, int a_tile, int tile_extent, int extent,
                                                          int panel_extent) {
    const int tile_first = number / a_tile * tile_extent;
    const int tile_last = (tile_first + tile_extent < panel_extent ? tile_first + tile_extent : panel_extent) - 1;
    const int first = tile_first + number % a_tile * extent;
    return {{first, first + extent - 1 < tile_last ? first + extent - 1 : tile_last}, {tile_first, tile_last}};
  }
};

#ifdef __CUDACC__
/// The exact wave of a point about a place (x, y) from its foot, in pixels: turns + fx u + fy v + bend (u^2 + v^2) less
/// what the frequencies shorten. Without a ratio it is Fresnel's.
struct LocalWave {
  double turns;
  double bend;  ///< sign(d) pitch / (2 lambda R)
  double fx, fy;

  /// a: curvature of Fresnel's wave; 1 / |d| = 2 a ratio.
  __device__ __forceinline__ LocalWave(double a, double ratio, double x, double y) {
    const double square = x * x + y * y;
    const double inverse = 2 * a * ratio;
    const double root = sqrt(fma(square * inverse, inverse, 1.0));
    turns = 2 * a * square / (1 + root);
    bend = a / root;
    fx = 2 * bend * x;
    fy = 2 * bend * y;
  }
};
/// Half the second derivative of the wave along an axis of this frequency.
__device__ __forceinline__ double curvature_along(double bend, double frequency, double ratio) {
  return bend * (1 - (frequency * ratio) * (frequency * ratio));
}

__device__ __forceinline__ bool meets(AxisRecord record, Extent extent) {
  return record.z <= static_cast<float>(extent.last) && record.w >= static_cast<float>(extent.first) &&
         extent.first <= extent.last;
}
__device__ __forceinline__ bool covers(AxisRecord record, Extent extent) {
  return record.z <= static_cast<float>(extent.first) && record.w >= static_cast<float>(extent.last);
}
/// Bits of the 32 pixels from `first` on that the point lights.
__device__ __forceinline__ unsigned lit_of_32(AxisRecord record, float first) {
  const int lit_first = max(static_cast<int>(fmaxf(record.z - first, 0.0F)), 0);
  const int lit_last = static_cast<int>(fminf(record.w - first, 31.0F));
  return lit_last < lit_first ? 0U : (0xffffffffU >> (31 - lit_last)) & (0xffffffffU << lit_first);
}
#endif

}  // namespace holotone::point_cloud
