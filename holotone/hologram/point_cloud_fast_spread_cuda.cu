#include <cub/device/device_scan.cuh>
#include <holotone/hologram/point_cloud_fast_cuda.cuh>

namespace holotone::point_cloud {
namespace {

constexpr int sort_threads = 256;
constexpr int unsorted_threads = 128;
/// Bins are cut into pieces of at most this many points, and a warp spreads the pieces that begin in its share of the sorted list: bins
/// of any size share the card evenly, and small ones are added to the grid once.
constexpr int piece_points = 512;
constexpr int warp_points = 256;
constexpr unsigned all_lanes = 0xffffffffU;

/// A point on one tile's grid of frequencies.
struct Place {
  float column;
  float row;
  float plane;
  float re;
  float im;
};

__device__ __forceinline__ Place place_of(const FastGrid& grid, const PointRecords& points, std::int64_t j, int tile) {
  const int tile_x = tile % grid.tiles_x;
  const int tile_y = tile / grid.tiles_x;
  const float4 position = points.position[j];
  const float4 wave = points.wave[j];
  const double a = static_cast<double>(wave.x) + static_cast<double>(wave.y);
  const double u = (position.x - static_cast<float>(tile_x * grid.tile_width + grid.tile_width / 2)) +
                   static_cast<double>(position.y);
  const double v = (position.z - static_cast<float>(tile_y * grid.tile_height + grid.tile_height / 2)) +
                   static_cast<double>(position.w);
  const double from_middle = a - grid.middle_curvature;
  double turns = a * (u * u + v * v) + from_middle * grid.middle_radius + static_cast<double>(wave.w);
  turns -= rint(turns);
  float sine;
  float cosine;
  sincospif(2.0F * static_cast<float>(turns), &sine, &cosine);
  double column = -2 * a * u * grid.steps_x;
  double row = -2 * a * v * grid.steps_y;
  column = grid.wrap_columns ? column - floor(column / grid.steps_x) * grid.steps_x + grid.window_width
                             : column - grid.first_column[tile_x];
  row = grid.wrap_rows ? row - floor(row / grid.steps_y) * grid.steps_y + grid.window_width
                       : row - grid.first_row[tile_y];
  return {static_cast<float>(column), static_cast<float>(row),
          static_cast<float>(from_middle * grid.steps_m - grid.first_plane), wave.z * cosine, wave.z * sine};
}

/// phi, by the approximate square root and power of two that a special-function unit has.
template <int Width>
__device__ __forceinline__ float window(float beta_log2, float distance) {
  const float z = distance * (2.0F / Width);
  const float inside = fmaf(-z, z, 1.0F);
  float root;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(fmaxf(inside, 0.0F)));
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(fmaf(beta_log2, root, -beta_log2)));
  return inside > 0 ? power : 0.0F;
}

template <int Width>
__device__ __forceinline__ int first_node(float place) {
  return static_cast<int>(ceilf(place - 0.5F * Width));
}

__device__ __forceinline__ void add_two_cells(float2* cell, float4 value) {
  asm volatile("red.relaxed.gpu.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(cell), "f"(value.x), "f"(value.y),
               "f"(value.z), "f"(value.w)
               : "memory");
}

