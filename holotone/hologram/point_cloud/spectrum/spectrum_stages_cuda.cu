#include <algorithm>
#include <holotone/hologram/point_cloud/fast/fast_values_cuda.cuh>
#include <holotone/hologram/point_cloud/spectrum/spectrum_factors_cuda.cuh>

namespace holotone::point_cloud {
namespace {

constexpr int threads = 256;

__global__ void middle_kernel(FastGrid grid, FastFactors factors, float2* middle) {
  const int column = blockIdx.x * threads + threadIdx.x;
  const int tile = blockIdx.y;
  if (column >= grid.tile_width) return;
  const double x = column - grid.tile_width / 2;
  const int first = grid.wrap_columns ? 0 : grid.wave_tiles[tile].first_column;
  const float2 phase = unit(first * x / grid.steps_x);
  const float factor = factors.column[column];
  middle[static_cast<std::int64_t>(tile) * grid.tile_width + column] = make_float2(factor * phase.x, factor * phase.y);
}

/// Applies the factors between the products, two neighbouring rows of frequencies per thread.
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
  const float2 factor = middle[static_cast<std::int64_t>(tile) * grid.tile_width + x];
  const float2 left = make_float2(re.x * factor.x - im.x * factor.y, re.x * factor.y + im.x * factor.x);
  const float2 right = make_float2(re.y * factor.x - im.y * factor.y, re.y * factor.y + im.y * factor.x);
  // The number of rows is a multiple of eight, so two neighbours lie in one plane.
  const int plane = rho / grid.rows;
  const int k = rho - plane * grid.rows;
  const std::int64_t segment = 2 * grid.rows;
  __half* const row =
      operand + ((static_cast<std::int64_t>(tile) * grid.planes + plane) * grid.tile_width + x) * segment * Split;
  put_pair<Split>(row, segment, 2 * k, left.x, left.y);
  put_pair<Split>(row, segment, 2 * k + 2, right.x, right.y);
}

__device__ __forceinline__ float4 four_values(const __half* at) {
  const uint2 bits = *reinterpret_cast<const uint2*>(at);
  const float2 left = __half22float2(*reinterpret_cast<const __half2*>(&bits.x));
  const float2 right = __half22float2(*reinterpret_cast<const __half2*>(&bits.y));
  return make_float4(left.x, left.y, right.x, right.y);
}
__device__ __forceinline__ float4 four_values(const float* at) { return *reinterpret_cast<const float4*>(at); }

/// Four neighbouring plane waves of a row: their sums over the planes by Horner's rule, and all factors.
template <class Value>
__global__ void finish_kernel(FastGrid grid, FastFactors factors, SpectrumEnd end, const Value* product,
                              float product_scale, float2* spectrum) {
  const int column = 4 * (blockIdx.x * threads + threadIdx.x);
  if (column >= grid.panel_width) return;
  for (int row = blockIdx.y; row < grid.panel_height; row += gridDim.y) {
    const int tile_x = column / grid.tile_width;  // tile_width is a multiple of eight: four neighbours share a tile
    const int tile_y = row / grid.tile_height;
    const int tile = tile_y * grid.tiles_x + tile_x;
    const WaveTile& about = grid.wave_tiles[tile];
    const int x = column - tile_x * grid.tile_width;
    const int y = row - tile_y * grid.tile_height;
    float2 step[4];
    float2 outside[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const WaveFactors wave = wave_factors(grid, factors, end, about, row, column + i, y, x + i);
      step[i] = wave.step;
      outside[i] = make_float2(product_scale * wave.outside.x, product_scale * wave.outside.y);
    }
    const std::int64_t part = static_cast<std::int64_t>(grid.tile_height) * grid.tile_width;
    const Value* from = product + 2 * part * (static_cast<std::int64_t>(tile) * grid.planes + grid.planes - 1) +
                        static_cast<std::int64_t>(y) * grid.tile_width + x;
    float2 sum[4] = {};
    for (int plane = grid.planes - 1; plane >= 0; --plane, from -= 2 * part) {
      const float4 re = four_values(from);
      const float4 im = four_values(from + part);
      const float res[4] = {re.x, re.y, re.z, re.w};
      const float ims[4] = {im.x, im.y, im.z, im.w};
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float2 turned = times(sum[i], step[i]);
        sum[i] = make_float2(turned.x + res[i], turned.y + ims[i]);
      }
    }
    const int m_row = row - end.half_rows;
    const int m = column - end.half_columns;  // a multiple of four, as half of the period is
    float4* const target = reinterpret_cast<float4*>(
        spectrum + static_cast<std::int64_t>(m_row < 0 ? m_row + end.rows : m_row) * end.columns +
        (m < 0 ? m + end.columns : m));
#pragma unroll
    for (int i = 0; i < 4; i += 2) {
      const float2 left = times(sum[i], outside[i]);
      const float2 right = times(sum[i + 1], outside[i + 1]);
      const float4 before = grid.near_terms ? target[i / 2] : float4{};
      target[i / 2] = make_float4(before.x + left.x, before.y + left.y, before.z + right.x, before.w + right.y);
    }
  }
}

