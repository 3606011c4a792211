#pragma once
// Units of lengths as files name them. Not for users.
#include <optional>
#include <string>
#include <string_view>

namespace holotone {

/// Metres in a unit such as "m", "mm", "Millimeters", "foot" or "US survey foot"; none for another text.
std::optional<double> named_length_m(std::string_view name);

/// One of a unit, for parse_length or parse_angle: "1um" of "um", "10um" of "10um", which has its number.
std::string one_of_unit(std::string_view unit);

}  // namespace holotone
