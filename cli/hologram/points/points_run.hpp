#pragma once
#include <cli/hologram/common/hologram_job.hpp>

namespace holotone::cli {

/// `holotone hologram IN ...`: points or a mesh to holograms of the sum of their waves. Returns the exit code.
int run_points(const HologramArguments& arguments);

}  // namespace holotone::cli
