#pragma once
// What fits are made of. Not for users.
#include <functional>
#include <holotone/smoe/fit/engine.hpp>

namespace holotone::smoe {

/// Throws invalid_argument unless there are pictures of one shape, finite and in range, at places of one dimension.
void require_views(const char* where, std::span<const SmoeFitView> views);
/// Throws invalid_argument unless `start` is a model of such pictures.
void require_start(const char* where, const SmoeModel& start, const SmoeFitView& view);

/// `count` components for one picture, where it is far from affine: centres in proportion to the local error of an
/// affine fit, in equal parts along a space-filling curve, with a uniform share. Widths follow their density.
FitComponents start_components(View<const float, 3> image, std::int64_t count, std::uint64_t seed);

/// Gives the components of the picture `middle` the shear by which the other views show their surroundings best.
/// `extent`: of
/// u and v in equal units.
void find_shears(FitComponents& components, View<const float, 3> middle, const ViewPoint& at,
                 std::span<const View<const float, 3>> others, std::span<const ViewPoint> places,
                 const ViewPoint& extent);

// Engine and `components` are of one mind before and after each of these.

/// One step of expectation-maximisation of the mixture of coordinates and colours, each component's colours spread
/// around its expert by one variance {K}. Returns the log likelihood of the components that came in, but for constants.
double maximise_expectation(FitEngine& engine, FitComponents& components, std::vector<double>& variance,
                            std::span<const std::size_t> views);

/// The experts with the least squared error where the gating stays as it is, and a small price on slopes and on changes
/// that no pixel decides: conjugate gradients, preconditioned by each component's own normal matrix, `report` called
/// before each step.
/// Ends early, with experts nearer than before, once `is_late`, if any, is true.
void solve_experts(FitEngine& engine, FitComponents& components, std::span<const std::size_t> views, int steps,
                   const std::function<void()>& report, const std::function<bool()>& is_late = {});

// These change `components` alone.

/// Moves components that do least to where the error is largest: they become halves of the component there. Returns
/// those that changed.
std::vector<std::uint32_t> relocate(FitComponents& components, const std::vector<FitSums>& importance,
                                    double largest_share, const WidthLimits& pixels);

/// Drops the components that do least or halves those with the largest errors, until there are `count` or twice or half
/// as many.
void resize(FitComponents& components, const std::vector<FitSums>& importance, std::int64_t count,
            const WidthLimits& pixels);

/// Of colours around experts before the first step of EM.
inline constexpr double first_variance = 0.003;

}  // namespace holotone::smoe
