#pragma once
// Steps of fits. Not for users.
#include <functional>
#include <holotone/smoe/fit/engine.hpp>

namespace holotone::smoe {

/// Throws invalid_argument unless `views` are one or more pictures of one shape, finite and in range, at positions of
/// one dimension.
void require_views(const char* where, std::span<const SmoeFitView> views);
/// Throws invalid_argument unless `start` is a model of pictures like `view`.
void require_start(const char* where, const SmoeModel& start, const SmoeFitView& view);

/// Places `count` components in one picture, with a density proportional to the local error of an affine fit plus a
/// uniform share. Centres are drawn from equal parts along a space-filling curve; widths follow the density.
FitComponents start_components(View<const float, 3> image, std::int64_t count, std::uint64_t seed);

/// Sets the shears of the components of picture `middle` by the disparity that best matches their surroundings in the
/// other views. `extent`: ranges of u and v in equal units.
void find_shears(FitComponents& components, View<const float, 3> middle, const ViewPoint& at,
                 std::span<const View<const float, 3>> others, std::span<const ViewPoint> places,
                 const ViewPoint& extent);

// Before and after each of the following functions, `engine` holds `components`.

/// One step of expectation-maximisation of the mixture of coordinates and colours. The colours of a component spread
/// around its expert with one variance {K}. Returns the log likelihood of the input components, up to constants.
double maximise_expectation(FitEngine& engine, FitComponents& components, std::vector<double>& variance,
                            std::span<const std::size_t> views);

/// Solves for the experts of least squared error at fixed gating, with small ridge penalties on slopes and on changes
/// that no pixel determines. Method: conjugate gradients, preconditioned by each component's own normal matrix.
/// `report` is called before each step. Stops early, with better experts than before, once `is_late`, if set, is true.
void solve_experts(FitEngine& engine, FitComponents& components, std::span<const std::size_t> views, int steps,
                   const std::function<void()>& report, const std::function<bool()>& is_late = {});

// The following functions change only `components`.

/// Moves the components of least effect to the largest errors: each becomes one half of the component there. Returns
/// the changed components.
std::vector<std::uint32_t> relocate(FitComponents& components, const std::vector<FitSums>& importance,
                                    double largest_share, const WidthLimits& pixels);

/// Removes the components of least effect, or splits those with the largest errors, toward `count`. One call at most
/// halves or doubles their number.
void resize(FitComponents& components, const std::vector<FitSums>& importance, std::int64_t count,
            const WidthLimits& pixels);

/// Variance of colours around experts before the first step of EM.
inline constexpr double first_variance = 0.003;

}  // namespace holotone::smoe
