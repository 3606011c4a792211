#include <algorithm>
#include <cmath>
#include <cstdint>
#include <holotone/recipes/scenes/depth_tail_detail.hpp>
#include <limits>

namespace holotone {
namespace {

constexpr double unbounded = std::numeric_limits<double>::infinity();

struct Extent {
  double low = unbounded;
  double high = -unbounded;
  std::int64_t count = 0;
  void add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
    ++count;
  }
  [[nodiscard]] bool is_one_value() const { return low == high; }
};

/// The map on both sides of a bound.
struct Parts {
  Extent tail;  ///< of the depths
  Extent rest;
  Extent tail_values;  ///< of the file's values
  Extent rest_values;

  [[nodiscard]] DepthTail found() const {
    return {static_cast<double>(tail.count) / static_cast<double>(tail.count + rest.count),
            {tail_values.low, tail_values.high},
            {rest_values.low, rest_values.high},
            {tail.low, tail.high}};
  }
};

template <class InTail>
Parts divided(std::span<const float> depths, std::span<const float> values, const InTail& in_tail) {
  Parts parts;
  for (std::size_t i = 0; i < depths.size(); ++i) {
    const auto depth = static_cast<double>(depths[i]);
    if (std::isnan(depth)) continue;
    const bool tail = in_tail(depth);
    (tail ? parts.tail : parts.rest).add(depth);
    (tail ? parts.tail_values : parts.rest_values).add(static_cast<double>(values[i]));
  }
  return parts;
}

}  // namespace

std::optional<DepthTail> find_depth_tail(std::span<const float> depths, std::span<const float> values, double offset_m,
                                         double scale, LayerSpacing spacing, int layers) {
  constexpr int min_layers = 16;
  const auto place = [&](double depth) {
    const double distance_m = offset_m + scale * depth;
    return spacing == LayerSpacing::inverse_distance ? -1 / distance_m : distance_m;
  };
  Extent all;
  for (const float depth : depths) {
    if (!std::isnan(depth)) all.add(place(static_cast<double>(depth)));
  }
  const double step = (all.high - all.low) / std::max(layers, min_layers);
  if (!(step > 0) || !std::isfinite(step)) return std::nullopt;
  const auto far = divided(depths, values, [&](double depth) { return place(depth) > all.low + step; });
  if (!far.rest.is_one_value() && (far.tail.is_one_value() || far.tail.count < far.rest.count)) return far.found();
  const auto near = divided(depths, values, [&](double depth) { return place(depth) < all.high - step; });
  if (!near.rest.is_one_value() && near.tail.is_one_value()) return near.found();
  return std::nullopt;
}

std::optional<DepthTail> find_depths_beyond(std::span<const float> depths, std::span<const float> values,
                                            double offset_m, double scale, double max_m) {
  const auto parts =
      divided(depths, values, [&](double depth) { return !(std::abs(offset_m + scale * depth) <= max_m); });
  if (parts.tail.count == 0) return std::nullopt;
  return parts.found();
}

}  // namespace holotone
