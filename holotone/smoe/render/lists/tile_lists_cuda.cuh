#pragma once
// Component lists of the tiles of pictures, on a CUDA device, with an error bound for the omitted components.
// Not for users.
//
// A block is 2 x 2 tiles of 8 x 8 pixels, an area 2 x 2 blocks. For a tile T, let U_k be the largest log2 density of
// component k there, and L one that some component reaches at every pixel. Component k then has at most the weight
// 2^(U_k - L). With y the colour of the kept components, m_k an expert and c any colour,
//   error = sum over dropped k of w_k (m_k - y)   so   |error| <= sum of 2^(U_k - L) (r_k + B)
// where r_k, times the largest weight, bounds |m_k - c| times the weight at any pixel of T. B bounds |y - c|: y is a
// mean of the kept m_k (docs/smoe.md has both). A component is dropped if its summand is below a threshold. The sum of
// the dropped summands is then known; if it exceeds the tolerance, the block's threshold is lowered. Components in
// cells beyond a distance are not visited: their summands are bounded class by class.
#include <holotone/smoe/render.hpp>
#include <holotone/smoe/render/lists/sorted_components_cuda.cuh>

namespace holotone::smoe {

inline constexpr int tile_side = 8;
inline constexpr int tiles_across = 2;  ///< tiles per row of a block
inline constexpr int block_side = tile_side * tiles_across;
inline constexpr int tiles_a_block = tiles_across * tiles_across;
inline constexpr int quarters_a_block = 4 * tiles_a_block;
inline constexpr int blocks_an_area = 4;
inline constexpr int area_side = 2 * block_side;
/// Largest number of components of a unit of work.
inline constexpr int max_in_unit = 256;
/// Largest power of two of a weight in float32.
inline constexpr float max_power = 100;

/// One picture: pixel (row, column) is at x + column step_x, y + row step_y.
struct Frame {
  double x;
  double y;
  double step_x;
  double step_y;
  double a_step_x;  ///< 1 / step_x
  double a_step_y;
  unsigned plane;

  bool operator==(const Frame&) const = default;
};

/// Consecutive pictures whose planes form a bundle and share lists.
struct PictureBundle {
  unsigned first;
  unsigned pictures;
  unsigned order;   ///< number of the planes' bundle
  unsigned middle;  ///< middle plane of the bundle, to which Span refers

