#pragma once
// Transfer function of the angular spectrum in CUDA kernels. Not for users.
#include <cstdint>
#include <holotone/optics/propagation_math.h>

namespace holotone::propagation {

/// H at frequencies of the padded array, not beyond half of them.
__device__ __forceinline__ float2 transfer_at(const Transfer& t, std::int64_t y, std::int64_t x) {
  const double fx = static_cast<double>(x) * t.step_x;
  const double fy = static_cast<double>(y) * t.step_y;
  const double rest = transfer_rest(t, fx * fx, fy * fy);
  float2 h;
  sincos_turns(transfer_turns(t, rest), h.y, h.x);
  const float gain = transfer_kept(t, rest, fx * fx, fy * fy) ? t.gain : 0.0f;
  return {gain * h.x, gain * h.y};
}

}  // namespace holotone::propagation
