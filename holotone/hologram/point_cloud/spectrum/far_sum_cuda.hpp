#pragma once
// The exact wave of a far cloud: Fresnel's bent waves and the filter of the mean distance (far_grid.hpp).
// Not for users.
#include <holotone/fft/fft.hpp>
#include <holotone/hologram/point_cloud/choice/far_grid.hpp>
#include <holotone/hologram/point_cloud/fast/fast_plan_cuda.hpp>
#include <holotone/hologram/point_cloud/spectrum/spectrum_cuda.cuh>

namespace holotone::point_cloud {

class FarSum {
 public:
  FarSum(const PointCloudOptions& options, const Queue& queue);

  void make(const FarGrid& grid);
  void set(const PointSources& sources, const PointSummary& summary);
  void sum(cuda::MatrixProductChoice how);

  /// The panel's first pixel in the field with its margin, and the length of the field's rows.
  [[nodiscard]] const float2* panel() const { return field_.data() + margin_[0] * row_length() + margin_[1]; }
  [[nodiscard]] std::int64_t row_length() const { return transform_->shape()[1]; }
  [[nodiscard]] const FastGrid& grid() const { return plan_.grid(); }
  [[nodiscard]] std::size_t bytes() const {
    return plan_.bytes() + field_.bytes() + shares_.bytes() + (transform_ ? transform_->workspace_bytes() : 0);
  }

 private:
  PointCloudOptions options_;
  Queue queue_;
  Shape<2> margin_{};
  FarFilter filter_{};
  FastPlan plan_;
  Array<float2, 1> field_;
  Array<float, 1> shares_;
  std::optional<FftPlan> transform_;
};

}  // namespace holotone::point_cloud
