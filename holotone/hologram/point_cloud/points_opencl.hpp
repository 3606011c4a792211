#pragma once
// Points as records on an OpenCL device. Not for users.
#include <cstdint>
#include <holotone/core/array.hpp>
#include <holotone/core/kernel_opencl.hpp>
#include <holotone/hologram/point_cloud/engine.hpp>

namespace holotone::point_cloud {

/// Records of points_opencl.cl, padded with dark points to a multiple of `padding`.
class OpenclPoints {
 public:
  OpenclPoints(const PointCloudOptions& options, Queue queue, std::int64_t padding);
  /// Converts points on the queue's device. Allocates only if the count exceeds the capacity.
  void set(const PointSources& points);
  [[nodiscard]] const cl_float4* position() const { return storage_.data(); }
  [[nodiscard]] const cl_float4* wave() const { return storage_.data() + capacity_; }
  [[nodiscard]] const cl_float4* lit() const { return storage_.data() + 2 * capacity_; }
  [[nodiscard]] std::int64_t padded_count() const { return (count_ + padding_ - 1) / padding_ * padding_; }
  [[nodiscard]] std::size_t bytes() const { return storage_.bytes(); }

 private:
  PointCloudOptions options_;
  Queue queue_;
  std::int64_t padding_;
  std::int64_t count_ = 0;
  std::int64_t capacity_ = 0;
  Array<cl_float4, 1> storage_;  ///< position, wave, lit
  opencl::Kernel prepare_;
};

/// Kernels of the sum.
enum class SumKernels {
  native,    ///< a pixel or a short run an item, the device's native cosine
  portable,  ///< the same with a cosine of our own
  wide,      ///< vectors spelled out, for Fresnel waves on CPUs
};

/// Engine of direct or recurrence.
EnginePointer sum_opencl(PointMethod method, const PointCloudOptions& options, const Queue& queue, SumKernels kernels);

}  // namespace holotone::point_cloud
