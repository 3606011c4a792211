#pragma once
// What a fit computes over pixels and components, on a device. Not for users.
#include <holotone/smoe/fit.hpp>
#include <holotone/smoe/fit/component.hpp>

namespace holotone::smoe {

/// A fit's pictures with the lists of their tiles, its components, sums over pixels and the descent's memory of
/// gradients, where all of them are computed. Views are numbered as they were given.
class FitEngine {
 public:
  virtual ~FitEngine() = default;

  /// The components from here on, one or more. The descent's memory goes with their numbers; newcomers have none.
  virtual void put(const FitComponents& components) = 0;
  virtual void get(FitComponents& components) const = 0;
  /// Lists of the components that a view's tiles need for colours within `tolerance` of the sum of all.
  virtual void select(std::size_t view, double tolerance) = 0;
  /// Adds up sum_pixels over views whose lists have been selected for as many components.
  virtual void sum(PixelSum what, std::span<const std::size_t> views, std::span<const double> precision) = 0;
  /// Of the last sum: of each component, and of the views' totals.
  virtual const std::vector<FitSums>& sums() = 0;
  virtual double total() = 0;
  /// Of each view the sum of squares that was found last, -1: none.
  virtual const std::vector<double>& errors() = 0;
  /// A step of Adam (Kingma and Ba 2015) by the last sum, which was of gradients; `rate` scales all of it.
  virtual void descend(double rate) = 0;
  /// Forgets all steps.
  virtual void restart() = 0;
  /// Forgets the past of components.
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

ViewPoint place_of(const SmoeFitView& view);

/// `views` as SmoeFitter has checked them; copied. Throws unsupported, named by `where`, for a device that this build
/// has not.
FitEnginePointer fit_engine(const char* where, std::span<const SmoeFitView> views, const Queue& queue);
FitEnginePointer fit_engine_cpu(std::span<const SmoeFitView> views);
FitEnginePointer fit_engine_cuda(std::span<const SmoeFitView> views, const Queue& queue);

}  // namespace holotone::smoe
