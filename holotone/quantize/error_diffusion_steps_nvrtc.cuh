// Error diffusion column by column: the steps of a warp of 32 rows in a block of columns. Part of
// error_diffusion_wavefront_nvrtc.cuh. Not for users.
#pragma once
#include <holotone/quantize/error_diffusion_pattern_macros.h>
#include <holotone/quantize/error_diffusion_wavefront.h>
#include <holotone/quantize/phase_math.h>

namespace holotone::diffusion {
namespace {

using phase_math::Parts32;
using Tag = unsigned;

constexpr int rows = 32;
constexpr int pitch = BLOCK + 1;  // of a tile's rows, odd: rows lie in different banks
constexpr int chunk_columns = 2 * BLOCK;
constexpr int tile_rows = rows + ABOVE;
constexpr int stages = HISTORY + 4;
constexpr unsigned stage_bytes = 8 * tile_rows * pitch;
constexpr int lead =
    (SLOTS + chunk_columns - 1) / chunk_columns;   // chunks before column 0, in which only sums are computed
constexpr int ahead = rows * LAG / chunk_columns;  // lead of a group over the next one, in chunks
constexpr unsigned every_lane = 0xFFFFFFFF;
constexpr int border_items = ABOVE * chunk_columns;
constexpr int items_a_lane = (border_items + 31) / 32;
constexpr int no_set = 0x7fffffff;

__device__ __forceinline__ unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}
__device__ __forceinline__ Parts32 load(unsigned address) {
  Parts32 value;
  asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(value.re), "=f"(value.im) : "r"(address));
  return value;
}
__device__ __forceinline__ void store(unsigned address, Parts32 value) {
  asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(address), "f"(value.re), "f"(value.im) : "memory");
}
/// Copies 8 bytes if `some`, else stores zeros.
__device__ __forceinline__ void copy_async(unsigned to, const void* from, bool some) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(to), "l"(from), "r"(some ? 8 : 0) : "memory");
}
__device__ __forceinline__ void add_to(Parts32& sum, float weight, Parts32 error) {
  sum.re = phase_math::multiply_add(weight, error.re, sum.re);
#if !REAL
  sum.im = phase_math::multiply_add(weight, error.im, sum.im);
#endif
}

/// Returns the code of u by the boundaries of a table, or its level in equal steps. For phases in equal steps only the
/// lowest bits are valid, as many as levels need.
__device__ __forceinline__ int find_code(const WavefrontParameters& arguments, Parts32 u) {
#if TABLE
  float place = u.re;
#if !REAL
  place = phase_math::phase_of(u.re, u.im, 1.0f);
  if (place < 0) place = phase_math::add(place, 1.0f);
#endif
  int first = 0;
  int last = arguments.boundary_count;
  while (first < last) {
    const int middle = (first + last) / 2;
    if (place < arguments.boundaries[middle]) {
      last = middle;
    } else {
      first = middle + 1;
    }
  }
  return arguments.boundary_codes[first];
#elif REAL
  constexpr float most = LEVELS - 1;
  const float code = floorf(phase_math::add(phase_math::multiply(u.re, most), 0.5f));
  return code > 0 ? static_cast<int>(code < most ? code : most) : 0;
#else
  return phase_math::rounded_bits(phase_math::phase_of(u.re, u.im, static_cast<float>(LEVELS)));
#endif
}

/// Mask of the bits of a level.
#if TABLE || REAL
constexpr int level_mask = -1;
#else
constexpr int level_mask = LEVELS - 1;
#endif
__device__ __forceinline__ Parts32 level_of(const Parts32* shown, int bits) { return shown[bits & level_mask]; }
/// Returns the code to be written; its upper bits are ignored.
__device__ __forceinline__ unsigned written_of(int bits) {
  return static_cast<unsigned>(LEVELS == 256 ? bits : bits & level_mask);
}

