// Padding, transfer function, cropping and the Fresnel transform's interpolation; see propagation_math.h.
#include "holotone/core/array_opencl.cl"
#include "holotone/optics/transfer_opencl.cl"

#define TAP_COUNT 8
#define TAP_SHAPE (2.30f * TAP_COUNT)

// Geometry of the padded array.
typedef struct {
  int ny;
  int nx;
  int ly;
  int lx;
  int row;
  int col;
} Frame;

// Output of a kernel: one of the two arrays is null.
#define OUTPUT ARRAY(float2, field), ARRAY(float, intensity)
#define STORE(index, value)                                                                     \
  {                                                                                             \
    const float2 stored = value;                                                                \
    if (field_memory) {                                                                         \
      AT(field)[index] = stored;                                                                \
    } else {                                                                                    \
      AT(intensity)[index] = stored.x * stored.x + stored.y * stored.y;                         \
    }                                                                                           \
  }

// Writes the whole padded array: the field at its place, zeros around it. Chirps of the Fresnel transform multiply it
// if they are there.
__kernel void pad(ARRAY(const float2, input), ARRAY(float2, padded), Frame frame, ARRAY(const float2, chirp_y),
                  ARRAY(const float2, chirp_x)) {
  const int x = (int)get_global_id(0);
  const int y = (int)get_global_id(1);
  if (x >= frame.lx || y >= frame.ly) return;
  const int from_x = x - frame.col;
  const int from_y = y - frame.row;
  float2 value = (float2)(0.0f);
  if (from_x >= 0 && from_x < frame.nx && from_y >= 0 && from_y < frame.ny) {
    value = AT(input)[(long)from_y * frame.nx + from_x];
    if (chirp_x_memory) value = product(product(value, AT(chirp_x)[from_x]), AT(chirp_y)[from_y]);
  }
  AT(padded)[(long)y * frame.lx + x] = value;
}

__kernel void crop(ARRAY(const float2, padded), OUTPUT, Frame frame) {
  const int x = (int)get_global_id(0);
  const int y = (int)get_global_id(1);
  if (x >= frame.nx || y >= frame.ny) return;
  STORE((long)y * frame.nx + x, AT(padded)[(long)(y + frame.row) * frame.lx + x + frame.col])
}

// Table of H for a PaddedFilter: rows of 2 `count` values, even frequencies along y first.
__kernel void fill_transfer(ARRAY(float2, table), int count, int rows, Transfer t) {
  const int i = (int)get_global_id(0);
  const int x = (int)get_global_id(1);
  if (i >= 2 * count || x >= rows) return;
  AT(table)[(long)x * 2 * count + i] = transfer_at(t, x, i < count ? 2 * i : 2 * (i - count) + 1);
}

// Multiplies by H. It is even in both frequencies: an item computes it once for four samples.
__kernel void multiply_transfer(ARRAY(float2, spectrum), int ly, int lx, Transfer t) {
  const int x = (int)get_global_id(0);
  const int y = (int)get_global_id(1);
  if (x > lx / 2 || y > ly / 2) return;
  const float2 h = transfer_at(t, x, y);
  const int mirror_x = lx - x;
  const bool has_mirror_x = x > 0 && mirror_x > x;
  __global float2 *upper = AT(spectrum) + (long)y * lx;
  upper[x] = product(upper[x], h);
  if (has_mirror_x) upper[mirror_x] = product(upper[mirror_x], h);
  const int mirror_y = ly - y;
  if (y > 0 && mirror_y > y) {
    __global float2 *lower = AT(spectrum) + (long)mirror_y * lx;
    lower[x] = product(lower[x], h);
    if (has_mirror_x) lower[mirror_x] = product(lower[mirror_x], h);
  }
}

// One axis of the Fresnel transform (propagation_math.h).
typedef struct {
  float2 input_rate;
  float2 output_rate;
  float2 step;
  float2 offset_turns;
  int count;
  int length;
  float gain;
} FresnelAxis;

