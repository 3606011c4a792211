// From tiles of a plane to a window; see window_propagation_math.h. Lengths are in wavelengths.
#include "holotone/core/array_opencl.cl"
#include "holotone/core/two_floats_opencl.cl"
#include "holotone/core/turns_opencl.cl"

#define EDGE_MIDDLE 2.75f
#define EDGE_TAIL 1.75f
#define GROUP 64

// One axis of a tile's route (TileAxis).
typedef struct {
  float2 rate;
  float2 step;     // spacing of the frequencies, cycles a wavelength
  float2 shift;    // from the tile's first sample to the window's
  float2 between;  // from the tile's centre to the window's
  float2 half_width;
  int count;
  int bins;
  int first;
  int period;
} TileAxis;

// Factors of the tile's samples before the convolution: exp(2 pi i input_turns).
__kernel void fill_input(ARRAY(float2, factor), TileAxis axis) {
  const int n = (int)get_global_id(0);
  if (n >= axis.count) return;
  const two square = two_of_product((float)n, (float)n + 2.0f * (float)axis.first);
  AT(factor)[n] = wave_of_turns(two_reduce(-two_multiply(axis.rate, square)));
}

// A frequency, its factor after the convolution and its place in the window's spectrum.
typedef struct {
  float2 frequency;
  float2 factor;
  int place;
  int unused;
} Bin;

__kernel void fill_output(ARRAY(Bin, bins), TileAxis axis) {
  const int i = (int)get_global_id(0);
  if (i >= axis.bins) return;
  const two frequency = two_scale(axis.step, (float)(axis.first + i));
  const two chirp = two_multiply(axis.rate, two_of_product((float)i, (float)i));
  const float turns = two_reduce(two_multiply(frequency, axis.shift)) - two_reduce(chirp);
  const int rest = (axis.first + i) % axis.period;
  const Bin bin = {frequency, wave_of_turns(turns - rint(turns)), rest < 0 ? rest + axis.period : rest, 0};
  AT(bins)[i] = bin;
}

// Writes the whole array of a tile's transform: the tile times its factors, zeros around it.
__kernel void load_tile(ARRAY(const float2, tile), long stride, ARRAY(float2, work), int ly, int lx,
                        ARRAY(const float2, down), int rows, ARRAY(const float2, right), int columns) {
  const int x = (int)get_global_id(0);
  const int y = (int)get_global_id(1);
  if (x >= lx || y >= ly) return;
  float2 value = (float2)(0.0f);
  if (x < columns && y < rows) value = product(AT(tile)[y * stride + x], product(AT(down)[y], AT(right)[x]));
  AT(work)[(long)y * lx + x] = value;
}

__kernel void convolve(ARRAY(float2, work), int ly, int lx, ARRAY(const float2, down), ARRAY(const float2, right)) {
  const int x = (int)get_global_id(0);
  const int y = (int)get_global_id(1);
  if (x >= lx || y >= ly) return;
  const long i = (long)y * lx + x;
  AT(work)[i] = product(AT(work)[i], product(AT(right)[x], AT(down)[y]));
}

// Weight of light that lands `beyond` blurs outside the window.
static float edge(float beyond) { return 0.5f * erfc(1.7724538509055160f * (beyond - EDGE_MIDDLE)); }

// Distance outside the window, in blurs, at which light of direction cosine ratio f / w lands along an axis.
static float beyond(float2 distance, TileAxis axis, two f_over_w, float a_blur) {
  const two miss = two_subtract(two_multiply(distance, f_over_w), axis.between);
  return two_subtract(miss.x < 0.0f ? -miss : miss, axis.half_width).x * a_blur;
}

