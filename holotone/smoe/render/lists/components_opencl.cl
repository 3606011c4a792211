// Components of a model in the pixels of views, and nodes over them: packs of 16 consecutive components and bundles of
// 256, each with bounds of all that it holds. The components stand in an order in which neighbours are alike
// (render_opencl.cpp), so that a part of a picture passes over most of them node by node.
// place is bound by memory: 100 to 210 bytes read and 64 written for each component of a view.
// Options: -DCHANNELS=3
#include "holotone/core/array_opencl.cl"
#include "holotone/core/two_floats_opencl.cl"

#define ITEMS 256
#define PACK 16
#define QUARTER 4        // L is found for boxes of so many pixels a side: one component often reaches all over them
#define HUGE 1e30f
#define GUESSED 20.0f    // guess of |y - 1/2| in bounds of components that are not tested one by one
#define STEEPEST 0.85f   // 2^(-a^2) (A + s a) falls from this a on (docs/smoe.md)

// Rows of float4 {components} of the model, by moving_component.hpp: numbers of two floats where they move in views.
enum {
  CENTRE,  // x, y, steep
  ACROSS_SKEW, DOWN_PEAK,
  COLOUR, SLOPE_X, SLOPE_Y,
  AT,      // two fixed coordinates of its own
  SHIFT_X, SHIFT_Y, SCALE0, SCALE1, DRIFT0, DRIFT1
};

// Rows of float4 {components} of a view, in its pixels: log2 density = peak - u^2 - v^2 with u = across dx,
// v = skew dx + down dy.
enum {
  PLACE,  // x, y as two floats each
  SHAPE,  // across, skew, down, peak
  REST,   // what their floats lack
  TINT,   // colours at the centre
  PLACED_ROWS
};

// Rows of float4 of a view: position of pixel (0, 0), 1 / step, step, fixed coordinates, all of two floats.
enum { CORNER, A_STEP, STEP, FIXED, FRAME_ROWS };

typedef struct {
  int width, height, areas_x, areas;
  uint count, padded;  // components; rounded up to whole bundles
  int fixed;           // fixed coordinates
} Sizes;

