#pragma once
// Power of two for HOLOTONE_SIMD_CLONES. Not for users.
#include <cstdint>
#include <cstring>
#include <holotone/core/simd.hpp>

namespace holotone::smoe {

/// 2^x for -126 <= x <= 127 (below: 2^-126), relative error below 3e-7. The whole part goes to the exponent, the rest
/// in -1/2..1/2 through a polynomial of the fifth degree, the best in relative error (8e-8 before rounding).
HOLOTONE_ALWAYS_INLINE float power_of_two(float x) {
  // The bits of negative floats order in reverse: an integer minimum takes one instruction, a comparison of floats two.
  constexpr std::uint32_t lowest = 0xC2FC0000U;  // -126
  std::uint32_t pattern = 0;
  std::memcpy(&pattern, &x, sizeof(pattern));
  pattern = pattern < lowest ? pattern : lowest;
  float clamped = 0;
  std::memcpy(&clamped, &pattern, sizeof(clamped));
  constexpr float magic = 12582912.0F;  // 1.5 * 2^23: adding it rounds to a whole number
  const float shifted = clamped + magic;
  const float rest = clamped - (shifted - magic);
  float sum = rest * 1.327647198e-3F + 9.675541334e-3F;
  sum = sum * rest + 5.550713274e-2F;
  sum = sum * rest + 2.402211972e-1F;
  sum = sum * rest + 6.931469671e-1F;
  sum = sum * rest + 1.000000072F;
  std::uint32_t whole = 0;
  std::memcpy(&whole, &shifted, sizeof(whole));
  std::uint32_t bits = 0;
  std::memcpy(&bits, &sum, sizeof(bits));
  bits += whole << 23;
  float result = 0;
  std::memcpy(&result, &bits, sizeof(result));
  return result;
}

}  // namespace holotone::smoe
