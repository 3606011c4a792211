// Spots on a panel: tables of their waves along the axes, the sum over spots at every pixel, sums over pixels for every
// spot. Both sums are products of complex matrices: a work item has ROWS rows by WIDTH columns, without local memory.
// PACKED: 1 if the vectors that an item reads one after another lie together (CPUs), 0 if those of neighbours (GPUs).
// STRIPES: of ROWS rows, of an item.
// Options: -DWIDTH=4 -DPACKED=0 -DSTRIPES=1
// Options: -DWIDTH=16 -DPACKED=1 -DSTRIPES=8
#include "holotone/core/array_opencl.cl"
#include "holotone/core/two_floats_opencl.cl"
#include "holotone/core/turns_opencl.cl"
#include "holotone/core/turns_math.h"

#define ROWS 4
#if WIDTH == 4
typedef float4 Vector;
#define LOAD vload4
#define STORE vstore4
#elif WIDTH == 8
typedef float8 Vector;
#define LOAD vload8
#define STORE vstore8
#else
typedef float16 Vector;
#define LOAD vload16
#define STORE vstore16
#endif

// A spot's wave is exp 2 pi i (fx X + fy Y + chirp (X^2 + Y^2)), X and Y in pixels from the panel's middle, Y upwards.
typedef struct {
  float2 fx;
  float2 fy;
  float2 chirp;
} Spot;

// Factor of a depth that the paraxial waves lack; see DepthWave.
typedef struct {
  float2 square;  // (p / (n f))^2
  float2 turns;   // n z / lambda
  int exists;
} Depth;

typedef struct {
  int nx;
  int ny;
  int spots;    // of this product
  int columns;  // of the matrix with vectors: nx or spots, up to a whole vector
  int pitch;    // of the rows' table: spots, up to a whole vector
} Sizes;

typedef struct {
  Vector re[ROWS];
  Vector im[ROWS];
} Tile;

static float2 axis_wave(float t, two frequency, two chirp) {
  return wave_of_turns(two_reduce(two_scale(two_add(frequency, two_scale(chirp, t)), t)));
}

static float2 depth_wave(Depth depth, Sizes sizes, int column, int row) {
  const float x = (float)column - 0.5f * (float)(sizes.nx - 1);
  const float y = (float)row - 0.5f * (float)(sizes.ny - 1);
  const two one = (two)(1.0f, 0.0f);
  const two s = two_multiply(depth.square, two_add(two_of_product(x, x), two_of_product(y, y)));
  const two root = two_square_root(two_subtract(one, s));
  const two lack = two_subtract(two_divide(one, two_add(one, root)), (two)(0.5f, 0.0f));
  return wave_of_turns(two_reduce(two_multiply(depth.turns, two_multiply(s, lack))));
}

static float2 conjugate(float2 a) { return (float2)(a.x, -a.y); }

// Place of the real part (step, column) in a table of vectors, and the distance of the imaginary part from it.
static long table_place(int step, int column, int steps, int columns) {
#if PACKED
  return ((long)(column / WIDTH) * steps + step) * (2 * WIDTH) + column % WIDTH;
#else
  return (long)step * 2 * columns + column;
#endif
}
#if PACKED
#define STEP_FLOATS(columns) (2L * WIDTH)
#define IMAGINARY(columns) WIDTH
#else
#define STEP_FLOATS(columns) (2L * (columns))
#define IMAGINARY(columns) (columns)
#endif

// The waves along x: a step a spot and a column a pixel, or conjugates, a step a pixel and a column a spot.
__kernel void fill_columns(ARRAY(const Spot, spot), ARRAY(float, table), Sizes sizes, int of_pixels) {
  const int x = (int)get_global_id(0);
  const int m = (int)get_global_id(1);
  const int step = of_pixels ? x : m;
  const int column = of_pixels ? m : x;
  const int steps = of_pixels ? sizes.nx : sizes.spots;
  if (step >= steps || column >= sizes.columns) return;
  float2 value = (float2)(0.0f);
  if (x < sizes.nx && m < sizes.spots) {
    const Spot s = AT(spot)[m];
    value = axis_wave((float)x - 0.5f * (float)(sizes.nx - 1), s.fx, s.chirp);
    if (of_pixels) value.y = -value.y;
  }
  const long place = table_place(step, column, steps, sizes.columns);
  AT(table)[place] = value.x;
  AT(table)[place + IMAGINARY(sizes.columns)] = value.y;
}

