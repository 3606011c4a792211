// The gradient of a picture's squared error by a model's parameters.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/smoe/fit/gradient_sums.hpp>
#include <holotone/smoe/gradient.hpp>

namespace holotone {
namespace {

constexpr const char* where = "smoe_gradient";

void require_arguments(const SmoeModel& model, View<const float, 3> target, double tolerance) {
  require_model(where, model);
  if (model.dimensions != 2) throw_argument(where, "model", "2 dimensions", fmt::format("{}", model.dimensions));
  const auto& [ny, nx, channels] = target.shape();
  if (ny < 1 || nx < 1 || channels != model.channels || target.data() == nullptr) {
    throw_argument(where, "target", fmt::format("{{ny, nx, {}}}", model.channels), to_string<3>(target.shape()));
  }
  const auto values = target.host();
  if (!std::all_of(values.begin(), values.end(), [](float value) { return std::isfinite(value); })) {
    throw_argument(where, "target", "finite colours", "others");
  }
  require_range(where, "tolerance", tolerance, 1e-7, 1);
}

/// Inverse P of a covariance {xx, xy, yy}.
std::array<double, 3> inverse(const float* covariance) {
  const auto xx = static_cast<double>(covariance[0]);
  const auto xy = static_cast<double>(covariance[1]);
  const auto yy = static_cast<double>(covariance[2]);
  const double determinant = xx * yy - xy * xy;
  return {yy / determinant, -xy / determinant, xx / determinant};
}

void append(const SmoeModel& model, std::size_t j, const smoe::ComponentSums& sums, const std::array<double, 2>& step,
            SmoeGradient& gradient) {
  const auto& [s1, sx, sy, sxx, sxy, syy] = sums.s;
  const auto [pxx, pxy, pyy] = inverse(model.covariance.data() + 3 * j);
  const double mx = step[0] * sx;
  const double my = step[1] * sy;
  const double mxx = step[0] * step[0] * sxx;
  const double mxy = step[0] * step[1] * sxy;
  const double myy = step[1] * step[1] * syy;
  std::array<double, 2> centre{pxx * mx + pxy * my, pxy * mx + pyy * my};
  const auto channels = static_cast<std::size_t>(model.channels);
  for (std::size_t c = 0; c < channels; ++c) {
    for (std::size_t axis = 0; axis < 2; ++axis) {
      centre[axis] -= static_cast<double>(model.slope[(j * channels + c) * 2 + axis]) * sums.p[c][0];
    }
    gradient.colour.push_back(sums.p[c][0]);
    gradient.slope.push_back(step[0] * sums.p[c][1]);
    gradient.slope.push_back(step[1] * sums.p[c][2]);
  }
  gradient.log_weight.push_back(s1);
  gradient.centre.insert(gradient.centre.end(), centre.begin(), centre.end());
  // Rows of P M, then (P M P - s1 P) / 2; the off-diagonal element counts twice.
  const double a = pxx * mxx + pxy * mxy;
  const double b = pxx * mxy + pxy * myy;
  const double c = pxy * mxx + pyy * mxy;
  const double d = pxy * mxy + pyy * myy;
  gradient.covariance.push_back(0.5 * (a * pxx + b * pxy - s1 * pxx));
  gradient.covariance.push_back(a * pxy + b * pyy - s1 * pxy);
  gradient.covariance.push_back(0.5 * (c * pxy + d * pyy - s1 * pyy));
}

}  // namespace

SmoeGradient smoe_gradient(const SmoeModel& model, View<const float, 3> target, double tolerance, const Queue& queue) {
  require_arguments(model, target, tolerance);
  const Shape<2> size{target.shape()[0], target.shape()[1]};
  SmoeView view;
  view.size = size;
  std::array<double, 2> step{};
  for (std::size_t axis = 0; axis < 2; ++axis) {
    view.corner[axis] = model.low[axis];
    view.extent[axis] = model.high[axis] - model.low[axis];
    step[axis] = view.extent[axis] / static_cast<double>(size[1 - axis]);
  }
  const auto components = smoe::image_components(model, view);
  const auto engine = smoe::pixel_engine(where, target, queue);
  engine->select(components, tolerance);
  std::vector<smoe::ComponentSums> sums;
  SmoeGradient gradient;
  gradient.loss = 0.5 * engine->sum(smoe::PixelSum::gradient, components, {}, sums);
  for (std::size_t j = 0; j < sums.size(); ++j) append(model, j, sums[j], step, gradient);
  return gradient;
}

}  // namespace holotone
