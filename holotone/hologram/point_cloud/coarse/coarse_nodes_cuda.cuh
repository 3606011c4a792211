#pragma once
// Sums of points on the nodes of coarse tiles (coarse_nodes_cuda.cu). Not for users.
#include <cuda_fp16.h>
#include <holotone/hologram/point_cloud/coarse/coarse_lists_cuda.cuh>

namespace holotone::point_cloud {

/// Sums on nodes are of amplitudes up to this, which keeps the parts of dim points normal numbers in fp16.
constexpr float node_scale = 1024;

/// Mean of the waves of a cloud.
struct CoarseWave {
  double curvature = 0;  ///< turns a square pixel
  double ratio = 0;      ///< FastGrid::wave_ratio

  /// Mean curvature along an axis of the waves of a frequency along it, with directions of half the largest slope
  /// squared, a third of (ratio / 2)^2, along the other.
  [[nodiscard]] HOLOTONE_HOST_DEVICE double curvature_of_bin(double frequency) const {
    const double sine = frequency * ratio;
    const double cosine = sqrt(1 - sine * sine - ratio * ratio / 12);
    return curvature * cosine * (1 - sine * sine);
  }
  bool operator==(const CoarseWave&) const = default;
};

/// Distance of nodes, in pixels.
HOLOTONE_HOST_DEVICE inline double node_spacing_px(const CoarseShape& shape) { return 5 * shape.parts(); }
/// Place of the first node, from the middle: as of pixels a whole number and a half, so that frequencies count modulo
/// one on nodes too.
HOLOTONE_HOST_DEVICE inline double first_node(const CoarseShape& shape) {
  return -0.5 * node_spacing_px(shape) * (coarse_nodes - 1) - (shape.parts() > 1 ? 0.5 : 0);
}
/// Nodes of all bins along an axis.
HOLOTONE_HOST_DEVICE inline int count_axis_nodes(const CoarseShape& shape) { return shape.bins() * coarse_nodes; }

/// Tiles whose points are sorted: sorted[begins[tile][kind][class]] and on. Sums are divided by 2 to exponents[tile].
struct SortedTiles {
  const CoarseTile* tiles;
  int tile_count;
  const unsigned* sorted;
  const int* begins;
  const int* exponents;
};

/// Sums in fp16; a line holds the real, then the imaginary parts of all nodes of all bins along an axis.
struct LinesOfNodes {
  __half* on_nodes;  ///< C[tile][bin and node of rows][line of columns]
  __half* lines;     ///< L[tile][column][line of rows]
  __half* cut_rows;  ///< R[tile][row][two lines of columns: R, and -i R with its parts exchanged]
};

/// Sums of waves on the places of tiles.
class NodeSums {
 public:
  explicit NodeSums(Queue queue) : queue_(std::move(queue)) {}
  /// Enqueues.
  void sum(const CoarseShape& shape, const MaskedPoints& points, const SortedTiles& work, const CoarseWave& wave,
           float largest_amplitude, const LinesOfNodes& to);
  [[nodiscard]] std::size_t bytes() const { return chains_.bytes() + next_.bytes(); }

 private:
  Queue queue_;
  Array<float, 1> chains_;  ///< room for the sums of every warp
  Array<int, 1> next_;      ///< task that no warp has taken
};

}  // namespace holotone::point_cloud
