#pragma once
// Computations of a fit over pixels and components, on a device. Not for users.
#include <holotone/smoe/fit.hpp>
#include <holotone/smoe/fit/component.hpp>

namespace holotone::smoe {

/// Pictures of a fit with their tile lists, its components, sums over pixels and the moments of the descent, on the
/// device that computes them. Views are numbered in the order given.
class FitEngine {
 public:
  virtual ~FitEngine() = default;

  /// Sets the components, one or more. The moments of the descent stay with the components' numbers; new components
  /// have zero moments.
  virtual void put(const FitComponents& components) = 0;
  virtual void get(FitComponents& components) const = 0;
  /// Lists the components that each tile of a view needs for colours within `tolerance` of the sum of all.
  virtual void select(std::size_t view, double tolerance) = 0;
  /// Adds sum_pixels over views, whose lists were selected for the same number of components.
  virtual void sum(PixelSum what, std::span<const std::size_t> views, std::span<const double> precision) = 0;
  /// Results of the last sum: sums of each component, and the sum of the views' totals.
  virtual const std::vector<FitSums>& sums() = 0;
  virtual double total() = 0;
  /// Last sum of squared errors of each view; -1: none yet.
  virtual const std::vector<double>& errors() = 0;
  /// Performs a step of Adam (Kingma and Ba 2015) by the last sum, which must be of gradients; `rate` scales the whole
  /// step.
  virtual void descend(double rate) = 0;
  /// Resets the step count and all moments.
  virtual void restart() = 0;
  /// Resets the moments of components.
  virtual void forget(std::span<const std::uint32_t> components) = 0;

  [[nodiscard]] int dimensions() const { return dimensions_; }
  [[nodiscard]] int channels() const { return channels_; }
  [[nodiscard]] const Shape<2>& size() const { return size_; }
  [[nodiscard]] const WidthLimits& limits() const { return limits_; }

 protected:
  explicit FitEngine(std::span<const SmoeFitView> views);

 private:
  int dimensions_;
  int channels_;
  Shape<2> size_;
  WidthLimits limits_;
};
using FitEnginePointer = std::unique_ptr<FitEngine>;

ViewPoint to_view_point(const SmoeFitView& view);

/// `views`: checked by require_views; copied. Throws unsupported, naming `where`, for a device that this build lacks.
FitEnginePointer fit_engine(const char* where, std::span<const SmoeFitView> views, const Queue& queue);
FitEnginePointer fit_engine_cpu(std::span<const SmoeFitView> views);
FitEnginePointer fit_engine_cuda(std::span<const SmoeFitView> views, const Queue& queue);

}  // namespace holotone::smoe
