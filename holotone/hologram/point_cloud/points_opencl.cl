// Points as records in the units of the kernels: pixels and turns per square pixel.
#include "holotone/core/array_opencl.cl"
#include "holotone/core/two_floats_opencl.cl"

// Conversion from metres to pixels and phases.
typedef struct {
  float2 inverse_pitch;
  float2 turns_metre;      // pitch^2 / (2 lambda): divided by the distance it is the curvature a
  float2 reach_per_metre;  // lit half width in pixels over the distance; 0: no band limit
  float blur;              // whole pixels beyond it
  float falloff;           // 1: amplitudes fall as 1 / r, 0: not
  float center_x;          // (nx - 1) / 2
  float center_y;          // (ny - 1) / 2
} PanelUnits;

// position {x whole, x rest, y whole, y rest}: column and row as nearest integer and remainder.
// wave     {a high, a low, amplitude, phase in turns}
// lit      {first column, last column, first row, last row}
// Padding, and points whose light misses the panel: dark points in its corner, whose phases are finite.
__kernel void prepare_points(PanelUnits units, long count, long padded, ARRAY(const float, place_m),
                             ARRAY(const float, amplitude), ARRAY(const float, phase_rad), ARRAY(float4, position),
                             ARRAY(float4, wave), ARRAY(float4, lit)) {
  const long j = get_global_id(0);
  if (j >= padded) return;
  if (j >= count) {
    AT(position)[j] = AT(wave)[j] = (float4)(0.0f);
    AT(lit)[j] = (float4)(0.0f, -1.0f, 0.0f, -1.0f);
    return;
  }
  const __global float *place = AT(place_m) + 3 * j;
  const two x = two_add(two_scale(units.inverse_pitch, place[0]), (two)(units.center_x, 0.0f));
  const two y = two_subtract((two)(units.center_y, 0.0f), two_scale(units.inverse_pitch, place[1]));
  const float distance = -place[2];
  const two a = two_divide(units.turns_metre, (two)(distance, 0.0f));
  const float x_whole = rint(x.x);
  const float y_whole = rint(y.x);
  float turns = 0.0f;
  if (phase_rad_memory) turns = two_reduce(two_scale((two)(0x1.45f306p-3f, 0x1.b9391p-28f), AT(phase_rad)[j]));
  const two reach = units.reach_per_metre.x > 0.0f ? two_scale(units.reach_per_metre, fabs(distance))
                                                   : (two)(1e30f, 0.0f);
  const float4 sharp = (float4)(two_ceil(two_subtract(x, reach)), two_floor(two_add(x, reach)),
                                two_ceil(two_subtract(y, reach)), two_floor(two_add(y, reach)));
  const float4 own_lit = sharp + units.blur * (float4)(-1.0f, 1.0f, -1.0f, 1.0f);
  const bool lights = own_lit.x <= min(own_lit.y, 2.0f * units.center_x) && own_lit.y >= 0.0f &&
                      own_lit.z <= min(own_lit.w, 2.0f * units.center_y) && own_lit.w >= 0.0f;
  const float amplitude_m = units.falloff > 0.0f ? AT(amplitude)[j] / fabs(distance) : AT(amplitude)[j];
  // A point so near that its curvature overflows lights the pixel that it lies on.
  const float2 curvature = isfinite(a.x) && isfinite(a.y) ? a : (float2)(0.0f);
  AT(position)[j] = lights ? (float4)(x_whole, (x.x - x_whole) + x.y, y_whole, (y.x - y_whole) + y.y) : (float4)(0.0f);
  AT(wave)[j] = lights ? (float4)(curvature, amplitude_m, turns) : (float4)(0.0f);
  AT(lit)[j] = lights ? own_lit : (float4)(0.0f, -1.0f, 0.0f, -1.0f);
}

// bad[0] = the first of points [first, first + count) that is not finite or lies in the panel's plane, else as it was.
__kernel void find_bad_point(long first, int count, ARRAY(const float, place_m), ARRAY(const float, amplitude),
                             ARRAY(const float, phase_rad), ARRAY(int, bad)) {
  const int i = (int)get_global_id(0);
  if (i >= count) return;
  const long j = first + i;
  const __global float *place = AT(place_m) + 3 * j;
  const float z = place[2];
  const bool good = isfinite(place[0]) && isfinite(place[1]) && isfinite(z) && z != 0.0f &&
                    isfinite(AT(amplitude)[j]) && (!phase_rad_memory || isfinite(AT(phase_rad)[j]));
  if (!good) atomic_min((volatile __global int *)AT(bad), i);
}
