// Pictures of mixtures: a group of 256 items takes an area of 32 x 32 pixels, and neither lists nor bounds leave its
// local memory (27 KB at most). It passes over the nodes of components_opencl.cl, tests those components that are left
// against each tile in batches of up to 256, and sums the ones that a tile needs. If the components left out together
// exceed the tolerance, the area is done again with a lower threshold. Bound by arithmetic: a power of two, 4 + 2
// CHANNELS additions and products for each pixel and component of its tile. Of float64 there is none: exact_areas sums
// in pairs of floats what float32 is not precise enough for.
// Barriers stand outside of all branches, and loops with barriers test at their end: PoCL copies the code behind
// others.
// Options: -DCHANNELS=1
// Options: -DCHANNELS=2
// Options: -DCHANNELS=3
// Options: -DCHANNELS=4
#include "holotone/smoe/render/sums/sums_opencl.cl"

// Raises L of every quarter by one component of each bundle: a first value where none is near.
static void raise_by_samples(const Area *area, __local Memory *memory, int wanted) {
  const uint bundles = area->sizes.padded / ITEMS;
  uint first = 0;
  do {
    const int count = wanted ? (int)min(bundles - first, (uint)ITEMS) : 0;
    if (item_of() < count) {
      stage(area, &memory->state, (first + (uint)item_of()) * ITEMS, memory->staged + item_of() * FOURS);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    raise_quarters(area, memory, 0, count);
    barrier(CLK_LOCAL_MEM_FENCE);
    first += ITEMS;
  } while (wanted && first < bundles);
}

// Passes over the components: raises L by them, or lists and sums them.
static void visit(const Area *area, __local Memory *memory, Shares *shares, const int exact, Sums *sums,
                  Exact *exact_sums) {
  const int finding = memory->state.finding;
  Waiting wait = {0, 0, 0, 0};
  int parity = 0;
  int more;
  do {
    do {
      look(area, memory, shares, &wait, parity);
      parity ^= 1;
      more = has_nodes(area, &wait);
    } while (more && wait.candidates < ITEMS);
    const int count = (int)min(wait.candidates, (uint)ITEMS);
    const int first = (int)wait.candidates - count;
    wait.candidates = (uint)first;
    more |= first > 0;
    set_reference(area, memory, first, count);
    if (item_of() < count) {
      stage(area, &memory->state, memory->candidates[first + item_of()], memory->staged + item_of() * FOURS);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (finding) {
      raise_quarters(area, memory, first, count);
    } else {
      test_tiles(area, memory, shares, first, count);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const int listed = finding ? 0 : list_tiles(memory);
    shares->listed += listed;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (exact) {
      sum_list_exact(area, memory, first, listed, exact_sums);
    } else {
      sum_list(memory, listed, sums);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  } while (more);
}

// L of the quarters of the area, from components near them and, where there are none, from a sample.
static void begin(const Area *area, __local Memory *memory, const __global uint *best, const int exact) {
  volatile __local State *state = &memory->state;
  const int item = item_of();
  const int windows = area->settings.selection == WINDOW;
  if (item < QUARTERS) {
    const ulong across = (area->sizes.width + QUARTER - 1) / QUARTER;
    const int inside = !windows && has(area, item % 8 * QUARTER, item / 8 * QUARTER);
    const int column = area->left / QUARTER + item % 8;
    const int row = area->top / QUARTER + item / 8;
    memory->best[item] = inside ? best[row * across + column] : 0;
  }
  if (item == 0) {
    state->guess = state->spread = state->away = state->above = state->max_spread = state->origin = 0.0f;
    state->reference = (float4)(0.0f);
    state->checked = state->passes = 0;
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);  // counts are read before this and written after it
  set_tile_least(area, memory);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (item == 0) state->finding = windows || min_of_tiles(memory) <= -HUGE;
  barrier(CLK_LOCAL_MEM_FENCE);
  raise_by_samples(area, memory, state->finding && !windows);
  set_tile_least(area, memory);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (item == 0) {
    if (state->finding) {  // a pass that finds L comes first
      state->threshold = min_of_tiles(memory);
    } else {
      found(area, memory, exact);
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}

static void restart(__local Memory *memory, Shares *shares, Sums *sums, Exact *exact_sums) {
  volatile __local Memory *room = memory;
  if (item_of() == 0) room->range = room->rounding = room->rough = 0;
  if (item_of() < ITEMS / 32) memory->vote[0][item_of()] = 0;
  shares->dropped = shares->excess = shares->far = 0.0f;
  shares->listed = 0;
  clear_sums(sums);
  for (int i = 0; i < 4; ++i) clear_exact(&exact_sums[i]);
  barrier(CLK_LOCAL_MEM_FENCE);
}

// Renders the tiles of a bit mask; returns those that need more than float32. totals[tile].w is then the number of
// components summed in a tile.
static uint render(const Area *area, __local Memory *memory, uint tiles, const int exact, const __global uint *best,
                   __global float *image) {
  volatile __local State *state = &memory->state;
  const int item = item_of();
  __local float4 *room = (__local float4 *)memory->staged;
  Shares shares;
  Sums sums;
  Exact exact_sums[4];
  begin(area, memory, best, exact);
  int again;
  do {
    restart(memory, &shares, &sums, exact_sums);
    visit(area, memory, &shares, exact, &sums, exact_sums);
    room[item] = (float4)(shares.dropped, shares.excess, shares.far, item % TILES == 0 ? (float)shares.listed : 0.0f);
    barrier(CLK_LOCAL_MEM_FENCE);
    set_totals(memory);
    set_tile_least(area, memory);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0) {
      state->verdict = state->finding ? found(area, memory, exact) : judge(area, memory, exact);
      ++state->passes;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    again = state->verdict == AGAIN && state->passes < MOST_PASSES;
  } while (again);
  if (exact) {
    if ((tiles >> (item / TILES) & 1u) != 0) write_exact_pixels(area, exact_sums, image);
    return 0;
  }
  if (state->verdict == DONE && !write_pixels(area, &memory->state, &sums, image)) {
    atomic_or(&memory->rough, 1u << (item / TILES));
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  return state->verdict == DONE ? memory->rough : tiles;
}

static Area area_of(Sizes sizes, Settings settings, const __global float4 *frame) {
  const uint number = get_group_id(0);
  Area area;
  area.sizes = sizes;
  area.settings = settings;
  area.left = (int)(number % (uint)sizes.areas_x) * SIDE;
  area.top = (int)(number / (uint)sizes.areas_x) * SIDE;
  area.right = min(area.left + SIDE, sizes.width) - 1;
  area.bottom = min(area.top + SIDE, sizes.height) - 1;
  area.step = frame[STEP].xz;
  area.windows = find_windows(&area, 0, 0, SIDE);
  return area;
}

// The area's tiles in the picture.
static uint count_tiles(const Area *area) {
  uint tiles = 0;
  for (int tile = 0; tile < TILES; ++tile) {
    if (has(area, tile_left(tile), tile_top(tile))) tiles |= 1u << tile;
  }
  return tiles;
}

static void write_counts(__local const Memory *memory, uint done, uint left, int more, __global uint4 *count) {
  uint2 place = more ? count->xy : (uint2)(0);
  for (int tile = 0; tile < TILES; ++tile) {
    const uint listed = (done >> tile & 1u) != 0 ? (uint)memory->totals[tile].w : 0;
    place.x += listed;
    place.y = max(place.y, listed);
  }
  count->xy = place;
  if (!more) count->z = left;
}

// counts[view][area]: components summed in its tiles, most of them in one, bit mask of the tiles left to exact_areas
// and then summed there.
#define RENDER(exact)                                                                                                 \
  __kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void exact(                                             \
      Sizes sizes, Settings settings, ARRAY(const float4, model), ARRAY(const float4, frames),                        \
      ARRAY(const float4, placed), ARRAY(const Node, nodes), ARRAY(const uint, best), ARRAY(uint4, counts),           \
      ARRAY(float, images)) {                                                                                         \
    __local Memory memory;                                                                                            \
    const ulong view = get_group_id(1);                                                                               \
    Area area = area_of(sizes, settings, AT(frames) + view * FRAME_ROWS);                                             \
    area.model = AT(model);                                                                                           \
    area.placed = AT(placed) + view * PLACED_ROWS * sizes.padded;                                                     \
    area.nodes = AT(nodes) + view * (sizes.padded / ITEMS + sizes.padded / PACK);                                     \
    const ulong quarters =                                                                                            \
        (ulong)((sizes.width + QUARTER - 1) / QUARTER) * ((sizes.height + QUARTER - 1) / QUARTER);                    \
    __global uint4 *count = AT(counts) + view * sizes.areas + get_group_id(0);                                        \
    const int more = IS_##exact && !settings.robust;                                                                  \
    const uint wanted = more ? count->z : count_tiles(&area);                                                         \
    if (wanted != 0) {                                                                                                \
      const uint left = render(&area, &memory, wanted, IS_##exact, AT(best) + view * quarters,                        \
                               AT(images) + view * sizes.width * sizes.height * CHANNELS);                            \
      if (get_local_id(0) == 0) write_counts(&memory, wanted & ~left, settings.robust ? wanted : left, more, count);  \
    }                                                                                                                 \
  }
#define IS_areas 0
#define IS_exact_areas 1

RENDER(areas)
RENDER(exact_areas)
