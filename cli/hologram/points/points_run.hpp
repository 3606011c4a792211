#pragma once
#include <cli/hologram/common/scene_job.hpp>

namespace holotone::cli {

/// Runs `holotone hologram IN ...`: sums the waves of points or a mesh to holograms. Returns the exit code.
int run_points(SceneJob& scene);

}  // namespace holotone::cli
