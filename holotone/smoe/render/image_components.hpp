#pragma once
// Components of a model in the pixels of a picture. Not for users.
#include <algorithm>
#include <holotone/core/random.hpp>  // HOLOTONE_HOST_DEVICE
#include <holotone/smoe/render.hpp>
#include <limits>
#include <span>

namespace holotone::smoe {

/// One component in pixels of the picture, with pixel (row, col) at x = col, y = row:
///   log2(pi N) = peak - u^2 - v^2,   u = across (x - centre_x),   v = skew (x - centre_x) + down (y - centre_y)
///   expert     = colour + slope_x (x - centre_x) + slope_y (y - centre_y)
/// log2(pi N) is up to a summand that all components share.
struct ImageComponent {
  double x = 0;
  double y = 0;
  double across = 0;
  double skew = 0;
  double down = 0;
  double peak = 0;
  std::array<float, max_smoe_channels> colour{};
  std::array<float, max_smoe_channels> slope_x{};
  std::array<float, max_smoe_channels> slope_y{};

  [[nodiscard]] HOLOTONE_HOST_DEVICE double log2_density(double px, double py) const {
    const double u = across * (px - x);
    const double v = skew * (px - x) + down * (py - y);
    return peak - u * u - v * v;
  }
};

/// Pixels [left, right] x [top, bottom], ends included.
struct PixelBox {
  double left = 0;
  double right = 0;
  double top = 0;
  double bottom = 0;
};

/// Largest and smallest log2 density over a box. It is concave: the largest is at the centre or on an edge that faces
/// it, the smallest at a corner.
HOLOTONE_HOST_DEVICE inline double max_density(const ImageComponent& component, const PixelBox& box) {
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
HOLOTONE_HOST_DEVICE inline double min_density(const ImageComponent& component, const PixelBox& box) {
  return std::min(
      std::min(component.log2_density(box.left, box.top), component.log2_density(box.right, box.top)),
      std::min(component.log2_density(box.left, box.bottom), component.log2_density(box.right, box.bottom)));
}

/// Throws invalid_argument for a component so narrow that its slices have no positive definite covariance in float64.
void require_slices(const SmoeModel& model);

/// Order of a model's components along Morton's curve through their first two coordinates: neighbours in the picture
/// are neighbours in memory. Cost O(K log K).
std::vector<std::uint32_t> order_along_curve(const SmoeModel& model);

/// Components of a checked view, sliced and converted to pixels, in float64. `order` is a permutation, or empty for the
/// model's order. Cost O(K d^3), on all threads.
std::vector<ImageComponent> image_components(const SmoeModel& model, const SmoeView& view,
                                             std::span<const std::uint32_t> order = {});

}  // namespace holotone::smoe
