#pragma once
// Vectors of sixteen numbers in the compiler's own types, for functions with HOLOTONE_SIMD_CLONES. Results are returned
// by reference, because vectors wider than the baseline's are not returned by value. No comparisons: g++ 12 turns them
// into scalar code before it selects the processor. Not for users.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <holotone/core/simd.hpp>

namespace holotone::electrostatic {

typedef float FloatLanes __attribute__((vector_size(64)));       // NOLINT(modernize-use-using): the attribute's form
typedef std::int32_t IntLanes __attribute__((vector_size(64)));  // NOLINT(modernize-use-using)

/// Added to a squared distance (px^2) before division, so that a dot exerts no force on itself and on others at its
/// place.
constexpr float softening = 1e-12F;
/// Threshold for the sum of 1 / (v + softening) over a dot's neighbours and itself. Above it another dot is at the
/// same place.
constexpr float crowded = 1.5F / softening;

HOLOTONE_ALWAYS_INLINE void load_lanes(const float* from, FloatLanes& to) { std::memcpy(&to, from, sizeof(to)); }

/// 1 in the first `count` lanes, 0 in the others.
HOLOTONE_ALWAYS_INLINE void first_lanes(std::int64_t count, FloatLanes& to) {
  static constexpr float ones_then_zeros[32] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  load_lanes(ones_then_zeros + 16 - std::min<std::int64_t>(count, 16), to);
}

/// max(values, 0).
HOLOTONE_ALWAYS_INLINE void keep_positive(FloatLanes& values) {
  IntLanes bits;
  std::memcpy(&bits, &values, sizeof(bits));
  bits &= 0x7FFFFFFF;
  FloatLanes size;
  std::memcpy(&size, &bits, sizeof(size));
  values = 0.5F * (values + size);
}

HOLOTONE_ALWAYS_INLINE float add_lanes(const FloatLanes& values) {
  float part[16];
  std::memcpy(part, &values, sizeof(part));
  for (int half = 8; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) part[i] += part[i + half];
  }
  return part[0];
}

}  // namespace holotone::electrostatic
