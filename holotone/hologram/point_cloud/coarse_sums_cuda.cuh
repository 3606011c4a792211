#pragma once
// Points that light a subtile wholly, summed there on coarse nodes (coarse_sums_cuda.cu). Not for users.
#include <holotone/hologram/point_cloud/fast_cuda.cuh>

namespace holotone::point_cloud {

/// Local frequencies of a subtile's points are sorted into coarse_bins x coarse_bins bins.
constexpr int coarse_bins = 8;
constexpr int coarse_classes = coarse_bins * coarse_bins;
/// Bits of a point's index in a list; those above are its bin's number.
constexpr int coarse_index_bits = 26;

/// Points as MaskedProducts keeps them: column and row {whole, rest, first lit, last lit}, wave {a high, a low,
/// amplitude, turns}.
struct CoarsePoints {
  const float4* columns;
  const float4* rows;
  const float4* waves;
};

/// A subtile, and its points in the list.
struct CoarseTile {
  int first_row;
  int first_column;
  int rows;
  int columns;
  int begin;
  int end;
};

#ifdef __CUDACC__
/// Number of the bin of a local frequency in cycles a pixel, which counts modulo one.
__device__ __forceinline__ int coarse_bin(float frequency) {
  const float within = frequency - rintf(frequency);
  return min(max(static_cast<int>((within + 0.5F) * coarse_bins), 0), coarse_bins - 1);
}
#endif

/// Sums of waves that light subtiles wholly.
class CoarseSums {
 public:
  explicit CoarseSums(Queue queue) : queue_(std::move(queue)) {}
  /// Sets the mean curvature, in turns per square pixel.
  void set(double curvature);
  /// Adds the tiles' sums to the panel, rows of `panel_width` pixels. `list`: points, each with the number of its bin
  /// from bit coarse_index_bits on, in any order that does not change from run to run. Enqueues.
  void add(const CoarsePoints& points, const CoarseTile* tiles, int tile_count, const unsigned* list,
           std::int64_t listed, float largest_amplitude, float2* panel, int panel_width);
  [[nodiscard]] std::size_t bytes() const {
    return matrix_.bytes() + sorted_.bytes() + begins_.bytes() + on_nodes_.bytes() + next_.bytes();
  }

 private:
  Queue queue_;
  double curvature_ = 0;
  Array<unsigned, 1> matrix_;  ///< from nodes to pixels, in pairs of fp16, as the tensor cores take them
  Array<unsigned, 1> sorted_;  ///< points by bins
  Array<int, 1> begins_;       ///< of each tile's bins
  Array<unsigned, 1> on_nodes_;
  Array<int, 1> next_;  ///< bin of a tile that no warp has taken
};

}  // namespace holotone::point_cloud
