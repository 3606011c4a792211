// An area of a picture, 32 x 32 pixels or 16 tiles of 8 x 8, which a group of 256 items takes: the walk over the nodes
// of components_opencl.cl, the test of components against each tile, and the bound of what is left out. The bound is
// that of docs/smoe.md, as holotone/smoe/render/lists/*_lists_cuda.cuh have it for CUDA.
// Options: -DCHANNELS=3
#include "holotone/smoe/render/lists/components_opencl.cl"

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

// What a pass over the components has come to.
enum { DONE, AGAIN, INEXACT };

// State of an area, set by its first item through volatile pointers: PoCL 3.1 was seen to lose other stores of one
// item.
typedef struct {
  int finding;      // L of the quarters, not yet sums
  int verdict;
  int passes;
  float origin;     // subtracted from log2 densities
  float threshold;  // of a component's share; while L is found, the least density that may raise it
  float guess;      // of |y - reference|; 0: none yet
  float spread;     // the same, as large as shares have it
  float away;       // largest |reference - 1/2|
  float above;      // added to a tile's L, so that float32 holds the largest weight
  int checked;      // float32 will do if the mean of |m - reference| is small at each pixel
  float max_spread;
  float4 reference;
} State;

// Nodes and components that wait, and the bundles seen.
typedef struct {
  uint seen, bundles, packs, candidates;
} Waiting;

// Sums of an item over the components that it tests.
typedef struct {
  float dropped, excess;  // shares of those that its tile leaves out, excess of B over the guess
  float far;              // shares of what the whole area leaves out
  int listed;             // by its tile
} Shares;

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
  State state;
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

static int item_of(void) { return (int)get_local_id(0); }
static int tile_left(int tile) { return tile % 4 * TILE; }
static int tile_top(int tile) { return tile / 4 * TILE; }
static int has(const Area *area, int column, int row) {
  return area->left + column <= area->right && area->top + row <= area->bottom;
}

// Upper bound of 2^x.
static float power_above(float x) { return fma(native_exp2(x), 1.000002f, 1.2e-38f); }
// Upper bound of a of docs/smoe.md.
static float max_away(float below) { return 1.0001f * native_sqrt(fmax(below, STEEPEST * STEEPEST)); }

static float2 window_along(int first, int side, int last, float window) {
  const int begin = first / side * side;
  return (float2)((float)begin - window, (float)(min(begin + side, last) - 1) + window);
}

