#pragma once
// Not for users.
#include <holotone/hologram/encode.hpp>

namespace holotone {

/// Levels of codes of equal steps around a whole turn; 0 for others, which are rounded after the last step.
int even_levels(const EncodeOptions& encoding);

}  // namespace holotone
