// Error diffusion as a wavefront, compiled when a plan is made, for its pattern of taps (error_diffusion_pattern.hpp)
// and its kind of levels. Not for users.
//
// A warp processes 32 rows of a hogel, one per lane; each lane is LAG columns behind the lane above. Errors of rows
// above are read from shared memory some steps after their computation. They are added to the sums of the pixels that
// collect them (`sums`, a slot for each of the next SLOTS columns): one read per row above instead of one per tap. A
// tile holds blocks of BLOCK columns of these rows and of the ABOVE rows over them: the present chunk of two blocks,
// the next chunk, which is filled with the field's values meanwhile, and HISTORY blocks before. Errors overwrite the
// values. The rows over the tile are the last rows of the group above, which passes them on through global memory with
// a tag beside each number.
#include <holotone/quantize/error_diffusion_steps_nvrtc.cuh>

namespace holotone::diffusion {
namespace {

/// A hogel, and the warp's group of rows in it.
struct Work {
  int hogel;
  int group;
  int columns;
  int hogel_rows;  // rows of the hogel from the group's first on
  long long top;   // first row of the group
  long long left;
  int chunks;
};

__device__ __forceinline__ Work work_of(const WavefrontParameters& arguments, int ticket) {
  Work work;
  // First groups of all hogels, then all second ones: the group above a group has started long before.
  work.group = ticket / arguments.hogels;
  work.hogel = ticket % arguments.hogels;
  const long long top = static_cast<long long>(work.hogel / arguments.hogels_across) * arguments.side;
  work.left = static_cast<long long>(work.hogel % arguments.hogels_across) * arguments.side;
  const long long right = arguments.nx - work.left;
  const long long below = arguments.ny - top;
  work.columns = static_cast<int>(right < arguments.side ? right : arguments.side);
  work.hogel_rows = static_cast<int>(below < arguments.side ? below : arguments.side) - rows * work.group;
  work.top = top + rows * work.group;
  work.chunks = (work.columns + (rows - 1) * LAG + chunk_columns - 1) / chunk_columns;
  return work;
}

/// Errors of the group above for a chunk: numbers with their tags.
struct Border {
  unsigned long long re[items_a_lane > 0 ? items_a_lane : 1];
  unsigned long long im[items_a_lane > 0 ? items_a_lane : 1];
};

/// Position of a lane's numbers in a border: every other row, from `row` on.
struct BorderPlace {
  int row;
  bool second;      // in the chunk's second block
  unsigned offset;  // bytes from the block's first row on

  __device__ __forceinline__ explicit BorderPlace(unsigned lane)
      : row(lane / chunk_columns), second(lane % chunk_columns >= BLOCK), offset(8 * (row * pitch + lane % BLOCK)) {}
};
constexpr int border_rows = 32 / chunk_columns;  // rows that all lanes read at once
constexpr unsigned border_step = 8 * border_rows * pitch;

__device__ __forceinline__ void read_border(Border& border, const unsigned long long* from, const BorderPlace& place) {
#pragma unroll
  for (int i = 0; i < items_a_lane; ++i) {
    if (place.row + border_rows * i >= ABOVE) continue;
    asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];"
                 : "=l"(border.re[i]), "=l"(border.im[i])
                 : "l"(from + 64 * i)
                 : "memory");
  }
}

/// True if the numbers of all lanes have this tag.
__device__ __forceinline__ bool has_come(const Border& border, Tag tag, const BorderPlace& place) {
  bool all = true;
#pragma unroll
  for (int i = 0; i < items_a_lane; ++i) {
    if (place.row + border_rows * i >= ABOVE) continue;
    all = all && static_cast<Tag>(border.re[i] >> 32) == tag && static_cast<Tag>(border.im[i] >> 32) == tag;
  }
  return __all_sync(every_lane, all) != 0;
}

/// Shared memory of a warp; its stages form a ring.
struct Tile {
  unsigned first;
  unsigned present;  // first block of the present chunk

  /// Address of the block that is `block` >= 0 after the present chunk's first one.
  __device__ __forceinline__ unsigned stage_address(int block) const { return wrapped(present + block * stage_bytes); }
  __device__ __forceinline__ unsigned wrapped(unsigned stage) const {
    return stage >= first + stages * stage_bytes ? stage - stages * stage_bytes : stage;
  }
};

__device__ __forceinline__ void keep_border(const Border& border, unsigned stage, const BorderPlace& place) {
#pragma unroll
  for (int i = 0; i < items_a_lane; ++i) {
    if (place.row + border_rows * i >= ABOVE) continue;
    store(stage + place.offset + i * border_step,
          {__uint_as_float(static_cast<unsigned>(border.re[i])), __uint_as_float(static_cast<unsigned>(border.im[i]))});
  }
}

