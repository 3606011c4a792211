#pragma once
#include "stereogram_options.hpp"

namespace holotone::cli {

/// `holotone hologram --views ...`: a light field to a holographic stereogram, written as it is computed. Returns the exit code.
int run_stereogram(const HologramArguments& arguments, const StereogramArguments& stereogram,
                   const std::string& layers);

}  // namespace holotone::cli
