#pragma once
#include <holotone/core/device.hpp>
#include <string_view>

namespace holotone::cli {

/// The device that --device names (parse_device). OpenCL: compiled kernels are kept for the next run (cache_folder).
Device device_option(std::string_view name);

}  // namespace holotone::cli
