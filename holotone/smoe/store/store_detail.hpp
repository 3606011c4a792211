#pragma once
// Steps of storing a model. Not for users.
#include <holotone/smoe/codec/codec_detail.hpp>
#include <holotone/smoe/fit/steps.hpp>

namespace holotone::smoe {

/// Pictures that a file approximates.
struct StoreScene {
  StoreScene(const char* where, std::span<const SmoeFitView> images, const Queue& queue);

  FitEnginePointer engine;
  std::vector<ViewPoint> places;     ///< positions of the views
  std::vector<std::size_t> all;      ///< numbers of views
  std::vector<std::size_t> sampled;  ///< some of a light field's views, spread over it
  Shape<2> size;
  int dimensions;
  int channels;
  WidthLimits limits;  ///< limits of fits
  WidthLimits loose;   ///< limits of components after rounding
};

/// Steps in proportions at which all kinds of numbers do about the same harm, at quality 50. The mean number has as
/// many bits as with smoe_steps.
SmoeSteps balanced_steps(const StoreScene& scene, const SmoeModel& model);
/// `balanced` scaled to qualities of gates and of experts, each step within the limits of files.
SmoeSteps steps_at(const SmoeSteps& balanced, const SmoeModel& model, double gates, double experts);

/// Rounds the gates to these steps, fits everything else again in `descent` steps, and solves for the experts. `report`
/// is called before every step. `is_late`, if set, returns true once this fraction of the descent's time is over.
SmoeModel rounded_gates(StoreScene& scene, const SmoeModel& model, const SmoeSteps& steps, std::int64_t descent,
                        const std::function<void()>& report, const std::function<bool(double)>& is_late = {});

/// Quantizes a model whose gates are already rounded to these steps; chooses the experts' numbers by error and bits.
/// `report` is called before every turn. Once `is_late`, if set, is true, returns the best numbers so far.
CodedModel rounded_experts(StoreScene& scene, const SmoeModel& model, const SmoeSteps& steps,
                           const std::function<void()>& report, const std::function<bool()>& is_late = {});

}  // namespace holotone::smoe
