#include <algorithm>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/parallel.hpp>
#include <holotone/smoe/image_components.hpp>
#include <holotone/smoe/small_matrix.hpp>
#include <numbers>

namespace holotone::smoe {
namespace {

constexpr std::int64_t block = 4096;

Slice planar(const SmoeModel& model, std::int64_t j, std::span<const double> at) {
  if (!at.empty()) return slice_component(model, j, at);
  Slice own;
  own.log_weight = static_cast<double>(model.log_weight[static_cast<std::size_t>(j)]);
  own.covariance = symmetric(model.covariance.data() + j * triangle_size(2), 2);
  for (int axis = 0; axis < 2; ++axis)
    own.centre[axis] = static_cast<double>(model.centre[static_cast<std::size_t>(2 * j + axis)]);
  for (int c = 0; c < model.channels; ++c) {
    own.colour[c] = static_cast<double>(model.colour[static_cast<std::size_t>(j * model.channels + c)]);
  }
  return own;
}

}  // namespace

double most_density(const ImageComponent& component, const PixelBox& box) {
  const double left = box.left - component.x;
  const double right = box.right - component.x;
  const double top = box.top - component.y;
  const double bottom = box.bottom - component.y;
  const double dx = std::clamp(0.0, left, right);
  const double dy = std::clamp(0.0, top, bottom);
  if (dx == 0 && dy == 0) return component.peak;
  const auto square = [&](double x, double y) {
    const double u = component.across * x;
    const double v = component.skew * x + component.down * y;
    return u * u + v * v;
  };
  double least = std::numeric_limits<double>::infinity();
  if (dx != 0) least = square(dx, std::clamp(-component.skew * dx / component.down, top, bottom));
  if (dy != 0) {
    const double x =
        -component.skew * component.down * dy / (component.across * component.across + component.skew * component.skew);
    least = std::min(least, square(std::clamp(x, left, right), dy));
  }
  return component.peak - least;
}

double least_density(const ImageComponent& component, const PixelBox& box) {
  return std::min({component.log2_density(box.left, box.top), component.log2_density(box.right, box.top),
                   component.log2_density(box.left, box.bottom), component.log2_density(box.right, box.bottom)});
}

std::vector<ImageComponent> image_components(const SmoeModel& model, const SmoeView& view) {
  const double step_x = view.extent[0] / static_cast<double>(view.size[1]);
  const double step_y = view.extent[1] / static_cast<double>(view.size[0]);
  // Densities are of exponents to base 2: every square is scaled by log2(e) / 2.
  const double scale = std::sqrt(0.5 * std::numbers::log2e);
  const int d = model.dimensions;
  const int q = model.channels;
  std::vector<ImageComponent> components(static_cast<std::size_t>(model.count()));
  parallel_for(0, (model.count() + block - 1) / block, [&](std::int64_t part) {
    for (std::int64_t j = part * block; j < std::min(model.count(), (part + 1) * block); ++j) {
      const Slice own = planar(model, j, view.at);
      const auto l = cholesky(own.covariance, 2);
      if (!l || !std::isfinite(own.log_weight)) {
        throw_argument("SmoeRenderer", "model", "components that a view can be sliced from",
                       fmt::format("component {}, whose covariance is too narrow", j));
      }
      auto& target = components[static_cast<std::size_t>(j)];
      target.x = (own.centre[0] - view.corner[0]) / step_x - 0.5;
      target.y = (own.centre[1] - view.corner[1]) / step_y - 0.5;
      const double a = (*l)[0][0] / step_x;
      const double b = (*l)[1][0] / step_y;
      const double c = (*l)[1][1] / step_y;
      target.across = scale / a;
      target.skew = -scale * b / (a * c);
      target.down = scale / c;
      target.peak = own.log_weight * std::numbers::log2e - std::log2(a * c);
      for (int channel = 0; channel < q; ++channel) {
        const auto at = static_cast<std::size_t>(channel);
        const float* const slope = model.slope.data() + (j * q + channel) * d;
        target.colour[at] = static_cast<float>(own.colour[at]);
        target.slope_x[at] = static_cast<float>(static_cast<double>(slope[0]) * step_x);
        target.slope_y[at] = static_cast<float>(static_cast<double>(slope[1]) * step_y);
      }
    }
  });
  return components;
}

}  // namespace holotone::smoe
