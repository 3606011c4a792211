#pragma once
// Units of lengths as files name them. Not for users.
#include <optional>
#include <string_view>

namespace holotone {

/// Metres in a unit such as "m", "mm", "Millimeters", "foot" or "US survey foot"; none for another text.
std::optional<double> named_length_m(std::string_view name);

}  // namespace holotone
