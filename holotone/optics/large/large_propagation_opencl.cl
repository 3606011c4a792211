// Lines of bands and strips; see large_propagation_math.h.
#include "holotone/core/array_opencl.cl"
#include "holotone/optics/transfer_opencl.cl"

// Samples of a line that are kept: `head` at its begin, `tail` at its end.
typedef struct {
  int head;
  int tail;
  int length;
} Kept;

// Writes whole lines: the kept samples at their places, zeros between. Sample i of a line is `step` after sample i - 1,
// the lines' first samples are `apart`.
__kernel void spread(ARRAY(const float2, samples), long step, long apart, ARRAY(float2, lines), Kept kept, int count) {
  const int place = (int)get_global_id(0);
  const int line = (int)get_global_id(1);
  if (place >= kept.length || line >= count) return;
  const int from_end = kept.length - place;
  const int from = place < kept.head ? place : from_end <= kept.tail ? kept.head + kept.tail - from_end : -1;
  float2 value = (float2)(0.0f);
  if (from >= 0) value = AT(samples)[from * step + line * apart];
  AT(lines)[(long)line * kept.length + place] = value;
}

// The way back.
__kernel void gather(ARRAY(const float2, lines), ARRAY(float2, samples), long step, long apart, Kept kept, int count) {
  const int i = (int)get_global_id(0);
  const int line = (int)get_global_id(1);
  if (i >= kept.head + kept.tail || line >= count) return;
  const int place = i < kept.head ? i : i + kept.length - kept.head - kept.tail;
  AT(samples)[i * step + line * apart] = AT(lines)[(long)line * kept.length + place];
}

// Multiplies lines along y by H. It is even: an item computes it once for two samples.
__kernel void multiply(ARRAY(float2, lines), Kept spectrum, int first, int count, int length, Transfer t) {
  const int y = (int)get_global_id(0);
  const int line = (int)get_global_id(1);
  if (y > length / 2 || line >= count) return;
  const int i = first + line;
  const int place = i < spectrum.head ? i : i + spectrum.length - spectrum.head - spectrum.tail;
  const float2 h = transfer_at(t, min(place, spectrum.length - place), y);
  __global float2* line_values = AT(lines) + (long)line * length;
  line_values[y] = product(line_values[y], h);
  const int mirror = length - y;
  if (y > 0 && mirror > y) line_values[mirror] = product(line_values[mirror], h);
}
