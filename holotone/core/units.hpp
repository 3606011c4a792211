#pragma once
#include <string>
#include <string_view>

namespace holotone {

/// Metres from "532nm", "8um", "3.74µm", "20cm", "8mm", "0.2m". A unit is required, a sign allowed.
/// `what` names the argument in the error. Throws invalid_argument.
double parse_length(std::string_view what, std::string_view text);

/// Radians from "3deg", "50mrad", "0.1rad" or "2pi" ("2pi" is 2 pi radians). A unit is required.
double parse_angle(std::string_view what, std::string_view text);

/// A plain finite number ("0.5", "1e-3"); throws invalid_argument for text after it.
double parse_number(std::string_view what, std::string_view text);

/// "532 nm", "8 um", "20 cm", "1.5 m": the most readable unit, up to six significant digits.
std::string format_length(double metres);
/// The same in the unit chosen for `like_m`, for lists.
std::string format_length(double metres, double like_m);

/// "1.2 GiB"
std::string format_bytes(double bytes);

/// "0.69 ms", "3.2 s", "2 min 5 s"
std::string format_duration(double seconds);

/// The candidate closest to `name`, for "did you mean". Distance: edits (letters inserted, deleted or replaced,
/// neighbours swapped; Damerau 1964), at most 1 in words of up to 4 letters, 2 up to 7, 3 beyond. Without such a
/// candidate, the only one that contains `name`, if `name` has 3 letters or more. Empty otherwise.
std::string nearest_name(std::string_view name, const std::string_view* candidates, std::size_t count);

}  // namespace holotone