/// Writes the last rows of a chunk for the group below.
__device__ __forceinline__ void write_border(unsigned stage, unsigned long long* to, Tag tag,
                                             const BorderPlace& place) {
#pragma unroll
  for (int i = 0; i < items_a_lane; ++i) {
    if (place.row + border_rows * i >= ABOVE) continue;
    const Parts32 error = load(stage + rows * pitch * 8 + place.offset + i * border_step);
    const unsigned long long high = static_cast<unsigned long long>(tag) << 32;
    asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};" ::"l"(to + 64 * i),
                 "l"(high | __float_as_uint(error.re)), "l"(high | __float_as_uint(error.im))
                 : "memory");
  }
}

/// Asynchronous copy of the field's values to a tile: a lane's column of a chunk, every other row.
struct Fetch {
  const float* from;  // of the next chunk
  long long stride;
  int row;
  int column;
  bool second;
  unsigned offset;

  __device__ __forceinline__ Fetch(const WavefrontParameters& arguments, const Work& work, unsigned lane)
      : stride(2 * border_rows * (arguments.nx - LAG)),
        row(lane / chunk_columns),
        column(static_cast<int>(lane % chunk_columns) - row * LAG),
        second(lane % chunk_columns >= BLOCK),
        offset(8 * ((ABOVE + row) * pitch + lane % BLOCK)) {
    from = arguments.field + 2 * ((work.top + row) * arguments.nx + work.left + column - (lead - 1) * chunk_columns);
  }

  /// Starts the copy of the next chunk. `within`: the whole chunk is inside the hogel.
  __device__ __forceinline__ void next(const WavefrontParameters& arguments, const Work& work, unsigned stage,
                                       int first_column, bool within) {
    const unsigned to = stage + offset;
    const float* error = from;
    if (within) {
#pragma unroll
      for (int i = 0; i < rows / border_rows; ++i) {
        copy_async(to + i * border_step, error, true);
        error += stride;
      }
    } else {
#pragma unroll 1
      for (int i = 0; i < rows / border_rows; ++i) {
        const int at = row + i * border_rows;
        const int x = first_column + column - i * border_rows * LAG;
        const bool some = at < work.hogel_rows && static_cast<unsigned>(x) < static_cast<unsigned>(work.columns);
        copy_async(to + i * border_step, some ? error : arguments.field, some);
        error += stride;
      }
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
    from += 2 * chunk_columns;
  }
};

/// Converts the copied values of a block of a lane's row to h.
__device__ __forceinline__ void prepare(const WavefrontParameters& arguments, const Work& work, unsigned place,
                                        float most, int first_column, int lane) {
#if REAL || SCALED
  unsigned change = (1U << BLOCK) - 1;
#else
  unsigned change = 0;
#pragma unroll
  for (int c = 0; c < BLOCK; ++c) {
    if (phase_math::beyond(load(place + 8 * c), most)) change |= 1U << c;
  }
#endif
  while (change != 0) {
    const int c = __ffs(change) - 1;
    change &= change - 1;
    bool broken = false;
    store(place + 8 * c, scale_value(arguments, most, load(place + 8 * c), broken));
    if (broken) report_broken(arguments, work.top + lane, work.left + first_column + c - lane * LAG);
  }
}

#if SETS
/// True if a block from `column` on has errors for pixels of the set to the right.
__device__ __forceinline__ bool reaches_next_set(const Lane& lane, int column) {
  return column + BLOCK + SLOTS > lane.next_set;
}

/// Continues with the set to the right once a block begins in it.
__device__ __forceinline__ void advance_set(const WavefrontParameters& arguments, const Work& work, Lane& lane,
                                            int column) {
  if (column < lane.next_set) return;
#pragma unroll
  for (int i = 0; i < TAPS; ++i) lane.weights[i] = phase_math::multiply(lane.next_weights[i], arguments.one);
  lane.next_weights += TAPS;
  lane.next_set += arguments.set_side;
  if (lane.next_set >= work.columns) lane.next_set = no_set;
}
#endif

__device__ __forceinline__ Lane begin_lane(const WavefrontParameters& arguments, const Work& work,
                                           [[maybe_unused]] unsigned lane_number) {
  Lane lane;
#if SETS
  const long long row = work.top + lane_number < arguments.ny ? work.top + lane_number : arguments.ny - 1;
  const long long first = row / arguments.set_side * arguments.sets_across * TAPS;
  lane.next_weights = arguments.weights + first + TAPS;
  lane.next_set = arguments.set_side < work.columns ? arguments.set_side : no_set;
#endif
#pragma unroll
  for (int i = 0; i < TAPS; ++i) {
#if SETS
    const float weight = arguments.weights[first + i];
#else
    const float weight = arguments.weights[(arguments.many_sets ? static_cast<long long>(work.hogel) * TAPS : 0) + i];
#endif
    // Waits for the load here. Otherwise each use of a weight would wait for any load in flight at that time.
    lane.weights[i] = phase_math::multiply(weight, arguments.one);
  }
#pragma unroll
  for (int i = 0; i < SLOTS; ++i) lane.sums[i] = {0, 0};
#pragma unroll
  for (int i = 0; i < RING; ++i) lane.latest[i] = {0, 0};
#pragma unroll
  for (int i = 0; i < ROW_COUNT; ++i) lane.coming[i] = {0, 0};
  return lane;
}

/// Borders that a group of rows reads from the group above and writes for the group below, one per chunk.
struct Borders {
  const unsigned long long*
      above;  // for chunk 0: border of the chunk in which the group above processed the same columns
  unsigned long long* below;
  BorderPlace place;
  Tag own_tag;
  int chunks;
  bool has_above;
  bool has_below;

