#pragma once
#include <array>
#include <holotone/core/enum_names.hpp>
#include <string_view>
#include <vector>

// Measured phase responses of panels.
namespace holotone {

/// Unit of the phases in a table.
enum class PhaseUnit {
  automatic,  ///< as the table states; if it does not, the likeliest for its stroke
  rad,
  deg,
  waves,  ///< turns: 1 is 2 pi
  pi,     ///< multiples of pi
};
template <>
inline constexpr auto enum_names<PhaseUnit> =
    std::array{EnumName{PhaseUnit::automatic, "auto"}, EnumName{PhaseUnit::rad, "rad"}, EnumName{PhaseUnit::deg, "deg"},
               EnumName{PhaseUnit::waves, "waves"}, EnumName{PhaseUnit::pi, "pi"}};

/// Largest difference of the phases in a table, in turns of 2 pi.
inline constexpr double max_stroke_turns = 10;

/// A measured response.
struct PhaseLut {
  std::vector<double> phase_rad{};        ///< of codes 0, 1, 2, ...; NaN for codes before the first measured one
  PhaseUnit unit = PhaseUnit::automatic;  ///< of the table
  bool stated = false;                    ///< by the table or the caller; otherwise the likeliest
  std::vector<double> wavelengths_m{};    ///< at which it was measured, as a heading or comment states
};

/// Reads a measured phase response from text: one phase a line (codes 0, 1, 2, ... in order), or `code,phase` with
/// rising codes 0 to 65535 (separated by comma, semicolon, tab or blank). Ignores blank lines, text after # and one
/// heading line. Codes omitted between two given codes are interpolated linearly; the two phases must differ by at most
/// pi (unwrap the curve). Codes before the first are NaN.
///
/// The unit stands in the heading (phase_deg, phase [rad], phase/pi, waves) or in a comment (# phase in degrees).
/// Stated nowhere, it is inferred from the stroke, extended by one step of the codes: degrees above ten turns of
/// radians, waves from 0.75 to 1.25, multiples of pi from 1.5 to 2.5, radians otherwise.
///
/// A heading or comment may state the wavelength: wavelength 633 nm, lambda = 0.633 um, at 633 nm. A panel's phase is
/// nearly proportional to 1 / wavelength: a table of another light is off by its ratio.
///
/// Throws invalid_argument naming the line, or `text` for a stroke above max_stroke_turns, or `unit` for another unit
/// than the table's.
PhaseLut parse_phase_lut(std::string_view text, PhaseUnit unit = PhaseUnit::automatic);

/// Phases in radians of parse_phase_lut, for EncodeOptions::level_phase_rad.
std::vector<double> read_phase_lut(std::string_view text, PhaseUnit unit = PhaseUnit::automatic);

/// Radians in one of a unit; 1 for automatic.
double radians_in(PhaseUnit unit);

/// Error of a phase whose nearest level on the circle is shown, for phases spread evenly over the circle.
struct PhaseError {
  double max_rad = 0;  ///< half the largest gap g between neighbouring levels
  double rms_rad = 0;  ///< square root of (sum of g^3) / 12 over 2 pi
};
/// Throws invalid_argument unless one of the phases is finite.
PhaseError phase_error_of_levels(const std::vector<double>& phase_rad);

}  // namespace holotone
