#pragma once
// Bounds for dropping components from boxes of pixels, the same on every device (select.hpp has the formula).
// Not for users.
#include <cmath>
#include <holotone/smoe/render/selection/select.hpp>

namespace holotone::smoe {

/// Shares of the tolerance: components dropped from tiles, and from all larger boxes together. The rest is for
/// rounding.
inline constexpr double tile_share = 0.6;
inline constexpr double box_share = 0.3;
/// Log2 of the relative weight below which components enter the bound of the picture's colours times their weight.
inline constexpr double minor_weight = -10;
/// Classes of the dropped sum's summands, a factor of two each.
inline constexpr int cost_classes = 64;
inline constexpr int must_stay = 255;

/// Pixels of a box of `side` tiles a side, clipped to the picture.
HOLOTONE_HOST_DEVICE inline PixelBox box_of(std::int64_t row, std::int64_t column, std::int64_t side,
                                            const Shape<2>& size) {
  const std::int64_t height = tile_shape[0] * side;
  const std::int64_t width = tile_shape[1] * side;
  return {static_cast<double>(column * width), static_cast<double>(std::min((column + 1) * width, size[1]) - 1),
          static_cast<double>(row * height), static_cast<double>(std::min((row + 1) * height, size[0]) - 1)};
}

/// {row, column} of the tile that holds a component's centre, or of the nearest one.
HOLOTONE_HOST_DEVICE inline Shape<2> tile_of(const ImageComponent& component, const Shape<2>& tiles) {
  const auto place = [](double pixel, std::int64_t side, std::int64_t count) {
    const double tile = std::floor((pixel + 0.5) / static_cast<double>(side));
    return static_cast<std::int64_t>(std::clamp(tile, 0.0, static_cast<double>(count - 1)));
  };
  return {place(component.y, tile_shape[0], tiles[0]), place(component.x, tile_shape[1], tiles[1])};
}

/// U: upper bound of the log2 density in a box.
HOLOTONE_HOST_DEVICE inline double density_above(const ImageComponent& component, const PixelBox& box) {
  const double density = max_density(component, box);
  return density + 1e-12 * std::abs(density);
}

/// The expert's colour in the middle of a box.
HOLOTONE_HOST_DEVICE inline double colour_amid(const ImageComponent& component, int channel, const PixelBox& box) {
  const auto c = static_cast<std::size_t>(channel);
  const double x = 0.5 * (box.left + box.right);
  const double y = 0.5 * (box.top + box.bottom);
  return static_cast<double>(component.colour[c]) + static_cast<double>(component.slope_x[c]) * (x - component.x) +
         static_cast<double>(component.slope_y[c]) * (y - component.y);
}

using Reference = std::array<double, max_smoe_channels>;

/// r: upper bound of the expert's distance from a colour in a box.
HOLOTONE_HOST_DEVICE inline double reach_of(const ImageComponent& component, int channels, const PixelBox& box,
                                            const Reference& reference) {
  const double half_width = 0.5 * (box.right - box.left);
  const double half_height = 0.5 * (box.bottom - box.top);
  double reach = 0;
  for (int channel = 0; channel < channels; ++channel) {
    const auto c = static_cast<std::size_t>(channel);
    reach = std::max(reach, std::abs(colour_amid(component, channel, box) - reference[c]) +
                                std::abs(static_cast<double>(component.slope_x[c])) * half_width +
                                std::abs(static_cast<double>(component.slope_y[c])) * half_height);
  }
  return reach;
}

/// Class of a component: number of halvings of the budget down to its share of the error, `cost`. must_stay if it may
/// be the densest or costs more than the budget.
HOLOTONE_HOST_DEVICE inline int class_of_cost(double most, double reach, double least, double spread, double budget,
                                              double& cost) {
  cost = 0;
  if (most >= least) return must_stay;
  cost = std::exp2(most - least) * (reach + spread);
  const double below = cost > 0 ? std::log2(budget / cost) : cost_classes;
  if (!(below >= 0)) return must_stay;
  return static_cast<int>(std::min(below, cost_classes - 1.0));
}

}  // namespace holotone::smoe