/// Computes h of a value of the field. Sets `broken` if the value is not finite.
__device__ __forceinline__ Parts32 scale_value(const WavefrontParameters& arguments, float most, Parts32 value,
                                               bool& broken) {
#if REAL
  broken = !(fabsf(value.re) <= 3.4028235e38f) || !(fabsf(value.im) <= 3.4028235e38f);
  return {broken ? 0.0f : phase_math::lightness_of(value.re, arguments.scale), 0.0f};
#else
#if SCALED
  value = {phase_math::multiply(value.re, arguments.unit), phase_math::multiply(value.im, arguments.unit)};
#endif
  broken = false;
  if (phase_math::beyond(value, most)) {
    broken = !(fabsf(value.re) <= 3.4028235e38f) || !(fabsf(value.im) <= 3.4028235e38f);
    value = broken ? Parts32{0, 0} : phase_math::clipped(value, arguments.radius);
  }
  return value;
#endif
}

__device__ __forceinline__ void report_broken(const WavefrontParameters& arguments, long long row, long long column) {
  atomicMin(arguments.broken, static_cast<unsigned long long>(row * arguments.nx + column));
}

/// State of one lane between steps.
struct Lane {
  float weights[TAPS > 0 ? TAPS : 1];
#if SETS
  const float* next_weights;  // of the set to the right, which columns from `next_set` on use
  int next_set;               // none: above any column
#endif
  Parts32 sums[SLOTS];
  Parts32 latest[RING];       // errors of the row itself, latest first
  Parts32 coming[ROW_COUNT];  // errors of late rows for the next step
};

/// Addresses of a lane's row in the blocks of the tile, the present block first.
struct Places {
  unsigned block[HISTORY + 1];

  __device__ __forceinline__ void advance(unsigned next) {
#pragma unroll
    for (int i = HISTORY; i > 0; --i) block[i] = block[i - 1];
    block[0] = next;
  }
};

/// Returns the address of a column of the present block or before it; constant except for the block's own address.
__device__ __forceinline__ unsigned address_at(const Places& places, int column, int dy) {
  const int back = column >= 0 ? 0 : (BLOCK - 1 - column) / BLOCK;
  return places.block[back] + 8 * (column + back * BLOCK) - dy * pitch * 8;
}

#if SETS
/// Weight of a tap for the pixel at `column` that collects an error. `mixed`: it may use the set to the right.
template <bool mixed>
__device__ __forceinline__ float weight_at(const Lane& lane, int tap, int column) {
  return mixed && column >= lane.next_set ? lane.next_weights[tap] : lane.weights[tap];
}
#define WEIGHT(tap, column) weight_at<mixed>(lane, tap, column)
#else
#define WEIGHT(tap, column) lane.weights[tap]
#endif

/// Returns the sum of pixel `column` of the block before the error of its direct neighbour is added. `place`: its
/// column in the hogel.
template <bool mixed>
__device__ __forceinline__ Parts32 begin_pixel(const Lane& lane, const Places& places, Parts32 value, int column,
                                               [[maybe_unused]] int place) {
  Parts32 u{phase_math::add(value.re, lane.sums[0].re), phase_math::add(value.im, lane.sums[0].im)};
#define COLLECT(tap, dx)                                                                                            \
  if (dx > 1) {                                                                                                     \
    add_to(u, WEIGHT(tap, place),                                                                                   \
           dx <= RING ? lane.latest[1 < dx && dx <= RING ? dx - 1 : 0] : load(address_at(places, column - dx, 0))); \
  }
  OWN_TAPS(COLLECT)
#undef COLLECT
  return u;
}

