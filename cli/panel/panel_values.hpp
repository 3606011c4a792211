#pragma once
#include <array>
#include <string>
#include <string_view>

// Values of the patterns' options, with errors that name the option.
namespace holotone::cli {

/// Metres of a length with its unit ("64um"), or of a number of pixels ("8", "8px").
double pixels_or_length(std::string_view option, std::string_view text, double pitch_m);

/// The same for a period: at least two pixels, of either sign.
double period_of(std::string_view option, std::string_view text, double pitch_m);

/// {x, y} in metres from two lengths or numbers of pixels, "1mm,0".
std::array<double, 2> centre_of(std::string_view option, const std::string& text, double pitch_m);

/// An angle, or "0".
double angle_of(std::string_view option, std::string_view text);

/// Turns of a phase depth above 0, up to 2pi.
double depth_of(std::string_view option, std::string_view text);

}  // namespace holotone::cli