/// A warp takes points_a_warp points of one tile, one after the other; each lane adds pairs of neighbouring columns.
template <int Width>
__global__ void __launch_bounds__(unsorted_threads)
    spread_unsorted_kernel(FastGrid grid, PointRecords points, std::int64_t count, int points_a_warp, float beta_log2,
                           float2* cells) {
  constexpr int pairs = (Width + 2) / 2;  // a window may begin in the middle of a pair
  constexpr int operations = Width * Width * pairs;
  const int lane = threadIdx.x % 32;
  const int tile = blockIdx.y;
  const std::int64_t first =
      (blockIdx.x * static_cast<std::int64_t>(unsorted_threads) + threadIdx.x) / 32 * points_a_warp;
  if (first >= count) return;
  const int own_count = static_cast<int>(min(static_cast<std::int64_t>(points_a_warp), count - first));
  Place own{};
  if (lane < own_count) own = place_of(grid, points, first + lane, tile);
  float2* const tile_cells = cells + static_cast<std::int64_t>(tile) * grid.planes * grid.rows * grid.columns;
  for (int q = 0; q < own_count; ++q) {
    const float column = __shfl_sync(all_lanes, own.column, q);
    const float row = __shfl_sync(all_lanes, own.row, q);
    const float plane = __shfl_sync(all_lanes, own.plane, q);
    const float re = __shfl_sync(all_lanes, own.re, q);
    const float im = __shfl_sync(all_lanes, own.im, q);
    const int column0 = first_node<Width>(column) & ~1;
    const int row0 = first_node<Width>(row);
    const int plane0 = first_node<Width>(plane);
    // Lanes 0-9 hold the columns' weights, 10-19 the rows', 20-29 the planes'.
    const int axis = lane / 10;
    const int node = lane % 10;
    const float distance = axis == 0 ? column0 + node - column : axis == 1 ? row0 + node - row : plane0 + node - plane;
    const float weight = window<Width>(beta_log2, distance);
    float2* const base = tile_cells + (static_cast<std::int64_t>(plane0) * grid.rows + row0) * grid.columns + column0;
#pragma unroll
    for (int round = 0; round < (operations + 31) / 32; ++round) {
      const int id = round * 32 + lane;
      const int line = id / pairs;
      const int pair = id - line * pairs;
      const int dz = line / Width;
      const int dy = line - dz * Width;
      const float wy = __shfl_sync(all_lanes, weight, 10 + dy);
      const float wz = __shfl_sync(all_lanes, weight, 20 + min(dz, 9));
      const float left = __shfl_sync(all_lanes, weight, 2 * pair);
      const float right = __shfl_sync(all_lanes, weight, 2 * pair + 1);
      if (id < operations) {
        const float f = wy * wz;
        add_two_cells(base + (static_cast<std::int64_t>(dz) * grid.rows + dy) * grid.columns + 2 * pair,
                      make_float4(f * re * left, f * im * left, f * re * right, f * im * right));
      }
    }
  }
}

struct BinCounts {
  int columns;
  int rows;
  int planes;
};

__host__ __device__ __forceinline__ BinCounts bins_of(const FastGrid& grid) {
  return {(grid.columns + bin_columns - 1) / bin_columns, (grid.rows + bin_rows - 1) / bin_rows,
          (grid.planes + bin_planes - 1) / bin_planes};
}

template <int Width>
__global__ void count_kernel(FastGrid grid, PointRecords points, std::int64_t count, SortedPoints sorted) {
  const std::int64_t j = blockIdx.x * static_cast<std::int64_t>(sort_threads) + threadIdx.x;
  if (j >= count) return;
  const int tile = blockIdx.y;
  const Place place = place_of(grid, points, j, tile);
  const BinCounts bins = bins_of(grid);
  const int bin = ((tile * bins.planes + first_node<Width>(place.plane) / bin_planes) * bins.rows +
                   first_node<Width>(place.row) / bin_rows) *
                      bins.columns +
                  first_node<Width>(place.column) / bin_columns;
  const int rank = atomicAdd(sorted.bin_count + bin, 1);
  sorted.bin_and_rank[tile * count + j] = make_uint2(static_cast<unsigned>(bin), static_cast<unsigned>(rank));
}

__global__ void scatter_kernel(FastGrid grid, PointRecords points, std::int64_t count, SortedPoints sorted) {
  const std::int64_t j = blockIdx.x * static_cast<std::int64_t>(sort_threads) + threadIdx.x;
  if (j >= count) return;
  const int tile = blockIdx.y;
  const Place place = place_of(grid, points, j, tile);
  const uint2 where = sorted.bin_and_rank[tile * count + j];
  const std::int64_t at = static_cast<std::int64_t>(sorted.bin_begin[where.x]) + where.y;
  sorted.record[at] = make_float4(place.column, place.row, place.plane, place.re);
  sorted.imaginary[at] = place.im;
}

__device__ __forceinline__ unsigned packed(float a, float b) {
  const __half2 h = __floats2half2_rn(a, b);
  return *reinterpret_cast<const unsigned*>(&h);
}
__device__ __forceinline__ unsigned product(unsigned a, unsigned b) {
  const __half2 h = __hmul2(*reinterpret_cast<const __half2*>(&a), *reinterpret_cast<const __half2*>(&b));
  return *reinterpret_cast<const unsigned*>(&h);
}

/// The bin that holds a place of the sorted list.
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

