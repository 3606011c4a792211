#pragma once
// What kernels of mixtures share: a warp's lanes, and the power of two that the hardware has. Not for users.

namespace holotone::smoe {

inline constexpr unsigned all_lanes = 0xFFFFFFFFU;

/// 2^x within two units in the last place; 0 below 2^-126.
__device__ __forceinline__ float power_of_two(float x) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

}  // namespace holotone::smoe