// Position of an output sample in the FFT, and its factor (cosine, sine).
typedef struct {
  int first;
  float cosine;
  float sine;
} FresnelSample;

// exp(beta (sqrt(1 - (2 t / w)^2) - 1)) for |t| <= w/2, else 0.
static float tap_kernel(float t) {
  const float u = (2.0f / TAP_COUNT) * t;
  const float inside = 1.0f - u * u;
  return inside < 0.0f ? 0.0f : exp(-TAP_SHAPE * u * u / (1.0f + sqrt(inside)));
}

// Chirp of the input with the compensation of the taps, position and taps of the output; an item a pixel of an axis.
__kernel void fill_axis(FresnelAxis axis, ARRAY(const float, compensation), ARRAY(float2, chirp),
                        ARRAY(FresnelSample, samples), ARRAY(float, taps)) {
  const int m = (int)get_global_id(0);
  if (m >= axis.count) return;
  const float from_axis = (float)m - 0.5f * (float)(axis.count - 1);
  const two square = two_of_product(from_axis, from_axis);
  AT(chirp)[m] = wave_of_turns(two_reduce(two_multiply(axis.input_rate, square))) * AT(compensation)[m];

  const two cycles = two_scale(axis.step, from_axis);
  const bool lit = fabs(cycles.x) < 0.5f || (fabs(cycles.x) == 0.5f && cycles.y * cycles.x <= 0.0f);
  const two position = lit ? two_scale(cycles, (float)axis.length) : (two)(0.0f, 0.0f);
  const float start = two_ceil(two_add(position, (two)(-0.5f * TAP_COUNT, 0.0f)));
  const float rest = (position.x - start) + position.y;
  for (int j = 0; j < TAP_COUNT; ++j) {
    const float weight = tap_kernel(rest - (float)j);
    AT(taps)[m * TAP_COUNT + j] = (((int)start + j) & 1) != 0 ? -weight : weight;
  }
  const float middle = (float)(axis.count / 2) - 0.5f * (float)(axis.count - 1);
  const two turns = two_add(two_subtract(two_multiply(axis.output_rate, square), two_scale(cycles, middle)),
                            axis.offset_turns);
  const float2 factor = wave_of_turns(two_reduce(turns)) * (lit ? axis.gain : 0.0f);
  const FresnelSample sample = {(int)start < 0 ? (int)start + axis.length : (int)start, factor.x, factor.y};
  AT(samples)[m] = sample;
}

// Interpolates the transform at the output's pixels with eight by eight taps.
__kernel void resample(ARRAY(const float2, spectrum), OUTPUT, Frame frame, ARRAY(const FresnelSample, rows),
                       ARRAY(const float, row_taps), ARRAY(const FresnelSample, columns),
                       ARRAY(const float, column_taps)) {
  const int x = (int)get_global_id(0);
  const int y = (int)get_global_id(1);
  if (x >= frame.nx || y >= frame.ny) return;
  const FresnelSample across = AT(columns)[x];
  const FresnelSample down = AT(rows)[y];
  float2 sum = (float2)(0.0f);
  for (int i = 0; i < TAP_COUNT; ++i) {
    const int row = down.first + i;
    const __global float2 *line = AT(spectrum) + (long)(row < frame.ly ? row : row - frame.ly) * frame.lx;
    float2 part = (float2)(0.0f);
    for (int j = 0; j < TAP_COUNT; ++j) {
      const int column = across.first + j;
      part += AT(column_taps)[x * TAP_COUNT + j] * line[column < frame.lx ? column : column - frame.lx];
    }
    sum += AT(row_taps)[y * TAP_COUNT + i] * part;
  }
  const float2 value = product(product(sum, (float2)(across.cosine, across.sine)), (float2)(down.cosine, down.sine));
  STORE((long)y * frame.nx + x, value)
}
