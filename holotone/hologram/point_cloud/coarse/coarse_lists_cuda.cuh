#pragma once
// Tiles of CoarseSums, and lists of the points that light them (coarse_lists_cuda.cu, coarse_sort_cuda.cu). Not for
// users.
#include <holotone/hologram/point_cloud/coarse/subtiles_cuda.cuh>

namespace holotone::point_cloud {

/// Points of a tile that CoarseSums sums: those that light it wholly; those that light all of its rows, but only its
/// columns up to one, or from one on; and the same of its rows.
enum CoarseKind { lit_wholly, cut_columns, cut_rows, coarse_kinds };

/// Nodes of a bin along an axis.
constexpr int coarse_nodes = 32;
/// Bits of a point's index in a list; those above are its class.
constexpr int coarse_index_bits = 22;

/// Shape of the tiles, at most `side` x `side` pixels, 128, 256 or 512. Along an axis they have bins of the local
/// frequency, a sixteenth as many as pixels, and strips of 32 pixels. Classes of points that light a tile wholly are
/// bins of rows by bins of columns; of others, bins along the lit axis by `bins` numbers that tell the lit strips of
/// the other.
struct CoarseShape {
  int side = 0;

  [[nodiscard]] HOLOTONE_HOST_DEVICE int bins() const { return side / 16; }
  [[nodiscard]] HOLOTONE_HOST_DEVICE int strips() const { return side / 32; }
  [[nodiscard]] HOLOTONE_HOST_DEVICE int classes() const { return bins() * bins(); }
  [[nodiscard]] HOLOTONE_HOST_DEVICE int parts() const { return side / subtile_side; }  ///< subtiles along an axis
  /// Pixels from the tile's middle to those at its ends, if it is not smaller.
  [[nodiscard]] HOLOTONE_HOST_DEVICE float middle() const { return 0.5F * static_cast<float>(side - 1); }
  /// Frequency in the middle of a bin, in cycles a pixel.
  [[nodiscard]] HOLOTONE_HOST_DEVICE double frequency(int bin) const { return (bin + 0.5) / bins() - 0.5; }
};

/// Points of a kind of a tile that a block sorts: `count` of the list, from `first` on.
struct CoarseSegment {
  int first;
  int count;
};
constexpr int max_segment_points = 32768;

/// A tile, the places of its points in the list, kind k from begin[k] to begin[k + 1], and their segments likewise.
struct CoarseTile {
  int first_row;
  int first_column;
  int rows;
  int columns;
  int begin[coarse_kinds + 1];
  int segment[coarse_kinds + 1];
};

/// Tiles to sum, on the device, and the segments of the list into which their points are divided to be sorted.
struct CoarseWork {
  const CoarseTile* tiles;
  int tile_count;
  const CoarseSegment* segments;
  int segment_count;
};

/// Tiles of a grid of one tile of subtiles.
int coarse_tiles(const Subtiles& subtiles, const CoarseShape& shape);
/// Lists that list_coarse fills: of every subtile, for products, and of every kind of every tile.
inline int coarse_lists(const Subtiles& subtiles, const CoarseShape& shape) {
  return subtiles.count() + coarse_kinds * coarse_tiles(subtiles, shape);
}
/// Extents of a tile, without points.
CoarseTile coarse_tile(const Subtiles& subtiles, const CoarseShape& shape, int number);

/// Counts the points [first, first + count) in every list: counts[list][warp of warp_points], zeros before. Enqueues.
void count_coarse(const Subtiles& subtiles, const CoarseShape& shape, const MaskedPoints& points, std::int64_t first,
                  std::int64_t count, int* counts, cudaStream_t stream);
/// Lists them from begins[list][warp] on: for products by number, for kinds by the number from `first` on and the class
/// from bit coarse_index_bits on. Enqueues.
void list_coarse(const Subtiles& subtiles, const CoarseShape& shape, const MaskedPoints& points, std::int64_t first,
                 std::int64_t count, const int* begins, int* list, cudaStream_t stream);

/// Sorts the points of each tile's kinds by classes, in their order: sorted, numbers without classes, and the places of
/// the classes, begins[tile][kind][class] with the end. counts: room for the classes of every segment. Enqueues.
void sort_coarse(const CoarseShape& shape, const CoarseWork& work, const unsigned* list, int* counts, int* begins,
                 unsigned* sorted, cudaStream_t stream);

}  // namespace holotone::point_cloud