// Floats to unsigned numbers of the same order, above 0, and back.
static uint ordered_bits(float value) {
  const uint bits = as_uint(value);
  return (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
}
static float from_ordered(uint bits) { return as_float((bits & 0x80000000u) != 0 ? bits & 0x7FFFFFFFu : ~bits); }

// Bound of the float32 error of a log2 density with terms of at most this size.
static float slack(float u, float v, float peak) { return 1e-6f * fma(u, u, fma(v, v, fabs(peak) + 1.0f)); }

static float away_from_grey(float4 colour) {
  float away = fabs(colour.x - 0.5f);
#if CHANNELS > 1
  away = fmax(away, fabs(colour.y - 0.5f));
#endif
#if CHANNELS > 2
  away = fmax(away, fabs(colour.z - 0.5f));
#endif
#if CHANNELS > 3
  away = fmax(away, fabs(colour.w - 0.5f));
#endif
  return away;
}

// Bounds of a node, all of them the largest of its components: -x, x, -y, y; minus the roots of how fast the log2
// density falls along x and y whatever the other is; log2 of the weights' sum times (|m - y| at its peak); peak.
typedef float8 Node;

static Node make_node(float2 centre, float4 shape, float4 tint, float steep) {
  const float peak = shape.w + slack(0.0f, 0.0f, shape.w);
  const float2 rounding = 2e-7f * fabs(centre);
  const float down = shape.x / hypot(shape.x, shape.y) * shape.z;
  Node node;
  node.s01 = (float2)(-centre.x, centre.x) + rounding.x;
  node.s23 = (float2)(-centre.y, centre.y) + rounding.y;
  node.s45 = -0.99999f * (float2)(shape.x, down);
  node.s6 = peak + log2(away_from_grey(tint) + GUESSED + steep) + 1e-5f;
  node.s7 = peak;
  return node;
}

// How far the density falls from the peaks to a box, at least, is fall; a^2 of docs/smoe.md.
static float fall_of(Node node, float left, float right, float top, float bottom) {
  const float dx = fmax(fmax(-node.s0 - right, left - node.s1), 0.0f);
  const float dy = fmax(fmax(-node.s2 - bottom, top - node.s3), 0.0f);
  const float u = node.s4 * dx;
  const float v = node.s5 * dy;
  return fmax(u * u, v * v);
}

static two first_two(float4 numbers) { return numbers.xy; }
static two last_two(float4 numbers) { return numbers.zw; }

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void place(Sizes sizes, ARRAY(const float4, model),
                                                                       ARRAY(const float4, frames),
                                                                       ARRAY(float4, placed), ARRAY(Node, nodes)) {
  __local Node shared[ITEMS];
  const uint j = get_global_id(0);
  const uint item = get_local_id(0);
  const uint view = get_global_id(1);
  const uint bundles = sizes.padded / ITEMS;
  Node node = (Node)(-3e38f);
  if (j < sizes.count) {
    const __global float4 *record = AT(model) + j;
    const __global float4 *frame = AT(frames) + view * FRAME_ROWS;
    const ulong row = sizes.padded;
    const float4 centre = record[CENTRE * row];
    float4 tint = record[COLOUR * row];
    two x = (two)(centre.x, 0.0f);
    two y = (two)(centre.y, 0.0f);
    const float4 of_model = record[DOWN_PEAK * row];
    two peak = last_two(of_model);
    if (sizes.fixed > 0) {
      const float4 at = record[AT * row];
      const two away0 = two_subtract(first_two(frame[FIXED]), (two)(at.x, 0.0f));
      const two away1 = two_subtract(last_two(frame[FIXED]), (two)(at.y, 0.0f));
      const float4 shift_x = record[SHIFT_X * row];
      const float4 shift_y = record[SHIFT_Y * row];
      x = two_add(x, two_add(two_multiply(first_two(shift_x), away0), two_multiply(last_two(shift_x), away1)));
      y = two_add(y, two_add(two_multiply(first_two(shift_y), away0), two_multiply(last_two(shift_y), away1)));
      const float4 scale0 = record[SCALE0 * row];
      const two far0 = two_multiply(first_two(scale0), away0);
      const two far1 = two_add(two_multiply(last_two(scale0), away0),
                               two_multiply(first_two(record[SCALE1 * row]), away1));
      peak = two_subtract(peak, two_add(two_multiply(far0, far0), two_multiply(far1, far1)));
      tint += record[DRIFT0 * row] * away0.x + record[DRIFT1 * row] * away1.x;
    }
    const two step_x = first_two(frame[STEP]);
    const two step_y = last_two(frame[STEP]);
    x = two_multiply(two_subtract(x, first_two(frame[CORNER])), first_two(frame[A_STEP]));
    y = two_multiply(two_subtract(y, last_two(frame[CORNER])), last_two(frame[A_STEP]));
    const float4 slanted = record[ACROSS_SKEW * row];
    const two across = two_multiply(first_two(slanted), step_x);
    const two skew = two_multiply(last_two(slanted), step_x);
    const two down = two_multiply(first_two(of_model), step_y);
    const float4 shape = (float4)(across.x, skew.x, down.x, peak.x);
    __global float4 *target = AT(placed) + view * PLACED_ROWS * row + j;
    target[PLACE * row] = (float4)(x, y);
    target[SHAPE * row] = shape;
    target[REST * row] = (float4)(across.y, skew.y, down.y, peak.y);
    target[TINT * row] = tint;
    node = make_node((float2)(x.x, y.x), shape, tint, centre.z);
  }
  shared[item] = node;
  barrier(CLK_LOCAL_MEM_FENCE);
  __global Node *of_view = AT(nodes) + view * (bundles + sizes.padded / PACK);
  Node most = (Node)(-3e38f);
  if (item < ITEMS / PACK) {
    for (int i = 0; i < PACK; ++i) most = fmax(most, shared[item * PACK + i]);
    most.s6 += log2((float)PACK);
    of_view[bundles + j / ITEMS * (ITEMS / PACK) + item] = most;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (item < ITEMS / PACK) shared[item] = most;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (item == 0) {
    for (int i = 1; i < ITEMS / PACK; ++i) most = fmax(most, shared[i]);
    most.s6 += log2((float)ITEMS / PACK);
    of_view[j / ITEMS] = most;
  }
}

#define MOST_QUARTERS 5      // largest distance at which a component raises L here; areas search for what is missing
#define FIRST_WITHIN 1.25f   // the same, in 1 / 0.85 deviations

static int quarter_at(float place) {
  return (int)clamp(floor(place * (1.0f / QUARTER)), -(float)MOST_QUARTERS, (float)MOST_QUARTERS);
}

// best[view][quarter]: the largest log2 density that a component near it reaches all over it, as ordered_bits; 0: none.
__kernel void raise_best(Sizes sizes, ARRAY(const float4, placed), ARRAY(uint, best)) {
  const uint j = get_global_id(0);
  const uint view = get_global_id(1);
  if (j >= sizes.count) return;
  const ulong row = sizes.padded;
  const __global float4 *record = AT(placed) + view * PLACED_ROWS * row + j;
  const float4 centre = record[PLACE * row];
  const float quarter_x = floor(centre.x * (1.0f / QUARTER));
  const float quarter_y = floor(centre.z * (1.0f / QUARTER));
  const int quarters_x = (sizes.width + QUARTER - 1) / QUARTER;
  const int quarters_y = (sizes.height + QUARTER - 1) / QUARTER;
  if (!(quarter_x >= -MOST_QUARTERS && quarter_y >= -MOST_QUARTERS && quarter_x < quarters_x + MOST_QUARTERS &&
        quarter_y < quarters_y + MOST_QUARTERS)) {
    return;
  }
  // In coordinates of the quarter of its centre.
  const float x = (centre.x - quarter_x * QUARTER) + centre.y;
  const float y = (centre.z - quarter_y * QUARTER) + centre.w;
  const float4 shape = record[SHAPE * row];
  const float far = (MOST_QUARTERS + 2) * QUARTER;
  const float peak = shape.w - slack(shape.x * far, fma(fabs(shape.y), far, shape.z * far), shape.w);
  const float wide = FIRST_WITHIN / shape.x;
  const float ratio = shape.y / shape.x;
  const float high = FIRST_WITHIN * sqrt(fma(ratio, ratio, 1.0f)) / shape.z;
  const int middle_x = (int)quarter_x;
  const int middle_y = (int)quarter_y;
  const int left = max(quarter_at(x - wide), -middle_x);
  const int right = min(quarter_at(x + wide), quarters_x - 1 - middle_x);
  const int top = max(quarter_at(y - high), -middle_y);
  const int bottom = min(quarter_at(y + high), quarters_y - 1 - middle_y);
  volatile __global uint *of_view = AT(best) + (ulong)view * quarters_x * quarters_y;
  for (int quarter_row = top; quarter_row <= bottom; ++quarter_row) {
    const float v0 = shape.z * (float)(quarter_row * QUARTER) - shape.z * y;
    const float v1 = fma(shape.z, (float)(QUARTER - 1), v0);
    for (int column = left; column <= right; ++column) {
      const float dx0 = (float)(column * QUARTER) - x;
      const float dx1 = dx0 + (float)(QUARTER - 1);
      const float v_left = fmax(fabs(fma(shape.y, dx0, v0)), fabs(fma(shape.y, dx0, v1)));
      const float v_right = fmax(fabs(fma(shape.y, dx1, v0)), fabs(fma(shape.y, dx1, v1)));
      const float u_left = shape.x * dx0;
      const float u_right = shape.x * dx1;
      const float least = peak - fmax(fma(u_left, u_left, v_left * v_left), fma(u_right, u_right, v_right * v_right));
      if (!(least > -HUGE)) continue;
      atomic_max(of_view + (ulong)(middle_y + quarter_row) * quarters_x + middle_x + column, ordered_bits(least));
    }
  }
}