  bool operator==(const PictureBundle&) const = default;
};

/// Pictures of one size in areas of four blocks each. A pass renders `areas` of them, from number `first` over all
/// bundles on.
struct PictureGrid {
  int width;
  int height;
  int areas_x;
  int areas_y;
  unsigned first;
  unsigned areas;
  unsigned bundle_log2;  ///< a block's record stands for up to 2^bundle_log2 blocks, one in each picture
};

/// Position of a block.
struct BlockPlace {
  unsigned picture;  ///< or its bundle
  int first_row;
  int first_column;
};

__device__ __forceinline__ BlockPlace find_place(const PictureGrid& grid, unsigned block) {
  const unsigned in_all = grid.first + block / blocks_an_area;
  const auto of_picture = static_cast<unsigned>(grid.areas_x * grid.areas_y);
  const unsigned picture = in_all / of_picture;
  const auto area = static_cast<int>(in_all - picture * of_picture);
  const int row = area / grid.areas_x;
  const auto block_number = static_cast<int>(block % blocks_an_area);
  return {picture, row * area_side + block_number / 2 * block_side,
          (area - row * grid.areas_x) * area_side + block_number % 2 * block_side};
}

/// Method of summing a block.
enum class BlockSum : int {
  nothing,     ///< outside the picture
  halves,      ///< its list, with weights in half precision, in float32 if that is not precise enough
  floats,      ///< its list, in float32
  units,       ///< its list in several units, in float32
  exact_list,  ///< its list, in float64
  exact_all,   ///< all components, in float64
};

struct Block {
  BlockPlace place;  ///< position in the first picture
  unsigned pictures;
  unsigned order;  ///< bundle of the components in its list
  BlockSum sum;
  unsigned units;  ///< number of units of its list
  unsigned slot;   ///< first of the accumulators of several units, one for each picture
  bool checked;    ///< float32 is precise enough only if the weighted mean of |m_k - c| is at most max_spread
  float max_spread;
  float half_spread;                   ///< the same for BlockSum::halves: root mean square of A_k
  float half_above;                    ///< added to `shift` for BlockSum::halves
  float shift[tiles_a_block];          ///< subtracted from a tile's log2 densities in float32
  float reference[max_smoe_channels];  ///< c
};

struct alignas(16) Unit {
  unsigned block;  ///< in one picture: the record's number times 2^bundle_log2, plus the picture
  unsigned begin;
  unsigned count;
  unsigned part;
};
/// Limits of sums in half precision.
inline constexpr int max_half_channels = 3;
inline constexpr float max_half_power = 14;
inline constexpr float max_half_range = 24;

/// A component of a unit, and a bit mask of the tiles that need it.
struct alignas(8) Listed {
  unsigned component;
  unsigned tiles;
};

/// Statistics of the lists. Several counters, so that blocks do not wait for each other.
struct alignas(32) Tally {
  unsigned long long in_all;  ///< sum of the components of all tiles
  unsigned most;              ///< largest number of components of a tile in a unit
};
inline constexpr unsigned tallies = 64;

struct ListCounts {
  unsigned chunks;  ///< chunks taken from the pool
  unsigned units;
  unsigned slots;
  unsigned exact;   ///< tiles listed for float64
  unsigned ticket;  ///< next unit to sum
  unsigned exact_ticket;
  unsigned rough;  ///< further tiles for which float32 was not precise enough
  Tally tally[tallies];
};

/// A part of a block's list, of at most max_in_unit components.
struct Chunk {
  unsigned next;
  unsigned count;
};

/// Memory of the lists, on the device.
struct ListStore {
  Block* block;
  Unit* unit;
  Listed* listed;        ///< max_in_unit for each chunk
  Chunk* chunk;          ///< first chunk of each block, then the pool for all blocks
  unsigned* exact_tile;  ///< tiles_a_block times the block's number, in one picture, plus the tile's
  unsigned* best;        ///< L of each quarter of a tile, area by area, as ordered_bits
  ListCounts* counts;
  unsigned first_free;
  unsigned max_chunks;  ///< chunks in the pool
  unsigned max_slots;   ///< number of accumulators
};

#if defined(__CUDACC__)

/// Lists a tile for float64.
__device__ inline void add_exact(const ListStore& store, unsigned block, unsigned tile) {
  store.exact_tile[atomicAdd(&store.counts->exact, 1U)] = tiles_a_block * block + tile;
}

/// A block in one of its pictures, by its number there.
struct PictureBlock {
  const Block& record;
  unsigned number;  ///< number of the record
  unsigned picture;
  BlockPlace place;

  __device__ PictureBlock(const ListStore& store, const PictureGrid& grid, unsigned block)
      : record(store.block[block >> grid.bundle_log2]),
        number(block >> grid.bundle_log2),
        picture(block - (number << grid.bundle_log2)),
        place(record.place) {
    place.picture += picture;
  }
  /// Offset from components of the list to those of the picture's plane.
  __device__ unsigned to_plane(const Frame& frame, const Components& components) const {
    return (frame.plane - record.order) * components.count;
  }
};

__device__ inline void tally(const ListStore& store, unsigned block, unsigned in_all, unsigned most) {
  Tally& tally = store.counts->tally[block % tallies];
  atomicAdd(&tally.in_all, static_cast<unsigned long long>(in_all));
  atomicMax(&tally.most, most);
}

#endif

struct ListSettings {
  SmoeSelection selection;
  float tolerance;
  float window_px;
  int window_block;  ///< side of the blocks that windows surround, pixels: a tile's or a multiple of a block's
  bool exact;        ///< float64 everywhere
  int channels;
};

void list_components(const Components& components, const Frame* frames, const PictureBundle* bundles,
                     const PictureGrid& grid, const ListSettings& settings, const ListStore& store,
                     cudaStream_t stream);

}  // namespace holotone::smoe