/// One bin's cells as accumulators of 16 x 8 x 16 products: rows are eight grid rows times (re, im), columns eight grid columns, and
/// the depth sixteen points. A bin's windows reach over 24 columns, 16 rows and 8 planes.
template <int Width>
__global__ void __launch_bounds__(32)
    spread_sorted_kernel(FastGrid grid, SortedPoints sorted, int bins, float beta_log2, float2* cells) {
  const int lane = threadIdx.x;
  const int group = lane / 4;
  const int within = lane % 4;
  const int total = sorted.bin_begin[bins];
  const int end = min(total, static_cast<int>(blockIdx.x + 1) * warp_points);
  const int begin = static_cast<int>(blockIdx.x) * warp_points;
  if (begin >= end) return;
  const BinCounts counts = bins_of(grid);
  int bin = bin_at(sorted.bin_begin, bins, begin);
  // The first piece that begins here: a later one of a bin that began before, or the next bin's.
  const int bin_begin = sorted.bin_begin[bin];
  int at = bin_begin + (begin - bin_begin + piece_points - 1) / piece_points * piece_points;
  at = min(at, sorted.bin_begin[bin + 1]);
  while (at < total) {
    while (bin < bins && sorted.bin_begin[bin + 1] <= at) at = sorted.bin_begin[++bin];
    if (at >= end) break;
    const int bin_end = min(at + piece_points, sorted.bin_begin[bin + 1]);
    const int column0 = bin % counts.columns * bin_columns;
    const int row0 = bin / counts.columns % counts.rows * bin_rows;
    const int plane0 = bin / (counts.columns * counts.rows) % counts.planes * bin_planes;
    const int tile = bin / (counts.columns * counts.rows * counts.planes);
    float sums[8][2][3][4] = {};
    for (; at < bin_end; at += 16) {
      float4 record[4];
      float imaginary[4];
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const int j = at + 2 * within + (k & 1) + (k >> 1) * 8;
        record[k] = j < bin_end ? sorted.record[j] : make_float4(-1e6F, -1e6F, -1e6F, 0);
        imaginary[k] = j < bin_end ? sorted.imaginary[j] : 0;
        record[k].x -= static_cast<float>(column0);
        record[k].y -= static_cast<float>(row0);
        record[k].z -= static_cast<float>(plane0);
      }
      unsigned columns[3][2];
      unsigned rows[2][2];
      unsigned re[2];
      unsigned im[2];
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const float4 a = record[2 * h];
        const float4 b = record[2 * h + 1];
#pragma unroll
        for (int n = 0; n < 3; ++n) {
          columns[n][h] = packed(window<Width>(beta_log2, static_cast<float>(n * 8 + group) - a.x),
                                 window<Width>(beta_log2, static_cast<float>(n * 8 + group) - b.x));
        }
#pragma unroll
        for (int n = 0; n < 2; ++n) {
          rows[n][h] = packed(window<Width>(beta_log2, static_cast<float>(n * 8 + group) - a.y),
                              window<Width>(beta_log2, static_cast<float>(n * 8 + group) - b.y));
        }
        const float wa = window<Width>(beta_log2, static_cast<float>(group) - a.z);
        const float wb = window<Width>(beta_log2, static_cast<float>(group) - b.z);
        re[h] = packed(wa * a.w, wb * b.w);
        im[h] = packed(wa * imaginary[2 * h], wb * imaginary[2 * h + 1]);
      }
#pragma unroll
      for (int plane = 0; plane < 8; ++plane) {
        const unsigned re0 = __shfl_sync(all_lanes, re[0], plane * 4 + within);
        const unsigned re1 = __shfl_sync(all_lanes, re[1], plane * 4 + within);
        const unsigned im0 = __shfl_sync(all_lanes, im[0], plane * 4 + within);
        const unsigned im1 = __shfl_sync(all_lanes, im[1], plane * 4 + within);
#pragma unroll
        for (int y = 0; y < 2; ++y) {
          const unsigned a0 = product(rows[y][0], re0);
          const unsigned a1 = product(rows[y][0], im0);
          const unsigned a2 = product(rows[y][1], re1);
          const unsigned a3 = product(rows[y][1], im1);
#pragma unroll
          for (int n = 0; n < 3; ++n) {
            float* const c = sums[plane][y][n];
            asm volatile(
                "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                "{%0, %1, %2, %3};"
                : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(columns[n][0]), "r"(columns[n][1]));
          }
        }
      }
    }
    at = bin_end;
    float2* const tile_cells = cells + static_cast<std::int64_t>(tile) * grid.planes * grid.rows * grid.columns;
