#pragma once
// Phases and weights of spots that move, by their ids. Not for users.
#include <cstdint>
#include <holotone/retrieval/spots/spot_engine.hpp>
#include <holotone/retrieval/spots/spot_neighbours.hpp>
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

/// Spots of successive frames that are near others. Looks at pairs again only when some can have met.
class NearSpots {
 public:
  NearSpots(const SpotOptions& options, View<const Complex, 2> light);
  /// Marks spots nearer than a width to another one and, with unmodulated light, to the axis.
  std::vector<std::uint8_t> mark(std::span<const SpotPlace> spots);
  /// Shares of a kept step's gain: min(1, 1.5 / sum_n sinc(d_mn)), d_mn < 1 the distance of two spots in widths, d_mm
  /// = 0. What is added for one spot comes to those within a width too: k spots in one place would have k times what
  /// they lack. Empty: no two spots are near.
  [[nodiscard]] std::vector<double> shares(std::span<const SpotPlace> spots) const;

 private:
  [[nodiscard]] std::vector<PlaceInWidths> in_widths(std::span<const SpotPlace> spots) const;
  [[nodiscard]] bool may_have_met(std::span<const PlaceInWidths> places) const;
  std::vector<std::uint8_t> mark_pairs(std::span<const PlaceInWidths> places);

  PlaceInWidths per_place_{};  ///< widths in one of SpotPlace; along x and y those of the diffraction order
  bool has_zero_order_;
  std::vector<PlaceInWidths> checked_;  ///< places when pairs were looked at
  double slack_ = 0;                    ///< way from there that no spot may go before two can be near
};

}  // namespace holotone::spots
