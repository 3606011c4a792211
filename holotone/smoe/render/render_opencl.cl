// Pictures of mixtures: a group of 256 items takes an area of 32 x 32 pixels, 16 tiles of 8 x 8, and neither lists nor
// bounds leave its local memory. It passes over the nodes of components_opencl.cl, tests those components that are left
// against each tile in batches of up to 256, and sums the ones that a tile needs: 16 items a tile, four pixels each.
// The bound is that of docs/smoe.md; if the components left out together exceed it, the area is done again with a lower
// threshold. Bound by arithmetic: a power of two, 4 + 2 CHANNELS additions and products for each pixel and component.
// exact_areas repeats areas or tiles in pairs of floats, 48 bits, with the largest density of each pixel subtracted.
// Options: -DCHANNELS=1
// Options: -DCHANNELS=3
// Options: -DCHANNELS=4
#include "holotone/smoe/render/components_opencl.cl"

#define TILES 16          // of an area, four across
#define SIDE 32           // of an area
#define TILE 8
#define QUARTERS 64       // of an area, eight across
#define MIDDLE 15.5f      // of an area
#define FOURS (2 + (3 * CHANNELS + 3) / 4)  // float4 of a staged component
#define MOST_POWER 100.0f                   // of a weight in float32
#define WIDEST (90.0f + MOST_POWER)         // range of log2 densities in float32
#define MINOR 2048.0f     // weights below 1 / MINOR of the best enter the bound of rounding proportionally less
#define MOST_TRIES 5
#define MOST_PASSES 12

enum { BOUNDED, WINDOW, ALL };

typedef struct {
  float tolerance, window;
  int window_block, selection, robust;
} Settings;

typedef struct {
  float4 staged[ITEMS * FOURS];  // across, u, skew, down; v, peak, |colour - reference|, steep; colour and its slopes
  uchar list[TILES][ITEMS];
  ushort mask[TILES][ITEMS / TILES];
  uint candidates[2 * ITEMS];
  uint nodes[2][ITEMS + PACK];  // bundles and packs to be looked into
  uint vote[2][ITEMS / 32];
  uint best[QUARTERS];
  float least[TILES];  // L
  float4 totals[TILES];
  uint range, rounding, rough;
} Memory;

typedef struct {
  Sizes sizes;
  Settings settings;
  const __global float4 *model;
  const __global float4 *placed;
  const __global Node *nodes;
  int left, top;      // of the area
  int right, bottom;  // its last pixels in the picture
  float2 step;
  float4 windows;     // left, right, top, bottom of all windows of the area
} Area;

// State of an area, the same in all items but for the sums of their own.
typedef struct {
  int finding;      // L of the quarters, not yet sums
  float origin;     // subtracted from log2 densities
  float threshold;  // of a component's share
  float guess;      // of |y - reference|
  float spread;     // the same, as large as shares have it
  float away;       // largest |reference - 1/2|
  float above;      // added to a tile's L, so that float32 holds the largest weight
  float4 reference;
  int checked;      // float32 will do if the mean of |m - reference| is small at each pixel
  float most_spread;
  float dropped, excess, far;  // of this item
  int listed;                  // components of this item's tile
} State;

static int item_of(void) { return (int)get_local_id(0); }
static int tile_left(int tile) { return tile % 4 * TILE; }
static int tile_top(int tile) { return tile / 4 * TILE; }
static int has(const Area *area, int column, int row) {
  return area->left + column <= area->right && area->top + row <= area->bottom;
}

// Upper bound of 2^x.
static float power_above(float x) { return fma(native_exp2(x), 1.000002f, 1.2e-38f); }
// Upper bound of a of docs/smoe.md.
static float most_away(float below) { return 1.0001f * native_sqrt(fmax(below, STEEPEST * STEEPEST)); }

static float2 window_along(int first, int side, int last, float window) {
  const int begin = first / side * side;
  return (float2)((float)begin - window, (float)(min(begin + side, last) - 1) + window);
}

// Left, right, top, bottom of the windows of the pixels from (column, row) of the area to the end of their tiles or the
// area.
static float4 windows_of(const Area *area, int column, int row, int side) {
  const int block = area->settings.window_block;
  const float window = area->settings.window;
  const int x = area->left + column;
  const int y = area->top + row;
  const float2 left = window_along(x, block, area->sizes.width, window);
  const float2 right = window_along(min(x + side - 1, area->right), block, area->sizes.width, window);
  const float2 top = window_along(y, block, area->sizes.height, window);
  const float2 bottom = window_along(min(y + side - 1, area->bottom), block, area->sizes.height, window);
  return (float4)(left.x, right.y, top.x, bottom.y);
}

