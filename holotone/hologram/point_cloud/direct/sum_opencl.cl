// What the kernels of the sum over points share: phases in turns, output pixels.
// REAL_ALONE: 1 if the real part is the only output, for which cosines suffice.
// NATIVE: 1 if the device's native cosine and sine are precise enough.
// Options: -DREAL_ALONE=0 -DNATIVE=1
#include "holotone/core/array_opencl.cl"
#include "holotone/core/two_floats_opencl.cl"
#include "holotone/core/turns_opencl.cl"

#if NATIVE
#define COSINE native_cos
#define SINE native_sin
#else
static float2 wave_of_radians(float angle) {
  const float turns = 0.159154943f * angle;
  return wave_of_turns(turns - rint(turns));
}
#define COSINE(angle) wave_of_radians(angle).x
#define SINE(angle) wave_of_radians(angle).y
#endif

// a u^2 in turns reduced to [-0.5, 0.5], with u = pixel - (whole + rest) and a = high + low. Exact to about 1e-7 turns
// at every distance: fused multiply-adds carry the rounding errors of the products.
static float reduced_turns(float pixel, float whole, float rest, float a_high, float a_low) {
  const float difference = pixel - whole;  // exact below 2^24 pixels
  const float u = difference - rest;
  const float u_error = (difference - u) - rest;
  const float square = u * u;
  const float square_error = fma(u, u, -square) + 2.0f * u * u_error;
  const float turns = a_high * square;
  float low = fma(a_high, square, -turns);
  low = fma(a_high, square_error, low);
  low = fma(a_low, square, low);
  return (turns - rint(turns)) + low;
}

// Adds value to sum and carries the rounding error in `lost` (Kahan 1965).
static void add_compensated(float *sum, float *lost, float value) {
  const float corrected = value - *lost;
  const float total = *sum + corrected;
  *lost = (total - *sum) - corrected;
  *sum = total;
}

// round(arg(re + i im) / 2 pi * 256) mod 256.
static uchar phase_level(float re, float im) {
  return (uchar)((int)rint(atan2(im, re) * 40.7436654f) & 255);
}

#define OUTPUT ARRAY(float2, field), ARRAY(float, real), ARRAY(uchar, phase)
#define WRITE(index, re, im)                                         \
  {                                                                  \
    if (field_memory) AT(field)[index] = (float2)(re, im);           \
    if (real_memory) AT(real)[index] = re;                           \
    if (phase_memory) AT(phase)[index] = phase_level(re, im);        \
  }
