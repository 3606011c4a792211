#pragma once
// Phases in turns (cycles). Element functions that the CPU loops and the CUDA kernels share.
//
// A phase k r at 0.1 m and 532 nm is 1.2e6 rad, where one float32 step is 0.125 rad. Phases are therefore formed in
// turns in float64, and the integer part is removed before conversion to float32. In [-1/2, 1/2] its step is at most
// 6e-8 turns (4e-7 rad).
#include <holotone/core/random.hpp>  // HOLOTONE_HOST_DEVICE

namespace holotone {

/// The nearest integer of |x| < 2^51 in two additions (ties to even); SSE2 and CUDA have no cheaper one for doubles.
HOLOTONE_HOST_DEVICE inline double round_nearest(double x) {
  const double shift = 6755399441055744.0;  // 1.5 * 2^52: its last bit is 1
  return (x + shift) - shift;
}

/// Turns without their integer part, in [-1/2, 1/2]. |turns| < 2^51.
HOLOTONE_HOST_DEVICE inline float reduce_turns(double turns) {
  return static_cast<float>(turns - round_nearest(turns));
}

/// sine = sin(2 pi r), cosine = cos(2 pi r) for |r| <= 1/2; absolute error below 1.2e-7. Minimax polynomials on an
/// eighth of a turn; without branches, so that loops over it vectorise.
HOLOTONE_HOST_DEVICE inline void sincos_turns(float r, float& sine, float& cosine) {
  const float shift = 12582912.0F;  // 1.5 * 2^23
  const float quarters = (4.0F * r + shift) - shift;
  const float rest = r - 0.25F * quarters;
  const float s = rest * rest;
  const float odd = rest * (6.2831852F + s * (-41.341629F + s * (81.588207F + s * -75.242832F)));
  const float even = 1.0F + s * (-19.739209F + s * (64.939316F + s * (-85.442852F + s * 59.220407F)));
  const int quarter = static_cast<int>(quarters);
  const bool swap = (quarter & 1) != 0;
  const float a = swap ? even : odd;
  const float b = swap ? odd : even;
  sine = (quarter & 2) != 0 ? -a : a;
  cosine = ((quarter + 1) & 2) != 0 ? -b : b;
}

}  // namespace holotone
