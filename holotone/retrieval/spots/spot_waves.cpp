#include <algorithm>
#include <cmath>
#include <holotone/retrieval/spots/spot_waves.hpp>
#include <numbers>
#include <numeric>
#include <utility>

namespace holotone::spots {

double sinc(double x) { return x == 0 ? 1 : std::sin(std::numbers::pi * x) / (std::numbers::pi * x); }

double farthest_lit_squared(Shape<2> panel, View<const Complex, 2> light) {
  constexpr double middle = 1e-30;  // of a panel of one pixel
  const auto half_y = 0.5 * static_cast<double>(panel[0] - 1);
  const auto half_x = 0.5 * static_cast<double>(panel[1] - 1);
  if (light.data() == nullptr) return std::max(half_x * half_x + half_y * half_y, middle);
  double farthest = 0;
  for (std::int64_t row = 0; row < panel[0]; ++row) {
    const double y = static_cast<double>(row) - half_y;
    for (std::int64_t column = 0; column < panel[1]; ++column) {
      if (light(row, column) == Complex()) continue;
      const double x = static_cast<double>(column) - half_x;
      farthest = std::max({farthest, x * x + y * y, middle});
    }
  }
  return farthest;
}

DepthWave::DepthWave(const SpotOptions& options) {
  const double slope = options.grid.pitch_m / (options.refractive_index * options.focal_length_m);
  square = slope * slope;
  turns_per_m = options.refractive_index / options.grid.wavelength_m;
}

double DepthWave::lack_rad_per_m(double rho_squared) const {
  const double s = std::min(square * rho_squared, 1.0);
  return 2 * std::numbers::pi * turns_per_m * s * (1 / (1 + std::sqrt(1 - s)) - 0.5);
}

PanelLight panel_light(std::span<const Complex> light) {
  double square = 0;
  for (const auto value : light) square += static_cast<double>(std::norm(value));
  const auto scale = static_cast<float>(1 / std::sqrt(square / static_cast<double>(light.size())));
  PanelLight split;
  split.amplitude.reserve(light.size());
  split.phase.reserve(light.size());
  for (const auto value : light) {
    const float amplitude = std::abs(value);
    split.amplitude.push_back(scale * amplitude);
    split.phase.push_back(amplitude > 0 ? value / amplitude : Complex(1));
  }
  return split;
}

std::vector<SpotGroup> group_spots(std::span<const SpotPlace> spots, const DepthWave& wave, double rho_squared,
                                   std::size_t min_plane) {
  const double lack = wave.lack_rad_per_m(rho_squared);
  // Near the focal plane the paraxial wave alone will do.
  const auto is_paraxial = [&](double z_m) { return lack * std::abs(z_m) <= max_depth_error_rad; };
  std::vector<std::uint32_t> order(spots.size());
  std::iota(order.begin(), order.end(), 0U);
  if (spots.size() <= min_plane &&
      std::ranges::all_of(spots, [&](const SpotPlace& spot) { return is_paraxial(spot.z_m); })) {
    return {{std::move(order), 0, false, false}};
  }
  std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return spots[i].z_m; });
  const auto depth = [&](std::size_t i) { return spots[order[i]].z_m; };
  std::vector<SpotGroup> groups;
  std::vector<std::uint32_t> others;
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && depth(end) == depth(begin)) ++end;
    const std::span some(order.data() + begin, end - begin);
    if (some.size() > min_plane) {
      groups.push_back({{some.begin(), some.end()}, depth(begin), true, depth(begin) != 0});
    } else {
      others.insert(others.end(), some.begin(), some.end());
    }
  }
  const auto z_m = [&](std::size_t i) { return spots[others[i]].z_m; };
  for (std::size_t begin = 0, end = 0; begin < others.size(); begin = end) {
    const double allowed = 2 * max_depth_error_rad;
    const bool is_near = is_paraxial(z_m(begin));
    const auto belongs = [&](std::size_t i) {
      return is_near ? is_paraxial(z_m(i)) : lack * (z_m(i) - z_m(begin)) <= allowed;
    };
    while (end < others.size() && belongs(end)) ++end;
    const double middle = is_near ? 0 : 0.5 * (z_m(begin) + z_m(end - 1));
    const std::span some(others.data() + begin, end - begin);
    groups.push_back({{some.begin(), some.end()}, middle, false, !is_near});
  }
  return groups;
}

}  // namespace holotone::spots
