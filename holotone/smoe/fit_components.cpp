#include <algorithm>
#include <cmath>
#include <holotone/smoe/fit_steps.hpp>
#include <numbers>

namespace holotone::smoe {
namespace {

const double unit = std::sqrt(2 * std::numbers::ln2);  // of a density's logarithm to base 2

}  // namespace

Whitening whitening(const ImageComponent& component) {
  return {component.across * unit, component.skew * unit, component.down * unit};
}

void set_whitening(ImageComponent& component, const Whitening& a) {
  component.across = a.a00 / unit;
  component.skew = a.a10 / unit;
  component.down = a.a11 / unit;
}

std::array<double, 3> covariance_of(const Whitening& a) {
  const double b00 = 1 / a.a00;
  const double b11 = 1 / a.a11;
  const double b10 = -a.a10 * b00 * b11;
  return {b00 * b00, b00 * b10, b10 * b10 + b11 * b11};
}

Whitening whitening_of(const std::array<double, 3>& covariance, double largest) {
  const auto [xx, xy, yy] = covariance;
  const double middle = 0.5 * (xx + yy);
  const double half = std::hypot(0.5 * (xx - yy), xy);
  const double most = std::clamp(middle + half, least_width * least_width, largest * largest);
  const double floor = std::max(least_width * least_width, most / (largest_aspect * largest_aspect));
  const double least = std::clamp(middle - half, floor, most);
  // The precision: along the long axis (cosine, sine) 1 / most, across 1 / least.
  const double angle = half > 0 ? 0.5 * std::atan2(2 * xy, xx - yy) : 0;
  const double cosine = std::cos(angle);
  const double sine = std::sin(angle);
  const double pxx = cosine * cosine / most + sine * sine / least;
  const double pxy = cosine * sine * (1 / most - 1 / least);
  const double pyy = sine * sine / most + cosine * cosine / least;
  // A^T A = P with A lower triangular.
  const double a11 = std::sqrt(pyy);
  const double a10 = pxy / a11;
  return {std::sqrt(std::max(pxx - a10 * a10, 1 / (most * 4))), a10, a11};
}

void limit_widths(ImageComponent& component, double largest) {
  const Whitening a = whitening(component);
  const double trace = a.a00 * a.a00 + a.a10 * a.a10 + a.a11 * a.a11;
  const double determinant = a.a00 * a.a11;
  // Both ends of the spectrum are certainly within bounds.
  const double least = determinant * determinant / trace;
  if (trace * least_width * least_width <= 1 && least * largest * largest >= 1 &&
      trace <= least * largest_aspect * largest_aspect) {
    return;
  }
  set_whitening(component, whitening_of(covariance_of(a), largest));
}

SmoeModel model_of(const Components& components, int channels, const Shape<2>& size) {
  SmoeModel model;
  model.dimensions = 2;
  model.channels = channels;
  model.high = {static_cast<double>(size[1]), static_cast<double>(size[0])};
  std::vector<double> log_weight;
  double most = -INFINITY;
  for (const auto& component : components) {
    log_weight.push_back(component.peak * std::numbers::ln2 - std::log(component.across * component.down));
    most = std::max(most, log_weight.back());
  }
  double sum = 0;
  for (const double value : log_weight) sum += std::exp(value - most);
  for (std::size_t j = 0; j < components.size(); ++j) {
    const ImageComponent& component = components[j];
    model.log_weight.push_back(static_cast<float>(log_weight[j] - most - std::log(sum)));
    model.centre.push_back(static_cast<float>(component.x + 0.5));
    model.centre.push_back(static_cast<float>(component.y + 0.5));
    for (const double value : covariance_of(whitening(component)))
      model.covariance.push_back(static_cast<float>(value));
    for (std::size_t c = 0; c < static_cast<std::size_t>(channels); ++c) {
      model.colour.push_back(component.colour[c]);
      model.slope.push_back(component.slope_x[c]);
      model.slope.push_back(component.slope_y[c]);
    }
  }
  return model;
}

}  // namespace holotone::smoe
