#include <algorithm>
#include <holotone/hologram/point_cloud/fast/fast_values_cuda.cuh>

namespace holotone::point_cloud {
namespace {

constexpr int threads = 256;

template <int Split>
__global__ void column_matrix_kernel(FastGrid grid, __half* matrix) {
  const int k = blockIdx.x * threads + threadIdx.x;
  const int x = blockIdx.y;
  if (k >= grid.columns) return;
  // A box as long as the period begins window_width steps before zero.
  const int step = grid.wrap_columns ? k - grid.window_width : k;
  const float2 factor = unit(static_cast<double>(step) * (x - grid.tile_width / 2) / grid.steps_x);
  const std::int64_t segment = 2 * grid.columns;
  __half* const real = matrix + 2 * x * segment * Split;
  __half* const imaginary = real + segment * Split;
  put_constant<Split>(real, segment, 2 * k, factor.x);
  put_constant<Split>(real, segment, 2 * k + 1, -factor.y);
  put_constant<Split>(imaginary, segment, 2 * k, factor.y);
  put_constant<Split>(imaginary, segment, 2 * k + 1, factor.x);
}

template <int Split>
__global__ void depth_matrix_kernel(FastGrid grid, FastFactors factors, __half* matrix) {
  const int rho = blockIdx.x * threads + threadIdx.x;
  const int row = blockIdx.y;
  if (rho >= grid.depth_rows()) return;
  const int plane = rho / grid.rows;
  const int k = rho % grid.rows;
  const int step = grid.wrap_rows ? k - grid.window_width : k;
  const double y = row - grid.tile_height / 2;
  float2 factor =
      unit(step * y / grid.steps_y + (plane + grid.first_plane) * (y * y - grid.middle_radius) / grid.steps_m);
  factor.x *= factors.row[row];
  factor.y *= factors.row[row];
  const std::int64_t segment = 2 * grid.depth_rows();
  __half* const real = matrix + row * segment * Split;
  __half* const imaginary = matrix + static_cast<std::int64_t>(grid.tile_height + row) * segment * Split;
  put_constant<Split>(real, segment, 2 * rho, factor.x);
  put_constant<Split>(real, segment, 2 * rho + 1, -factor.y);
  put_constant<Split>(imaginary, segment, 2 * rho, factor.y);
  put_constant<Split>(imaginary, segment, 2 * rho + 1, factor.x);
}

__global__ void middle_kernel(FastGrid grid, FastFactors factors, float2* middle) {
  const int column = blockIdx.x * threads + threadIdx.x;
  const int plane = blockIdx.y;
  const int tile_x = blockIdx.z;
  if (column >= grid.tile_width) return;
  const double x = column - grid.tile_width / 2;
  const int first = grid.wrap_columns ? 0 : grid.first_column[tile_x];
  float2 factor = unit(first * x / grid.steps_x + (plane + grid.first_plane) * x * x / grid.steps_m);
  factor.x *= factors.column[column];
  factor.y *= factors.column[column];
  middle[(static_cast<std::int64_t>(tile_x) * grid.planes + plane) * grid.tile_width + column] = factor;
}

template <int Split>
__global__ void convert_kernel(FastGrid grid, const float4* cells, float scale, __half* rows) {
  const std::int64_t pair = blockIdx.x * static_cast<std::int64_t>(threads) + threadIdx.x;
  const std::int64_t pairs_a_row = grid.columns / 2;
  if (pair >= grid.cells() / 2) return;
  const float4 v = cells[pair];
  if constexpr (Split == 1) {
    const __half2 left = __floats2half2_rn(scale * v.x, scale * v.y);
    const __half2 right = __floats2half2_rn(scale * v.z, scale * v.w);
    reinterpret_cast<uint2*>(rows)[pair] =
        make_uint2(*reinterpret_cast<const unsigned*>(&left), *reinterpret_cast<const unsigned*>(&right));
  } else {
    const std::int64_t row = pair / pairs_a_row;
    const std::int64_t k = 4 * (pair - row * pairs_a_row);
    const std::int64_t segment = 2 * grid.columns;
    __half* const target = rows + row * segment * Split;
    put_pair<Split>(target, segment, k, scale * v.x, scale * v.y);
    put_pair<Split>(target, segment, k + 2, scale * v.z, scale * v.w);
  }
}

/// Applies the factors between the products, two neighbouring depths per thread.
template <int Split, class Value>
__global__ void apply_middle_kernel(FastGrid grid, const Value* product, const float2* middle, __half* operand) {
  const int depth_rows = grid.depth_rows();
  const int rho = 2 * (blockIdx.x * threads + threadIdx.x);
  const int x = blockIdx.y;
  const int tile = blockIdx.z;
  if (rho >= depth_rows) return;
  const std::int64_t all_rows = static_cast<std::int64_t>(grid.tiles()) * depth_rows;
  const std::int64_t at = static_cast<std::int64_t>(tile) * depth_rows + rho;
  const float2 re = two_values(product + 2 * x * all_rows + at);
  const float2 im = two_values(product + (2 * x + 1) * all_rows + at);
  // The number of rows is a multiple of four, so two neighbours lie in one plane.
  const float2 factor =
      middle[(static_cast<std::int64_t>(tile % grid.tiles_x) * grid.planes + rho / grid.rows) * grid.tile_width + x];
  const float2 left = make_float2(re.x * factor.x - im.x * factor.y, re.x * factor.y + im.x * factor.x);
  const float2 right = make_float2(re.y * factor.x - im.y * factor.y, re.y * factor.y + im.y * factor.x);
  const std::int64_t segment = 2 * depth_rows;
  __half* const row = operand + (static_cast<std::int64_t>(tile) * grid.tile_width + x) * segment * Split;
  if constexpr (Split == 1) {
    const __half2 a = __floats2half2_rn(left.x, left.y);
    const __half2 b = __floats2half2_rn(right.x, right.y);
    *reinterpret_cast<uint2*>(row + 2 * rho) =
        make_uint2(*reinterpret_cast<const unsigned*>(&a), *reinterpret_cast<const unsigned*>(&b));
  } else {
    put_pair<Split>(row, segment, 2 * rho, left.x, left.y);
    put_pair<Split>(row, segment, 2 * rho + 2, right.x, right.y);
  }
}

struct FourPixels {
  float4 re;
  float4 im;
};

/// Returns the sums of four neighbouring pixels of a tile, with their phases applied and the windows divided out.
__device__ __forceinline__ FourPixels tile_pixels(const FastGrid& grid, const FastSums& sums,
                                                  const FastFactors& factors, int row, int column) {
  const int tile_x = column / grid.tile_width;  // tile_width is a multiple of four: four neighbours share a tile
  const int tile_y = row / grid.tile_height;
  const int x = column - tile_x * grid.tile_width;
  const int y = row - tile_y * grid.tile_height;
  const std::int64_t plane = static_cast<std::int64_t>(grid.tile_height) * grid.tile_width;
  const float* const first_sum =
      sums.product + 2 * (tile_y * grid.tiles_x + tile_x) * plane + static_cast<std::int64_t>(y) * grid.tile_width + x;
  const float4 re = *reinterpret_cast<const float4*>(first_sum);
  const float4 im = *reinterpret_cast<const float4*>(first_sum + plane);
  const float res[4] = {re.x, re.y, re.z, re.w};
  const float ims[4] = {im.x, im.y, im.z, im.w};
  const int from_y = y - grid.tile_height / 2;
  const double row_turns = grid.wrap_rows ? 0.0 : static_cast<double>(grid.first_row[tile_y]) * from_y / grid.steps_y;
  float out_re[4];
  float out_im[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int from_x = x + i - grid.tile_width / 2;
    const double r = static_cast<double>(from_x) * from_x + static_cast<double>(from_y) * from_y;
    const float2 phase = unit(grid.middle_curvature * r + row_turns);
    const float place = fminf(fabsf(static_cast<float>(r - grid.middle_radius)) * factors.depth_scale,
                              static_cast<float>(FastFactors::table_size));
    const int index = static_cast<int>(place);
    const float low = factors.depth[index];
    const float factor = sums.scale * (low + (place - static_cast<float>(index)) * (factors.depth[index + 1] - low));
    out_re[i] = (res[i] * phase.x - ims[i] * phase.y) * factor;
    out_im[i] = (res[i] * phase.y + ims[i] * phase.x) * factor;
  }
  return {make_float4(out_re[0], out_re[1], out_re[2], out_re[3]),
          make_float4(out_im[0], out_im[1], out_im[2], out_im[3])};
}

__global__ void write_kernel(FastGrid grid, FastSums sums, FastFactors factors, int first_row, int rows,
                             std::int64_t first_target, std::int64_t target_width, OutputPointers output) {
  const int column = 4 * (blockIdx.x * threads + threadIdx.x);
  if (column >= grid.panel_width) return;
  for (int i = blockIdx.y; i < rows; i += gridDim.y) {
    const int row = first_row + i;
    FourPixels pixels{};
    if (sums.product != nullptr) pixels = tile_pixels(grid, sums, factors, row, column);
    const std::int64_t at = static_cast<std::int64_t>(row) * grid.panel_width + column;
    const int left = grid.panel_width - column;
    if (sums.extra != nullptr) {
      float* const re = &pixels.re.x;
      float* const im = &pixels.im.x;
      for (int k = 0; k < min(4, left); ++k) {
        re[k] += sums.extra[at + k].x;
        im[k] += sums.extra[at + k].y;
      }
    }
    output.write(first_target + i * target_width + column, pixels.re, pixels.im, left);
  }
}

}  // namespace

void make_fast_matrices(const FastGrid& grid, const FastFactors& factors, __half* columns, __half* depth,
                        cudaStream_t stream) {
  const auto blocks = [](int extent) { return cuda::blocks_for(extent, threads); };
  with_split(grid.split, [&](auto split) {
    column_matrix_kernel<split.value>
        <<<dim3(blocks(grid.columns), static_cast<unsigned>(grid.tile_width)), threads, 0, stream>>>(grid, columns);
    depth_matrix_kernel<split.value>
        <<<dim3(blocks(grid.depth_rows()), static_cast<unsigned>(grid.tile_height)), threads, 0, stream>>>(
            grid, factors, depth);
  });
  cuda::check_launch("make_fast_matrices");
}

void make_middle(const FastGrid& grid, const FastFactors& factors, float2* middle, cudaStream_t stream) {
  const dim3 blocks(cuda::blocks_for(grid.tile_width, threads), static_cast<unsigned>(grid.planes),
                    static_cast<unsigned>(grid.tiles_x));
  middle_kernel<<<blocks, threads, 0, stream>>>(grid, factors, middle);
  cuda::check_launch("make_middle");
}

void convert_cells(const FastGrid& grid, const float2* cells, float scale, __half* rows, cudaStream_t stream) {
  with_split(grid.split, [&](auto split) {
    convert_kernel<split.value><<<cuda::blocks_for(grid.cells() / 2, threads), threads, 0, stream>>>(
        grid, reinterpret_cast<const float4*>(cells), scale, rows);
  });
  cuda::check_launch("convert_cells");
}

void apply_middle(const FastGrid& grid, const void* product, const float2* middle, __half* operand,
                  cudaStream_t stream) {
  const dim3 blocks(cuda::blocks_for(grid.depth_rows() / 2, threads), static_cast<unsigned>(grid.tile_width),
                    static_cast<unsigned>(grid.tiles()));
  if (grid.split == 1) {
    apply_middle_kernel<1><<<blocks, threads, 0, stream>>>(grid, static_cast<const __half*>(product), middle, operand);
  } else {
    apply_middle_kernel<3><<<blocks, threads, 0, stream>>>(grid, static_cast<const float*>(product), middle, operand);
  }
  cuda::check_launch("apply_middle");
}

void write_pixels(const FastGrid& grid, const FastSums& sums, const FastFactors& factors, const RowRange& rows,
                  std::int64_t first_target, std::int64_t target_width, const OutputPointers& output,
                  cudaStream_t stream) {
  const dim3 blocks(cuda::blocks_for((grid.panel_width + 3) / 4, threads),
                    static_cast<unsigned>(std::min<std::int64_t>(rows.rows, 65535)));
  write_kernel<<<blocks, threads, 0, stream>>>(grid, sums, factors, static_cast<int>(rows.first_row),
                                               static_cast<int>(rows.rows), first_target, target_width, output);
  cuda::check_launch("write_pixels");
}

}  // namespace holotone::point_cloud
