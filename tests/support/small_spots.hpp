#pragma once
// A small panel behind a lens of small angles, and spots as SpotPlan takes them.
#include <array>
#include <holotone/retrieval/spots/spot_plan.hpp>
#include <vector>

namespace support {

using Spots = std::vector<std::array<float, 3>>;

inline holotone::SpotOptions small_spot_panel() {
  holotone::SpotOptions options;
  options.grid = {160, 128, 9.2e-6, 1.064e-6};
  options.focal_length_m = 0.2;
  return options;
}

inline holotone::View<const float, 2> positions(const Spots& spots) {
  return {spots.front().data(), {std::ssize(spots), 3}};
}

}  // namespace support
