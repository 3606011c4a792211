#pragma once
// For _cuda.cu files only: sums of a block, in an order that is always the same. Not for users.
#include <cuda_runtime.h>

namespace holotone::retrieval {

inline constexpr int sum_threads = 256;

/// Sum over a warp, in its first thread.
__device__ __forceinline__ double warp_sum(double value) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(0xffffffffU, value, step);
  return value;
}

/// Sum over the block's sum_threads threads, in thread 0. Every thread calls it.
__device__ __forceinline__ double block_sum(double value) {
  __shared__ double warps[sum_threads / 32];
  value = warp_sum(value);
  __syncthreads();  // the sum before has been read
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
  __syncthreads();
  double sum = 0;
  if (threadIdx.x == 0) {
#pragma unroll
    for (int warp = 0; warp < sum_threads / 32; ++warp) sum += warps[warp];
  }
  return sum;
}

}  // namespace holotone::retrieval
