#pragma once
// Between the plan (point_cloud.cpp, the one dispatch) and what computes. Not for users.
#include <array>
#include <holotone/hologram/point_cloud.hpp>

namespace holotone {

namespace point_cloud {

/// What one pass over a cloud tells. All but first_bad only of points on a CUDA device.
struct PointSummary {
  /// Index of the first point that is not finite (position, amplitude, phase) or lies in the panel's plane; -1: none.
  std::int64_t first_bad = -1;
  std::array<float, 3> low{};   ///< x, y in metres and 1 / distance in 1 / m
  std::array<float, 3> high{};  ///< of the same
  float largest = 0;            ///< |amplitude|
  float squares = 0;            ///< sum of amplitude^2
  static constexpr int sample_count = 256;
  std::array<std::array<float, 3>, sample_count> sample{};  ///< positions in metres, evenly drawn from the cloud
};

}  // namespace point_cloud

/// One method on one device. Points arrive checked, at least one of them, and on the engine's device; outputs
/// arrive checked, at least one of them.
class PointCloudPlan::Engine {
 public:
  virtual ~Engine() = default;
  /// Keeps what it needs of the points in its own form; the views die after the call (CUDA: after the queue's
  /// work).
  virtual void set_points(const PointSources& points, const point_cloud::PointSummary& summary) = 0;
  virtual void execute(const PointCloudOutput& output, Progress& progress) = 0;
  [[nodiscard]] virtual PointCloudInfo info() const = 0;
};

namespace point_cloud {

/// The wavelength that sets the band limit's reach.
inline double cone_wavelength_m(const PointCloudOptions& options) {
  return options.cone_wavelength_m > 0 ? options.cone_wavelength_m : options.wavelength_m;
}

using EnginePointer = std::unique_ptr<PointCloudPlan::Engine>;

EnginePointer direct_cpu(const PointCloudOptions& options);
EnginePointer recurrence_cpu(const PointCloudOptions& options);
EnginePointer separable_cpu(const PointCloudOptions& options);
EnginePointer fast_cpu(const PointCloudOptions& options);

EnginePointer direct_cuda(const PointCloudOptions& options, const Queue& queue);
EnginePointer recurrence_cuda(const PointCloudOptions& options, const Queue& queue);
EnginePointer separable_cuda(const PointCloudOptions& options, const Queue& queue);
EnginePointer fast_cuda(const PointCloudOptions& options, const Queue& queue);

PointSummary summarise_points_cpu(const PointSources& points);
PointSummary summarise_points_cuda(const PointSources& points, const Queue& queue);

}  // namespace point_cloud
}  // namespace holotone