  __device__ __forceinline__ Borders(const WavefrontParameters& arguments, const Work& work, unsigned lane)
      : place(lane),
        own_tag(arguments.epoch + work.group + 1),
        chunks(work.chunks),
        has_above(ABOVE > 0 && work.group > 0),
        has_below(ABOVE > 0 && work.hogel_rows > rows) {
    const long long numbers = 2LL * border_items * arguments.chunks;
    unsigned long long* const both = arguments.borders + 2 * work.hogel * numbers + 2 * lane;
    below = both + (work.group & 1) * numbers;
    above = both + ((work.group & 1) ^ 1) * numbers + 2 * border_items * ahead;
  }

  __device__ __forceinline__ bool has(int chunk) const {
    return has_above && chunk + ahead >= 0 && chunk + ahead < chunks;
  }
  __device__ __forceinline__ void ask(Border& border, int chunk) const {
    read_border(border, above + 2 * border_items * chunk, place);
  }
  __device__ __forceinline__ void await(Border& border, int chunk) const {
    while (!has_come(border, own_tag - 1, place)) {
      __nanosleep(200);
      ask(border, chunk);
    }
  }
  __device__ __forceinline__ void leave(int chunk, const Tile& tile) const {
    if (has_below && chunk >= 0) {
      write_border(tile.stage_address(place.second ? 1 : 0), below + 2 * border_items * chunk, own_tag, place);
    }
  }
};

/// Fills the blocks before the first chunk: zeros before the first column, borders of the group above if it has any.
/// The first HISTORY blocks and the first chunk are in order.
__device__ __forceinline__ void begin_tile(const Tile& tile, const Borders& borders, Border& border, unsigned lane) {
#pragma unroll 8
  for (unsigned i = 0; i < (HISTORY * tile_rows * pitch + 255) / 256 * 8; ++i) {
    store(tile.first + 8 * (lane + 32 * i), {0, 0});
  }
  __syncwarp();
#pragma unroll 1
  for (int before = (HISTORY + 1) / 2; before >= 0; --before) {
    const int block = HISTORY - 2 * before + (borders.place.second ? 1 : 0);
    border = {};
    if (borders.has(-lead - before)) {
      borders.ask(border, -lead - before);
      borders.await(border, -lead - before);
    }
    if (block >= 0) keep_border(border, tile.first + block * stage_bytes, borders.place);
  }
  __syncwarp();
}

#if PACK == 8
using CodeWords = Packer;
#else
struct CodeWords {
  __device__ __forceinline__ explicit CodeWords(int) {}
};
#endif

/// Writes a block's codes of a lane's row, `lag` columns behind the group's first lane, which begins the block at
/// column `first`.
__device__ __forceinline__ void write_codes(unsigned char* codes, [[maybe_unused]] CodeWords& words, uint2 now,
                                            int first, int lag, int columns) {
#if PACK == 8
  const uint2 word = words.add(now);
  const int column = first + words.column;
  if (static_cast<unsigned>(column - lag) < static_cast<unsigned>(columns))
    *reinterpret_cast<uint2*>(codes + column) = word;
#else
  for (int c = 0; c < BLOCK; ++c) {
    const unsigned code = (c < 4 ? now.x : now.y) >> (8 * (c % 4));
    if (static_cast<unsigned>(first + c - lag) < static_cast<unsigned>(columns))
      codes[first + c] = static_cast<unsigned char>(code);
  }
#endif
}

/// Processes one group of rows, from its first column to its last.
__device__ __forceinline__ void run_group(const WavefrontParameters& arguments, const Work& work, Tile tile,
                                          const Parts32* shown, unsigned lane_number) {
  const bool whole_rows = work.hogel_rows >= rows;
  const unsigned own_row = (ABOVE + lane_number) * pitch * 8;
  const float most = phase_math::multiply(arguments.radius, arguments.radius);
  const auto is_within = [&](int chunk) {
    return whole_rows && chunk * chunk_columns >= (rows - 1) * LAG && (chunk + 1) * chunk_columns <= work.columns;
  };
  const int own_lag = static_cast<int>(lane_number) * LAG;
  const int columns = static_cast<int>(lane_number) < work.hogel_rows ? work.columns : 0;
  const Borders borders(arguments, work, lane_number);
  Border border;
  Places places;
#pragma unroll
  for (int back = 0; back <= HISTORY; ++back)
    places.block[back] = tile.first + (HISTORY - back) * stage_bytes + own_row;
  begin_tile(tile, borders, border, lane_number);
  Lane lane = begin_lane(arguments, work, lane_number);
  Fetch fetch(arguments, work, lane_number);
  unsigned char* const codes = arguments.codes + (work.top + lane_number) * arguments.nx + work.left - own_lag;
  CodeWords words(lane_number);
#pragma unroll 1
  for (int chunk = -lead; chunk < work.chunks; ++chunk) {
    const bool more = chunk + 1 < work.chunks;
    const bool next_border = more && borders.has(chunk + 1);
    const int first_column = chunk * chunk_columns;
    if (more) {
      fetch.next(arguments, work, tile.stage_address(fetch.second ? 3 : 2), first_column + chunk_columns,
                 is_within(chunk + 1));
    }
    if (next_border) borders.ask(border, chunk + 1);

    const bool within = is_within(chunk);
#pragma unroll 1
    for (int half = 0; half < 2; ++half) {
      const int first = first_column + half * BLOCK;
#if SETS
      advance_set(arguments, work, lane, first - own_lag);
      const bool mixed = __any_sync(every_lane, reaches_next_set(lane, first - own_lag)) != 0;
      const uint2 now = mixed    ? run_block<true, true>(arguments, lane, places, shown, first - own_lag, columns)
                        : within ? run_block<false, false>(arguments, lane, places, shown, 0, columns)
                                 : run_block<true, false>(arguments, lane, places, shown, first - own_lag, columns);
#else
      const uint2 now = within ? run_block<false, false>(arguments, lane, places, shown, 0, columns)
                               : run_block<true, false>(arguments, lane, places, shown, first - own_lag, columns);
#endif
      places.advance(tile.stage_address(half + 1) + own_row);
      write_codes(codes, words, now, first, own_lag, columns);
    }

    borders.leave(chunk, tile);
    if (next_border) {
      borders.await(border, chunk + 1);
      keep_border(border, tile.stage_address(borders.place.second ? 3 : 2), borders.place);
    } else if (ABOVE > 0 && more) {
      keep_border({}, tile.stage_address(borders.place.second ? 3 : 2), borders.place);
    }
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    __syncwarp();
    if (more) {
#pragma unroll 1
      for (int half = 2; half < 4; ++half) {
        prepare(arguments, work, tile.stage_address(half) + own_row, most, first_column + half * BLOCK, lane_number);
      }
      __syncwarp();
    }
    tile.present = tile.stage_address(2);
  }
}

}  // namespace

