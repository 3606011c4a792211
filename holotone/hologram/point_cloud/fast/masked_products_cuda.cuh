#pragma once
// Points that light a tile of `fast` in part, summed there by Hopper's warpgroups (masked_products_cuda.cu). Not for
// users.
#include <holotone/hologram/point_cloud/coarse/coarse_sums_cuda.cuh>
#include <holotone/hologram/point_cloud/fast/fast_cuda.cuh>
#include <vector>

namespace holotone::point_cloud {

/// Points to sum over one subtile: `count` of the list, from `first` on.
struct MaskedJob {
  int subtile;
  int first;
  int count;
};

/// Sums of points as products of factors, on the subtiles that they light of tiles that they do not light wholly. The
/// factors are made in shared memory beside the products. Errors as those of fp16 factors in four products. Where the
/// grid allows it, CoarseSums sums the points that light a tile of its own wholly, or along one axis.
class MaskedProducts {
 public:
  /// max_listed: points of all subtiles that are gathered at once; more are summed in turns.
  explicit MaskedProducts(Queue queue, std::int64_t max_listed = std::int64_t{1} << 28)
      : queue_(std::move(queue)), max_listed_(max_listed), coarse_(queue_) {}
  /// Prepares the points. Waits for the device.
  void set(const FastGrid& grid, const RawPoints& points, float largest_amplitude);
  /// Discards the points.
  void clear() { count_ = 0; }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  /// Enqueues the sums; the returned panel is valid until the next call. The same bits in every run.
  const float2* sum();
  [[nodiscard]] std::size_t bytes() const;

 private:
  bool gather(std::int64_t first, std::int64_t count);
  void plan_jobs(const std::vector<int>& begin);
  [[nodiscard]] bool lists_nothing() const { return jobs_.empty() && tiles_.empty(); }
  [[nodiscard]] bool has_coarse() const { return coarse_.shape().side > 0; }
  /// Of every subtile, and of the kinds of tiles of coarse sums.
  [[nodiscard]] int lists() const;
  void multiply();

  Queue queue_;
  std::int64_t max_listed_;
  CoarseSums coarse_;
  Subtiles subtiles_;
  double wave_ratio_ = 0;
  float largest_amplitude_ = 0;
  std::int64_t count_ = 0;
  std::int64_t points_a_turn_ = 0;  ///< that are gathered and summed at once
  std::int64_t turn_first_ = 0;     ///< first point of those that are gathered
  std::vector<MaskedJob> jobs_;     ///< of the gathered points, by subtile
  std::vector<int> first_job_;      ///< of each subtile, and the number of jobs
  std::vector<CoarseTile> tiles_;   ///< tiles of coarse sums with points
  std::vector<CoarseSegment> segments_;
  Array<float4, 1> records_;  ///< columns, rows, waves of the points
  Array<int, 1> flags_;       ///< of the points: never_whole, may_be_coarse
  Array<int, 1> counts_;      ///< of the points that each warp finds for each subtile, their sums, lists' begins
  Array<std::byte, 1> scan_memory_;
  Array<int, 1> list_;  ///< points of each list
  Array<CoarseTile, 1> device_tiles_;
  Array<CoarseSegment, 1> device_segments_;
  Array<MaskedJob, 1> device_jobs_;
  Array<int, 1> device_first_job_;
  Array<float2, 1> partial_sums_;  ///< of each job
  Array<float2, 1> panel_;
};

}  // namespace holotone::point_cloud
