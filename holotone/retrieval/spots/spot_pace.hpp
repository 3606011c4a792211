#pragma once
// How far a locked step changes a weight. Not for users.
#include <cmath>
#include <holotone/core/random.hpp>

namespace holotone::spots {

/// Of a spot. The light of few spots changes by much more than their weights: of two equal ones without bound, so that
/// full changes never settle.
struct SpotPace {
  float share = 1;   ///< exponent of a change
  float before = 0;  ///< logarithm of the change that the step before wanted; 0: places are new
};

/// The factor of a weight whose spot lacks `wanted` (target over amplitude). A change that turns back by more than half
/// of the one before, and by more than 1 %, has gone too far: the share is halved, and grows again slowly.
HOLOTONE_HOST_DEVICE inline float paced_change(float wanted, SpotPace& pace) {
  constexpr float min_share = 0.02F;
  constexpr float noise = 0.01F;
  const float change = std::log(wanted);
  if (pace.before != 0) {
    const bool is_too_far =
        pace.before * change < 0 && std::fabs(change) > std::fmax(0.5F * std::fabs(pace.before), noise);
    pace.share = is_too_far ? std::fmax(0.5F * pace.share, min_share) : std::fmin(1.05F * pace.share, 1.0F);
  }
  pace.before = change;
  return std::exp(pace.share * change);
}

}  // namespace holotone::spots
