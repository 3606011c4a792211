#pragma once
// For _cuda.cu files only: places of threads, sums and products of complex numbers. Not for users.
#include <algorithm>
#include <complex>
#include <holotone/core/cuda_check.hpp>

namespace holotone::cuda {

/// Of a block, where a kernel needs no other number.
inline constexpr int threads = 256;

/// One thread a column; rows loop over the y blocks of a grid, of which CUDA allows 65535.
inline dim3 grid_over(std::int64_t columns, std::int64_t rows) {
  return {blocks_for(columns, threads), static_cast<unsigned>(std::min<std::int64_t>(rows, 65535)), 1};
}

inline float2* as_float2(std::complex<float>* values) { return reinterpret_cast<float2*>(values); }
inline const float2* as_float2(const std::complex<float>* values) { return reinterpret_cast<const float2*>(values); }

/// Of all threads along x: the column, or the item of a list.
__device__ __forceinline__ std::int64_t thread_index() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

__device__ __forceinline__ float2 sum(float2 a, float2 b) { return {a.x + b.x, a.y + b.y}; }
__device__ __forceinline__ float2 difference(float2 a, float2 b) { return {a.x - b.x, a.y - b.y}; }
__device__ __forceinline__ float2 product(float2 a, float2 b) { return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; }

}  // namespace holotone::cuda