// The waves along y {rows, pitch}, times coefficients if any; zero beyond panel and spots. Their parts interleaved with
// coefficients, else beside each other, {rows, 2, pitch}.
__kernel void fill_rows(ARRAY(const Spot, spot), ARRAY(const float2, coefficient), ARRAY(float, table), Sizes sizes) {
  const int m = (int)get_global_id(0);
  const int row = (int)get_global_id(1);
  if (m >= sizes.pitch || row >= (sizes.ny + ROWS - 1) / ROWS * ROWS) return;
  float2 value = (float2)(0.0f);
  if (m < sizes.spots && row < sizes.ny) {
    const Spot s = AT(spot)[m];
    value = axis_wave((float)row - 0.5f * (float)(sizes.ny - 1), -s.fy, s.chirp);  // Y falls along the rows
    if (coefficient_memory) value = product(value, AT(coefficient)[m]);
  }
  const long place = (long)row * 2 * sizes.pitch;
  if (coefficient_memory) {
    vstore2(value, 0, AT(table) + place + 2 * m);
  } else {
    AT(table)[place + m] = value.x;
    AT(table)[place + sizes.pitch + m] = value.y;
  }
}

// Sums of left[i][k] right[k] over the steps k.
static Tile products(__global const float2 *const left[ROWS], __global const float *right, int steps, int columns) {
  Tile sum;
#pragma unroll
  for (int i = 0; i < ROWS; ++i) sum.re[i] = sum.im[i] = (Vector)(0.0f);
  for (int k = 0; k < steps; ++k) {
    const Vector re = LOAD(0, right);
    const Vector im = LOAD(0, right + IMAGINARY(columns));
    right += STEP_FLOATS(columns);
#pragma unroll
    for (int i = 0; i < ROWS; ++i) {
      const float2 a = left[i][k];
      sum.re[i] = fma((Vector)(-a.y), im, fma((Vector)(a.x), re, sum.re[i]));
      sum.im[i] = fma((Vector)(a.y), re, fma((Vector)(a.x), im, sum.im[i]));
    }
  }
  return sum;
}

// E of the panel, {ny, nx}, from `sum` and what these spots add; where that is 0, E stays. Without `field` `sum` alone.
static void add_at(__global float2 *sum, __global float2 *field, float2 value, int is_first, float keep) {
  if (!is_first) value += *sum;
  if (!field) {
    *sum = value;
    return;
  }
  value = fma((float2)(keep), *field, value);
  const float square = fma(value.x, value.x, value.y * value.y);
  if (square > 1e-30f) *field = value * (1.0f / sqrt(square));
}

__kernel void sum_spots(ARRAY(const float2, rows), ARRAY(const float, table), Sizes sizes, Depth depth, int is_first,
                        float keep, ARRAY(float2, sum), ARRAY(float2, field)) {
  const int x0 = (int)get_global_id(0) * WIDTH;
  if (x0 >= sizes.nx) return;
  __global const float *const right = AT(table) + table_place(0, x0, sizes.spots, sizes.columns);
  for (int stripe = 0; stripe < STRIPES; ++stripe) {
    const int y0 = ((int)get_global_id(1) * STRIPES + stripe) * ROWS;
    if (y0 >= sizes.ny) return;
    __global const float2 *left[ROWS];
#pragma unroll
    for (int i = 0; i < ROWS; ++i) left[i] = AT(rows) + (long)(y0 + i) * sizes.pitch;
    const Tile tile = products(left, right, sizes.spots, sizes.columns);
#pragma unroll
    for (int i = 0; i < ROWS; ++i) {
#pragma unroll
      for (int lane = 0; lane < WIDTH; ++lane) {
        const int x = x0 + lane;
        if (x >= sizes.nx || y0 + i >= sizes.ny) continue;
        float2 value = (float2)(((const float *)&tile.re[i])[lane], ((const float *)&tile.im[i])[lane]);
        if (depth.exists) value = product(value, depth_wave(depth, sizes, x, y0 + i));
        const long place = (long)(y0 + i) * sizes.nx + x;
        add_at(sum_memory ? AT(sum) + place : 0, field_memory ? AT(field) + place : 0, value, is_first, keep);
      }
    }
  }
}

