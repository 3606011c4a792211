#pragma once
// Sorting points, spreading them onto a grid and interpolating the grid at them, on CUDA, float32. Not for users.
//
// The grid is divided into tiles, and a tile into bins of half its length on each axis. Points are sorted by the bin
// of the first cell of their window. A warp sums every point that reaches one tile in registers and writes the tile
// once. No cell is written by two warps, nothing is cleared before, and no halo is folded after. The points that reach
// a tile are in its bins and the ones just before: a few runs of the sorted list.
#include <array>
#include <cstdint>
#include <holotone/core/array.hpp>
#include <holotone/core/cuda_check.hpp>
#include <holotone/nufft/window.hpp>

namespace holotone::nufft {

/// The widest window that float32 tolerances need.
constexpr int widest_cuda_spread = 7;
constexpr int highest_cuda_degree = 15;

template <std::size_t Rank>
constexpr int tile_cells = Rank == 2 ? 16 : 8;
template <std::size_t Rank>
constexpr int bin_cells = tile_cells<Rank> / 2;
/// Numbers of a tile of complex cells.
template <std::size_t Rank>
constexpr int tile_numbers = 512 * (static_cast<int>(Rank) - 1);

/// The grid and its tiles and bins; axes fastest first.
template <std::size_t Rank>
struct TileGrid {
  int extent[Rank];
  int bins[Rank];
  int tiles[Rank];
  int width;  ///< of the window
  int bin_count;
  int tile_count;
};

template <std::size_t Rank>
TileGrid<Rank> make_tile_grid(const Shape<Rank>& extent, int width);

/// Grid cells: `components` (1: real, 2: complex) numbers each, rows padded for an in-place real transform.
template <std::size_t Rank>
struct GridCells {
  float* data;
  std::int64_t row;    ///< numbers from row to row
  std::int64_t plane;  ///< numbers from plane to plane
};

/// Bins along one axis with points that reach a tile: those before the period's end, and for the first tile those
/// whose windows wrap around the end.
struct AxisBins {
  int direct_first;
  int direct_count;
  int wrapped_first;
  int wrapped_count;
};

template <std::size_t Rank>
__host__ __device__ inline AxisBins axis_bins(const TileGrid<Rank>& grid, int axis, int tile) {
  const int before = tile * tile_cells<Rank> - (grid.width - 1);
  const int last = 2 * tile + 1 < grid.bins[axis] ? 2 * tile + 1 : grid.bins[axis] - 1;
  AxisBins result{};
  result.direct_first = before > 0 ? before / bin_cells<Rank> : 0;
  result.direct_count = last - result.direct_first + 1;
  result.wrapped_first = (grid.extent[axis] - (grid.width - 1)) / bin_cells<Rank>;
  result.wrapped_count = tile == 0 ? grid.bins[axis] - result.wrapped_first : 0;
  return result;
}

/// Run of adjacent bins on the fastest axis, and the offset that makes their cells relative to the tile's first cell.
template <std::size_t Rank>
struct BinRun {
  int begin;
  int end;
  int offset[Rank];
};

/// Runs of bins with points that reach a tile: for every row of bins two if the tile is the first of its row, else
/// one.
template <std::size_t Rank>
struct TileRuns {
  AxisBins axis[Rank];
  int origin[Rank];  ///< the tile's first cell
  int segments;
  int count;
};

template <std::size_t Rank>
__host__ __device__ inline TileRuns<Rank> tile_runs(const TileGrid<Rank>& grid, int tile) {
  TileRuns<Rank> runs{};
  int rest = tile;
  for (int axis = 0; axis < static_cast<int>(Rank); ++axis) {
    const int place = rest % grid.tiles[axis];
    rest /= grid.tiles[axis];
    runs.axis[axis] = axis_bins(grid, axis, place);
    runs.origin[axis] = place * tile_cells<Rank>;
  }
  runs.segments = runs.origin[0] == 0 ? 2 : 1;
  runs.count = runs.segments;
  for (int axis = 1; axis < static_cast<int>(Rank); ++axis) {
    runs.count *= runs.axis[axis].direct_count + runs.axis[axis].wrapped_count;
  }
  return runs;
}

template <std::size_t Rank>
__host__ __device__ inline BinRun<Rank> bin_run(const TileGrid<Rank>& grid, const TileRuns<Rank>& runs, int which) {
  BinRun<Rank> run{};
  int rest = which / runs.segments;
  int row = 0;
  int stride = grid.bins[0];
  for (int axis = 1; axis < static_cast<int>(Rank); ++axis) {
    const AxisBins& bins = runs.axis[axis];
    const int count = bins.direct_count + bins.wrapped_count;
    const int at = rest % count;
    rest /= count;
    const bool direct = at < bins.direct_count;
    row += stride * (direct ? bins.direct_first + at : bins.wrapped_first + at - bins.direct_count);
    stride *= grid.bins[axis];
    run.offset[axis] = -runs.origin[axis] - (direct ? 0 : grid.extent[axis]);
  }
  const bool direct = which % runs.segments == 0;
  const AxisBins& x = runs.axis[0];
  run.begin = row + (direct ? x.direct_first : x.wrapped_first);
  run.end = run.begin + (direct ? x.direct_count : x.wrapped_count);
  run.offset[0] = -runs.origin[0] - (direct ? 0 : grid.extent[0]);
  return run;
}

/// Points in the order of their bins: 8 Rank + 4 bytes each.
struct SortedPoints {
  std::int64_t count;
  const std::uint32_t* bin_begin;  ///< bins + 1
  const uint4* record;             ///< {cell x, cell y, place x, place y}
  const uint2* depth;              ///< {cell z, place z}, three dimensions only
  const std::uint32_t* index;      ///< index in the caller's arrays
  const std::uint32_t* place;      ///< of the caller's points in this order, after find_places; many points only
  float* results;                  ///< 2 (Rank + 1) numbers per point; many points only
};

/// Results of more points than this are written in order and then fetched in the caller's order. Scattered writes of a
/// few bytes to more memory than the cache holds cost three times as much.
constexpr std::int64_t max_scattered_points = std::int64_t{1} << 21;

/// Tiles with too many points for one warp are summed in parts. The first part goes to the grid, the others (`extras`
/// in all) to memory of their own and from there to the grid, in order.
struct TileParts {
  const std::uint64_t* candidates;   ///< points in the runs of a tile
  const std::uint32_t* parts;        ///< of a tile
  const std::uint32_t* extra_begin;  ///< tiles + 1
  const std::uint32_t* heavy;        ///< tiles with more than one part
  std::uint32_t extras;
  std::uint32_t heavy_count;
  float* sums;  ///< extras x tile_numbers
};

/// A plan's points on the device.
template <std::size_t Rank>
class PointSort {
 public:
  PointSort(const TileGrid<Rank>& grid, const Queue& queue);

