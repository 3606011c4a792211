// Charge of dots and ink spread over the nodes of the far field, on CUDA.
#include <holotone/core/cuda_check.hpp>
#include <holotone/halftone/electrostatic/kernels_cuda.cuh>
#include <type_traits>

namespace holotone::electrostatic {
namespace {

constexpr int threads = 256;
constexpr int warps = threads / 32;
constexpr int max_cell_rows = 72;
/// Maximum number of dots around a tile for 32-bit sums. With more they would round a dot's charge to more than 2^-17.
constexpr int max_narrow = 8192;
/// Rows of cells with more dots than this are shared by all warps.
constexpr int long_row = 1024;

/// Minimum number of nodes for large tiles.
constexpr std::int64_t large_grid = 400000;

/// 1.5 2^23. Added to a number below 2^22, it leaves the number in the lowest bits, rounded to an integer.
constexpr float to_integer = 12582912.0F;

/// Dimensions of the sums of a tile in shared memory.
template <int Width, int Tile>
struct TileSums {
  static constexpr int border = Width - 1;  // nodes by which a window can extend beyond the tile on each side
  static constexpr int side = Tile + 2 * border;
  static constexpr int pitch = side + (side % 2 == 0 ? 1 : 0);
  static constexpr int size = pitch * side;
};

template <int Width, class Sum>
__device__ __forceinline__ void add_dot(Sum* corner, int pitch, const float (&across)[Width],
                                        const float (&down)[Width], float scale) {
#pragma unroll
  for (int j = 0; j < Width; ++j) {
    const float weight = down[j] * scale;
#pragma unroll
    for (int i = 0; i < Width; ++i) {
      if constexpr (sizeof(Sum) == 4) {
        const int value = __float_as_int(fmaf(across[i], weight, to_integer)) - __float_as_int(to_integer);
        atomicAdd(corner + j * pitch + i, value);
      } else {
        atomicAdd(corner + j * pitch + i, static_cast<Sum>(__float2ll_rn(across[i] * weight)));
      }
    }
  }
}

/// Adds the dots of the rows of cells around a tile to its sums.
template <int Width, int Tile, class Sum>
__device__ void add_rows(const float2* __restrict__ dots, const int* row_begin, const int* row_end, int rows,
                         const Nodes& nodes, const WindowTerms& window, int first_column, int first_row, float scale,
                         Sum* sums) {
  using Sums = TileSums<Width, Tile>;
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  for (int row = 0; row < rows; ++row) {
    const int begin = row_begin[row];
    const int end = row_end[row];
    const bool shared_row = end - begin > long_row;
    if (!shared_row && row % warps != warp) continue;
    const int stride = shared_row ? threads : 32;
    for (int d = begin + (shared_row ? static_cast<int>(threadIdx.x) : lane); d < end; d += stride) {
      const float2 dot = dots[d];
      float across[Width];
      float down[Width];
      const int i = window_at<Width>(window, nodes.x, dot.x, across) - first_column + Sums::border;
      const int j = window_at<Width>(window, nodes.y, dot.y, down) - first_row + Sums::border;
      constexpr int places = Tile + Sums::border;
      if (static_cast<unsigned>(i) >= places || static_cast<unsigned>(j) >= places) continue;
      add_dot<Width, Sum>(sums + j * Sums::pitch + i, Sums::pitch, across, down, scale);
    }
  }
}

/// One block per tile. It adds every dot whose window touches the tile, also to nodes around the tile, whose sums it
/// does not write.
template <int Width, int Tile>
__global__ void __launch_bounds__(threads)
    spread_kernel(const float2* __restrict__ dots, const int* __restrict__ start, const float* __restrict__ ink,
                  float count, const __grid_constant__ CellGrid cells, const __grid_constant__ Nodes nodes,
                  const __grid_constant__ WindowTerms window, float* __restrict__ charge) {
  using Sums = TileSums<Width, Tile>;
  __shared__ unsigned long long sums_storage[Sums::size];
  __shared__ int row_begin[max_cell_rows];
  __shared__ int row_end[max_cell_rows];
  __shared__ int total;
  const int first_column = blockIdx.x * Tile;
  const int first_row = blockIdx.y * Tile;
  const auto cell_at = [&](const NodeAxis& axis, int node, float steps, int number) {
    return find_cell((static_cast<float>(node - axis.margin) + steps) * axis.step, cells.inverse, number);
  };
  constexpr float reach = 0.5F * Width + 0.01F;  // a hundredth of a step for rounding
  const int cell_left = cell_at(nodes.x, first_column, -reach, cells.nx);
  const int cell_right = cell_at(nodes.x, first_column + Tile - 1, reach, cells.nx);
  const int cell_top = cell_at(nodes.y, first_row, -reach, cells.ny);
  const int cell_bottom = cell_at(nodes.y, first_row + Tile - 1, reach, cells.ny);
  const int rows = cell_bottom - cell_top + 1;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  if (threadIdx.x < rows) {
    const int* const row = start + static_cast<std::int64_t>(cell_top + threadIdx.x) * cells.nx;
    row_begin[threadIdx.x] = row[cell_left];
    row_end[threadIdx.x] = row[cell_right + 1];
    atomicAdd(&total, row_end[threadIdx.x] - row_begin[threadIdx.x]);
  }
  __syncthreads();
  int* const narrow = reinterpret_cast<int*>(sums_storage);
  const bool wide = total > max_narrow;
  // Power of two with which no sum exceeds 2^30 and no single weight 2^21.
  const float scale = wide ? 0x1p32F : exp2f(static_cast<float>(min(21, 30 - (32 - __clz(total)))));
  for (int k = threadIdx.x; k < Sums::size; k += threads) {
    if (wide) {
      sums_storage[k] = 0;
    } else {
      narrow[k] = 0;
    }
  }
  __syncthreads();
  if (wide) {
    add_rows<Width, Tile>(dots, row_begin, row_end, rows, nodes, window, first_column, first_row, scale, sums_storage);
  } else {
    add_rows<Width, Tile>(dots, row_begin, row_end, rows, nodes, window, first_column, first_row, scale, narrow);
  }
  __syncthreads();
  const float unit = 1.0F / scale;
  for (int k = threadIdx.x; k < Tile * Tile; k += threads) {
    const int j = k / Tile;
    const int i = k % Tile;
    if (first_row + j >= nodes.y.count || first_column + i >= nodes.x.count) continue;
    const int place = (j + Sums::border) * Sums::pitch + i + Sums::border;
    const float sum =
        wide ? static_cast<float>(static_cast<long long>(sums_storage[place])) : static_cast<float>(narrow[place]);
    const std::int64_t node = static_cast<std::int64_t>(first_row + j) * nodes.x.count + first_column + i;
    charge[node] = fmaf(-count, ink[node], sum * unit);
  }
}

template <int Width, int Tile>
void launch(const SpreadInput& input, const CellGrid& cells, const Nodes& nodes, const WindowTerms& window,
            float* charge, cudaStream_t stream) {
  const dim3 blocks(cuda::blocks_for(nodes.x.count, Tile), cuda::blocks_for(nodes.y.count, Tile));
  spread_kernel<Width, Tile>
      <<<blocks, threads, 0, stream>>>(input.dots, input.start, input.ink, input.count, cells, nodes, window, charge);
}

}  // namespace

void spread(const SpreadInput& input, const CellGrid& cells, const Nodes& nodes, int width, const WindowTerms& window,
            float* charge, cudaStream_t stream) {
  // Large tiles have less border; small tiles give every multiprocessor several blocks.
  const bool large = static_cast<std::int64_t>(nodes.x.count) * nodes.y.count >= large_grid;
  with_width(width, [&](auto w) {
    if (large) {
      launch<w.value, 32>(input, cells, nodes, window, charge, stream);
    } else {
      launch<w.value, 16>(input, cells, nodes, window, charge, stream);
    }
  });
  cuda::check_launch("electrostatic spread");
}

}  // namespace holotone::electrostatic
