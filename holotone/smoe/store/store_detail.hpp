#pragma once
// What storing is made of. Not for users.
#include <holotone/smoe/codec/codec_detail.hpp>
#include <holotone/smoe/fit/steps.hpp>

namespace holotone::smoe {

/// The pictures that a file shall show.
struct StoreScene {
  StoreScene(const char* where, std::span<const SmoeFitView> images, const Queue& queue);

  FitEnginePointer engine;
  std::vector<ViewPoint> places;     ///< of the views
  std::vector<std::size_t> all;      ///< numbers of views
  std::vector<std::size_t> sampled;  ///< some of a light field's, from all over it
  Shape<2> size;
  int dimensions;
  int channels;
  WidthLimits limits;  ///< of fits
  WidthLimits loose;   ///< of what rounding makes of them
};

/// Proportions of steps by which kinds of numbers do about the same harm, at quality 50: the mean number has as many
/// bits as with smoe_steps.
SmoeSteps balanced_steps(const StoreScene& scene, const SmoeModel& model);
/// `balanced` at other qualities, of gates and of experts, each step within what files allow.
SmoeSteps steps_at(const SmoeSteps& balanced, const SmoeModel& model, double gates, double experts);

/// The model with gates as files with these steps hold them, everything else fitted again in `descent` steps; its
/// experts are solved for. `report` is called before every step; `is_late`, if any, tells whether the time for this
/// share of the descent is over.
SmoeModel rounded_gates(StoreScene& scene, const SmoeModel& model, const SmoeSteps& steps, std::int64_t descent,
                        const std::function<void()>& report, const std::function<bool(double)>& is_late = {});

/// The model, whose gates are rounded for these steps, in whole numbers, those of the experts chosen for the pictures
/// and the bits.
/// `report` is called before every look at the pictures; once `is_late`, if any, is true, the best numbers so far are
/// taken.
CodedModel rounded_experts(StoreScene& scene, const SmoeModel& model, const SmoeSteps& steps,
                           const std::function<void()>& report, const std::function<bool()>& is_late = {});

}  // namespace holotone::smoe
