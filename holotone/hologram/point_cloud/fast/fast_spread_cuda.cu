#include <holotone/hologram/point_cloud/fast/fast_place_cuda.cuh>
#include <type_traits>

namespace holotone::point_cloud {
namespace {

constexpr int block_threads = 128;
constexpr unsigned all_lanes = 0xffffffffU;

/// Each warp spreads points_a_warp points of one tile in sequence; each lane adds pairs of neighbouring columns. Cell:
/// float2, double2, or longlong2 of strengths times `scale`.
template <int Width, class Cell>
__global__ void __launch_bounds__(block_threads)
    spread_unsorted_kernel(FastGrid grid, RawPoints points, std::int64_t begin, std::int64_t end, int points_a_warp,
                           float beta_log2, float scale, Cell* cells) {
  constexpr int pairs = (Width + 2) / 2;  // a window may begin in the middle of a pair
  constexpr int operations = Width * Width * pairs;
  const int lane = threadIdx.x % 32;
  const int tile = blockIdx.y;
  const std::int64_t first =
      begin + (blockIdx.x * static_cast<std::int64_t>(block_threads) + threadIdx.x) / 32 * points_a_warp;
  if (first >= end) return;
  const int own_count = static_cast<int>(min(static_cast<std::int64_t>(points_a_warp), end - first));
  float own_column = 0;
  float own_row = 0;
  float own_plane = 0;
  float2 own_strength{};
  bool own_lit = false;
  if (lane < own_count) {
    const Place place = place_point(grid, points, first + lane, tile);
    own_lit = place.lit == Lit::wholly;
    own_column = static_cast<float>(place.column);
    own_row = static_cast<float>(place.row);
    own_plane = static_cast<float>(place.plane);
    if (own_lit) own_strength = strength_of(points, first + lane, place);
    if constexpr (std::is_same_v<Cell, longlong2>) own_strength = {scale * own_strength.x, scale * own_strength.y};
  }
  Cell* const tile_cells = cells + static_cast<std::int64_t>(tile) * grid.planes * grid.rows * grid.columns;
  for (unsigned lit = __ballot_sync(all_lanes, own_lit); lit != 0; lit &= lit - 1) {
    const int q = __ffs(static_cast<int>(lit)) - 1;
    const float column = __shfl_sync(all_lanes, own_column, q);
    const float row = __shfl_sync(all_lanes, own_row, q);
    const float plane = __shfl_sync(all_lanes, own_plane, q);
    const float re = __shfl_sync(all_lanes, own_strength.x, q);
    const float im = __shfl_sync(all_lanes, own_strength.y, q);
    const int column0 = first_node<Width>(column) & ~1;
    const int row0 = first_node<Width>(row);
    const int plane0 = first_node<Width>(plane);
    // Lanes 0-9 hold the columns' weights, 10-19 the rows', 20-29 the planes'.
    const int axis = lane / 10;
    const int node = lane % 10;
    const float distance = axis == 0 ? column0 + node - column : axis == 1 ? row0 + node - row : plane0 + node - plane;
    const float weight = window<Width>(beta_log2, distance);
    Cell* const base = tile_cells + (static_cast<std::int64_t>(plane0) * grid.rows + row0) * grid.columns + column0;
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

template <class Cell>
__global__ void __launch_bounds__(block_threads)
    round_cells_kernel(std::int64_t count, const Cell* cells, double scale, float2* rounded) {
  const std::int64_t i = blockIdx.x * static_cast<std::int64_t>(block_threads) + threadIdx.x;
  if (i >= count) return;
  rounded[i] = make_float2(static_cast<float>(static_cast<double>(cells[i].x) * scale),
                           static_cast<float>(static_cast<double>(cells[i].y) * scale));
}

}  // namespace

template <class Cell>
void spread_unsorted(const FastGrid& grid, const RawPoints& points, std::int64_t first, std::int64_t count, float scale,
                     Cell* cells, cudaStream_t stream) {
  const std::int64_t work = count * grid.tiles();
  const int points_a_warp = work > 300000 ? 32 : work > 40000 ? 8 : 2;
  const dim3 blocks(cuda::blocks_for((count + points_a_warp - 1) / points_a_warp * 32, block_threads),
                    static_cast<unsigned>(grid.tiles()));
  with_width(grid.window_width, [&](auto width) {
    spread_unsorted_kernel<width.value, Cell><<<blocks, block_threads, 0, stream>>>(
        grid, points, first, first + count, points_a_warp, window_beta_log2(grid), scale, cells);
  });
  cuda::check_launch("spread_unsorted");
}

template <class Cell>
void round_cells(std::int64_t count, const Cell* cells, double scale, float2* rounded, cudaStream_t stream) {
  round_cells_kernel<<<cuda::blocks_for(count, block_threads), block_threads, 0, stream>>>(count, cells, scale,
                                                                                           rounded);
  cuda::check_launch("round_cells");
}

template void spread_unsorted(const FastGrid&, const RawPoints&, std::int64_t, std::int64_t, float, float2*,
                              cudaStream_t);
template void spread_unsorted(const FastGrid&, const RawPoints&, std::int64_t, std::int64_t, float, double2*,
                              cudaStream_t);
template void spread_unsorted(const FastGrid&, const RawPoints&, std::int64_t, std::int64_t, float, longlong2*,
                              cudaStream_t);
template void round_cells(std::int64_t, const double2*, double, float2*, cudaStream_t);
template void round_cells(std::int64_t, const longlong2*, double, float2*, cudaStream_t);

}  // namespace holotone::point_cloud