static int is_within(float4 window, float4 centre) {
  return (centre.x - window.s0) + centre.y >= 0.0f && (centre.x - window.s1) + centre.y <= 0.0f &&
         (centre.z - window.s2) + centre.w >= 0.0f && (centre.z - window.s3) + centre.w <= 0.0f;
}

// True if a node may hold what the area needs; otherwise its share is added to `far`.
static int needs_node(const Area *area, State *state, Node node) {
  if (area->settings.selection == WINDOW) {
    const float4 w = area->windows;
    return -node.s0 <= w.s1 && node.s1 >= w.s0 && -node.s2 <= w.s3 && node.s3 >= w.s2;
  }
  const float fall = fall_of(node, (float)area->left, (float)area->right, (float)area->top, (float)area->bottom);
  if (state->finding) return !(node.s7 - fall < state->threshold);
  if (state->threshold <= 0.0f) return 1;
  const float power = node.s6 - state->origin - fall * 0.99999f;
  const float share = power_above(power + 1e-6f * fabs(state->origin) + 2e-6f * fabs(node.s6)) * sqrt(fmax(fall, 1.0f));
  if (!(share * 1.00001f < state->threshold * (1.0f / 64))) return 1;
  state->far += share * 1.00001f;
  return 0;
}

// The same for a component.
static int needs_component(const Area *area, State *state, uint j) {
  const ulong row = area->sizes.padded;
  const __global float4 *own = area->placed + j;
  const float4 centre = own[PLACE * row];
  if (area->settings.selection == WINDOW) return is_within(area->windows, centre);
  if (!state->finding && state->threshold <= 0.0f) return 1;
  const float4 shape = own[SHAPE * row];
  const float dx = ((float)area->left + MIDDLE - centre.x) - centre.y;
  const float dy = ((float)area->top + MIDDLE - centre.z) - centre.w;
  const float skewed = fabs(shape.y);
  const float u = fmax(shape.x * (fabs(dx) - MIDDLE), 0.0f);
  const float v = fmax(fabs(fma(shape.y, dx, shape.z * dy)) - MIDDLE * (skewed + shape.z), 0.0f);
  const float unsure = slack(shape.x * (fabs(dx) + MIDDLE),
                             fma(skewed, fabs(dx) + MIDDLE, shape.z * (fabs(dy) + MIDDLE)), shape.w);
  const float density = shape.w - u * u - v * v + unsure;
  if (state->finding) return !(density < state->threshold);
  const float steep = area->model[CENTRE * row + j].z;
  const float reach = fma(steep, most_away(shape.w - density + unsure), away_from_grey(own[TINT * row]));
  const float share = power_above(density - state->origin) * (reach + GUESSED);
  if (!(share < state->threshold * (1.0f / 64))) return 1;
  state->far += share;
  return 0;
}

