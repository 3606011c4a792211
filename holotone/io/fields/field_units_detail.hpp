#pragma once
// The unit that a file states of its numbers. Not for users.
#include <holotone/core/metadata.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace holotone::io {

/// True for "units", "unit", "phase_unit" and "phase_units", in any case.
bool is_unit_key(std::string_view key);

/// Removes the unit from the metadata and returns it; empty if none is stated.
std::string take_unit(Metadata& metadata);

/// Throws io for a dataset or variable whose name says a logarithm of light: "/g/intensity_dB".
void refuse_logarithm_name(const std::string& path, std::string_view name);

/// Throws io for numbers of a logarithm by the unit or the name that the metadata state, or by the name of the file.
void refuse_logarithms(const std::string& path, const Metadata& metadata);

/// "deg" of "phase_deg": the unit of phases behind the name of some; empty for other names.
std::string unit_of_name(std::string_view name);

/// Radians in a unit of phases: rad, deg, mrad, urad, waves, pi and their spellings; 1 for "1", a number without
/// dimension. None for another unit.
std::optional<double> parse_phase_unit(std::string_view unit);

}  // namespace holotone::io
