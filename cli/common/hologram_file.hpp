#pragma once
#include <cli/common/hologram_overrides.hpp>
#include <holotone/recipes/hologram_file.hpp>
#include <string>

namespace holotone::cli {

/// A hologram's file with what was typed instead of, or in addition to, what it states. Throws io naming the file, or
/// invalid_argument naming the option that would say what the file does not.
HologramLight read_hologram(const std::string& path, const HologramOverrides& overrides);

/// The same by rows.
HologramRows hologram_rows(const std::string& path, const HologramOverrides& overrides);

}  // namespace holotone::cli
