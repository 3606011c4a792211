#pragma once
// Values of the products' operands and results, for the kernels between them. Not for users.
#include <holotone/hologram/point_cloud/fast/fast_cuda.cuh>
#include <type_traits>

namespace holotone::point_cloud {

/// Returns cos and sin of 2 pi turns; whole turns are subtracted in float64.
__device__ __forceinline__ float2 unit(double turns) {
  turns -= rint(turns);
  float sine;
  float cosine;
  sincospif(2.0F * static_cast<float>(turns), &sine, &cosine);
  return make_float2(cosine, sine);
}

/// Stores a value of the constant operand: itself, or for Split = 3 its parts high, high, low.
template <int Split>
__device__ __forceinline__ void put_constant(__half* row, std::int64_t segment, std::int64_t k, float value) {
  const __half high = __float2half_rn(value);
  row[k] = high;
  if constexpr (Split == 3) {
    row[segment + k] = high;
    row[2 * segment + k] = __float2half_rn(value - __half2float(high));
  }
}
/// Stores a complex value of the other operand: itself, or for Split = 3 its parts high, low, high.
template <int Split>
__device__ __forceinline__ void put_pair(__half* row, std::int64_t segment, std::int64_t k, float re, float im) {
  const __half2 high = __floats2half2_rn(re, im);
  *reinterpret_cast<__half2*>(row + k) = high;
  if constexpr (Split == 3) {
    const float2 kept = __half22float2(high);
    *reinterpret_cast<__half2*>(row + segment + k) = __floats2half2_rn(re - kept.x, im - kept.y);
    *reinterpret_cast<__half2*>(row + 2 * segment + k) = high;
  }
}

__device__ __forceinline__ float2 two_values(const __half* at) {
  return __half22float2(*reinterpret_cast<const __half2*>(at));
}
__device__ __forceinline__ float2 two_values(const float* at) { return *reinterpret_cast<const float2*>(at); }

/// Calls action(constant) for the number of segments of the operands.
template <class Action>
void with_split(int split, const Action& action) {
  if (split == 1) {
    action(std::integral_constant<int, 1>{});
  } else {
    action(std::integral_constant<int, 3>{});
  }
}

}  // namespace holotone::point_cloud
