#pragma once
#include <array>
#include <string_view>

namespace holotone::start {

/// The commands with --device.
inline constexpr std::array<std::string_view, 8> commands_on_devices = {
    "hologram", "optimize", "quantize", "reconstruct", "halftone", "smoe", "propagate", "view"};

/// Starts CUDA in a thread, if these arguments name a command that may use it: cuInit takes 0.1 s, in which the
/// program's libraries are loaded and its arguments read. Without a driver nothing happens.
void start_cuda_early(int count_of_arguments, char** arguments);

}  // namespace holotone::start
