// A step of expectation-maximisation of coordinates and colours.
#include <algorithm>
#include <cmath>
#include <holotone/smoe/fit/steps.hpp>
#include <holotone/smoe/model/over_components.hpp>

namespace holotone::smoe {
namespace {

/// Least standard deviation of colours around an expert.
constexpr double min_deviation = 1.0 / 255;
/// A component of smaller mass, in pixels, keeps its centre, shape and expert.
constexpr double min_mass = 1e-3;
/// Added to the diagonal of a covariance in z before slopes are solved for.
constexpr double ridge = 1e-9;

/// True if a component's pixels span enough of u and v to determine its parallax and its extent in them.
bool shows_parallax(const FitComponent& component, const Matrix& covariance, int dimensions) {
  constexpr double min_variance = 0.02;
  constexpr double min_independence = 0.05;
  const auto [u, skew, v] = covariance_of(component.views);
  const double uu = covariance[2][2] * u;
  const double vv = covariance[3][3] * v;
  if (dimensions == 3) return uu > min_variance;
  const double product = covariance[2][2] * covariance[3][3];
  return uu > min_variance && vv > min_variance &&
         product - covariance[3][2] * covariance[3][2] > min_independence * product;
}

/// Sets a component to the mean and covariance of its pixels in z, and its expert by least squares over them.
void fit_component(FitComponent& component, double& variance, const FitSums& sums, int dimensions, std::size_t channels,
                   const WidthLimits& pixels) {
  const auto d = static_cast<std::size_t>(dimensions);
  Vector mean{};
  Matrix covariance{};
  for (std::size_t i = 0; i < d; ++i) mean[i] = sums.s1[i] / sums.s;
  for (std::size_t i = 0; i < d; ++i) {
    for (std::size_t k = 0; k <= i; ++k) {
      covariance[i][k] = covariance[k][i] = sums.s2[below(i, k)] / sums.s - mean[i] * mean[k];
    }
  }
  if (d > 2 && !shows_parallax(component, covariance, dimensions)) {
    for (std::size_t i = 2; i < d; ++i) {
      for (std::size_t k = 0; k < i; ++k) covariance[i][k] = covariance[k][i] = 0;
      covariance[i][i] = 1;
      mean[i] = 0;
    }
  }
  Matrix firm = covariance;
  for (std::size_t i = 0; i < d; ++i) firm[i][i] += ridge;
  const auto factor = cholesky(firm, dimensions);
  if (!factor) return;
  double left = sums.extra / sums.s;  // mean squared distance of the colours from the new expert
  for (std::size_t c = 0; c < channels; ++c) {
    const double colour = sums.p[c][0] / sums.s;
    Vector cross{};
    for (std::size_t i = 0; i < d; ++i) cross[i] = sums.p[c][1 + i] / sums.s - colour * mean[i];
    const Vector b = backward_solve(*factor, forward_solve(*factor, cross, dimensions), dimensions);
    left -= colour * colour;
    for (std::size_t i = 0; i < d; ++i) {
      left -= 2 * b[i] * cross[i];
      for (std::size_t k = 0; k < d; ++k) left += b[i] * b[k] * covariance[i][k];
    }
    component.colour[c] = colour;
    component.slope[c] = natural_slope(component, b);
  }
  variance = std::max(left / static_cast<double>(channels), min_deviation * min_deviation);

  // Covariance in coordinates of the picture, A^-1 C A^-T, for set_covariance.
  const Vector shift = unwhitened(component, mean);
  Matrix columns{};
  for (std::size_t i = 0; i < d; ++i) {
    Vector z{};
    z[i] = 1;
    columns[i] = unwhitened(component, z);
  }
  Matrix natural{};
  for (std::size_t row = 0; row < d; ++row) {
    for (std::size_t column = 0; column < d; ++column) {
      for (std::size_t i = 0; i < d; ++i) {
        for (std::size_t k = 0; k < d; ++k) {
          natural[row][column] += columns[i][row] * covariance[i][k] * columns[k][column];
        }
      }
    }
  }
  for (std::size_t i = 0; i < d; ++i) component.centre[i] += shift[i];
  set_covariance(component, natural, dimensions, pixels);
}

}  // namespace

double maximise_expectation(FitEngine& engine, FitComponents& components, std::vector<double>& variance,
                            std::span<const std::size_t> views) {
  const auto channels = static_cast<std::size_t>(engine.channels());
  std::vector<double> precision(variance.size());
  std::transform(variance.begin(), variance.end(), precision.begin(), [](double value) { return 1 / value; });
  engine.sum(PixelSum::joint, views, precision);
  const auto& sums = engine.sums();
  over_components(std::ssize(components), [&](std::size_t j) {
    FitComponent& component = components[j];
    if (sums[j].s > min_mass) {
      fit_component(component, variance[j], sums[j], engine.dimensions(), channels, engine.limits());
    }
    component.peak = std::log(std::max(sums[j].s, 1e-9)) +
                     std::log(component.pixels.a00 * component.pixels.a11 * component.views.a00 * component.views.a11);
  });
  engine.put(components);
  return engine.total();
}

}  // namespace holotone::smoe
