#pragma once
#include "hologram_file.hpp"
#include <holotone/core/metadata.hpp>
#include <string>
#include <string_view>

// reconstruct's flags stand for keys of a hologram file's metadata: they replace what the file says, and say what a
// format without metadata cannot.
namespace holotone::cli {

/// Puts what was told in the place of what the file says. Throws invalid_argument naming the option.
void apply_overrides(Metadata& metadata, const HologramOverrides& overrides);

/// Throws invalid_argument naming every flag that would say what reconstruction needs and neither file nor flags said.
void require_stated(const std::string& path, const Metadata& metadata, const HologramOverrides& overrides,
                    bool is_field);

/// The flags that say what the file of this name cannot hold of its metadata: "--pitch 8um --wavelength 532nm ...";
/// empty if it holds all. `lut`: the file that the phase of each code came from, or empty if the panel's preset.
std::string flags_for(const std::string& path, const Metadata& metadata, const std::string& lut);

}  // namespace holotone::cli
