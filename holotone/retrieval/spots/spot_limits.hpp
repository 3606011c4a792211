#pragma once
// Limits of spots' light. Not for users.
#include <holotone/retrieval/spots/spot_plan.hpp>

namespace holotone::spots {

/// Both limits hold.
inline bool reaches(const SpotLight& light, const SpotSteps& steps) {
  return light.deviation <= steps.max_deviation && light.worst <= steps.max_worst;
}

}  // namespace holotone::spots