__global__ void correct_kernel(FarFilter filter, float2* spectrum) {
  const int column = blockIdx.x * threads + threadIdx.x;
  if (column >= filter.columns) return;
  const int m_column = min(column, filter.columns - column);
  const double fx = m_column * filter.column_step;
  const float across = filter.column_share[m_column];
  for (int row = blockIdx.y; row < filter.rows; row += gridDim.y) {
    const int m_row = min(row, filter.rows - row);
    const double fy = m_row * filter.row_step;
    const double squares = fx * fx + fy * fy;
    const double square = filter.full * filter.full - squares;
    const double left = square_root(square) - filter.full + 0.5 * squares / filter.full;
    const float2 phase = unit(filter.middle_m * left * (across * filter.row_share[m_row]));
    const float factor = static_cast<float>(filter.scale * filter.full * filter.full / square);
    float2& value = spectrum[static_cast<std::int64_t>(row) * filter.columns + column];
    value = times(value, make_float2(factor * phase.x, factor * phase.y));
  }
}

__global__ void write_kernel(const float2* spectrum, std::int64_t spectrum_columns, BlockTarget target,
                             OutputPointers output) {
  const std::int64_t column = 4 * (blockIdx.x * threads + threadIdx.x);
  if (column >= target.columns) return;
  for (std::int64_t i = blockIdx.y; i < target.rows.rows; i += gridDim.y) {
    // The period is even: two values are one load.
    const float4* const from =
        reinterpret_cast<const float4*>(spectrum + (target.rows.first_row + i) * spectrum_columns + column);
    const float4 left = from[0];
    const float4 right = column + 2 < target.columns ? from[1] : float4{};
    output.write(target.first + i * target.width + column, make_float4(left.x, left.z, right.x, right.z),
                 make_float4(left.y, left.w, right.y, right.w), static_cast<int>(target.columns - column));
  }
}

}  // namespace

void make_wave_middle(const FastGrid& grid, const FastFactors& factors, float2* middle, cudaStream_t stream) {
  const dim3 blocks(cuda::blocks_for(grid.tile_width, threads), static_cast<unsigned>(grid.tiles()));
  middle_kernel<<<blocks, threads, 0, stream>>>(grid, factors, middle);
  cuda::check_launch("make_wave_middle");
}

void apply_wave_middle(const FastGrid& grid, const void* product, const float2* middle, __half* operand,
                       cudaStream_t stream) {
  const dim3 blocks(cuda::blocks_for(grid.depth_rows() / 2, threads), static_cast<unsigned>(grid.tile_width),
                    static_cast<unsigned>(grid.tiles()));
  if (grid.split == 1) {
    apply_middle_kernel<1><<<blocks, threads, 0, stream>>>(grid, static_cast<const __half*>(product), middle, operand);
  } else {
    apply_middle_kernel<3><<<blocks, threads, 0, stream>>>(grid, static_cast<const float*>(product), middle, operand);
  }
  cuda::check_launch("apply_wave_middle");
}

void finish_spectrum(const FastGrid& grid, const FastFactors& factors, const SpectrumEnd& end, const void* product,
                     float product_scale, float2* spectrum, cudaStream_t stream) {
  const dim3 blocks(cuda::blocks_for((grid.panel_width + 3) / 4, threads),
                    static_cast<unsigned>(std::min(grid.panel_height, 65535)));
  if (grid.split == 1) {
    finish_kernel<<<blocks, threads, 0, stream>>>(grid, factors, end, static_cast<const __half*>(product),
                                                  product_scale, spectrum);
  } else {
    finish_kernel<<<blocks, threads, 0, stream>>>(grid, factors, end, static_cast<const float*>(product), product_scale,
                                                  spectrum);
  }
  cuda::check_launch("finish_spectrum");
}

void correct_far_field(const FarFilter& filter, float2* spectrum, cudaStream_t stream) {
  const dim3 blocks(cuda::blocks_for(filter.columns, threads), static_cast<unsigned>(std::min(filter.rows, 65535)));
  correct_kernel<<<blocks, threads, 0, stream>>>(filter, spectrum);
  cuda::check_launch("correct_far_field");
}

void write_panel(const float2* spectrum, std::int64_t spectrum_columns, const BlockTarget& target,
                 const OutputPointers& output, cudaStream_t stream) {
  const dim3 blocks(cuda::blocks_for((target.columns + 3) / 4, threads),
                    static_cast<unsigned>(std::min<std::int64_t>(target.rows.rows, 65535)));
  write_kernel<<<blocks, threads, 0, stream>>>(spectrum, spectrum_columns, target, output);
  cuda::check_launch("write_panel");
}

}  // namespace holotone::point_cloud
