// Transfer function of the angular spectrum; see propagation_math.h.
#include "holotone/core/two_floats_opencl.cl"
#include "holotone/core/turns_opencl.cl"

// Transfer function of the angular spectrum in units of 1 / lambda: with s = (lambda f)^2 the turns are
//   d / lambda sqrt(1 - s) = d / lambda - d / lambda s / (1 + sqrt(1 - s)),
// of which the first term is reduced on the host.
typedef struct {
  float2 distance;  // d / lambda
  float2 step_x;    // lambda / (Lx pitch)
  float2 step_y;
  float2 limit_x;  // (2 step_x d / lambda)^2, or 0 without band limit
  float2 limit_y;
  float carrier;  // d / lambda less its integer part
  float gain;     // 1 / (Lx Ly): the scale of the inverse transform
} Transfer;

// H at the frequencies (x, y) of the padded array, not beyond half of them.
static float2 transfer_at(Transfer t, int x, int y) {
  const two fx = two_scale(t.step_x, (float)x);
  const two fy = two_scale(t.step_y, (float)y);
  const two fx2 = two_multiply(fx, fx);
  const two fy2 = two_multiply(fy, fy);
  const two s = two_add(fx2, fy2);
  const two one = (two)(1.0f, 0.0f);
  const two rest = two_subtract(one, s);
  const two lag = two_divide(s, two_add(one, two_square_root(rest)));
  const float turns = t.carrier - two_reduce(two_multiply(t.distance, lag));
  const bool kept = rest.x > 0.0f && two_subtract(rest, two_multiply(t.limit_x, fx2)).x >= 0.0f &&
                    two_subtract(rest, two_multiply(t.limit_y, fy2)).x >= 0.0f;
  return wave_of_turns(turns - rint(turns)) * (kept ? t.gain : 0.0f);
}
