#include <algorithm>
#include <cli/common/device_option.hpp>
#include <cli/common/paths.hpp>
#include <cli/common/values.hpp>
#include <fmt/format.h>
#include <holotone/core/opencl.hpp>
#include <holotone/recipes/operations.hpp>
#include <unistd.h>

namespace holotone::cli {
namespace {

Device in_use;

bool lacks(Device device, std::string_view operation) {
  const auto own = std::ranges::find(operations(), operation, &Operation::name);
  return own != operations().end() && !has_operation(*own, device.backend);
}

}  // namespace

Device device_option(std::string_view name, const ConsoleOptions& console, std::string_view operation) {
  const Device device = parse_device(name);
  if (lacks(device, operation)) {
    if (name == "auto") return {};
    reject("--device", fmt::format("auto, cpu or cuda, which have \"{}\"", operation), std::string(name));
  }
  in_use = device;
  if (device.backend != Backend::opencl) return device;
  const bool shown = console.progress || ::isatty(STDERR_FILENO) != 0;
  const std::string folder = cache_folder();
  set_opencl_cache(folder, [=] {
    if (shown) remark(console, fmt::format("compiling kernels for {}; they are kept in {}", to_string(device), folder));
  });
  return device;
}

Device device_in_use() { return in_use; }

}  // namespace holotone::cli
