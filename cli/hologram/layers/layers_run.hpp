#pragma once
#include <cli/hologram/layers/layers_options.hpp>

namespace holotone::cli {

/// `holotone hologram --image ...`: a picture, with its depth if there is one, to holograms of its layers. Returns the
/// exit code.
int run_layers(const HologramArguments& arguments, const LayerArguments& layers);

}  // namespace holotone::cli
