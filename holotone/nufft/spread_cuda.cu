// Points spread over the grid on CUDA, a tile for each warp.
#include <holotone/nufft/tile_sum_cuda.cuh>
#include <utility>

namespace holotone::nufft {
namespace {

constexpr int warps = 4;
constexpr int reduce_threads = 1024;

/// The tile and part of a warp.
struct Share {
  std::uint32_t tile;
  std::uint32_t part;
  std::uint32_t extra;  ///< valid for part > 0
};

__device__ __forceinline__ Share find_share(const TileParts& parts, std::uint32_t tiles, std::uint32_t warp) {
  if (warp < tiles) return {warp, 0, 0};
  const std::uint32_t extra = warp - tiles;
  std::uint32_t low = 0;
  std::uint32_t high = tiles;  // extra_begin[low] <= extra < extra_begin[high]
  while (high - low > 1) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (parts.extra_begin[middle] <= extra) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return {low, extra - parts.extra_begin[low] + 1, extra};
}

template <class T>
__device__ __forceinline__ T sum_to_lane(T value) {
  const auto lane = threadIdx.x % 32;
#pragma unroll
  for (unsigned distance = 1; distance < 32; distance *= 2) {
    const T before = __shfl_up_sync(all_lanes, value, distance);
    if (lane >= distance) value += before;
  }
  return value;
}

/// Part of a run of bins that a warp sums; one run per lane.
template <std::size_t Rank>
struct LaneRun {
  std::uint32_t begin = 0;
  std::uint32_t length = 0;
  int offset[Rank] = {};
};

/// Restricts the runs of 32 lanes, which begin `before` candidates after the tile's first, to part [from, to) of the
/// tile's candidates. Returns the number of candidates of the unrestricted runs.
template <std::size_t Rank>
__device__ __forceinline__ std::uint64_t cut_to_part(LaneRun<Rank>& run, std::uint64_t before, std::uint64_t from,
                                                     std::uint64_t to) {
  const std::uint64_t end = before + sum_to_lane(static_cast<std::uint64_t>(run.length));
  const std::uint64_t begin = end - run.length;
  const std::uint64_t first = min(max(begin, from), end);
  const std::uint64_t last = max(min(end, to), first);
  run.begin += static_cast<std::uint32_t>(first - begin);
  run.length = static_cast<std::uint32_t>(last - first);
  return __shfl_sync(all_lanes, end, 31) - before;
}

template <std::size_t Rank, int Components, int Width>
class TileWarp {
 public:
  __device__ TileWarp(const SortedPoints& points, const float* strength, float beta_log2, Waiting& waiting)
      : points_(points), strength_(strength), waiting_(waiting), sum_(beta_log2) {}

  /// Adds the points of 32 runs, one per lane. Loads the next 32 points while queued ones are added.
  __device__ __forceinline__ void add(const LaneRun<Rank>& run) {
    const std::uint32_t end = sum_to_lane(run.length);
    const std::uint32_t total = __shfl_sync(all_lanes, end, 31);
    const std::uint32_t base = run.begin - (end - run.length);
    Candidate next = load(run, end, base, threadIdx.x % 32, total);
    for (std::uint32_t first = 0; first < total; first += 32) {
      const Accepted accepted = accept(next);
      if (first + 32 < total) next = load(run, end, base, first + 32 + threadIdx.x % 32, total);
      add_waiting();
      push(accepted);
      __syncwarp();
    }
  }

  /// Adds the queued points; distant points of strength 0 fill the last group.
  __device__ __forceinline__ void finish() {
    add_waiting();
    if (filled_ == 0) return;
    const int lane = static_cast<int>(threadIdx.x % 32);
    if (lane < group - filled_) {
      const int slot = (head_ + filled_ + lane) % queue_size;
      waiting_.point[slot] = make_float4(far, far, 0, 0);
      if constexpr (Rank == 3) waiting_.z[slot] = far;
    }
    __syncwarp();
    sum_.add(waiting_, head_);
  }

  __device__ __forceinline__ const TileSum<Rank, Components, Width>& sum() const { return sum_; }

 private:
  static constexpr float far = 1e6F;

  /// A point of the runs; cells count from the tile's first.
  struct Candidate {
    bool valid;
    std::uint32_t index;
    uint4 record;
    uint2 depth;
    int offset[Rank];
  };
  /// Point whose window reaches the tile: position in window halves, and strength.
  struct Accepted {
    bool valid;
    float4 point;
    float z;
  };

