#pragma once
// For _cuda.cu files only: Fourier transforms of a power of two between 256 and 4096 within a block. Not for users.
#include <holotone/core/kernel_parts_cuda.cuh>

namespace holotone::electrostatic::block_fft {

using cuda::difference;
using cuda::sum;

/// Rounded in this order, not in the compiler's.
__device__ __forceinline__ float2 product(float2 a, float2 b) {
  return {fmaf(a.x, b.x, -a.y * b.y), fmaf(a.x, b.y, a.y * b.x)};
}
/// exp(-+ 2 pi i / 4) a.
template <bool Inverse>
__device__ __forceinline__ float2 quarter(float2 a) {
  return Inverse ? float2{-a.y, a.x} : float2{a.y, -a.x};
}
template <bool Inverse>
__device__ __forceinline__ float2 turned(float2 a, float cosine, float sine) {
  return Inverse ? product(a, {cosine, sine}) : product(a, {cosine, -sine});
}

template <bool Inverse>
__device__ __forceinline__ void four(float2& a, float2& b, float2& c, float2& d) {
  const float2 even = sum(a, c);
  const float2 odd = difference(a, c);
  const float2 even_high = sum(b, d);
  const float2 odd_high = quarter<Inverse>(difference(b, d));
  a = sum(even, even_high);
  b = sum(odd, odd_high);
  c = difference(even, even_high);
  d = difference(odd, odd_high);
}

/// Transforms Radix numbers in registers, input and output in natural order.
template <int Radix, bool Inverse>
__device__ __forceinline__ void small(float2 (&v)[Radix]) {
  constexpr float half_root = 0.70710678118654752F;
  constexpr float cosine = 0.92387953251128674F;  // of 2 pi / 16
  constexpr float sine = 0.38268343236508977F;
  if constexpr (Radix == 2) {
    const float2 a = v[0];
    v[0] = sum(a, v[1]);
    v[1] = difference(a, v[1]);
  } else if constexpr (Radix == 4) {
    four<Inverse>(v[0], v[1], v[2], v[3]);
  } else if constexpr (Radix == 8) {
    four<Inverse>(v[0], v[2], v[4], v[6]);
    four<Inverse>(v[1], v[3], v[5], v[7]);
    const float2 odd[4] = {v[1], turned<Inverse>(v[3], half_root, half_root), quarter<Inverse>(v[5]),
                           turned<Inverse>(v[7], -half_root, half_root)};
    const float2 even[4] = {v[0], v[2], v[4], v[6]};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      v[i] = sum(even[i], odd[i]);
      v[i + 4] = difference(even[i], odd[i]);
    }
  } else if constexpr (Radix == 16) {
#pragma unroll
    for (int i = 0; i < 4; ++i) four<Inverse>(v[i], v[i + 4], v[i + 8], v[i + 12]);
    // v[i + 4 q] holds frequency q of the numbers i, i + 4, ...; turned by i q / 16.
    v[5] = turned<Inverse>(v[5], cosine, sine);
    v[6] = turned<Inverse>(v[6], half_root, half_root);
    v[7] = turned<Inverse>(v[7], sine, cosine);
    v[9] = turned<Inverse>(v[9], half_root, half_root);
    v[10] = quarter<Inverse>(v[10]);
    v[11] = turned<Inverse>(v[11], -half_root, half_root);
    v[13] = turned<Inverse>(v[13], sine, cosine);
    v[14] = turned<Inverse>(v[14], -half_root, half_root);
    v[15] = turned<Inverse>(v[15], -cosine, -sine);
#pragma unroll
    for (int q = 0; q < 4; ++q) four<Inverse>(v[4 * q], v[4 * q + 1], v[4 * q + 2], v[4 * q + 3]);
    // Frequency q + 4 p is at 4 q + p.
    float2 natural[16];
#pragma unroll
    for (int q = 0; q < 4; ++q) {
#pragma unroll
      for (int p = 0; p < 4; ++p) natural[q + 4 * p] = v[4 * q + p];
    }
#pragma unroll
    for (int i = 0; i < 16; ++i) v[i] = natural[i];
  }
}

/// Multiplies v[k] by the k-th power of a root of unity, given as its first, second, fourth and eighth power: every
/// factor is a product of at most four rounded numbers.
template <bool Inverse>
__device__ __forceinline__ void turn_all(float2 (&v)[16], const float2* __restrict__ roots, int step) {
  float2 power[16];
  power[1] = roots[step];
  power[2] = roots[2 * step];
  power[4] = roots[4 * step];
  power[8] = roots[8 * step];
  if (Inverse) {
#pragma unroll
    for (int k = 1; k < 16; k *= 2) power[k].y = -power[k].y;
  }
#pragma unroll
  for (int k = 3; k < 16; ++k) {
    const int high = k >= 8 ? 8 : k >= 4 ? 4 : 2;
    if (k != high) power[k] = product(power[high], power[k - high]);
  }
#pragma unroll
  for (int k = 1; k < 16; ++k) v[k] = product(v[k], power[k]);
}

/// Shared memory of a transform of length 256 Rest between its passes, in complex numbers.
constexpr int scratch_size(int rest) { return 256 * rest + 16; }

/// Transforms N = 256 Rest numbers by 16 Rest threads of a block; `thread` is the index among these threads. v[k] is
/// number thread + 16 Rest k before and frequency thread + 16 Rest k after. `roots[k]` = exp(-2 pi i k / N). All
/// threads of the block have to call it, each transform with its own `scratch`.
template <int Rest, bool Inverse>
__device__ __forceinline__ void transform(float2 (&v)[16], float2* scratch, int thread,
                                          const float2* __restrict__ roots) {
  constexpr int threads = 16 * Rest;
  constexpr int pitch = threads + 1;  // 16 neighbours lie in different banks
  small<16, Inverse>(v);
  turn_all<Inverse>(v, roots, thread);
  __syncthreads();
#pragma unroll
  for (int k = 0; k < 16; ++k) scratch[k * pitch + thread] = v[k];
  __syncthreads();
  const int first = thread % 16;
  const int rest = thread / 16;
#pragma unroll
  for (int m = 0; m < 16; ++m) v[m] = scratch[first * pitch + rest + m * Rest];
  small<16, Inverse>(v);
  if constexpr (Rest > 1) {
    turn_all<Inverse>(v, roots, 16 * rest);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; ++k) scratch[rest * 256 + first + 16 * k] = v[k];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 16 / Rest; ++i) {
      float2 last[Rest];
#pragma unroll
      for (int j = 0; j < Rest; ++j) last[j] = scratch[j * 256 + thread + threads * i];
      small<Rest, Inverse>(last);
#pragma unroll
      for (int j = 0; j < Rest; ++j) v[i + (16 / Rest) * j] = last[j];
    }
  }
}

}  // namespace holotone::electrostatic::block_fft
