#include <cli/common/command.hpp>
#include <cli/common/console.hpp>
#include <fmt/format.h>
#include <holotone/core/device.hpp>
#include <holotone/core/units.hpp>
#include <memory>
#include <nlohmann/json.hpp>

namespace holotone::cli {
namespace {

int run_devices(const ConsoleOptions& console) {
  auto list = nlohmann::json::array();
  for (const Device device : devices()) {
    const DeviceInfo info = describe(device);
    report(console, fmt::format("{:<8} {}, {} {}, {} of {} free{}{}", to_string(device), info.name, info.units,
                                device.backend == Backend::cpu ? "threads" : "multiprocessors",
                                format_bytes(static_cast<double>(info.free_bytes)),
                                format_bytes(static_cast<double>(info.memory_bytes)), info.detail.empty() ? "" : ", ",
                                info.detail));
    list.push_back({{"device", to_string(device)},
                    {"name", info.name},
                    {"units", info.units},
                    {"memory_bytes", info.memory_bytes},
                    {"free_bytes", info.free_bytes},
                    {"detail", info.detail}});
  }
  report_json(console, {{"devices", list}});
  return exit_ok;
}

}  // namespace

Command devices_command() {
  const auto console = std::make_shared<ConsoleOptions>();
  return {.name = "devices",
          .purpose = "List the devices that this machine can compute on",
          .examples = {"holotone devices", "holotone devices --json"},
          .groups = {console_options(*console)},
          .run = [console] { return run_devices(*console); }};
}

}  // namespace holotone::cli