/// Processes a block of steps. `edge`: some columns are outside the hogel. `mixed`: some errors are collected by pixels
/// with the set of weights to the right. Returns the codes, the first in the lowest byte.
template <bool edge, bool mixed>
__device__ __forceinline__ uint2 run_block(const WavefrontParameters& arguments, Lane& lane, const Places& places,
                                           const Parts32* shown, int first_column, int columns) {
  unsigned packed[2] = {0, 0};
  Parts32 value = load(places.block[0]);
#pragma unroll
  for (int c = 0; c < BLOCK; ++c) {
    Parts32 coming[ROW_COUNT];
#define COME(row, dy, delay, early) coming[row] = early ? load(address_at(places, c - delay, dy)) : lane.coming[row];
    ROWS(COME)
#undef COME
#define COLLECT(tap, row, slot) add_to(lane.sums[slot], WEIGHT(tap, first_column + c + slot), coming[row]);
    LATE_TAPS(COLLECT)
#define COME(row, dy, delay, early) \
  if (!early) lane.coming[row] = load(address_at(places, c + 1 - (early ? 2 : delay), dy));
    ROWS(COME)
#undef COME
    EARLY_TAPS(COLLECT)
#undef COLLECT
    Parts32 u = begin_pixel<mixed>(lane, places, value, c, first_column + c);
#if NEAREST
    add_to(u, WEIGHT(TAPS - 1, first_column + c), lane.latest[0]);
#endif
    const int bits = find_code(arguments, u);
    const Parts32 level = level_of(shown, bits);
    if (c + 1 < BLOCK) value = load(places.block[0] + 8 * (c + 1));
#pragma unroll
    for (int i = 0; i + 1 < SLOTS; ++i) lane.sums[i] = lane.sums[i + 1];
    lane.sums[SLOTS - 1] = {0, 0};
    Parts32 error{phase_math::add(u.re, -level.re), phase_math::add(u.im, -level.im)};
#if LINE
    const float along =
        phase_math::add(phase_math::multiply(error.re, LINE_RE), phase_math::multiply(error.im, LINE_IM));
    error = {phase_math::multiply(along, LINE_RE), phase_math::multiply(along, LINE_IM)};
#endif
    if (edge && static_cast<unsigned>(first_column + c) >= static_cast<unsigned>(columns)) error = {0, 0};
    store(places.block[0] + 8 * c, error);
#pragma unroll
    for (int i = RING - 1; i > 0; --i) lane.latest[i] = lane.latest[i - 1];
    lane.latest[0] = error;
    constexpr unsigned places_of_code[4] = {0x3214, 0x3240, 0x3410, 0x4210};
    packed[c / 4] = c % 4 == 0 ? written_of(bits) : __byte_perm(packed[c / 4], written_of(bits), places_of_code[c % 4]);
    __syncwarp();
  }
  return make_uint2(packed[0], packed[1]);
}

#if PACK == 8
/// Packs the codes of a lane's row into aligned words of eight. The eight codes of a block are not aligned if the row's
/// lag is no multiple of 8.
struct Packer {
  uint2 before;       // codes of the last block
  unsigned selector;  // of __byte_perm: four bytes of two words, from byte first % 4 on
  int words;          // index of the first word used, among the last block's two and the present one's two
  int column;         // column of the returned word, from the block's first on

  __device__ __forceinline__ explicit Packer(int lane) : before(make_uint2(0, 0)) {
    const int late = lane * LAG % 8;         // lag of the row modulo a word's columns
    const int first = late == 0 ? 8 : late;  // first byte of the word among the 16 of both blocks
    column = first - 8;
    words = first / 4;
    selector = 0x3210 + 0x1111 * (first % 4);
  }
  __device__ __forceinline__ uint2 add(uint2 now) {
    const unsigned a = words == 2 ? now.x : (words == 1 ? before.y : before.x);
    const unsigned b = words == 2 ? now.y : (words == 1 ? now.x : before.y);
    const unsigned c = words == 1 ? now.y : now.x;  // ignored if words is 2
    before = now;
    return make_uint2(__byte_perm(a, b, selector), __byte_perm(b, c, selector));
  }
};
#endif

}  // namespace
}  // namespace holotone::diffusion
