#pragma once
// Not for users. What may not come out of spots, by kind.
#include <array>
#include <holotone/recipes/spots.hpp>
#include <string>

namespace holotone::spots {

/// Spots that merge, spots at the zero order, waves with fringes too fine, light beyond any lens; empty: none.
using RemarksByKind = std::array<std::string, 4>;
RemarksByKind remarks_by_kind(const SpotList& spots, const SpotOptions& options, View<const Complex, 2> light);

}  // namespace holotone::spots