#pragma unroll
    for (int plane = 0; plane < 8; ++plane) {
#pragma unroll
      for (int y = 0; y < 2; ++y) {
#pragma unroll
        for (int n = 0; n < 3; ++n) {
          const float* const c = sums[plane][y][n];
          const int column = column0 + n * 8 + 2 * within;
          const int row = row0 + y * 8 + group;
          if (column < grid.columns && row < grid.rows && plane0 + plane < grid.planes &&
              (c[0] != 0 || c[1] != 0 || c[2] != 0 || c[3] != 0)) {
            add_two_cells(
                tile_cells + (static_cast<std::int64_t>(plane0 + plane) * grid.rows + row) * grid.columns + column,
                make_float4(c[0], c[2], c[1], c[3]));
          }
        }
      }
    }
  }
}

/// action(constant) for a run-time width.
template <int Widest, class Action>
void with_width(int width, const Action& action) {
  [&]<int... I>(std::integer_sequence<int, I...>) {
    (void)((width == I + 2 && (action(std::integral_constant<int, I + 2>{}), true)) || ...);
  }
  (std::make_integer_sequence<int, Widest - 1>{});
}

float beta_log2_of(const FastGrid& grid) { return grid.window_beta * 1.44269504F; }

}  // namespace

int fast_bins(const FastGrid& grid) {
  const BinCounts bins = bins_of(grid);
  return grid.tiles() * bins.columns * bins.rows * bins.planes;
}

std::size_t fast_scan_bytes(int bins) {
  std::size_t bytes = 0;
  const int* none = nullptr;
  cuda::check(cub::DeviceScan::ExclusiveSum(nullptr, bytes, none, static_cast<int*>(nullptr), bins + 1),
              "cub::DeviceScan");
  return bytes;
}

void spread_unsorted(const FastGrid& grid, const PointRecords& points, std::int64_t count, float2* cells,
                     cudaStream_t stream) {
  const std::int64_t work = count * grid.tiles();
  const int points_a_warp = work > 300000 ? 32 : work > 40000 ? 8 : 2;
  const dim3 blocks(cuda::blocks_for((count + points_a_warp - 1) / points_a_warp * 32, unsorted_threads),
                    static_cast<unsigned>(grid.tiles()));
  with_width<widest_fast_window>(grid.window_width, [&](auto width) {
    spread_unsorted_kernel<width.value>
        <<<blocks, unsorted_threads, 0, stream>>>(grid, points, count, points_a_warp, beta_log2_of(grid), cells);
  });
  cuda::check_launch("spread_unsorted");
}

void spread_sorted(const FastGrid& grid, const PointRecords& points, std::int64_t count, const SortedPoints& sorted,
                   float2* cells, cudaStream_t stream) {
  const int bins = fast_bins(grid);
  cuda::check(cudaMemsetAsync(sorted.bin_count, 0, sizeof(int) * static_cast<std::size_t>(bins + 1), stream),
              "cudaMemsetAsync");
  const dim3 blocks(cuda::blocks_for(count, sort_threads), static_cast<unsigned>(grid.tiles()));
  const std::int64_t records = count * grid.tiles();
  with_width<5>(grid.window_width, [&](auto width) {
    count_kernel<width.value><<<blocks, sort_threads, 0, stream>>>(grid, points, count, sorted);
    cuda::check_launch("spread count");
    std::size_t bytes = sorted.scan_bytes;
    cuda::check(
        cub::DeviceScan::ExclusiveSum(sorted.scan_memory, bytes, sorted.bin_count, sorted.bin_begin, bins + 1, stream),
        "cub::DeviceScan");
    scatter_kernel<<<blocks, sort_threads, 0, stream>>>(grid, points, count, sorted);
    cuda::check_launch("spread scatter");
    spread_sorted_kernel<width.value>
        <<<cuda::blocks_for(records, warp_points), 32, 0, stream>>>(grid, sorted, bins, beta_log2_of(grid), cells);
    cuda::check_launch("spread_sorted");
  });
}

}  // namespace holotone::point_cloud
