#pragma once
#include <cli/common/hologram_job.hpp>
#include <cli/common/values.hpp>

namespace holotone::cli {

/// Arguments of `holotone optimize`, as typed.
struct OptimizeArguments {
  HologramArguments hologram;  ///< input and output, panel, light, bits
  std::string region = "100";
  std::string phase = "smooth";
  std::string iterations = "30";
};

inline constexpr Range signal_region_range = number_range(1, 100);
inline constexpr Range optimize_steps_range = count_range(1, 100'000);

/// Runs `holotone optimize`: optimizes the phases and writes their codes. Returns the exit code.
int run_optimize(const OptimizeArguments& arguments);

}  // namespace holotone::cli
