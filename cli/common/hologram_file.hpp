#pragma once
#include <cli/common/hologram_overrides.hpp>
#include <holotone/recipes/hologram_file.hpp>
#include <string>

namespace holotone::cli {

/// Reads a hologram file; the overrides replace or supplement its metadata. Throws io naming the file, or
/// invalid_argument naming the option for a value that the file does not state.
HologramLight read_hologram(const std::string& path, const HologramOverrides& overrides);

/// Reads a hologram by rows, otherwise as read_hologram.
HologramRows hologram_rows(const std::string& path, const HologramOverrides& overrides);

}  // namespace holotone::cli
