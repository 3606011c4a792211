// A viewer's pupil in the spectrum of the field times a chirp; see reconstruction_engine.hpp.
#include "holotone/core/array_opencl.cl"
#include "holotone/core/two_floats_opencl.cl"
#include "holotone/core/turns_opencl.cl"

// The pupil on the padded transform's grid, in periods of the spectrum, lambda v / pitch.
typedef struct {
  float2 chirp_rate;      // turns of q at m pixels from the axis are rate m^2
  float2 step_x;          // 1 / lx
  float2 step_y;
  float2 centre_x;
  float2 centre_y;        // rows run against y
  float2 radius_squared;
  int ny;
  int nx;
  int ly;
  int lx;
  float gain;             // 1 / (lx ly): the scale of the inverse transform
} Pupil;

// q along an axis of `count` pixels.
__kernel void fill_chirp(ARRAY(float2, chirp), int count, float2 rate) {
  const int n = (int)get_global_id(0);
  if (n >= count) return;
  const float m = (float)n - 0.5f * (float)(count - 1);
  AT(chirp)[n] = wave_of_turns(two_reduce(two_multiply(rate, two_of_product(m, m))));
}

__kernel void pad_chirped(ARRAY(const float2, input), ARRAY(float2, padded), Pupil pupil, ARRAY(const float2, down),
                          ARRAY(const float2, across)) {
  const int x = (int)get_global_id(0);
  const int y = (int)get_global_id(1);
  if (x >= pupil.lx || y >= pupil.ly) return;
  float2 value = (float2)(0.0f);
  if (x < pupil.nx && y < pupil.ny) {
    value = product(AT(input)[(long)y * pupil.nx + x], product(AT(across)[x], AT(down)[y]));
  }
  AT(padded)[(long)y * pupil.lx + x] = value;
}

// Squared distance from frequency k to the pupil's centre, to the nearest period.
static two distance_squared(float2 step, float2 centre, int k) {
  const two offset = two_subtract(two_scale(step, (float)k), centre);
  const two nearest = two_add(offset, (two)(-rint(offset.x), 0.0f));
  return two_multiply(nearest, nearest);
}

__kernel void stop(ARRAY(float2, spectrum), Pupil pupil) {
  const int x = (int)get_global_id(0);
  const int y = (int)get_global_id(1);
  if (x >= pupil.lx || y >= pupil.ly) return;
  const two distance = two_add(distance_squared(pupil.step_x, pupil.centre_x, x),
                               distance_squared(pupil.step_y, pupil.centre_y, y));
  if (two_subtract(distance, pupil.radius_squared).x > 0.0f) AT(spectrum)[(long)y * pupil.lx + x] = (float2)(0.0f);
}

__kernel void crop_unchirped(ARRAY(const float2, padded), ARRAY(float2, output), Pupil pupil, ARRAY(const float2, down),
                             ARRAY(const float2, across)) {
  const int x = (int)get_global_id(0);
  const int y = (int)get_global_id(1);
  if (x >= pupil.nx || y >= pupil.ny) return;
  const float2 q = product(AT(across)[x], AT(down)[y]);
  AT(output)[(long)y * pupil.nx + x] =
      pupil.gain * product(AT(padded)[(long)y * pupil.lx + x], (float2)(q.x, -q.y));
}
