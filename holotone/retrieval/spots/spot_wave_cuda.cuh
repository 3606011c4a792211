#pragma once
// For the kernels of spots: waves and pairs of narrow numbers. Not for users.
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <type_traits>

namespace holotone::spots {

using Fp8 = __nv_fp8_e4m3;

__device__ __forceinline__ float2 wave_of(float turns) {
  float sine = 0;
  float cosine = 0;
  __sincosf(6.2831853F * (turns - rintf(turns)), &sine, &cosine);
  return {cosine, sine};
}

/// Two numbers side by side, as one store.
template <class T>
__device__ __forceinline__ void store_pair(T* to, float a, float b) {
  if constexpr (std::is_same_v<T, __half>) {
    *reinterpret_cast<__half2*>(to) = __floats2half2_rn(a, b);
  } else {
    *reinterpret_cast<__nv_fp8x2_storage_t*>(to) = __nv_cvt_float2_to_fp8x2(float2{a, b}, __NV_SATFINITE, __NV_E4M3);
  }
}

}  // namespace holotone::spots
