#include <holotone/core/random.hpp>
#include <holotone/retrieval/spots/carried_spots.hpp>
#include <holotone/retrieval/spots/spot_neighbours.hpp>
#include <numbers>
#include <unordered_map>
#include <utility>

namespace holotone::spots {

Wave random_unit(std::uint64_t seed, std::uint64_t number) {
  return std::polar(1.0, 2 * std::numbers::pi * random_uniform64(seed, number));
}

CarriedSpots carry_spots(const CarriedSpots& before, std::vector<std::int64_t> id, std::vector<double> target,
                         std::uint64_t seed, std::vector<std::uint8_t>& is_new) {
  std::unordered_map<std::int64_t, std::size_t> index;
  for (std::size_t m = 0; m < before.id.size(); ++m) index[before.id[m]] = m;
  CarriedSpots now{std::move(id), std::move(target), {}, {}};
  is_new.assign(now.id.size(), 0);
  for (std::size_t m = 0; m < now.id.size(); ++m) {
    const auto known = index.find(now.id[m]);
    if (known == index.end()) {
      is_new[m] = 1;
      now.weight.push_back(now.target[m]);
      now.unit.push_back(random_unit(seed, static_cast<std::uint64_t>(now.id[m])));
    } else {
      const auto k = known->second;
      now.weight.push_back(before.weight[k] * now.target[m] / before.target[k]);
      now.unit.push_back(before.unit[k]);
    }
  }
  return now;
}

std::vector<std::uint8_t> mark_near_spots(std::span<const SpotPlace> spots, const SpotOptions& options) {
  const auto width_m = spot_width_m(options);
  const auto nx = static_cast<double>(options.grid.nx);
  const auto ny = static_cast<double>(options.grid.ny);
  std::vector<PlaceInWidths> places;
  places.reserve(spots.size());
  for (const auto& spot : spots) places.push_back({nx * spot.fx, ny * spot.fy, spot.z_m / width_m[2]});
  std::vector<std::uint8_t> is_near(spots.size(), 0);
  for_each_near_pair(places, [&](std::size_t i, std::size_t j) { is_near[i] = is_near[j] = 1; });
  if (options.response.zero_order > 0) {
    for (std::size_t m = 0; m < places.size(); ++m) {
      const auto& [x, y, z] = places[m];
      if (x * x + y * y + z * z < 1) is_near[m] = 1;
    }
  }
  return is_near;
}

}  // namespace holotone::spots
