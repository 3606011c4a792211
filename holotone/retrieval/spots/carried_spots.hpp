#pragma once
// Phases and weights of spots that move, by their ids. Not for users.
#include <cstdint>
#include <holotone/retrieval/spots/spot_engine.hpp>
#include <vector>

namespace holotone::spots {

/// What a plan keeps of each spot from frame to frame.
struct CarriedSpots {
  std::vector<std::int64_t> id;
  std::vector<double> target;  ///< T
  std::vector<double> weight;  ///< w
  std::vector<Wave> unit;      ///< t
};

/// Random phase of a spot.
Wave random_unit(std::uint64_t seed, std::uint64_t number);

/// The spots `id` of the next frame: known ones with their phases and their weights times the change of target, others
/// with random phases and the weight T; `is_new` marks these.
CarriedSpots carry_spots(const CarriedSpots& before, std::vector<std::int64_t> id, std::vector<double> target,
                         std::uint64_t seed, std::vector<std::uint8_t>& is_new);

/// Marks spots nearer than a width to another one, and with `zero_order` to the axis.
std::vector<std::uint8_t> mark_near_spots(std::span<const SpotPlace> spots, const SpotOptions& options);

}  // namespace holotone::spots
