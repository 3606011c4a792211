#include <algorithm>
#include <cmath>
#include <holotone/core/random.hpp>
#include <holotone/retrieval/spots/carried_spots.hpp>
#include <holotone/retrieval/spots/spot_waves.hpp>
#include <numbers>
#include <unordered_map>
#include <utility>

namespace holotone::spots {
namespace {

/// Pairs that are looked at, in widths: of spots farther apart no two meet for some frames.
constexpr double seen_pairs = 3;
/// Pairs whose overlap is summed: of more, as of 30,000 spots in one place, all that are near others count as in one.
constexpr std::int64_t max_pairs = 400'000'000;

/// Overlap up to which kept steps have their whole gain. By runs: 1 to 1.3 are slower for chains of spots 0.75 widths
/// apart, 2 stops at twice the deviation for those half a width apart.
constexpr double stable_overlap = 1.5;

}  // namespace

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

NearSpots::NearSpots(const SpotOptions& options, View<const Complex, 2> light)
    : has_zero_order_(options.response.zero_order > 0) {
  const auto width_m = spot_width_m(options, light);
  const double order_m = options.grid.wavelength_m * options.focal_length_m / options.grid.pitch_m;
  per_place_ = {order_m / width_m[0], order_m / width_m[1], 1 / width_m[2]};
}

std::vector<PlaceInWidths> NearSpots::in_widths(std::span<const SpotPlace> spots) const {
  std::vector<PlaceInWidths> places;
  places.reserve(spots.size());
  for (const auto& spot : spots) {
    places.push_back({per_place_[0] * spot.fx, per_place_[1] * spot.fy, per_place_[2] * spot.z_m});
  }
  return places;
}

std::vector<double> NearSpots::shares(std::span<const SpotPlace> spots) const {
  std::vector<double> overlap(spots.size(), 1);
  std::int64_t pairs = 0;
  std::size_t last = 0;  // seen with all before it
  for_each_near_pair(in_widths(spots), 1, {per_place_[0], per_place_[1]}, [&](auto i, auto j, double square) {
    last = j;
    const double common = sinc(std::sqrt(square));
    overlap[i] += common;
    overlap[j] += common;
    return ++pairs < max_pairs;
  });
  if (pairs == 0) return {};
  const bool has_more = pairs == max_pairs;
  for (std::size_t m = 0; m < overlap.size(); ++m) {
    const bool is_lone = !has_more || (m < last && overlap[m] == 1);
    overlap[m] = std::min(1.0, stable_overlap / (is_lone ? overlap[m] : static_cast<double>(spots.size())));
  }
  return overlap;
}

std::vector<std::uint8_t> NearSpots::mark(std::span<const SpotPlace> spots) {
  const auto places = in_widths(spots);
  auto is_near = may_have_met(places) ? mark_pairs(places) : std::vector<std::uint8_t>(places.size(), 0);
  if (has_zero_order_) {
    for (std::size_t m = 0; m < places.size(); ++m) {
      if (distance_squared(places[m], {}) < 1) is_near[m] = 1;
    }
  }
  return is_near;
}

bool NearSpots::may_have_met(std::span<const PlaceInWidths> places) const {
  if (slack_ == 0 || places.size() != checked_.size()) return true;
  double farthest = 0;
  for (std::size_t m = 0; m < places.size(); ++m) {
    farthest = std::max(farthest, distance_squared(places[m], checked_[m]));
  }
  return !(farthest < slack_ * slack_);
}

std::vector<std::uint8_t> NearSpots::mark_pairs(std::span<const PlaceInWidths> places) {
  std::vector<std::uint8_t> is_near(places.size(), 0);
  double nearest = seen_pairs * seen_pairs;
  for_each_near_pair(places, seen_pairs, {per_place_[0], per_place_[1]},
                     [&](std::size_t i, std::size_t j, double square) {
                       nearest = std::min(nearest, square);
                       if (square < 1) is_near[i] = is_near[j] = 1;
                       return true;
                     });
  slack_ = std::max(0.5 * (std::sqrt(nearest) - 1), 0.0);
  checked_.assign(places.begin(), places.end());
  return is_near;
}

}  // namespace holotone::spots