  /// Sorts {count, Rank} coordinates and waits. Throws invalid_argument for a point that is not finite (with the
  /// first) and then has no points. Allocates if the count exceeds earlier ones. Points of a bin keep the caller's
  /// order, so that sums over them always have the same bits. The stable radix sort was measured to be faster than
  /// counting by atomics.
  void set(const float* points, std::int64_t count);

  /// Enqueues, once after `set`, the computation of SortedPoints::place. One pass of a radix sort makes writes to near
  /// addresses near in time: scattered over more memory than the cache holds they take four times as long.
  void find_places();

  [[nodiscard]] const TileGrid<Rank>& grid() const { return grid_; }
  [[nodiscard]] const SortedPoints& points() const { return points_; }
  [[nodiscard]] const TileParts& parts() const { return parts_; }
  [[nodiscard]] std::size_t bytes() const;

 private:
  struct Status;
  struct Order {
    const std::uint32_t* index;
    const std::uint32_t* place;
  };
  void reserve(std::int64_t count);
  Order sort(const float* points, std::int64_t count);
  void split(std::int64_t count);
  Status wait();
  void place_extras(const Status& status);
  [[nodiscard]] cudaStream_t stream() const { return cuda::stream_of(queue_); }

  TileGrid<Rank> grid_;
  Queue queue_;
  SortedPoints points_{};
  TileParts parts_{};
  std::array<std::uint32_t*, 3> spare_{};  ///< of keys_, free after `set`
  bool places_known_ = false;
  Buffer bin_begin_;
  Buffer keys_;  ///< bins, and numbers in the caller's arrays, twice each
  Buffer results_;
  Buffer record_;
  Buffer depth_;
  Buffer scratch_;
  Buffer candidates_;
  Buffer part_count_;
  Buffer extra_;
  Buffer extra_begin_;
  Buffer heavy_;
  Buffer sums_;
  Buffer status_;
};

/// cells = sum over points of strength phi(cell - point), with `components` numbers per strength and cell. Overwrites
/// every cell of the grid.
template <std::size_t Rank>
void spread(const PointSort<Rank>& points, const SpreadWindow& window, int components, const float* strength,
            const GridCells<Rank>& cells, cudaStream_t stream);

/// value[index] = sum over cells of cell phi(cell - point).
template <std::size_t Rank>
void interpolate(const PointSort<Rank>& points, const SpreadWindow& window, int components,
                 const GridCells<Rank>& cells, float* value, cudaStream_t stream);

/// The window's polynomials as kernel arguments: coefficient[k][i] of t^k for node i.
struct SlopeKernel {
  int degree;
  float coefficient[highest_cuda_degree + 1][widest_cuda_spread];
};

/// Interpolates as above, with gradient[index][axis] by the coordinate in periods; `value` may be null.
template <std::size_t Rank>
void interpolate_gradient(const PointSort<Rank>& points, const SlopeKernel& kernel, int components,
                          const GridCells<Rank>& cells, float* value, float* gradient, cudaStream_t stream);

#ifdef __CUDACC__
/// phi at `scaled` = 2 distance / width, by the special-function unit's approximate square root and power of two.
/// Outside, the root is NaN, and the larger of NaN and 0 is 0.
__device__ __forceinline__ float window_at(float beta_log2, float scaled) {
  float root;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(fmaf(-scaled, scaled, 1.0F)));
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(fmaf(beta_log2, root, -beta_log2)));
  return fmaxf(power, 0.0F);
}
#endif

inline float beta_log2_of(const SpreadWindow& window) { return static_cast<float>(window.beta * 1.4426950408889634); }

/// Calls action(constant width, constant components) for run-time values.
template <class Action>
void with_width_and_components(int width, int components, const Action& action) {
  [&]<int... I>(std::integer_sequence<int, I...>) {
    (void)((width == I + 2 &&
            (components == 1 ? action(std::integral_constant<int, I + 2>{}, std::integral_constant<int, 1>{})
                             : action(std::integral_constant<int, I + 2>{}, std::integral_constant<int, 2>{}),
             true)) ||
           ...);
  }
  (std::make_integer_sequence<int, widest_cuda_spread - 1>{});
}

}  // namespace holotone::nufft