extern "C" __global__ void __launch_bounds__(32 * WARPS, 1) diffuse(const WavefrontParameters arguments) {
  extern __shared__ __align__(16) unsigned char memory[];
  Parts32* const shown = reinterpret_cast<Parts32*>(memory);
  for (int i = threadIdx.x; i < LEVELS; i += blockDim.x) {
    shown[i] = {arguments.shown[2 * i], arguments.shown[2 * i + 1]};
  }
  __syncthreads();
  const unsigned lane = threadIdx.x & 31;
  const unsigned first = shared_address(memory) + 8 * LEVELS + (threadIdx.x >> 5) * stages * stage_bytes;
  const Tile tile{first, first + HISTORY * stage_bytes};
  for (;;) {
    int ticket = 0;
    if (lane == 0) ticket = atomicAdd(arguments.ticket, 1);
    ticket = __shfl_sync(every_lane, ticket, 0);
    if (ticket >= arguments.hogels * arguments.groups) return;
    const Work work = work_of(arguments, ticket);
    if (work.hogel_rows > 0) run_group(arguments, work, tile, shown, lane);
  }
}

/// Kernel for no taps: every pixel is independent.
extern "C" __global__ void truncate_levels(const WavefrontParameters arguments) {
  const float most = phase_math::multiply(arguments.radius, arguments.radius);
  const long long count = arguments.nx * arguments.ny;
  for (long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x; i < count;
       i += static_cast<long long>(gridDim.x) * blockDim.x) {
    bool broken = false;
    const float2 light = reinterpret_cast<const float2*>(arguments.field)[i];
    const Parts32 value = scale_value(arguments, most, {light.x, light.y}, broken);
    if (broken) report_broken(arguments, i / arguments.nx, i % arguments.nx);
    arguments.codes[i] = static_cast<unsigned char>(written_of(find_code(arguments, value)));
  }
}

}  // namespace holotone::diffusion
