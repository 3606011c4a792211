#pragma once
// Vectors of sixteen float32, one row of a tile, for the fit's loops over pixels. Not for users.
// Arguments are references, so that no calling convention depends on vectors. Vectors are not compared: g++ 12 lowers
// such comparisons to scalar code before the processor is known.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <holotone/core/simd.hpp>

namespace holotone::smoe {

inline constexpr int lane_count = 16;
typedef float Lanes __attribute__((vector_size(64)));            // NOLINT(modernize-use-using): the attribute's form
typedef std::int32_t LaneBits __attribute__((vector_size(64)));  // NOLINT(modernize-use-using)

/// Sets x to the larger of x and other, lane by lane.
HOLOTONE_ALWAYS_INLINE void keep_larger(Lanes& x, const Lanes& other) {
  alignas(64) float values[lane_count];
  alignas(64) float its[lane_count];
  std::memcpy(values, &x, sizeof(values));
  std::memcpy(its, &other, sizeof(its));
  for (int i = 0; i < lane_count; ++i) values[i] = its[i] > values[i] ? its[i] : values[i];
  std::memcpy(&x, values, sizeof(values));
}

/// Sets x to 2^x for -126 <= x <= 126 (below: 2^-126), relative error below 4e-7. The whole part goes to the exponent,
/// the rest in -1/2..1/2 through a polynomial (Taylor's, to the sixth power).
HOLOTONE_ALWAYS_INLINE void raise_two(Lanes& x) {
  constexpr float magic = 12582912.0F;  // 1.5 * 2^23: adding it rounds to a whole number
  Lanes clamped = x;
  keep_larger(clamped, Lanes{} - 126.0F);
  const Lanes shifted = clamped + magic;
  const Lanes rest = clamped - (shifted - magic);
  Lanes sum = rest * 1.5403530e-4F + 1.3333558e-3F;
  sum = sum * rest + 9.6181291e-3F;
  sum = sum * rest + 5.5504109e-2F;
  sum = sum * rest + 2.4022651e-1F;
  sum = sum * rest + 6.9314718e-1F;
  sum = sum * rest + 1.0F;
  LaneBits whole;
  std::memcpy(&whole, &shifted, sizeof(whole));
  LaneBits bits;
  std::memcpy(&bits, &sum, sizeof(bits));
  bits += whole << 23;
  std::memcpy(&x, &bits, sizeof(x));
}

/// Sets out[k] to the sum of v[k]'s lanes, k < 16: each pass adds halves and merges two vectors into one. Destroys v.
HOLOTONE_ALWAYS_INLINE void sum_lanes(Lanes* v, float* out) {
  for (int k = 0; k < 8; ++k) {
    const Lanes a = v[2 * k];
    const Lanes b = v[2 * k + 1];
    v[k] = __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23) +
           __builtin_shufflevector(a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31);
  }
  for (int k = 0; k < 4; ++k) {
    const Lanes a = v[2 * k];
    const Lanes b = v[2 * k + 1];
    v[k] = __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27) +
           __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31);
  }
  for (int k = 0; k < 2; ++k) {
    const Lanes a = v[2 * k];
    const Lanes b = v[2 * k + 1];
    v[k] = __builtin_shufflevector(a, b, 0, 1, 4, 5, 8, 9, 12, 13, 16, 17, 20, 21, 24, 25, 28, 29) +
           __builtin_shufflevector(a, b, 2, 3, 6, 7, 10, 11, 14, 15, 18, 19, 22, 23, 26, 27, 30, 31);
  }
  const Lanes sums = __builtin_shufflevector(v[0], v[1], 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30) +
                     __builtin_shufflevector(v[0], v[1], 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
  std::memcpy(out, &sums, sizeof(sums));
}

}  // namespace holotone::smoe
