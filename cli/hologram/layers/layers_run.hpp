#pragma once
#include <cli/hologram/layers/layers_options.hpp>

namespace holotone::cli {

/// Runs `holotone hologram --image ...` or `--stack ...`: computes holograms of the layers of pictures. Returns the
/// exit code.
int run_layers(SceneJob& scene);

}  // namespace holotone::cli
