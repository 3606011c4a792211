#pragma once
// Units of logarithms, whose numbers are no amplitudes or intensities. Not for users.
#include <string_view>

namespace holotone::io {

/// What is expected in place of them, for errors.
inline constexpr std::string_view linear_numbers = "numbers without dB or logarithm";

/// True for "dB", "dBm", "decibels", "20 log10", "log(counts)", "ln", "Np", "optical density" and others, in any case.
bool is_logarithm(std::string_view unit);

/// True for a name or remark that says a logarithm of light: "intensity_dB", "Amplitude (dB)", "log10 of the power",
/// "intensity in dB".
bool names_logarithm(std::string_view text);

}  // namespace holotone::io