// Sums of light times conjugate waves over the rows of an item: {items, 2, pitch}.
__kernel void sum_pixels(ARRAY(const float2, light), ARRAY(const float, table), ARRAY(const float, rows), Sizes sizes,
                         ARRAY(float, part)) {
  const int m0 = (int)get_global_id(0) * WIDTH;
  const int item = (int)get_global_id(1);
  if (m0 >= sizes.columns || item * STRIPES * ROWS >= sizes.ny) return;
  __global const float *const right = AT(table) + table_place(0, m0, sizes.nx, sizes.columns);
  Vector re = (Vector)(0.0f);
  Vector im = (Vector)(0.0f);
  for (int stripe = 0; stripe < STRIPES; ++stripe) {
    const int y0 = (item * STRIPES + stripe) * ROWS;
    if (y0 >= sizes.ny) break;
    __global const float2 *left[ROWS];
#pragma unroll
    for (int i = 0; i < ROWS; ++i) left[i] = AT(light) + (long)min(y0 + i, sizes.ny - 1) * sizes.nx;
    const Tile tile = products(left, right, sizes.nx, sizes.columns);
#pragma unroll
    for (int i = 0; i < ROWS; ++i) {
      __global const float *const row = AT(rows) + (long)(y0 + i) * 2 * sizes.pitch + m0;  // zero beyond the panel
      const Vector cosine = LOAD(0, row);
      const Vector sine = LOAD(0, row + sizes.pitch);
      re = fma(tile.im[i], sine, fma(tile.re[i], cosine, re));
      im = fma(-tile.re[i], sine, fma(tile.im[i], cosine, im));
    }
  }
  __global float *const target = AT(part) + (long)item * 2 * sizes.pitch + m0;
  STORE(re, 0, target);
  STORE(im, 0, target + sizes.pitch);
}

// Sums {shares, pitch} of every share-th part: few enough for the host.
__kernel void add_parts(ARRAY(const float, part), int parts, int pitch, int shares, ARRAY(float2, sum)) {
  const int m = (int)get_global_id(0);
  const int share = (int)get_global_id(1);
  if (m >= pitch || share >= shares) return;
  float2 total = (float2)(0.0f);
  for (int p = share; p < parts; p += shares) {
    __global const float *const place = AT(part) + (long)p * 2 * pitch + m;
    total += (float2)(place[0], place[pitch]);
  }
  AT(sum)[share * pitch + m] = total;
}

// Turns of the panel's phase in [0, 1): those of the field less those of the light.
static float panel_turns(float2 field, float2 light) {
  const float2 value = product(field, conjugate(light));
  const Complex32 u = {value.x, value.y};
  return turns_of(u);
}

#define LIGHT(place) (light_memory ? AT(light)[place] : (float2)(1.0f, 0.0f))

// The field, or without one the light, with its phase rounded to levels, if any, times amplitude and conjugate depth.
__kernel void prepare(ARRAY(const float2, field), ARRAY(const float2, light), ARRAY(const float, amplitude),
                      Sizes sizes, int levels, Depth depth, ARRAY(float2, output)) {
  const int x = (int)get_global_id(0);
  const int y = (int)get_global_id(1);
  if (x >= sizes.nx || y >= sizes.ny) return;
  const long place = (long)y * sizes.nx + x;
  float2 value = field_memory ? AT(field)[place] : LIGHT(place);
  if (levels > 0) {
    const float turns = rint((float)levels * panel_turns(value, LIGHT(place))) / (float)levels;
    value = product(wave_of_turns(turns - rint(turns)), LIGHT(place));
  }
  if (amplitude_memory) value *= AT(amplitude)[place];
  if (depth.exists) value = product(value, conjugate(depth_wave(depth, sizes, x, y)));
  AT(output)[place] = value;
}

__kernel void set_phase(ARRAY(const float, phase), ARRAY(const float2, light), long count, ARRAY(float2, field)) {
  const long place = (long)get_global_id(0);
  if (place >= count) return;
  const two per_turn = (two)(0.159154937f, 6.42063824e-9f);  // 1 / (2 pi)
  const float turns = two_reduce(two_scale(per_turn, AT(phase)[place]));
  AT(field)[place] = product(wave_of_turns(turns), LIGHT(place));
}

// The panel's phase in [0, 2 pi).
__kernel void read_phase(ARRAY(const float2, field), ARRAY(const float2, light), long count, ARRAY(float, phase)) {
  const long place = (long)get_global_id(0);
  if (place >= count) return;
  const float two_pi = 6.2831855f;
  const float phase = two_pi * panel_turns(AT(field)[place], LIGHT(place));
  AT(phase)[place] = phase < two_pi ? phase : 0.0f;
}
