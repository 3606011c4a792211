#pragma once
#include <string>
#include <string_view>

namespace holotone {

/// Parses a length ("532nm", "8um", "3.74µm", "20cm", "8mm", "0.2m") and returns metres. A unit is required, a sign
/// allowed. `what` names the argument in the error. Throws invalid_argument.
double parse_length(std::string_view what, std::string_view text);

/// Parses an angle ("3deg", "50mrad", "0.1rad", "2pi" for 2 pi radians) and returns radians. A unit is required.
/// Throws as parse_length.
double parse_angle(std::string_view what, std::string_view text);

/// Parses a finite number without unit ("0.5", "1e-3"). Throws invalid_argument, also for text after the number.
double parse_number(std::string_view what, std::string_view text);

/// Formats a length in the unit of its magnitude with up to six significant digits: "532 nm", "8 um", "20 cm", "1.5 m".
std::string format_length(double metres);
/// Formats a length in the unit of `like_m`, so that a list has one unit.
std::string format_length(double metres, double like_m);

/// Formats a number of bytes: "1.2 GiB".
std::string format_bytes(double bytes);

/// Formats a duration: "0.69 ms", "3.2 s", "2 min 5 s".
std::string format_duration(double seconds);

/// Returns the candidate closest to `name`, for "did you mean". Distance: edits (letters inserted, deleted or replaced,
/// neighbours swapped; Damerau 1964), at most 1 in words of up to 4 letters, 2 up to 7, 3 beyond. Without such a
/// candidate, the only one that contains `name`, if `name` has 3 letters or more. Empty otherwise.
std::string nearest_name(std::string_view name, const std::string_view* candidates, std::size_t count);

}  // namespace holotone