  __device__ __forceinline__ Candidate load(const LaneRun<Rank>& run, std::uint32_t end, std::uint32_t base,
                                            std::uint32_t candidate, std::uint32_t total) const {
    // Run of the candidate: the first that ends beyond it.
    int count = 0;
#pragma unroll
    for (int half = 16; half > 0; half /= 2) {
      if (__shfl_sync(all_lanes, end, count + half - 1) <= candidate) count += half;
    }
    const std::uint32_t at = __shfl_sync(all_lanes, base, count) + candidate;
    Candidate result{};
#pragma unroll
    for (int axis = 0; axis < static_cast<int>(Rank); ++axis) {
      result.offset[axis] = __shfl_sync(all_lanes, run.offset[axis], count);
    }
    result.valid = candidate < total;
    if (result.valid) {
      result.record = points_.record[at];
      result.index = points_.index[at];
      if constexpr (Rank == 3) result.depth = points_.depth[at];
    }
    return result;
  }

  /// Returns the position of the window's centre relative to the tile's first cell, in window halves.
  __device__ static float middle(int cell, unsigned place) {
    const float before_first = 0.5F * (1.0F + __uint_as_float(place));  // from the window's left end to its first node
    return (static_cast<float>(cell) + (0.5F * Width - before_first)) * TileSum<Rank, Components, Width>::step;
  }

  __device__ __forceinline__ Accepted accept(const Candidate& candidate) const {
    const int x = static_cast<int>(candidate.record.x) + candidate.offset[0];
    const int y = static_cast<int>(candidate.record.y) + candidate.offset[1];
    Accepted result{};
    result.valid = candidate.valid && x > -Width && y > -Width;
    if constexpr (Rank == 3) {
      const int z = static_cast<int>(candidate.depth.x) + candidate.offset[2];
      result.valid = result.valid && z > -Width;
      result.z = middle(z, candidate.depth.y);
    }
    float2 sum{};
    if (result.valid) {
      if constexpr (Components == 2) {
        sum = reinterpret_cast<const float2*>(strength_)[candidate.index];
      } else {
        sum.x = strength_[candidate.index];
      }
    }
    result.point = make_float4(middle(x, candidate.record.z), middle(y, candidate.record.w), sum.x, sum.y);
    return result;
  }

  __device__ __forceinline__ void push(const Accepted& pair) {
    const unsigned accepted = __ballot_sync(all_lanes, pair.valid);
    if (pair.valid) {
      const int before = __popc(accepted & ((1U << (threadIdx.x % 32)) - 1));
      const int slot = (head_ + filled_ + before) % queue_size;
      waiting_.point[slot] = pair.point;
      if constexpr (Rank == 3) waiting_.z[slot] = pair.z;
    }
    filled_ += __popc(accepted);
  }

  __device__ __forceinline__ void add_waiting() {
    for (; filled_ >= group; filled_ -= group) {
      sum_.add(waiting_, head_);
      head_ = (head_ + group) % queue_size;
    }
    __syncwarp();
  }

