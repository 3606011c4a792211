#pragma once
// Points that light much of a tile, summed there on coarse nodes (coarse_sums_cuda.cu). Not for users.
#include <holotone/hologram/point_cloud/coarse/coarse_nodes_cuda.cuh>

namespace holotone::point_cloud {

/// Sums of waves in tiles that they light wholly, or in all rows or columns.
class CoarseSums {
 public:
  explicit CoarseSums(const Queue& queue) : queue_(queue), node_sums_(queue) {}
  /// Sets the shape of the tiles and the mean wave.
  void set(const CoarseShape& shape, const CoarseWave& wave);
  [[nodiscard]] const CoarseShape& shape() const { return shape_; }
  /// Adds the tiles' sums to the panel, rows of `panel_width` pixels. `list`: points, each with its class, in any order
  /// that does not change from run to run. Enqueues.
  void add(const MaskedPoints& points, const CoarseWork& work, const unsigned* list, std::int64_t listed,
           float largest_amplitude, float2* panel, int panel_width);
  [[nodiscard]] std::size_t bytes() const {
    return weights_.bytes() + matrix_.bytes() + plain_.bytes() + sorted_.bytes() + counts_.bytes() + begins_.bytes() +
           exponents_.bytes() + on_nodes_.bytes() + lines_.bytes() + cut_rows_.bytes() + pixels_.bytes() +
           node_sums_.bytes();
  }

 private:
  void add_tiles(const MaskedPoints& points, const CoarseTile* tiles, int first, int count, float largest_amplitude,
                 float2* panel, int panel_width);

  Queue queue_;
  CoarseShape shape_;
  CoarseWave wave_;
  Array<double, 1> weights_;  ///< W of this side
  int weights_side_ = 0;
  NodeSums node_sums_;
  Array<std::uint16_t, 1> matrix_;  ///< P in fp16: [Re -Im; Im Re]
  Array<std::uint16_t, 1> plain_;   ///< [Re Im]
  Array<unsigned, 1> sorted_;       ///< points by classes
  Array<int, 1> counts_;            ///< of the points of each segment's classes, then their places
  Array<int, 1> begins_;            ///< of the classes of each tile's kinds
  Array<int, 1> exponents_;         ///< of each tile's scale
  Array<std::uint16_t, 1> on_nodes_;
  Array<std::uint16_t, 1> lines_;
  Array<std::uint16_t, 1> cut_rows_;
  Array<float, 1> pixels_;
};

}  // namespace holotone::point_cloud