// The mean colour of the candidates in the area, and a guess of how far its colours are from that. Only the first
// candidates count.
static void set_reference(const Area *area, __local Memory *memory, State *state, int first, int count) {
  __local float8 *room = (__local float8 *)memory->staged;
  const ulong row = area->sizes.padded;
  const int item = item_of();
  const int wanted = !state->finding && state->guess <= 0.0f;
  float8 own = (float8)(0.0f);
  if (wanted && item < count) {
    const uint j = memory->candidates[first + item];
    const float4 centre = area->placed[PLACE * row + j];
    const float x = centre.x - (float)area->left;
    const float y = centre.z - (float)area->top;
    if (x >= -0.5f && y >= -0.5f && x <= SIDE && y <= SIDE) {
      const float4 colour = area->placed[TINT * row + j];
      own = (float8)(1.0f, dot(colour, colour), fmin(area->model[CENTRE * row + j].z, 1.0f), 0.0f, colour);
    }
  }
  room[item] = own;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (wanted && item < TILES) {
    for (int i = 1; i < ITEMS / TILES; ++i) own += room[item + i * TILES];
    room[item] = own;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (wanted) {
    own = room[0];
    for (int i = 1; i < TILES; ++i) own += room[i];
    const int some = own.s0 > 0.0f;
    const float part = some ? 1.0f / own.s0 : 0.0f;
    state->reference = some ? own.s4567 * part : (float4)(0.5f);
    const float variance = some ? own.s1 * part - dot(state->reference, state->reference) : 0.0f;
    state->away = away_from_grey(state->reference);
    state->guess = 2.0f * sqrt(fmax(variance, 0.0f)) + 0.02f + 4.0f * own.s2 * part;
    state->guess = fmin(fmax(state->guess, area->settings.tolerance), HUGE);
    state->spread = state->guess;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}

// Numbers of a component about the middle of the area. In pairs of floats: for distant ones u and v are small
// differences of large numbers.
static void stage(const Area *area, const State *state, uint j, __local float4 *staged) {
  const ulong row = area->sizes.padded;
  const __global float4 *own = area->placed + j;
  const float4 centre = own[PLACE * row];
  const float4 shape = own[SHAPE * row];
  const float4 rest = own[REST * row];
  const two dx = two_subtract((two)((float)area->left + MIDDLE, 0.0f), centre.xy);
  const two dy = two_subtract((two)((float)area->top + MIDDLE, 0.0f), centre.zw);
  const two u = two_multiply((two)(shape.x, rest.x), dx);
  const two v = two_add(two_multiply((two)(shape.y, rest.y), dx), two_multiply((two)(shape.z, rest.z), dy));
  const float4 tint = own[TINT * row] - state->reference;
  const __global float4 *model = area->model + j;
  const float4 slope_x = model[SLOPE_X * row] * area->step.x;
  const float4 slope_y = model[SLOPE_Y * row] * area->step.y;
  float away = fabs(tint.x);
  const float4 middle = fma(slope_x, (float4)(dx.x), fma(slope_y, (float4)(dy.x), tint));
  staged[0] = (float4)(shape.x, u.x, shape.y, shape.z);
#if CHANNELS > 1
  away = fmax(away, fabs(tint.y));
#endif
#if CHANNELS > 2
  away = fmax(away, fabs(tint.z));
#endif
#if CHANNELS > 3
  away = fmax(away, fabs(tint.w));
#endif
  staged[1] = (float4)(v.x, (shape.w - state->origin) + rest.w, away, fmax(model[CENTRE * row].z, 1e-6f));
#if CHANNELS == 1
  staged[2] = (float4)(middle.x, slope_x.x, slope_y.x, 0.0f);
#else
  staged[2] = (float4)(middle.x, slope_x.x, slope_y.x, middle.y);
  staged[3] = (float4)(slope_x.y, slope_y.y, middle.z, slope_x.z);
#endif
#if CHANNELS > 2
  staged[4] = (float4)(slope_y.z, middle.w, slope_x.w, slope_y.w);
#endif
}

// Raises L of quarters by staged components: four items a quarter.
static void raise_quarters(const Area *area, __local Memory *memory, int first, int count) {
  const int quarter = item_of() % QUARTERS;
  const int column = quarter % 8 * QUARTER;
  const int row = quarter / 8 * QUARTER;
  if (!has(area, column, row)) return;
  const float middle = 0.5f * (QUARTER - 1);
  const float x = (float)column + middle - MIDDLE;
  const float y = (float)row + middle - MIDDLE;
  const int windows = area->settings.selection == WINDOW;
  float4 window = (float4)(0.0f);
  if (windows) window = windows_of(area, column / TILE * TILE, row / TILE * TILE, TILE);
  float best = -HUGE;
  for (int i = item_of() / QUARTERS; i < count; i += ITEMS / QUARTERS) {
    const float4 a = memory->staged[i * FOURS];
    const float4 b = memory->staged[i * FOURS + 1];
    const float skewed = fabs(a.z);
    const float u = fabs(fma(a.x, x, a.y)) + middle * a.x;
    const float v = fabs(fma(a.z, x, fma(a.w, y, b.x))) + middle * (skewed + a.w);
    const float unsure = slack(fabs(a.y) + a.x * 16.0f, fma(skewed + a.w, 16.0f, fabs(b.x)), b.y);
    const float least = b.y - fma(u, u, v * v) - unsure;
    if (!(least > best)) continue;
    if (windows && !is_within(window, area->placed[PLACE * (ulong)area->sizes.padded + memory->candidates[first + i]]))
      continue;
    best = least;
  }
  if (best > -HUGE) atomic_max(&memory->best[quarter], ordered_bits(best));
}

// Upper bound of e of docs/smoe.md over `steep`.
static float excess_of(float above) {
  return fmax(above, 0.0f) + 0.3123f * power_above(1.69f * fmin(above, 0.0f));
}

// Tests the staged components against each tile: sixteen items a tile.
static void test_tiles(const Area *area, __local Memory *memory, State *state, int first, int count) {
  const int tile = item_of() / TILES;
  const int lane = item_of() % TILES;
  const float middle = 0.5f * (TILE - 1);
  const float x = (float)tile_left(tile) + middle - MIDDLE;
  const float y = (float)tile_top(tile) + middle - MIDDLE;
  const float least = memory->least[tile] - state->origin;
  const int windows = area->settings.selection == WINDOW;
  float4 window = (float4)(0.0f);
  if (windows) window = windows_of(area, tile_left(tile), tile_top(tile), TILE);
  uint mask = 0;
  float range = 0.0f;
  float rounding = 0.0f;
  const int end = has(area, tile_left(tile), tile_top(tile)) ? count : 0;
  for (int k = 0; k * TILES + lane < end; ++k) {
    const int i = k * TILES + lane;
    const float4 a = memory->staged[i * FOURS];
    const float4 b = memory->staged[i * FOURS + 1];
    const float away = b.z;
    const float steep = b.w;
    const float skewed = fabs(a.z);
    const float peak =
        b.y + slack(fabs(a.y) + a.x * 16.0f, fma(skewed + a.w, 16.0f, fabs(b.x)), b.y) - least;
    const float u = fmax(fabs(fma(a.x, x, a.y)) - middle * a.x, 0.0f);
    const float v = fmax(fabs(fma(a.z, x, fma(a.w, y, b.x))) - middle * (skewed + a.w), 0.0f);
    const float relative = fma(-v, v, fma(-u, u, peak));
    const float weight = power_above(relative);
    const float below = most_away(peak - fmin(relative, 0.0f));
    const float reach = fma(steep, below, away);
    const float share = weight * (reach + state->spread);
    const int keep =
        windows ? is_within(window, area->placed[PLACE * (ulong)area->sizes.padded + memory->candidates[first + i]])
                : !(share < state->threshold);
    if (!keep) {
      state->dropped += share;
      continue;
    }
    mask |= 1u << k;
    range = fmax(range, relative);
    state->excess +=
        fmin(weight, 1.0f) * steep * excess_of(native_divide(away - state->guess, steep) + below);
    // Largest u and v where the component matters; they are sums of terms about the area's middle.
    const float most = native_sqrt(fmax(peak, 0.0f) + 10.0f);
    const float terms = fma(0.5f * SIDE, a.x + skewed + a.w, 2.0f * most);
    rounding = fmax(rounding, fmin(MINOR * weight * (reach + 1.0f), 1.0f) * terms * most);
  }
  memory->mask[tile][lane] = (ushort)mask;
  if (mask != 0) {
    atomic_max(&memory->range, as_uint(range));
    atomic_max(&memory->rounding, as_uint(rounding));
  }
}

// Lists what each tile needs; returns the number.
static int list_tiles(__local Memory *memory) {
  const int tile = item_of() / TILES;
  const int lane = item_of() % TILES;
  int before = 0;
  int all = 0;
  for (int i = 0; i < TILES; ++i) {
    const int own = (int)popcount((uint)memory->mask[tile][i]);
    if (i < lane) before += own;
    all += own;
  }
  for (uint mask = memory->mask[tile][lane]; mask != 0; mask &= mask - 1) {
    const int k = 31 - (int)clz(mask & (0u - mask));
    memory->list[tile][before++] = (uchar)(k * TILES + lane);
  }
  return all;
}

// Sums of an item's four pixels, one below the other.
typedef struct {
  float weight[4];
  float spread[4];
  float colour[CHANNELS][4];
} Sums;

static int row_of(int item) { return tile_top(item / TILES) + item % TILES / TILE * 4; }
static int column_of(int item) { return tile_left(item / TILES) + item % TILE; }

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

static void sum_list(__local const Memory *memory, const State *state, int listed, Sums *sums) {
  const int item = item_of();
  const int tile = item / TILES;
  const float x = (float)column_of(item) - MIDDLE;
  const float y = (float)row_of(item) - MIDDLE;
  const float shift = memory->least[tile] - state->origin + state->above;
  if (state->checked) {
    for (int p = 0; p < listed; ++p) add(memory->staged + memory->list[tile][p] * FOURS, x, y, shift, 1, sums);
  } else {
    for (int p = 0; p < listed; ++p) add(memory->staged + memory->list[tile][p] * FOURS, x, y, shift, 0, sums);
  }
}

// Sums of a pixel in pairs of floats, relative to 2^most, a whole power at least as large as the largest weight.
typedef struct {
  float most;
  two weight;
  two colour[CHANNELS];
} Exact;

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

static void add_exact(const Component *own, float x, float y, Exact *sums) {
  const two dx = two_subtract((two)(x, 0.0f), own->centre.xy);
  const two dy = two_subtract((two)(y, 0.0f), own->centre.zw);
  const two u = two_multiply((two)(own->shape.x, own->rest.x), dx);
  const two v = two_add(two_multiply((two)(own->shape.y, own->rest.y), dx),
                        two_multiply((two)(own->shape.z, own->rest.z), dy));
  if (!(fabs(u.x) < 1e15f && fabs(v.x) < 1e15f)) return;
  const two density = two_subtract((two)(own->shape.w, own->rest.w), two_add(two_multiply(u, u), two_multiply(v, v)));
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
  const float tint[4] = {own->tint.x, own->tint.y, own->tint.z, own->tint.w};
  const float slope_x[4] = {own->slope_x.x, own->slope_x.y, own->slope_x.z, own->slope_x.w};
  const float slope_y[4] = {own->slope_y.x, own->slope_y.y, own->slope_y.z, own->slope_y.w};
  for (int c = 0; c < CHANNELS; ++c) {
    const two expert = two_add(two_add(two_scale(dx, slope_x[c]), two_scale(dy, slope_y[c])), (two)(tint[c], 0.0f));
    sums->colour[c] = two_add(sums->colour[c], two_multiply(weight, expert));
  }
}

static void sum_list_exact(const Area *area, __local const Memory *memory, int first, int listed, Exact *sums) {
  const int item = item_of();
  const int tile = item / TILES;
  const ulong row = area->sizes.padded;
  const float x = (float)(area->left + column_of(item));
  const float y = (float)(area->top + row_of(item));
  for (int p = 0; p < listed; ++p) {
    const uint j = memory->candidates[first + memory->list[tile][p]];
    const __global float4 *placed = area->placed + j;
    const __global float4 *model = area->model + j;
    const Component own = {placed[PLACE * row], placed[SHAPE * row], placed[REST * row], placed[TINT * row],
                           model[SLOPE_X * row] * area->step.x, model[SLOPE_Y * row] * area->step.y};
    for (int i = 0; i < 4; ++i) add_exact(&own, x, y + (float)i, &sums[i]);
  }
}

// What a pass over the components has come to.
enum { DONE, AGAIN, INEXACT };

// Joins the items' sums, and sets what another pass needs.
static int judge(const Area *area, __local Memory *memory, State *state, int pass, int exact) {
  const int item = item_of();
  __local float4 *room = (__local float4 *)memory->staged;
  barrier(CLK_LOCAL_MEM_FENCE);
  room[item] = (float4)(state->dropped, state->excess, state->far, item % TILES == 0 ? (float)state->listed : 0.0f);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (item < TILES) {
    float4 sum = room[item * TILES];
    for (int i = 1; i < TILES; ++i) sum += room[item * TILES + i];
    memory->totals[item] = sum;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  float4 most = (float4)(0.0f);
  float far = 0.0f;
  for (int tile = 0; tile < TILES; ++tile) {
    const float4 own = memory->totals[tile];
    most = fmax(most, own);
    far += own.z;
  }
  const float range = as_float(memory->range);
  const float largest = as_float(memory->rounding);
  const float tolerance = area->settings.tolerance;
  if (area->settings.selection == BOUNDED) {
    const float spread = (state->guess + most.y) * 1.0001f;
    // Shares were computed with guesses of B.
    const float wider = fmax(1.0f, spread / state->spread);
    const float unseen = far * fmax(1.0f, (state->away + spread) / GUESSED);
    const float all = (most.x * wider + unseen) * 1.0005f;
    state->spread = fmax(state->spread, spread);
    if (state->threshold > 0.0f && !(all <= 0.65f * tolerance)) {
      const float wanted = 0.5f * 0.65f * tolerance / all;
      state->threshold *= fmin(fmax(wanted, 1.0f / 64), 0.25f);
      if (!(pass < MOST_TRIES)) state->threshold = 0.0f;
      return AGAIN;
    }
    if (exact) return DONE;
    // As in block_lists_cuda.cuh: errors of u and v, of exponents, of one sum after another.
    const float exponents = 0.7f * 3.6e-7f * largest;
    const float minors = most.w / MINOR;
    const float rounding =
        exponents * (2.0f + minors) + 0.7f * 2.4e-7f * (range + 126.0f) * 2.0f + 1.2e-7f * (most.w + 8.0f);
    const float room_left = tolerance - exponents * minors - 1.2e-7f * (state->away + 0.5f) - all;
    if (!(0.25f * rounding * state->guess <= room_left)) return INEXACT;
    state->most_spread = room_left / rounding;
    if (!state->checked && !(rounding * spread <= room_left)) {
      state->checked = 1;
      return AGAIN;
    }
  }
  if (exact) return DONE;
  if (!(range <= WIDEST)) return INEXACT;
  if (!(range <= state->above + MOST_POWER)) {
    state->above = range - MOST_POWER;
    return AGAIN;
  }
  return DONE;
}

// Counts of nodes and components that wait, and the bundles seen. All items have the same.
typedef struct {
  uint seen, bundles, packs, candidates;
  int round;
} Waiting;

static int has_nodes(const Area *area, const Waiting *wait) {
  return wait->packs > 0 || wait->bundles > 0 || wait->seen < area->sizes.padded / ITEMS;
}

// The next up to 256 nodes or components: their level (0 bundles, 1 packs, 2 components), and this item's.
static int next(const Area *area, __local const Memory *memory, Waiting *wait, uint *index, int *valid) {
  const uint bundles = area->sizes.padded / ITEMS;
  const uint slot = (uint)item_of() / PACK;
  const uint lane = (uint)item_of() % PACK;
  const int all_seen = wait->seen >= bundles;
  if (wait->packs >= PACK || (wait->packs > 0 && wait->bundles == 0 && all_seen)) {
    const uint take = min(wait->packs, (uint)PACK);
    *valid = slot < take;
    *index = *valid ? memory->nodes[1][wait->packs - 1 - slot] * PACK + lane : 0;
    *valid = *valid && *index < area->sizes.count;
    wait->packs -= take;
    return 2;
  }
  if (wait->bundles >= PACK || (wait->bundles > 0 && all_seen)) {
    const uint take = min(wait->bundles, (uint)PACK);
    *valid = slot < take;
    *index = *valid ? memory->nodes[0][wait->bundles - 1 - slot] * PACK + lane : 0;
    wait->bundles -= take;
    return 1;
  }
  *index = wait->seen + (uint)item_of();
  *valid = *index < bundles;
  wait->seen += ITEMS;
  return 0;
}

// Writes what the items keep behind a list, in the items' order; returns the number. `round` changes from call to call.
static uint append(__local Memory *memory, int round, int keep, uint value, __local uint *list) {
  const int item = item_of();
  __local uint *vote = memory->vote[round & 1];
  if (keep) atomic_or(&vote[item / 32], 1u << (item % 32));
  barrier(CLK_LOCAL_MEM_FENCE);
  uint before = 0;
  uint all = 0;
  for (int i = 0; i < ITEMS / 32; ++i) {
    const uint own = vote[i];
    const uint mask = i < item / 32 ? 0xFFFFFFFFu : i == item / 32 ? (1u << (item % 32)) - 1u : 0u;
    before += popcount(own & mask);
    all += popcount(own);
  }
  if (keep) list[before] = value;
  if (item < ITEMS / 32) memory->vote[~round & 1][item] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  return all;
}

// L of tiles from that of quarters, and the least of all; true if a quarter of the picture has none.
static int set_least(const Area *area, __local Memory *memory, State *state) {
  const int item = item_of();
  barrier(CLK_LOCAL_MEM_FENCE);
  if (item < TILES) {
    const int first = item / 4 * 16 + item % 4 * 2;
    uint least = 0xFFFFFFFFu;
    for (int i = 0; i < 4; ++i) {
      const int quarter = first + i / 2 * 8 + i % 2;
      if (has(area, quarter % 8 * QUARTER, quarter / 8 * QUARTER)) least = min(least, memory->best[quarter]);
    }
    // Tiles outside the picture need nothing, nor do those without a component in their windows.
    const int none = least == 0xFFFFFFFFu || (least == 0 && area->settings.selection == WINDOW);
    memory->least[item] = none ? HUGE : least == 0 ? -HUGE : from_ordered(least);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  float least = HUGE;
  for (int tile = 0; tile < TILES; ++tile) least = fmin(least, memory->least[tile]);
  state->origin = fabs(least) < HUGE ? least : 0.0f;
  return least <= -HUGE;
}

// Raises L of every quarter by one component of each bundle: a first value where none is near.
static void raise_by_samples(const Area *area, __local Memory *memory, State *state, int wanted) {
  const uint bundles = area->sizes.padded / ITEMS;
  uint first = 0;
  do {
    const int count = wanted ? (int)min(bundles - first, (uint)ITEMS) : 0;
    if (item_of() < count) {
      stage(area, state, (first + (uint)item_of()) * ITEMS, memory->staged + item_of() * FOURS);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    raise_quarters(area, memory, 0, count);
    barrier(CLK_LOCAL_MEM_FENCE);
    first += ITEMS;
  } while (wanted && first < bundles);
}

// Looks into nodes until a batch of components waits or nothing is left.
static void gather(const Area *area, __local Memory *memory, State *state, Waiting *wait) {
  const uint bundles = area->sizes.padded / ITEMS;
  do {
    uint index = 0;
    int valid = 0;
    const int level = next(area, memory, wait, &index, &valid);
    int keep = 0;
    if (valid) {
      keep = level == 2 ? needs_component(area, state, index)
                        : needs_node(area, state, area->nodes[level == 0 ? index : bundles + index]);
    }
    const uint before = level == 2 ? wait->candidates : level == 1 ? wait->packs : wait->bundles;
    const uint found = append(memory, wait->round++, keep, index,
                              (level == 2 ? memory->candidates : memory->nodes[level]) + before);
    if (level == 2) wait->candidates += found;
    if (level == 1) wait->packs += found;
    if (level == 0) wait->bundles += found;
  } while (wait->candidates < ITEMS && has_nodes(area, wait));
}

// Passes over the components: raises L by them if `finding`, otherwise lists and sums them. Barriers stand outside of
// all branches, and loops with barriers test at their end: compilers for CPUs copy the code behind all others.
static void visit(const Area *area, __local Memory *memory, State *state, const int exact, Sums *sums,
                  Exact *exact_sums) {
  Waiting wait = {0, 0, 0, 0, 0};
  do {
    gather(area, memory, state, &wait);
    const int count = (int)min(wait.candidates, (uint)ITEMS);
    const int first = (int)wait.candidates - count;
    wait.candidates = (uint)first;
    set_reference(area, memory, state, first, count);
    if (item_of() < count) {
      stage(area, state, memory->candidates[first + item_of()], memory->staged + item_of() * FOURS);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (state->finding) {
      raise_quarters(area, memory, first, count);
    } else {
      test_tiles(area, memory, state, first, count);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const int listed = state->finding ? 0 : list_tiles(memory);
    state->listed += listed;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (exact) {
      sum_list_exact(area, memory, first, listed, exact_sums);
    } else {
      sum_list(memory, state, listed, sums);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  } while (wait.candidates > 0 || has_nodes(area, &wait));
}

static void restart(__local Memory *memory, State *state, Sums *sums, Exact *exact_sums) {
  barrier(CLK_LOCAL_MEM_FENCE);
  if (item_of() == 0) memory->range = memory->rounding = memory->rough = 0;
  if (item_of() < ITEMS / 32) memory->vote[0][item_of()] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  state->dropped = state->excess = state->far = 0.0f;
  state->listed = 0;
  for (int i = 0; i < 4; ++i) {
    sums->weight[i] = sums->spread[i] = 0.0f;
    exact_sums[i].most = -HUGE;
    exact_sums[i].weight = (two)(0.0f);
    for (int c = 0; c < CHANNELS; ++c) {
      sums->colour[c][i] = 0.0f;
      exact_sums[i].colour[c] = (two)(0.0f);
    }
  }
}

// Writes an item's pixels; false if float32 was not precise enough for one of them.
static int write_pixels(const Area *area, const State *state, const Sums *sums, __global float *image) {
  const int column = area->left + column_of(item_of());
  const float reference[4] = {state->reference.x, state->reference.y, state->reference.z, state->reference.w};
  int fits = 1;
  for (int i = 0; i < 4; ++i) {
    const int row = area->top + row_of(item_of()) + i;
    if (column > area->right || row > area->bottom) continue;
    if (state->checked && !(sums->spread[i] <= state->most_spread * sums->weight[i])) fits = 0;
    const float scale = 1.0f / sums->weight[i];
    __global float *pixel = image + ((ulong)row * area->sizes.width + column) * CHANNELS;
    for (int c = 0; c < CHANNELS; ++c) {
      pixel[c] = sums->weight[i] > 0.0f ? fma(sums->colour[c][i], scale, reference[c]) : 0.0f;
    }
  }
  return fits;
}

static void write_exact_pixels(const Area *area, const Exact *sums, __global float *image) {
  const int column = area->left + column_of(item_of());
  for (int i = 0; i < 4; ++i) {
    const int row = area->top + row_of(item_of()) + i;
    if (column > area->right || row > area->bottom) continue;
    __global float *pixel = image + ((ulong)row * area->sizes.width + column) * CHANNELS;
    for (int c = 0; c < CHANNELS; ++c) {
      pixel[c] = sums[i].weight.x > 0.0f ? two_divide(sums[i].colour[c], sums[i].weight).x : 0.0f;
    }
  }
}

// Renders the tiles of a bit mask; returns those that need more than float32. totals[tile].w is then the number of
// components summed in a tile.
static uint render(const Area *area, __local Memory *memory, uint tiles, const int exact, const __global uint *best,
                   __global float *image) {
  const int item = item_of();
  const int selection = area->settings.selection;
  if (item < QUARTERS) {
    const int column = area->left / QUARTER + item % 8;
    const int row = area->top / QUARTER + item / 8;
    const ulong across = (area->sizes.width + QUARTER - 1) / QUARTER;
    const int inside = selection != WINDOW && has(area, item % 8 * QUARTER, item / 8 * QUARTER);
    memory->best[item] = inside ? best[row * across + column] : 0;
  }
  State state;
  state.guess = state.spread = state.away = state.above = state.most_spread = state.origin = 0.0f;
  state.reference = (float4)(0.0f);
  state.checked = 0;
  Sums sums;
  Exact exact_sums[4];
  const int sparse = set_least(area, memory, &state);
  raise_by_samples(area, memory, &state, sparse);
  int lacks = set_least(area, memory, &state);
  state.finding = sparse || selection == WINDOW;
  state.threshold = lacks ? -HUGE : state.origin;
  if (state.finding) state.origin = 0.0f;
  const float threshold = selection == BOUNDED ? area->settings.tolerance * (1.0f / 24) : 0.0f;
  if (!state.finding) state.threshold = threshold;
  int verdict;
  int pass = 0;
  do {
    restart(memory, &state, &sums, exact_sums);
    visit(area, memory, &state, exact, &sums, exact_sums);
    verdict = judge(area, memory, &state, pass, exact);
    const float origin = state.origin;
    lacks = set_least(area, memory, &state);
    if (state.finding) {
      verdict = lacks && !exact ? INEXACT : AGAIN;
      state.threshold = lacks ? 0.0f : threshold;
    } else {
      state.origin = origin;
    }
    state.finding = 0;
  } while (verdict == AGAIN && ++pass < MOST_PASSES);
  if (exact) {
    if ((tiles >> (item / TILES) & 1u) != 0) write_exact_pixels(area, exact_sums, image);
    return 0;
  }
  if (verdict != DONE) return tiles;
  if (!write_pixels(area, &state, &sums, image)) atomic_or(&memory->rough, 1u << (item / TILES));
  barrier(CLK_LOCAL_MEM_FENCE);
  return memory->rough;
}

#define RENDER_ARGUMENTS                                                                                             \
  Sizes sizes, Settings settings, ARRAY(const float4, model), ARRAY(const float4, frames), ARRAY(const float4, placed), \
      ARRAY(const Node, nodes), ARRAY(const uint, best), ARRAY(uint4, counts), ARRAY(float, images)

// counts[view][area]: components summed in its tiles, most of them in one, bit mask of the tiles left to exact_areas
// and then summed there.
#define RENDER(exact)                                                                                               \
  __local Memory memory;                                                                                            \
  const ulong view = get_group_id(1);                                                                               \
  const uint number = get_group_id(0);                                                                              \
  const ulong quarters =                                                                                            \
      (ulong)((sizes.width + QUARTER - 1) / QUARTER) * ((sizes.height + QUARTER - 1) / QUARTER);                    \
  Area area = area_of(sizes, settings, number, AT(frames) + view * FRAME_ROWS);                                     \
  area.model = AT(model);                                                                                           \
  area.placed = AT(placed) + view * PLACED_ROWS * sizes.padded;                                                     \
  area.nodes = AT(nodes) + view * (sizes.padded / ITEMS + sizes.padded / PACK);                                     \
  __global uint4 *count = AT(counts) + view * sizes.areas + number;                                                 \
  const uint here = tiles_of(&area);                                                                                \
  const uint wanted = exact && !settings.robust ? count->z : here;                                                  \
  if (wanted != 0) {                                                                                                \
    const uint left = render(&area, &memory, wanted, exact, AT(best) + view * quarters,                             \
                             AT(images) + view * sizes.width * sizes.height * CHANNELS);                            \
    write_counts(&memory, wanted & ~left, left, exact && !settings.robust, count);                                  \
  }

static Area area_of(Sizes sizes, Settings settings, uint number, const __global float4 *frame) {
  Area area;
  area.sizes = sizes;
  area.settings = settings;
  area.left = (int)(number % (uint)sizes.areas_x) * SIDE;
  area.top = (int)(number / (uint)sizes.areas_x) * SIDE;
  area.right = min(area.left + SIDE, sizes.width) - 1;
  area.bottom = min(area.top + SIDE, sizes.height) - 1;
  area.step = frame[STEP].xz;
  area.windows = windows_of(&area, 0, 0, SIDE);
  return area;
}

// The area's tiles in the picture.
static uint tiles_of(const Area *area) {
  uint tiles = 0;
  for (int tile = 0; tile < TILES; ++tile) {
    if (has(area, tile_left(tile), tile_top(tile))) tiles |= 1u << tile;
  }
  return tiles;
}

static void write_counts(__local const Memory *memory, uint done, uint left, int more, __global uint4 *count) {
  if (item_of() != 0) return;
  uint4 own = more ? *count : (uint4)(0);
  for (int tile = 0; tile < TILES; ++tile) {
    if ((done >> tile & 1u) == 0) continue;
    const uint listed = (uint)memory->totals[tile].w;
    own.x += listed;
    own.y = max(own.y, listed);
  }
  if (!more) own.z = left;
  *count = own;
}

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void areas(RENDER_ARGUMENTS) { RENDER(0) }

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void exact_areas(RENDER_ARGUMENTS) { RENDER(1) }