  const SortedPoints& points_;
  const float* strength_;
  Waiting& waiting_;
  TileSum<Rank, Components, Width> sum_;
  int head_ = 0;
  int filled_ = 0;
};

template <std::size_t Rank, int Components, int Width>
__global__ void __launch_bounds__(warps * 32, Rank == 2 ? 7 : 6)
    spread_kernel(TileGrid<Rank> grid, SortedPoints points, TileParts parts, const float* __restrict__ strength,
                  float beta_log2, GridCells<Rank> cells) {
  __shared__ Waiting waiting[warps];
  const std::uint32_t warp = blockIdx.x * warps + threadIdx.x / 32;
  const auto tiles = static_cast<std::uint32_t>(grid.tile_count);
  if (warp >= tiles + parts.extras) return;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const Share share = find_share(parts, tiles, warp);
  const TileRuns<Rank> runs = tile_runs(grid, static_cast<int>(share.tile));
  TileWarp<Rank, Components, Width> tile(points, strength, beta_log2, waiting[threadIdx.x / 32]);
  std::uint64_t before = 0;
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  if (parts.extras > 0) {
    const std::uint64_t all = parts.candidates[share.tile];
    const std::uint64_t count = parts.parts[share.tile];
    from = all * share.part / count;
    to = all * (share.part + 1) / count;
  }
  for (int first = 0; first < runs.count; first += 32) {
    LaneRun<Rank> run;
    if (first + lane < runs.count) {
      const BinRun<Rank> found = bin_run(grid, runs, first + lane);
      run.begin = points.bin_begin[found.begin];
      run.length = points.bin_begin[found.end] - run.begin;
#pragma unroll
      for (int axis = 0; axis < static_cast<int>(Rank); ++axis) run.offset[axis] = found.offset[axis];
    }
    if (parts.extras > 0) before += cut_to_part(run, before, from, to);
    tile.add(run);
  }
  tile.finish();
  float* const sums = parts.sums + std::int64_t{share.extra} * tile_numbers<Rank>;
  tile.sum().store([&](int z, int y, int x, auto two_cells) {
    float* target;
    if (share.part > 0) {
      target = sums + ((z * tile_cells<Rank> + y) * tile_cells<Rank> + x) * Components;
    } else {
      x += runs.origin[0];
      y += runs.origin[1];
      if (x >= grid.extent[0] || y >= grid.extent[1]) return;
      target = cells.data + y * cells.row + static_cast<std::int64_t>(x) * Components;
      if constexpr (Rank == 3) {
        z += runs.origin[2];
        if (z >= grid.extent[2]) return;
        target += z * cells.plane;
      }
    }
    *reinterpret_cast<decltype(two_cells)*>(target) = two_cells;
  });
}

/// Adds the further parts of a heavy tile to its cells. Each group of threads sums every groups-th part; then the
/// groups are added in order.
template <std::size_t Rank, int Components>
__global__ void __launch_bounds__(reduce_threads)
    reduce_kernel(TileGrid<Rank> grid, TileParts parts, GridCells<Rank> cells) {
  constexpr int pairs = tile_numbers<Rank> * Components / 4;
  constexpr int groups = reduce_threads / pairs;
  __shared__ float2 sums[reduce_threads];
  const std::uint32_t tile = parts.heavy[blockIdx.x];
  const int pair = static_cast<int>(threadIdx.x) % pairs;
  const std::uint32_t end = parts.extra_begin[tile + 1];
  float2 sum{};
#pragma unroll 8
  for (std::uint32_t extra = parts.extra_begin[tile] + threadIdx.x / pairs; extra < end; extra += groups) {
    const float2 part = reinterpret_cast<const float2*>(parts.sums + std::int64_t{extra} * tile_numbers<Rank>)[pair];
    sum.x += part.x;
    sum.y += part.y;
  }
  sums[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x >= pairs) return;
  for (int i = 1; i < groups; ++i) {
    sum.x += sums[i * pairs + pair].x;
    sum.y += sums[i * pairs + pair].y;
  }
  constexpr int side = tile_cells<Rank>;
  const TileRuns<Rank> runs = tile_runs(grid, static_cast<int>(tile));
  const int cell = pair * 2 / Components;
  const int x = runs.origin[0] + cell % side;
  const int y = runs.origin[1] + cell / side % side;
  if (x >= grid.extent[0] || y >= grid.extent[1]) return;
  float* target = cells.data + y * cells.row + static_cast<std::int64_t>(x) * Components;
  if constexpr (Rank == 3) {
    const int z = runs.origin[2] + cell / (side * side);
    if (z >= grid.extent[2]) return;
    target += z * cells.plane;
  }
  auto* const node = reinterpret_cast<float2*>(target);
  node->x += sum.x;
  node->y += sum.y;
}

}  // namespace

template <std::size_t Rank>
void spread(const PointSort<Rank>& points, const SpreadWindow& window, int components, const float* strength,
            const GridCells<Rank>& cells, cudaStream_t stream) {
  const TileGrid<Rank>& grid = points.grid();
  const TileParts& parts = points.parts();
  const std::int64_t shares = static_cast<std::int64_t>(grid.tile_count) + parts.extras;
  with_width_and_components(window.width, components, [&](auto width, auto own_components) {
    spread_kernel<Rank, own_components.value, width.value><<<cuda::blocks_for(shares, warps), warps * 32, 0, stream>>>(
        grid, points.points(), parts, strength, beta_log2_of(window), cells);
    cuda::check_launch("nufft spread");
    if (parts.heavy_count == 0) return;
    reduce_kernel<Rank, own_components.value><<<parts.heavy_count, reduce_threads, 0, stream>>>(grid, parts, cells);
    cuda::check_launch("nufft reduce");
  });
}

template void spread<2>(const PointSort<2>&, const SpreadWindow&, int, const float*, const GridCells<2>&, cudaStream_t);
template void spread<3>(const PointSort<3>&, const SpreadWindow&, int, const float*, const GridCells<3>&, cudaStream_t);

}  // namespace holotone::nufft
