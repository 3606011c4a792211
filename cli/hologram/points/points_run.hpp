#pragma once
#include <cli/common/hologram_job.hpp>

namespace holotone::cli {

/// Runs `holotone hologram IN ...`: sums the waves of points or a mesh to holograms. Returns the exit code.
int run_points(const HologramArguments& arguments);

}  // namespace holotone::cli
