#pragma once
// What fits are made of. Not for users.
#include <functional>
#include <holotone/smoe/gradient_sums.hpp>

namespace holotone::smoe {

/// Least and largest standard deviation of a component on any axis of its own, pixels; the largest ratio of the two.
inline constexpr double least_width = 0.3;
inline constexpr double largest_aspect = 100;

/// A picture's components as they are fitted.
using Components = std::vector<ImageComponent>;

/// A = [[a00, 0], [a10, a11]]: the density of a component is exp(-|A d|^2 / 2) but for a constant.
struct Whitening {
  double a00;
  double a10;
  double a11;
};
Whitening whitening(const ImageComponent& component);
void set_whitening(ImageComponent& component, const Whitening& a);
/// From a covariance {xx, xy, yy}, its widths brought within bounds: `largest` is the largest one.
Whitening whitening_of(const std::array<double, 3>& covariance, double largest);
std::array<double, 3> covariance_of(const Whitening& a);

/// Brings widths that are out of bounds within them.
void limit_widths(ImageComponent& component, double largest);

/// The model in pixels of its picture, weights that add up to 1.
SmoeModel model_of(const Components& components, int channels, const Shape<2>& size);

/// `count` components where the picture is far from affine: centres in proportion to the local error of an affine fit, in
/// equal parts along a space-filling curve, with a uniform share. Widths follow their density.
Components start_components(View<const float, 3> image, std::int64_t count, std::uint64_t seed);

/// One step of expectation-maximisation of the mixture in (x, y, colour), each component's colours spread around its expert by
/// one variance {K}. Returns the log likelihood of the components that came in, but for constants.
double maximise_expectation(Components& components, std::vector<double>& variance, const TilePairs& pairs,
                            const TargetTiles& target, double largest_width);

/// The experts with the least squared error where the gating stays as it is, and a small price on slopes and on changes that no
/// pixel decides: conjugate gradients, preconditioned by each component's own normal matrix, `report` called before each step.
void solve_experts(Components& components, const TilePairs& pairs, const TargetTiles& target, int steps,
                   const std::function<void()>& report);

/// Adam (Kingma and Ba 2015) in coordinates that stretch with each component.
class Descent {
 public:
  void resize(std::size_t components, int channels);
  /// Newcomers have no past.
  void resize(std::size_t components) { resize(components, channels_); }
  /// Forgets a component's past.
  void forget(std::size_t component);
  /// One step; `rate` scales all of them.
  void step(Components& components, const std::vector<ComponentSums>& sums, double rate, double largest_width);

 private:
  int channels_ = 0;
  std::size_t width_ = 0;
  std::int64_t steps_ = 0;
  std::vector<double> mean_;
  std::vector<double> square_;
};

/// Moves components that do least to where the error is largest: they become halves of the component there. Returns those that
/// changed.
std::vector<std::uint32_t> relocate(Components& components, const std::vector<ComponentSums>& importance,
                                    double largest_share);

/// Drops the components that do least or halves those with the largest errors, until there are `count` or twice or half as many.
void resize(Components& components, const std::vector<ComponentSums>& importance, std::int64_t count);

/// Of colours around experts before the first step of EM.
inline constexpr double first_variance = 0.003;

}  // namespace holotone::smoe
