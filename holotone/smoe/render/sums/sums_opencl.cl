// Sums of an area's tiles over their lists: sixteen items a tile, of four pixels each, in float32 or in pairs of floats
// with the largest density of each pixel subtracted.
// Options: -DCHANNELS=1
// Options: -DCHANNELS=4
#include "holotone/smoe/render/lists/area_opencl.cl"

// Sums of an item's four pixels, one below the other.
typedef struct {
  float weight[4];
  float spread[4];
  float colour[CHANNELS][4];
} Sums;

static void clear_sums(Sums *sums) {
  for (int i = 0; i < 4; ++i) {
    sums->weight[i] = sums->spread[i] = 0.0f;
    for (int c = 0; c < CHANNELS; ++c) sums->colour[c][i] = 0.0f;
  }
}

static int item_row(int item) { return tile_top(item / TILES) + item % TILES / TILE * 4; }
static int item_column(int item) { return tile_left(item / TILES) + item % TILE; }

static inline void add(__local const float4 *staged, float x, float y, float shift, int checked, Sums *sums) {
  const float4 a = staged[0];
  const float4 b = staged[1];
  const float4 c = staged[2];
  float expert[CHANNELS];
  float down[CHANNELS];
  expert[0] = fma(c.y, x, fma(c.z, y, c.x));
  down[0] = c.z;
#if CHANNELS > 1
  const float4 d = staged[3];
  expert[1] = fma(d.x, x, fma(d.y, y, c.w));
  down[1] = d.y;
#endif
#if CHANNELS > 2
  const float4 e = staged[4];
  expert[2] = fma(d.w, x, fma(e.x, y, d.z));
  down[2] = e.x;
#endif
#if CHANNELS > 3
  expert[3] = fma(e.z, x, fma(e.w, y, e.y));
  down[3] = e.w;
#endif
  const float u = fma(a.x, x, a.y);
  const float base = fma(-u, u, b.y - shift);
  const float v0 = fma(a.z, x, fma(a.w, y, b.x));
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float v = fma(a.w, (float)i, v0);
    const float weight = native_exp2(fma(-v, v, base));
    sums->weight[i] += weight;
    if (checked) {
      float away = 0.0f;
      for (int k = 0; k < CHANNELS; ++k) away += fabs(expert[k]);
      sums->spread[i] = fma(weight, away, sums->spread[i]);
    }
#pragma unroll
    for (int k = 0; k < CHANNELS; ++k) {
      sums->colour[k][i] = fma(weight, expert[k], sums->colour[k][i]);
      expert[k] += down[k];
    }
  }
}

static void sum_list(__local const Memory *memory, int listed, Sums *sums) {
  const __local State *state = &memory->state;
  const int item = item_of();
  const int tile = item / TILES;
  const float x = (float)item_column(item) - MIDDLE;
  const float y = (float)item_row(item) - MIDDLE;
  const float shift = memory->least[tile] - state->origin + state->above;
  if (state->checked) {
    for (int p = 0; p < listed; ++p) add(memory->staged + memory->list[tile][p] * FOURS, x, y, shift, 1, sums);
  } else {
    for (int p = 0; p < listed; ++p) add(memory->staged + memory->list[tile][p] * FOURS, x, y, shift, 0, sums);
  }
}

// Writes an item's pixels; false if float32 was not precise enough for one of them.
static int write_pixels(const Area *area, __local const State *state, const Sums *sums, __global float *image) {
  const int column = area->left + item_column(item_of());
  const float reference[4] = {state->reference.x, state->reference.y, state->reference.z, state->reference.w};
  int fits = 1;
  for (int i = 0; i < 4; ++i) {
    const int row = area->top + item_row(item_of()) + i;
    if (column > area->right || row > area->bottom) continue;
    if (state->checked && !(sums->spread[i] <= state->max_spread * sums->weight[i])) fits = 0;
    const float scale = 1.0f / sums->weight[i];
    __global float *pixel = image + ((ulong)row * area->sizes.width + column) * CHANNELS;
    for (int c = 0; c < CHANNELS; ++c) {
      pixel[c] = sums->weight[i] > 0.0f ? fma(sums->colour[c][i], scale, reference[c]) : 0.0f;
    }
  }
  return fits;
}

// Sums of a pixel in pairs of floats, relative to 2^most, a whole power at least as large as the largest weight.
typedef struct {
  float most;
  two weight;
  two colour[CHANNELS];
} Exact;

