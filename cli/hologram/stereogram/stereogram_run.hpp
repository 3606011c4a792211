#pragma once
#include <cli/hologram/stereogram/stereogram_options.hpp>

namespace holotone::cli {

/// Runs `holotone hologram --views ...` or `--image ... --hogel ...`: computes and writes a hologram hogel by hogel.
/// Returns the exit code.
int run_stereogram(SceneJob& scene);

}  // namespace holotone::cli
