#pragma once
// Sixteen numbers at a time in the compiler's own vector types, for functions with HOLOTONE_SIMD_CLONES. Results come back by
// reference: vectors wider than the baseline's are not returned by value. Not for users.
#include <cstdint>
#include <cstring>
#include <holotone/core/simd.hpp>

namespace holotone::electrostatic {

typedef float FloatLanes __attribute__((vector_size(64)));       // NOLINT(modernize-use-using): the attribute's form
typedef std::int32_t IntLanes __attribute__((vector_size(64)));  // NOLINT(modernize-use-using)

constexpr IntLanes lane_numbers = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
constexpr FloatLanes lane_zero = {};

HOLOTONE_ALWAYS_INLINE void load_lanes(const float* from, FloatLanes& to) { std::memcpy(&to, from, sizeof(to)); }

HOLOTONE_ALWAYS_INLINE float sum_of(const FloatLanes& values) {
  float sum[4] = {};
  for (int i = 0; i < 16; ++i) sum[i % 4] += values[i];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

HOLOTONE_ALWAYS_INLINE std::int32_t sum_of(const IntLanes& values) {
  std::int32_t sum = 0;
  for (int i = 0; i < 16; ++i) sum += values[i];
  return sum;
}

}  // namespace holotone::electrostatic
