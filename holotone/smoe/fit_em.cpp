#include <algorithm>
#include <cmath>
#include <holotone/smoe/fit_steps.hpp>
#include <numbers>

namespace holotone::smoe {
namespace {

/// Colours spread at least this far around an expert.
constexpr double least_deviation = 1.0 / 255;
/// A component with less than this many pixels keeps its place and shape.
constexpr double least_mass = 1e-3;
/// Added to a covariance before slopes are solved for, square pixels.
constexpr double ridge = 1e-6;

}  // namespace

double maximise_expectation(Components& components, std::vector<double>& variance, const TilePairs& pairs,
                            const TargetTiles& target, double largest_width) {
  const auto channels = static_cast<std::size_t>(target.channels());
  std::vector<double> precision(variance.size());
  std::transform(variance.begin(), variance.end(), precision.begin(), [](double value) { return 1 / value; });
  std::vector<ComponentSums> sums;
  const double likelihood = sum_pixels(PixelSum::joint, components, precision, pairs, target, sums);
  for (std::size_t j = 0; j < components.size(); ++j) {
    ImageComponent& own = components[j];
    const auto& [mass, sx, sy, sxx, sxy, syy] = sums[j].s;
    Whitening a = whitening(own);
    if (mass > least_mass) {
      const double x = sx / mass;
      const double y = sy / mass;
      const std::array<double, 3> covariance{sxx / mass - x * x, sxy / mass - x * y, syy / mass - y * y};
      const auto [xx, xy, yy] = covariance;
      const double determinant = (xx + ridge) * (yy + ridge) - xy * xy;
      double left = sums[j].extra / mass;  // squared distance of the colours from the new expert
      for (std::size_t c = 0; c < channels; ++c) {
        const double mean = sums[j].p[c][0] / mass;
        const double tx = sums[j].p[c][1] / mass - mean * x;
        const double ty = sums[j].p[c][2] / mass - mean * y;
        const double slope_x = ((yy + ridge) * tx - xy * ty) / determinant;
        const double slope_y = ((xx + ridge) * ty - xy * tx) / determinant;
        left -= mean * mean + 2 * (slope_x * tx + slope_y * ty) -
                (slope_x * slope_x * xx + 2 * slope_x * slope_y * xy + slope_y * slope_y * yy);
        own.colour[c] = static_cast<float>(mean);
        own.slope_x[c] = static_cast<float>(slope_x);
        own.slope_y[c] = static_cast<float>(slope_y);
      }
      own.x += x;
      own.y += y;
      a = whitening_of(covariance, largest_width);
      set_whitening(own, a);
      variance[j] = std::max(left / static_cast<double>(channels), least_deviation * least_deviation);
    }
    own.peak = (std::log(std::max(mass, 1e-9)) + std::log(a.a00 * a.a11)) / std::numbers::ln2;
  }
  return likelihood;
}

}  // namespace holotone::smoe
