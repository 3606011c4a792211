#pragma once
#include <cli/common/console.hpp>
#include <holotone/core/device.hpp>
#include <string_view>

namespace holotone::cli {

/// The device that --device names (parse_device). `operation`: a name of operations() that the command is made of;
/// "auto" is then a device that has it, and another device without it is refused. OpenCL: compiled kernels are kept for
/// the next run (cache_folder); a remark precedes the first compilation.
Device device_option(std::string_view name, const ConsoleOptions& console, std::string_view operation = {});

/// The device that device_option gave last; the CPU at first.
Device device_in_use();

}  // namespace holotone::cli