static void clear_exact(Exact *sums) {
  sums->most = -HUGE;
  sums->weight = (two)(0.0f);
  for (int c = 0; c < CHANNELS; ++c) sums->colour[c] = (two)(0.0f);
}

// 2^t for -120 <= t <= 0.
static two exact_power(two t) {
  const float whole = rint(t.x);
  const float rest = (t.x - whole) + t.y;
  // 2^rest - 1: the first term in pairs of floats, the others are small.
  const two first = two_scale((two)(0x1.62e43p-1f, -0x1.05c61p-29f), rest);
  float others = fma(rest, 1.525273e-5f, 1.540353e-4f);
  others = fma(rest, others, 1.333356e-3f);
  others = fma(rest, others, 9.618129e-3f);
  others = fma(rest, others, 5.550411e-2f);
  others = fma(rest, others, 2.402265e-1f) * rest * rest;
  const two power = two_add((two)(1.0f, 0.0f), two_add(first, (two)(others, 0.0f)));
  return power * as_float((uint)((int)whole + 127) << 23);
}

// A component of the picture, for sums in pairs of floats.
typedef struct {
  float4 centre, shape, rest, tint, slope_x, slope_y;
} Component;

static void add_exact(const Component *component, float x, float y, Exact *sums) {
  const two dx = two_subtract((two)(x, 0.0f), component->centre.xy);
  const two dy = two_subtract((two)(y, 0.0f), component->centre.zw);
  const two u = two_multiply((two)(component->shape.x, component->rest.x), dx);
  const two v = two_add(two_multiply((two)(component->shape.y, component->rest.y), dx),
                        two_multiply((two)(component->shape.z, component->rest.z), dy));
  if (!(fabs(u.x) < 1e15f && fabs(v.x) < 1e15f)) return;
  const two density = two_subtract((two)(component->shape.w, component->rest.w),
                                   two_add(two_multiply(u, u), two_multiply(v, v)));
  if (density.x > sums->most) {
    const float most = ceil(density.x);
    const float scale = exp2(fmax(sums->most - most, -200.0f));
    sums->weight *= scale;
    for (int c = 0; c < CHANNELS; ++c) sums->colour[c] *= scale;
    sums->most = most;
  }
  const two below = two_add(density, (two)(-sums->most, 0.0f));
  if (!(below.x > -120.0f)) return;
  const two weight = exact_power(below);
  sums->weight = two_add(sums->weight, weight);
  const float tint[4] = {component->tint.x, component->tint.y, component->tint.z, component->tint.w};
  const float slope_x[4] = {component->slope_x.x, component->slope_x.y, component->slope_x.z, component->slope_x.w};
  const float slope_y[4] = {component->slope_y.x, component->slope_y.y, component->slope_y.z, component->slope_y.w};
  for (int c = 0; c < CHANNELS; ++c) {
    const two expert = two_add(two_add(two_scale(dx, slope_x[c]), two_scale(dy, slope_y[c])), (two)(tint[c], 0.0f));
    sums->colour[c] = two_add(sums->colour[c], two_multiply(weight, expert));
  }
}

static void sum_list_exact(const Area *area, __local const Memory *memory, int first, int listed, Exact *sums) {
  const int item = item_of();
  const int tile = item / TILES;
  const ulong row = area->sizes.padded;
  const float x = (float)(area->left + item_column(item));
  const float y = (float)(area->top + item_row(item));
  for (int p = 0; p < listed; ++p) {
    const uint j = memory->candidates[first + memory->list[tile][p]];
    const __global float4 *placed = area->placed + j;
    const __global float4 *model = area->model + j;
    const Component component = {placed[PLACE * row], placed[SHAPE * row], placed[REST * row], placed[TINT * row],
                           model[SLOPE_X * row] * area->step.x, model[SLOPE_Y * row] * area->step.y};
    for (int i = 0; i < 4; ++i) add_exact(&component, x, y + (float)i, &sums[i]);
  }
}

static void write_exact_pixels(const Area *area, const Exact *sums, __global float *image) {
  const int column = area->left + item_column(item_of());
  for (int i = 0; i < 4; ++i) {
    const int row = area->top + item_row(item_of()) + i;
    if (column > area->right || row > area->bottom) continue;
    __global float *pixel = image + ((ulong)row * area->sizes.width + column) * CHANNELS;
    for (int c = 0; c < CHANNELS; ++c) {
      pixel[c] = sums[i].weight.x > 0.0f ? two_divide(sums[i].colour[c], sums[i].weight).x : 0.0f;
    }
  }
}
