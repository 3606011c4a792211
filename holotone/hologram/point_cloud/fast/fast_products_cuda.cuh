#pragma once
// Points that light a tile of `fast` in part (at the band limit), summed there as masked products of factors.
// Not for users.
#include <holotone/hologram/point_cloud/fast/fast_cuda.cuh>
#include <holotone/hologram/point_cloud/fast/masked_products_cuda.cuh>
#include <holotone/hologram/point_cloud/separable/separable_cuda.cuh>
#include <map>
#include <utility>
#include <vector>

namespace holotone::point_cloud {

class FastProducts {
 public:
  /// few_shapes: products have few different shapes, which are kept, at the cost of some padding: for grids that are
  /// filled anew often.
  FastProducts(const PointCloudOptions& options, Queue queue, bool few_shapes);
  /// Gathers the points that light some tile of the grid in part. Waits for the device.
  void set(const FastGrid& grid, const RawPoints& points, float largest_amplitude);
  /// Discards the gathered points.
  void clear() {
    jobs_ = 0;
    masked_.clear();
  }
  [[nodiscard]] bool empty() const { return jobs_ == 0 && masked_.empty(); }
  /// Enqueues the sums; the returned panel is valid until the next call.
  const float2* sum(cuda::MatrixProductChoice how, void* scratch);
  [[nodiscard]] std::size_t bytes() const;

 private:
  void plan_calls(const std::vector<int>& tile_points);

  PointCloudOptions options_;
  Queue queue_;
  bool few_shapes_;
  Arithmetic arithmetic_;
  MaskedProducts masked_;
  FastGrid grid_{};
  float largest_amplitude_ = 0;
  int batch_points_ = 0;  ///< points per job, all of one tile
  int batches_ = 0;       ///< jobs per product call
  std::int64_t jobs_ = 0;
  Array<int, 1> tiles_;   ///< counts, then first slots, then first jobs, of each tile
  Array<int, 1> counts_;  ///< of the points that each block of a kernel finds for each tile, and their sums
  Array<std::byte, 1> scan_memory_;
  Array<float4, 1> records_;    ///< position, wave, lit
  Array<unsigned, 1> largest_;  ///< bits of largest_amplitude_
  Array<std::byte, 1> x_;
  Array<std::byte, 1> y_;
  Array<float, 1> c_;
  Array<float2, 1> panel_;
  std::map<std::pair<int, int>, cuda::MatrixProduct> products_;  ///< by batch_points_ and batches_
};

}  // namespace holotone::point_cloud