// Left, right, top, bottom of the windows of the pixels from (column, row) of the area to the end of their tiles or the
// area.
static float4 find_windows(const Area *area, int column, int row, int side) {
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

// True if a node may hold what the area needs; otherwise its share is added.
static int needs_node(const Area *area, __local const State *state, Shares *shares, Node node) {
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
  shares->far += share * 1.00001f;
  return 0;
}

// The same for a component.
static int needs_component(const Area *area, __local const State *state, Shares *shares, uint j) {
  const ulong row = area->sizes.padded;
  const __global float4 *record = area->placed + j;
  const float4 centre = record[PLACE * row];
  if (area->settings.selection == WINDOW) return is_within(area->windows, centre);
  if (!state->finding && state->threshold <= 0.0f) return 1;
  const float4 shape = record[SHAPE * row];
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
  const float reach = fma(steep, max_away(shape.w - density + unsure), away_from_grey(record[TINT * row]));
  const float share = power_above(density - state->origin) * (reach + GUESSED);
  if (!(share < state->threshold * (1.0f / 64))) return 1;
  shares->far += share;
  return 0;
}

// The mean colour of the candidates in the area, and a guess of how far its colours are from that. Only the first
// candidates count.
static void set_reference(const Area *area, __local Memory *memory, int first, int count) {
  volatile __local State *state = &memory->state;
  __local float8 *room = (__local float8 *)memory->staged;
  const ulong row = area->sizes.padded;
  const int item = item_of();
  const int wanted = !state->finding && state->guess <= 0.0f;
  float8 sums = (float8)(0.0f);
  if (item < count) {
    const uint j = memory->candidates[first + item];
    const float4 centre = area->placed[PLACE * row + j];
    const float x = centre.x - (float)area->left;
    const float y = centre.z - (float)area->top;
    if (x >= -0.5f && y >= -0.5f && x <= SIDE && y <= SIDE) {
      const float4 colour = area->placed[TINT * row + j];
      sums = (float8)(1.0f, dot(colour, colour), fmin(area->model[CENTRE * row + j].z, 1.0f), 0.0f, colour);
    }
  }
  room[item] = sums;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (wanted && item < TILES) {
    for (int i = 1; i < ITEMS / TILES; ++i) sums += room[item + i * TILES];
    room[item] = sums;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  sums = room[0];  // by all items: a loop of one item takes half as long again for the whole picture
  for (int i = 1; i < TILES; ++i) sums += room[i];
  if (wanted && item == 0) {
    const int some = sums.s0 > 0.0f;
    const float part = some ? 1.0f / sums.s0 : 0.0f;
    const float4 reference = some ? sums.s4567 * part : (float4)(0.5f);
    const float variance = some ? sums.s1 * part - dot(reference, reference) : 0.0f;
    const float guess = 2.0f * sqrt(fmax(variance, 0.0f)) + 0.02f + 4.0f * sums.s2 * part;
    state->reference = reference;
    state->away = away_from_grey(reference);
    state->guess = state->spread = fmin(fmax(guess, area->settings.tolerance), HUGE);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}

// Numbers of a component about the middle of the area. In pairs of floats: for distant ones u and v are small
// differences of large numbers.
static void stage(const Area *area, __local const State *state, uint j, __local float4 *staged) {
  const ulong row = area->sizes.padded;
  const __global float4 *record = area->placed + j;
  const float4 centre = record[PLACE * row];
  const float4 shape = record[SHAPE * row];
  const float4 rest = record[REST * row];
  const two dx = two_subtract((two)((float)area->left + MIDDLE, 0.0f), centre.xy);
  const two dy = two_subtract((two)((float)area->top + MIDDLE, 0.0f), centre.zw);
  const two u = two_multiply((two)(shape.x, rest.x), dx);
  const two v = two_add(two_multiply((two)(shape.y, rest.y), dx), two_multiply((two)(shape.z, rest.z), dy));
  const float4 tint = record[TINT * row] - state->reference;
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
  if (windows) window = find_windows(area, column / TILE * TILE, row / TILE * TILE, TILE);
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
static float bound_excess(float above) {
  return fmax(above, 0.0f) + 0.3123f * power_above(1.69f * fmin(above, 0.0f));
}

// Tests the staged components against each tile: sixteen items a tile.
static void test_tiles(const Area *area, __local Memory *memory, Shares *shares, int first, int count) {
  __local const State *state = &memory->state;
  const float threshold = state->threshold;
  const float guess = state->guess;
  const float spread = state->spread;
  const int tile = item_of() / TILES;
  const int lane = item_of() % TILES;
  const float middle = 0.5f * (TILE - 1);
  const float x = (float)tile_left(tile) + middle - MIDDLE;
  const float y = (float)tile_top(tile) + middle - MIDDLE;
  const float least = memory->least[tile] - state->origin;
  const int windows = area->settings.selection == WINDOW;
  float4 window = (float4)(0.0f);
  if (windows) window = find_windows(area, tile_left(tile), tile_top(tile), TILE);
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
    const float below = max_away(peak - fmin(relative, 0.0f));
    const float reach = fma(steep, below, away);
    const float share = weight * (reach + spread);
    const int keep =
        windows ? is_within(window, area->placed[PLACE * (ulong)area->sizes.padded + memory->candidates[first + i]])
                : !(share < threshold);
    if (!keep) {
      shares->dropped += share;
      continue;
    }
    mask |= 1u << k;
    range = fmax(range, relative);
    shares->excess += fmin(weight, 1.0f) * steep * bound_excess(native_divide(away - guess, steep) + below);
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
    const int count = (int)popcount((uint)memory->mask[tile][i]);
    if (i < lane) before += count;
    all += count;
  }
  for (uint mask = memory->mask[tile][lane]; mask != 0; mask &= mask - 1) {
    const int k = 31 - (int)clz(mask & (0u - mask));
    memory->list[tile][before++] = (uchar)(k * TILES + lane);
  }
  return all;
}

// L of tiles from that of quarters; the first sixteen items.
static void set_tile_least(const Area *area, __local Memory *memory) {
  const int item = item_of();
  if (item >= TILES) return;
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

// The least L of all tiles; -HUGE: a quarter of the picture has none.
static float min_of_tiles(__local const Memory *memory) {
  float least = HUGE;
  for (int tile = 0; tile < TILES; ++tile) least = fmin(least, memory->least[tile]);
  return least;
}

// Sums each tile's shares; the first sixteen items, of what all have written.
static void set_totals(__local Memory *memory) {
  const int item = item_of();
  const __local float4 *room = (const __local float4 *)memory->staged;
  if (item >= TILES) return;
  float4 sum = room[item * TILES];
  for (int i = 1; i < TILES; ++i) sum += room[item * TILES + i];
  memory->totals[item] = sum;
}

// Verdict on a pass in which L was found.
static int found(const Area *area, __local Memory *memory, const int exact) {
  volatile __local State *state = &memory->state;
  const float least = min_of_tiles(memory);
  const int lacks = least <= -HUGE;
  state->finding = 0;
  state->origin = fabs(least) < HUGE ? least : 0.0f;
  state->threshold = area->settings.selection == BOUNDED && !lacks ? area->settings.tolerance * (1.0f / 24) : 0.0f;
  return lacks && !exact ? INEXACT : AGAIN;
}

// Verdict on a pass with these sums; sets what another one needs.
static int judge(const Area *area, __local Memory *memory, const int exact) {
  volatile __local State *state = &memory->state;
  float4 most = (float4)(0.0f);
  float far = 0.0f;
  for (int tile = 0; tile < TILES; ++tile) {
    most = fmax(most, memory->totals[tile]);
    far += memory->totals[tile].z;
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
      if (state->passes >= MOST_TRIES) state->threshold = 0.0f;
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
    state->max_spread = room_left / rounding;
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

static int has_nodes(const Area *area, const Waiting *wait) {
  return (wait->packs > 0) | (wait->bundles > 0) | (wait->seen < area->sizes.padded / ITEMS);
}

// The next up to 256 nodes or components: their level (0 bundles, 1 packs, 2 components), and this item's.
static int next(const Area *area, __local const Memory *memory, const Waiting *wait, uint *index, int *valid) {
  const uint bundles = area->sizes.padded / ITEMS;
  const uint slot = (uint)item_of() / PACK;
  const uint lane = (uint)item_of() % PACK;
  const int all_seen = wait->seen >= bundles;
  if (wait->packs >= PACK || (wait->packs > 0 && wait->bundles == 0 && all_seen)) {
    const uint take = min(wait->packs, (uint)PACK);
    *valid = slot < take;
    *index = *valid ? memory->nodes[1][wait->packs - 1 - slot] * PACK + lane : 0;
    *valid = *valid && *index < area->sizes.count;
    return 2;
  }
  if (wait->bundles >= PACK || (wait->bundles > 0 && all_seen)) {
    const uint take = min(wait->bundles, (uint)PACK);
    *valid = slot < take;
    *index = *valid ? memory->nodes[0][wait->bundles - 1 - slot] * PACK + lane : 0;
    return 1;
  }
  *index = wait->seen + (uint)item_of();
  *valid = *index < bundles;
  return 0;
}

// Takes 256 nodes or components, and makes what they keep wait; `parity` changes from call to call.
static void look(const Area *area, __local Memory *memory, Shares *shares, Waiting *wait, int parity) {
  const int item = item_of();
  const uint bundles = area->sizes.padded / ITEMS;
  uint index = 0;
  int valid = 0;
  const int level = next(area, memory, wait, &index, &valid);
  int keep = 0;
  if (valid) {
    keep = level == 2 ? needs_component(area, &memory->state, shares, index)
                      : needs_node(area, &memory->state, shares, area->nodes[level == 0 ? index : bundles + index]);
  }
  __local uint *vote = memory->vote[parity];
  if (keep) atomic_or(&vote[item / 32], 1u << (item % 32));
  barrier(CLK_LOCAL_MEM_FENCE);
  uint before = level == 2 ? wait->candidates : level == 1 ? wait->packs : wait->bundles;
  uint all = 0;
  for (int i = 0; i < ITEMS / 32; ++i) {
    const uint votes = vote[i];
    const uint mask = i < item / 32 ? 0xFFFFFFFFu : i == item / 32 ? (1u << (item % 32)) - 1u : 0u;
    before += popcount(votes & mask);
    all += popcount(votes);
  }
  if (keep) (level == 2 ? memory->candidates : memory->nodes[level])[before] = index;
  if (item < ITEMS / 32) memory->vote[parity ^ 1][item] = 0;
  if (level == 0) {
    wait->seen += ITEMS;
    wait->bundles += all;
  } else if (level == 1) {
    wait->bundles -= min(wait->bundles, (uint)PACK);
    wait->packs += all;
  } else {
    wait->packs -= min(wait->packs, (uint)PACK);
    wait->candidates += all;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}
