#pragma once
// What fits are made of. Not for users.
#include <functional>
#include <holotone/smoe/fit.hpp>
#include <holotone/smoe/fit_component.hpp>

namespace holotone::smoe {

/// Throws invalid_argument unless there are pictures of one shape, finite and in range, at places of one dimension.
void require_views(const char* where, std::span<const SmoeFitView> views);
/// Throws invalid_argument unless `start` is a model of such pictures.
void require_start(const char* where, const SmoeModel& start, const SmoeFitView& view);

/// One picture of the scene, and the lists of components that its tiles had when last selected.
struct FitView {
  ViewPoint at{};
  TargetTiles target;
  TilePairs pairs;
  std::int64_t selected = -1;  ///< the iteration of that; -1: none that still holds
  double error = -1;           ///< sum of squares when last measured, -1: never

  void select(const FitComponents& components, double tolerance);
};
using FitViews = std::vector<FitView>;

/// Adds up sum_pixels over views, without their lists being made anew; returns the sum of their totals, which are
/// also kept as errors where they are such. `precision` as there.
double sum_views(PixelSum what, const FitComponents& components, std::span<const double> precision,
                 std::span<FitView* const> views, std::vector<FitSums>& sums);

/// `count` components for one picture, where it is far from affine: centres in proportion to the local error of an affine fit,
/// in equal parts along a space-filling curve, with a uniform share. Widths follow their density.
FitComponents start_components(View<const float, 3> image, std::int64_t count, std::uint64_t seed);

/// Gives the components of the picture `middle` the shear by which the other views show their surroundings best. `extent`: of
/// u and v in equal units.
void find_shears(FitComponents& components, View<const float, 3> middle, const ViewPoint& at,
                 std::span<const View<const float, 3>> others, std::span<const ViewPoint> places,
                 const ViewPoint& extent);

/// One step of expectation-maximisation of the mixture of coordinates and colours, each component's colours spread around its
/// expert by one variance {K}. Returns the log likelihood of the components that came in, but for constants.
double maximise_expectation(FitComponents& components, std::vector<double>& variance, std::span<FitView* const> views,
                            int dimensions, const WidthLimits& pixels);

/// The experts with the least squared error where the gating stays as it is, and a small price on slopes and on changes that no
/// pixel decides: conjugate gradients, preconditioned by each component's own normal matrix, `report` called before each step.
void solve_experts(FitComponents& components, std::span<FitView* const> views, int dimensions, int steps,
                   const std::function<void()>& report);

/// Adam (Kingma and Ba 2015) in coordinates that stretch with each component.
class Descent {
 public:
  Descent(int dimensions, int channels);
  /// Newcomers have no past.
  void resize(std::size_t components);
  /// Forgets a component's past.
  void forget(std::size_t component);
  /// One step; `rate` scales all of them.
  void step(FitComponents& components, const std::vector<FitSums>& sums, double rate, const WidthLimits& pixels);

 private:
  std::size_t dimensions_;
  std::size_t channels_;
  std::vector<std::array<std::size_t, 2>> shape_;  ///< {row, column} of A's elements that are not 0
  std::size_t width_;
  std::int64_t steps_ = 0;
  std::vector<double> mean_;
  std::vector<double> square_;
};

/// Moves components that do least to where the error is largest: they become halves of the component there. Returns those that
/// changed.
std::vector<std::uint32_t> relocate(FitComponents& components, const std::vector<FitSums>& importance,
                                    double largest_share, const WidthLimits& pixels);

/// Drops the components that do least or halves those with the largest errors, until there are `count` or twice or half as many.
void resize(FitComponents& components, const std::vector<FitSums>& importance, std::int64_t count,
            const WidthLimits& pixels);

/// Of colours around experts before the first step of EM.
inline constexpr double first_variance = 0.003;

}  // namespace holotone::smoe
