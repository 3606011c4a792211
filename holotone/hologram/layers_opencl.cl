// Pixels of layers; see layers_math.h.
#include "holotone/core/array_opencl.cl"
#include "holotone/core/random_opencl.cl"
#include "holotone/core/turns_opencl.cl"

#define NOTHING 0
#define PASSED 1

__kernel void compose(ARRAY(float2, field), long count, ARRAY(const float, intensity), ARRAY(const float, mask),
                      ARRAY(const ushort, number), int wanted, int random, ulong seed, ulong first_draw, int dark,
                      int carry) {
  const long i = get_global_id(0);
  if (i >= count) return;
  float opacity = 0.0f;
  float2 value = (float2)(0.0f);
  if (!number_memory || AT(number)[i] == wanted) {
    const float light = AT(intensity)[i];
    const bool lit = light > 0.0f && light <= FLT_MAX;
    opacity = number_memory ? 1.0f : mask_memory ? AT(mask)[i] : lit ? 1.0f : 0.0f;
    if (lit && !dark) {
      value.x = sqrt(light);
      if (random) {
        const float turns = random_uniform(seed, first_draw + (ulong)i);
        value = value.x * wave_of_turns(turns > 0.5f ? turns - 1.0f : turns);
      }
    }
  }
  if (carry != NOTHING) value += (carry == PASSED ? 1.0f - opacity : -opacity) * AT(field)[i];
  AT(field)[i] = value;
}

__kernel void add(ARRAY(float2, sum), ARRAY(const float2, other), long count) {
  const long i = get_global_id(0);
  if (i < count) AT(sum)[i] += AT(other)[i];
}
