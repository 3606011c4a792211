// Sorts points into bins and spreads them on the tensor cores. A bin's cells are a sum over its points of products of
// three windows: a matrix product whose depth is the points.
#include <cuda_pipeline.h>
#include <holotone/core/sorting/sorting_cuda.hpp>
#include <holotone/hologram/point_cloud/fast/fast_place_cuda.cuh>
#include <type_traits>

namespace holotone::point_cloud {
namespace {

constexpr int sort_threads = 256;
constexpr unsigned all_lanes = 0xffffffffU;
constexpr unsigned nowhere = ~0U;
constexpr double place_steps = 1 << 17;
/// Warps that the card runs at once, and shares of the sorted list per such warp.
constexpr std::int64_t warps_at_once = 132 * 11;
constexpr std::int64_t shares_a_warp = 6;
constexpr std::int64_t min_share = 160;
constexpr std::int64_t max_share = 4096;

struct BinCounts {
  int columns;
  int rows;
  int planes;
};

__host__ __device__ __forceinline__ BinCounts bins_of(const FastGrid& grid) {
  const auto count = [](int cells, int bin) { return (cells + bin - 1) / bin; };
  const int width = grid.window_width;
  return {count(grid.columns, bin_columns(width)), count(grid.rows, bin_rows(width)),
          count(grid.planes, bin_planes(width))};
}

/// First cell of a bin. Bins that differ only in plane are consecutive.
struct BinCorner {
  int tile;
  int column;
  int row;
  int plane;
};
template <int Width>
__device__ __forceinline__ BinCorner find_corner(const BinCounts& counts, int bin) {
  const int plane = bin % counts.planes;
  const int column = bin / counts.planes % counts.columns;
  const int row = bin / (counts.planes * counts.columns) % counts.rows;
  return {bin / (counts.planes * counts.columns * counts.rows), column * bin_columns(Width), row * bin_rows(Width),
          plane * bin_planes(Width)};
}

template <int Width>
__global__ void count_kernel(FastGrid grid, RawPoints points, std::int64_t begin, std::int64_t count,
                             SortMemory memory) {
  const std::int64_t i = blockIdx.x * static_cast<std::int64_t>(sort_threads) + threadIdx.x;
  if (i >= count) return;
  const int tile = blockIdx.y;
  const Place place = place_point(grid, points, begin + i, tile);
  uint2 where = make_uint2(nowhere, 0);
  if (place.lit == Lit::wholly) {
    const BinCounts bins = bins_of(grid);
    const int bin =
        ((tile * bins.rows + first_node<Width>(static_cast<float>(place.row)) / bin_rows(Width)) * bins.columns +
         first_node<Width>(static_cast<float>(place.column)) / bin_columns(Width)) *
            bins.planes +
        first_node<Width>(static_cast<float>(place.plane)) / bin_planes(Width);
    where = make_uint2(static_cast<unsigned>(bin), static_cast<unsigned>(atomicAdd(memory.bin_count + bin, 1)));
  }
  memory.bin_and_rank[tile * count + i] = where;
}

/// Records by their number, each with its bin as the key; those of no bin are last.
__global__ void number_kernel(SortMemory memory, unsigned bins, unsigned records) {
  const unsigned i = blockIdx.x * sort_threads + threadIdx.x;
  if (i >= records) return;
  memory.order[i] = min(memory.bin_and_rank[i].x, bins);
  memory.order[2 * static_cast<std::size_t>(records) + i] = i;
}

/// Replaces the ranks by the places in the sorted list.
__global__ void rank_kernel(SortMemory memory, unsigned bins, unsigned records, const unsigned* sorted_bins,
                            const unsigned* sorted_numbers) {
  const unsigned i = blockIdx.x * sort_threads + threadIdx.x;
  if (i >= records) return;
  const unsigned bin = sorted_bins[i];
  if (bin < bins) memory.bin_and_rank[sorted_numbers[i]].y = i - static_cast<unsigned>(memory.bin_begin[bin]);
}

__device__ __forceinline__ unsigned fixed(double place) {
  return static_cast<unsigned>(__double2int_rn(place * place_steps));
}

template <int Width>
__global__ void scatter_kernel(FastGrid grid, RawPoints points, std::int64_t begin, std::int64_t count,
                               SortMemory memory) {
  const std::int64_t i = blockIdx.x * static_cast<std::int64_t>(sort_threads) + threadIdx.x;
  if (i >= count) return;
  const int tile = blockIdx.y;
  const uint2 where = memory.bin_and_rank[tile * count + i];
  if (where.x == nowhere) return;
  const Place place = place_point(grid, points, begin + i, tile);
  const float2 strength = strength_of(points, begin + i, place);
  const BinCorner corner = find_corner<Width>(bins_of(grid), static_cast<int>(where.x));
  const unsigned column = fixed(place.column - corner.column);
  const unsigned row = fixed(place.row - corner.row);
  const unsigned plane = fixed(place.plane - corner.plane);
  const std::int64_t at = static_cast<std::int64_t>(memory.bin_begin[where.x]) + where.y;
  *reinterpret_cast<uint4*>(memory.record + at) =
      make_uint4(column | row << 22, row >> 10 | plane << 11, __float_as_uint(strength.x), __float_as_uint(strength.y));
}

__device__ __forceinline__ unsigned packed(float a, float b) {
  const __half2 h = __floats2half2_rn(a, b);
  return *reinterpret_cast<const unsigned*>(&h);
}
__device__ __forceinline__ unsigned product(unsigned a, unsigned b) {
  const __half2 h = __hmul2(*reinterpret_cast<const __half2*>(&a), *reinterpret_cast<const __half2*>(&b));
  return *reinterpret_cast<const unsigned*>(&h);
}
/// Converts a fixed-point position of at most 23 bits without the slow conversion: its bits form a mantissa.
__device__ __forceinline__ float unfixed(unsigned bits) {
  return fmaf(__uint_as_float(0x4b000000U | bits), static_cast<float>(1 / place_steps),
              static_cast<float>(-8388608 / place_steps));
}

/// Returns the bin of an index of the sorted list.
__device__ __forceinline__ int bin_at(const int* begin, int bins, int place) {
  int low = 0;
  int high = bins;  // begin[low] <= place < begin[high]
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (begin[middle] <= place) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

/// One bin's cells as accumulators of 16 x 8 x 16 products: rows are eight grid rows times (re, im), columns eight grid
/// columns, and the depth sixteen points.
struct BinSums {
  float sum[8][3][4];
};

/// c += a b.
__device__ __forceinline__ void multiply(float* c, const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/// Weights that a lane holds of sixteen points: four of the points, at the node of its group.
struct PointWeights {
  float column[3][4];
  float row[4];
  float re[4];  ///< times the plane's weight
  float im[4];
};

template <int Width>
__device__ __forceinline__ PointWeights compute_weights(const uint4* records, int present, float beta_log2) {
  const auto group = static_cast<float>(threadIdx.x / 4);
  const int within = threadIdx.x % 4;
  PointWeights weights;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const int j = 2 * within + k % 2 + 8 * (k / 2);
    const uint4 r = records[j];
    const float column = unfixed(r.x & 0x3fffffU);
    const float row = unfixed((r.x >> 22 | r.y << 10) & 0x1fffffU);
    const float plane = unfixed(r.y >> 11 & 0xfffffU);
#pragma unroll
    for (int n = 0; n < 3; ++n) {
      weights.column[n][k] = window<Width>(beta_log2, static_cast<float>(n * 8) + group - column);
    }
    weights.row[k] = window<Width>(beta_log2, group - row);
    // A record that is not present may hold any bits: 0 times NaN would be NaN.
    const float weight = window<Width>(beta_log2, group - plane);
    weights.re[k] = j < present ? weight * __uint_as_float(r.z) : 0.0F;
    weights.im[k] = j < present ? weight * __uint_as_float(r.w) : 0.0F;
  }
  return weights;
}

/// Adds sixteen points, rounded to fp16.
__device__ __forceinline__ void add_points(BinSums& sums, const PointWeights& weights) {
  const int within = threadIdx.x % 4;
  unsigned columns[3][2];
  unsigned rows[2];
  unsigned re[2];
  unsigned im[2];
#pragma unroll
  for (int h = 0; h < 2; ++h) {
#pragma unroll
    for (int n = 0; n < 3; ++n) columns[n][h] = packed(weights.column[n][2 * h], weights.column[n][2 * h + 1]);
    rows[h] = packed(weights.row[2 * h], weights.row[2 * h + 1]);
    re[h] = packed(weights.re[2 * h], weights.re[2 * h + 1]);
    im[h] = packed(weights.im[2 * h], weights.im[2 * h + 1]);
  }
#pragma unroll
  for (int plane = 0; plane < 8; ++plane) {
    const int source = plane * 4 + within;
    const unsigned a[4] = {product(rows[0], __shfl_sync(all_lanes, re[0], source)),
                           product(rows[0], __shfl_sync(all_lanes, im[0], source)),
                           product(rows[1], __shfl_sync(all_lanes, re[1], source)),
                           product(rows[1], __shfl_sync(all_lanes, im[1], source))};
#pragma unroll
    for (int n = 0; n < 3; ++n) multiply(sums.sum[plane][n], a, columns[n]);
  }
}

/// Two values as fp16, and their remainders as fp16.
struct Pair {
  unsigned high;
  unsigned low;
};
__device__ __forceinline__ Pair pack_pair(float a, float b) {
  const __half2 high = __floats2half2_rn(a, b);
  const float2 kept = __half22float2(high);
  return {*reinterpret_cast<const unsigned*>(&high), packed(a - kept.x, b - kept.y)};
}

/// Adds sixteen points as pairs of fp16: high high + high low + low high.
__device__ __forceinline__ void add_points_finely(BinSums& sums, const PointWeights& weights) {
  const int within = threadIdx.x % 4;
  unsigned high_columns[3][2];
  unsigned low_columns[3][2];
#pragma unroll
  for (int h = 0; h < 2; ++h) {
#pragma unroll
    for (int n = 0; n < 3; ++n) {
      const Pair pair = pack_pair(weights.column[n][2 * h], weights.column[n][2 * h + 1]);
      high_columns[n][h] = pair.high;
      low_columns[n][h] = pair.low;
    }
  }
#pragma unroll
  for (int plane = 0; plane < 8; ++plane) {
    const int source = plane * 4 + within;
    unsigned high[4];
    unsigned low[4];
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const float* const row = weights.row + 2 * h;
      const Pair re = pack_pair(row[0] * __shfl_sync(all_lanes, weights.re[2 * h], source),
                                row[1] * __shfl_sync(all_lanes, weights.re[2 * h + 1], source));
      const Pair im = pack_pair(row[0] * __shfl_sync(all_lanes, weights.im[2 * h], source),
                                row[1] * __shfl_sync(all_lanes, weights.im[2 * h + 1], source));
      high[2 * h] = re.high;
      high[2 * h + 1] = im.high;
      low[2 * h] = re.low;
      low[2 * h + 1] = im.low;
    }
#pragma unroll
    for (int n = 0; n < 3; ++n) {
      float* const c = sums.sum[plane][n];
      multiply(c, low, high_columns[n]);
      multiply(c, high, low_columns[n]);
      multiply(c, high, high_columns[n]);
    }
  }
}

/// Adds the first `deep` planes of a bin's sums to the grid, times `scale` as integers.
template <class Cell>
__device__ __forceinline__ void flush(const FastGrid& grid, const BinSums& sums, const BinCorner& corner, int deep,
                                      float scale, Cell* cells) {
  const int group = threadIdx.x / 4;
  const int within = threadIdx.x % 4;
  Cell* const tile_cells = cells + static_cast<std::int64_t>(corner.tile) * grid.planes * grid.rows * grid.columns;
#pragma unroll
  for (int plane = 0; plane < 8; ++plane) {
    if (plane >= deep) break;
#pragma unroll
    for (int n = 0; n < 3; ++n) {
      const float* const c = sums.sum[plane][n];
      const int column = corner.column + n * 8 + 2 * within;
      const int row = corner.row + group;
      if (column < grid.columns && row < grid.rows && corner.plane + plane < grid.planes &&
          (c[0] != 0 || c[1] != 0 || c[2] != 0 || c[3] != 0)) {
        float4 value = make_float4(c[0], c[2], c[1], c[3]);
        if constexpr (std::is_same_v<Cell, longlong2>) {
          value = make_float4(scale * value.x, scale * value.y, scale * value.z, scale * value.w);
        }
        add_two_cells(
            tile_cells + (static_cast<std::int64_t>(corner.plane + plane) * grid.rows + row) * grid.columns + column,
            value);
      }
    }
  }
}

/// Spreads the sorted list, one share per warp. If the next bin follows the last one in depth, the planes that both
/// cover stay in registers.
template <int Width, bool Finely, class Cell>
__global__ void __launch_bounds__(32, Finely ? 10 : 11)
    spread_sorted_kernel(FastGrid grid, const SpreadRecord* records, const int* bin_begin, int bins, int share,
                         float beta_log2, float scale, Cell* cells) {
  constexpr int deep = bin_planes(Width);
  __shared__ uint4 staged[2][16];
  const int total = bin_begin[bins];
  int at = static_cast<int>(blockIdx.x) * share;
  const int end = min(total, at + share);
  if (at >= end) return;
  const BinCounts counts = bins_of(grid);
  const auto stage = [&](int buffer, int from) {
    if (threadIdx.x < 16 && from + static_cast<int>(threadIdx.x) < end) {
      __pipeline_memcpy_async(&staged[buffer][threadIdx.x], records + from + threadIdx.x, sizeof(uint4));
    }
    __pipeline_commit();
  };
  stage(0, at);
  int buffer = 0;
  int bin = bin_at(bin_begin, bins, at);
  BinSums sums{};
  while (true) {
    const int bin_end = min(end, bin_begin[bin + 1]);
    while (at < bin_end) {
      const int present = min(16, bin_end - at);
      stage(buffer ^ 1, at + present);
      __pipeline_wait_prior(1);
      __syncwarp();
      const PointWeights weights = compute_weights<Width>(staged[buffer], present, beta_log2);
      if constexpr (Finely) {
        add_points_finely(sums, weights);
      } else {
        add_points(sums, weights);
      }
      __syncwarp();
      buffer ^= 1;
      at += present;
    }
    const BinCorner corner = find_corner<Width>(counts, bin);
    const bool last = at >= end;
    int next = bin + 1;
    while (!last && bin_begin[next + 1] <= at) ++next;
    const bool slides = !last && next == bin + 1 && next % counts.planes != 0;
    flush(grid, sums, corner, slides ? deep : 8, scale, cells);
    if (last) return;
#pragma unroll
    for (int plane = 0; plane < 8; ++plane) {
#pragma unroll
      for (int i = 0; i < 12; ++i) {
        constexpr int last_plane = 7;
        const float behind = sums.sum[plane + deep <= last_plane ? plane + deep : last_plane][i / 4][i % 4];
        sums.sum[plane][i / 4][i % 4] = slides && plane + deep <= last_plane ? behind : 0.0F;
      }
    }
    bin = next;
  }
}

/// Keys and numbers of the records, each with a copy.
struct Order {
  Order(unsigned* memory, std::int64_t records)
      : bins{memory, memory + records}, numbers{memory + 2 * records, memory + 3 * records} {}
  cuda::SortedArray bins;
  cuda::SortedArray numbers;
};

cuda::KeyBits bin_bits(int bins) { return cuda::key_bits(static_cast<unsigned>(bins)); }

/// Sorts by bin. The sort is stable: records of a bin stay in the order of their numbers.
void order_records(const SortMemory& memory, int bins, std::int64_t records, cudaStream_t stream) {
  const auto blocks = cuda::blocks_for(records, sort_threads);
  const auto count = static_cast<unsigned>(records);
  const auto bin_count = static_cast<unsigned>(bins);
  number_kernel<<<blocks, sort_threads, 0, stream>>>(memory, bin_count, count);
  cuda::check_launch("spread number");
  Order order(memory.order, records);
  cuda::sort_pairs(memory.scratch, memory.scratch_bytes, order.bins, order.numbers, records, bin_bits(bins), stream);
  rank_kernel<<<blocks, sort_threads, 0, stream>>>(memory, bin_count, count, order.bins.current, order.numbers.current);
  cuda::check_launch("spread rank");
}

}  // namespace

int fast_bins(const FastGrid& grid) {
  const BinCounts bins = bins_of(grid);
  return grid.tiles() * bins.columns * bins.rows * bins.planes;
}

std::size_t fast_scan_bytes(int bins) { return cuda::exclusive_sum_bytes<int>(std::int64_t{bins} + 1); }

std::size_t fast_sort_bytes(int bins, std::int64_t records, bool ordered) {
  const std::size_t scan = fast_scan_bytes(bins);
  if (!ordered) return scan;
  return std::max(scan, cuda::sort_pairs_bytes(records, bin_bits(bins)));
}

void fast_scan(const int* count, int* begin, int bins, void* memory, cudaStream_t stream) {
  cuda::exclusive_sum(memory, fast_scan_bytes(bins), count, begin, std::int64_t{bins} + 1, stream);
}

template <class Cell>
void spread_sorted(const FastGrid& grid, const RawPoints& points, std::int64_t first, std::int64_t count,
                   const SortMemory& memory, float scale, Cell* cells, cudaStream_t stream) {
  const int bins = fast_bins(grid);
  cuda::check(cudaMemsetAsync(memory.bin_count, 0, sizeof(int) * static_cast<std::size_t>(bins + 1), stream),
              "cudaMemsetAsync");
  const dim3 blocks(cuda::blocks_for(count, sort_threads), static_cast<unsigned>(grid.tiles()));
  const std::int64_t records = count * grid.tiles();
  const std::int64_t even = (records / (warps_at_once * shares_a_warp) + 15) / 16 * 16;
  const auto share = static_cast<int>(std::clamp(even, min_share, max_share));
  with_width(grid.window_width, [&](auto width) {
    count_kernel<width.value><<<blocks, sort_threads, 0, stream>>>(grid, points, first, count, memory);
    cuda::check_launch("spread count");
    fast_scan(memory.bin_count, memory.bin_begin, bins, memory.scratch, stream);
    if (memory.order != nullptr) order_records(memory, bins, records, stream);
    scatter_kernel<width.value><<<blocks, sort_threads, 0, stream>>>(grid, points, first, count, memory);
    cuda::check_launch("spread scatter");
    const auto spread = grid.split == 1 ? spread_sorted_kernel<width.value, false, Cell>
                                        : spread_sorted_kernel<width.value, true, Cell>;
    spread<<<cuda::blocks_for(records, share), 32, 0, stream>>>(grid, memory.record, memory.bin_begin, bins, share,
                                                                window_beta_log2(grid), scale, cells);
    cuda::check_launch("spread_sorted");
  });
}
template void spread_sorted(const FastGrid&, const RawPoints&, std::int64_t, std::int64_t, const SortMemory&, float,
                            float2*, cudaStream_t);
template void spread_sorted(const FastGrid&, const RawPoints&, std::int64_t, std::int64_t, const SortMemory&, float,
                            longlong2*, cudaStream_t);

}  // namespace holotone::point_cloud
