// Tables of spots' waves along a row of a panel.
#include <holotone/core/kernel_parts_cuda.cuh>
#include <holotone/retrieval/spots/spot_kernels_cuda.hpp>
#include <holotone/retrieval/spots/spot_wave_cuda.cuh>

namespace holotone::spots {
namespace {

using cuda::blocks_for;
using cuda::threads;

/// The numbers of a wave in the space form.
struct Triple {
  float re;
  float im;
  float mixed;
};

__device__ __forceinline__ float2 plane_wave(const Panel& panel, const float4& spot, int j) {
  return unit_wave(spot.x * (static_cast<float>(j) + (panel.nx % 2 == 0 ? 0.5F : 0.0F)));
}
__device__ __forceinline__ Triple space_wave(const Panel& panel, const float4& spot, int j) {
  const float x = static_cast<float>(j) - 0.5F * static_cast<float>(panel.nx - 1);
  const float2 wave = unit_wave(spot.x * x + spot.z * x * x);
  return {wave.x, wave.y, wave.x - wave.y};
}

/// Places of a row that a wave is found for: in the plane form it gives the cosine and the sine.
__host__ __device__ int waves_in_row(const Panel& panel) {
  return panel.form == ProductForm::plane ? panel.half() : panel.width;
}

/// N numbers of waves' parts side by side.
template <int N>
struct Waves {
  float re[N];
  float im[N];
  float mixed[N];

  __device__ __forceinline__ void set(int i, const Panel& panel, const float4& spot, int j) {
    if (panel.form == ProductForm::plane) {
      const float2 wave = plane_wave(panel, spot, j);
      re[i] = wave.x;
      im[i] = wave.y;
    } else {
      const Triple wave = space_wave(panel, spot, j);
      re[i] = wave.re;
      im[i] = wave.im;
      mixed[i] = wave.mixed;
    }
  }
  /// The parts are `apart` from each other.
  template <class T>
  __device__ __forceinline__ void store(const Panel& panel, T* to, std::int64_t apart) const {
    store_all(to, re);
    store_all(to + apart, im);
    if (panel.form == ProductForm::space) store_all(to + 2 * apart, mixed);
  }
};

/// Four neighbours of a row a thread, a spot a block's row.
__global__ void __launch_bounds__(threads)
    table_kernel(Panel panel, const float4* __restrict__ place, int count, __half* __restrict__ table) {
  const int j = 4 * static_cast<int>(blockIdx.y * blockDim.x + threadIdx.x);
  if (j >= waves_in_row(panel)) return;
  const std::int64_t m = blockIdx.x;
  const float4 spot = place[m];
  Waves<4> waves;
#pragma unroll
  for (int i = 0; i < 4; ++i) waves.set(i, panel, spot, j + i);
  waves.store(panel, table + m * panel.width + j,
              panel.form == ProductForm::plane ? panel.half() : static_cast<std::int64_t>(count) * panel.width);
}

/// Two spots a thread, a place of the row a block's row.
template <class T>
__global__ void __launch_bounds__(threads)
    transposed_kernel(Panel panel, const float4* __restrict__ place, int count, T* __restrict__ table) {
  const int m = 2 * static_cast<int>(blockIdx.y * blockDim.x + threadIdx.x);
  if (m >= count) return;
  const auto j = static_cast<int>(blockIdx.x);
  Waves<2> waves;
#pragma unroll
  for (int i = 0; i < 2; ++i) waves.set(i, panel, place[m + i], j);
  waves.store(panel, table + static_cast<std::int64_t>(j) * count + m,
              static_cast<std::int64_t>(waves_in_row(panel)) * count);
}

/// Blocks of equal size for a row of `count` threads.
dim3 block_for(int count) {
  const unsigned across = blocks_for(count, threads);
  return {(static_cast<unsigned>(count) + 32 * across - 1) / (32 * across) * 32};
}

}  // namespace

void fill_table(const Panel& panel, const float4* place, int count, __half* table, cudaStream_t stream) {
  const int fours = waves_in_row(panel) / 4;
  const dim3 grid(static_cast<unsigned>(count), blocks_for(fours, threads));
  table_kernel<<<grid, block_for(fours), 0, stream>>>(panel, place, count, table);
  cuda::check_launch("spots table");
}

void fill_transposed(const Panel& panel, const float4* place, int count, WaveType type, void* table,
                     cudaStream_t stream) {
  const dim3 grid(static_cast<unsigned>(waves_in_row(panel)), blocks_for(count / 2, threads));
  const dim3 block = block_for(count / 2);
  if (type == WaveType::half) {
    transposed_kernel<<<grid, block, 0, stream>>>(panel, place, count, static_cast<__half*>(table));
  } else {
    transposed_kernel<<<grid, block, 0, stream>>>(panel, place, count, static_cast<Fp8*>(table));
  }
  cuda::check_launch("spots transposed table");
}

}  // namespace holotone::spots
