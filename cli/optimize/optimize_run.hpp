#pragma once
#include <cli/optimize/optimize_job.hpp>

namespace holotone::cli {

/// Runs `holotone optimize`: optimizes the phases and writes their codes. Returns the exit code.
int run_optimize(OptimizeJob& job);

}  // namespace holotone::cli
