#include <cli/common/device_option.hpp>
#include <cli/common/paths.hpp>
#include <holotone/core/opencl.hpp>

namespace holotone::cli {

Device device_option(std::string_view name) {
  const Device device = parse_device(name);
  if (device.backend == Backend::opencl) set_opencl_cache(cache_folder());
  return device;
}

}  // namespace holotone::cli