// Propagates a tile's bins to the window and adds them to its spectrum. Bins of one tile have places of their own.
__kernel void add_bins(ARRAY(const float2, work), int lx, ARRAY(float2, spectrum), TileAxis down, TileAxis right,
                       ARRAY(const Bin, down_bins), ARRAY(const Bin, right_bins), float2 distance, float carrier,
                       float a_blur, float gain) {
  const int x = (int)get_global_id(0);
  const int y = (int)get_global_id(1);
  if (x >= right.bins || y >= down.bins) return;
  const Bin across = AT(right_bins)[x];
  const Bin along = AT(down_bins)[y];
  const two s = two_add(two_multiply(across.frequency, across.frequency),
                        two_multiply(along.frequency, along.frequency));
  const two one = (two)(1.0f, 0.0f);
  const two rest = two_subtract(one, s);
  if (!(rest.x > 0.0f)) return;
  const two w = two_square_root(rest);
  const float out_down = beyond(distance, down, two_divide(along.frequency, w), a_blur);
  const float out_right = beyond(distance, right, two_divide(across.frequency, w), a_blur);
  const float farthest = fmax(out_down, out_right);
  if (farthest >= EDGE_MIDDLE + EDGE_TAIL) return;
  if (farthest > EDGE_MIDDLE - EDGE_TAIL) gain *= edge(out_down) * edge(out_right);
  // d sqrt(1 - s) = d - d s / (1 + sqrt(1 - s)) in wavelengths
  const float turns = carrier - two_reduce(two_multiply(distance, two_divide(s, two_add(one, w))));
  const float2 factor = product(product(across.factor, along.factor), wave_of_turns(turns - rint(turns)));
  __global float2 *target = AT(spectrum) + (long)along.place * right.period + across.place;
  *target += gain * product(AT(work)[(long)y * lx + x], factor);
}

// Fraction of a sample inside the pupil. The ellipse g = u^2 + v^2 = 1 is (1 - g) / |grad g| samples away.
static float mask_value(int rows, int columns, int ellipse, int row, int column) {
  if (!ellipse) return 1.0f;
  const float b = 0.5f * (float)rows;
  const float a = 0.5f * (float)columns;
  const float v = ((float)row + 0.5f - b) / b;
  const float u = ((float)column + 0.5f - a) / a;
  const float slope = 2.0f * sqrt(u * u / (a * a) + v * v / (b * b));
  return clamp(0.5f + (1.0f - u * u - v * v) / (slope > 0.0f ? slope : 1.0f), 0.0f, 1.0f);
}

// A group a row: applies the row's part of the pupil and sums the remaining power, as two floats.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void crop(ARRAY(float2, field), long width, int rows,
                                                                      int columns, int ellipse, ARRAY(float2, sums)) {
  __local float2 shared[GROUP];
  const int item = (int)get_local_id(0);
  const int row = (int)get_group_id(0);
  two sum = (two)(0.0f, 0.0f);
  for (int column = item; column < columns; column += GROUP) {
    __global float2 *value = AT(field) + row * width + column;
    const float2 kept = mask_value(rows, columns, ellipse, row, column) * *value;
    *value = kept;
    sum = two_add(sum, (two)(kept.x * kept.x + kept.y * kept.y, 0.0f));
  }
  shared[item] = sum;
  for (int half_size = GROUP / 2; half_size > 0; half_size /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < half_size) shared[item] = two_add(shared[item], shared[item + half_size]);
  }
  if (item == 0) AT(sums)[row] = shared[0];
}

// Mean squared modulus of blocks of every_down x every_right samples.
__kernel void mean_intensity(ARRAY(const float2, field), long width, ARRAY(float, output), int ny, int nx,
                             int every_down, int every_right) {
  const int x = (int)get_global_id(0);
  const int y = (int)get_global_id(1);
  if (x >= nx || y >= ny) return;
  float sum = 0.0f;
  for (int i = 0; i < every_down; ++i) {
    const __global float2 *from = AT(field) + ((long)y * every_down + i) * width + (long)x * every_right;
    for (int j = 0; j < every_right; ++j) sum += from[j].x * from[j].x + from[j].y * from[j].y;
  }
  AT(output)[(long)y * nx + x] = sum / (float)(every_down * every_right);
}
