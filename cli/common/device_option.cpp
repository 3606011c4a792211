#include <algorithm>
#include <cli/common/device_option.hpp>
#include <cli/common/paths.hpp>
#include <cli/common/ranks.hpp>
#include <cli/options/values.hpp>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <holotone/core/cuda.hpp>
#include <holotone/core/kernel_cache.hpp>
#include <holotone/core/opencl.hpp>
#include <holotone/recipes/operations.hpp>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <unistd.h>

namespace holotone::cli {
namespace {

constexpr std::string_view device_name = "--device";

Device in_use;

/// Creates a CUDA device's context while files are read. If that fails, the first queue reports it.
void open_early(Device device) {
  static std::once_flag once;
  std::call_once(once, [device] {
    std::thread([device] {
      try {
        open_cuda(device.index);
      } catch (...) {
      }
    }).detach();
  });
}

/// The operation, if the device lacks it; null: it has it, or none is named.
const Operation* lacked(Device device, std::optional<OperationId> id) {
  if (!id) return nullptr;
  const auto found = std::ranges::find(operations(), *id, &Operation::id);
  return has_operation(*found, device.backend) ? nullptr : &*found;
}

/// The CUDA devices of this host; under mpirun those of this process.
std::vector<Device> own_share() {
  std::vector<Device> all;
  for (const auto& device : devices()) {
    if (device.backend == Backend::cuda) all.push_back(device);
  }
  const Ranks& ranks = Ranks::all();
  if (!ranks.several() || all.empty()) return all;
  const auto rank = static_cast<std::size_t>(ranks.local_rank());
  const auto count = static_cast<std::size_t>(ranks.local_count());
  std::vector<Device> assigned;
  for (std::size_t i = rank % all.size(); i < all.size(); i += count) assigned.push_back(all[i]);
  return assigned;
}

}  // namespace

Device device_option(std::string_view name, const ConsoleOptions& console, std::optional<OperationId> operation) {
  Device device = parse_device(name);
  if (const auto* const operation_lacked = lacked(device, operation); operation_lacked != nullptr && name == "auto") {
    device = {};
  } else if (operation_lacked != nullptr) {
    const std::string_view others = operation_lacked->cuda ? "auto, cpu or cuda, which have" : "auto or cpu, which has";
    reject(device_name, fmt::format("{} \"{}\"", others, operation_lacked->name), name);
  }
  in_use = device;
  const char* const conda = std::getenv("CONDA_PREFIX");
  if (device.backend == Backend::cuda && conda != nullptr) set_cuda_library_folders({std::string(conda) + "/lib"});
  if (device.backend == Backend::cuda) open_early(device);
  if (device.backend != Backend::opencl) return device;
  const bool shown = console.progress || ::isatty(STDERR_FILENO) != 0;
  const std::string folder = kernel_folder(console);
  set_opencl_cache(folder, [=] {
    const std::string kept = folder.empty() ? "" : "; they are kept in " + folder;
    if (shown) remark(console, fmt::format("compiling kernels for {}{}", to_string(device), kept));
  });
  return device;
}

std::vector<Device> devices_option(std::string_view name, const ConsoleOptions& console,
                                   std::optional<OperationId> operation) {
  const bool shared = Ranks::all().several() && name == "auto";
  if (name != "all" && !shared && name.find(',') == std::string_view::npos) {
    return {device_option(name, console, operation)};
  }
  std::vector<Device> named;
  if (name == "all" || shared) {
    named = own_share();
    if (named.empty()) return {device_option("auto", console, operation)};
  } else {
    for (const auto& piece : list(device_name, std::string(name), "names of devices with commas between")) {
      named.push_back(parse_device(piece));
      if (named.back().backend != named.front().backend) reject(device_name, "devices of one kind", name);
    }
  }
  for (const auto& device : named) (void)device_option(to_string(device), console, operation);
  (void)device_option(to_string(named.front()), console, operation);
  return named;
}

void require_one_device(const std::vector<Device>& devices, std::string_view expected, std::string_view output) {
  const Ranks& ranks = Ranks::all();
  if (ranks.several()) reject("mpirun", expected, fmt::format("{} processes for {}", ranks.count(), output));
  if (devices.size() > 1) reject(device_name, expected, fmt::format("{} for {}", names_of(devices), output));
}

OptionRow device_row(OptionRow row) {
  row.names = device_name;
  row.value = "NAME";
  if (row.help.empty()) row.help = "auto, cpu, cuda:N or opencl:N";
  if (row.feeds.empty()) row.feeds = ".device";
  return row;
}

std::string kernel_folder(const ConsoleOptions& console) {
  if (in_use.backend == Backend::cpu) return {};
  std::string folder = cache_folder();
  const std::string refusal = kernel_cache_refusal(folder);
  static std::once_flag once;
  if (refusal.empty()) {
    std::call_once(once, [&] {
      const auto& [file, why] = find_refused_kernel(folder);
      if (file.empty()) return;
      warn(console, fmt::format("{}/{}: not loaded but compiled anew: expected a file of user {} that nobody else can "
                                "write to, got {}; remove it",
                                folder, file, ::geteuid(), why));
    });
    return folder;
  }
  std::call_once(once, [&] {
    warn(console,
         fmt::format("{}: compiled kernels are neither read nor kept: expected a folder of user {} that nobody "
                     "else can write to, got {}; remove it, or use chown and chmod go-w",
                     folder, ::geteuid(), refusal));
  });
  return {};
}

std::string backend_of(Device device) {
  const auto name = to_string(device);
  return name.substr(0, name.find(':'));
}

std::string names_of(const std::vector<Device>& devices) {
  std::string names;
  for (const auto& device : devices) {
    if (!names.empty()) names += ',';
    names += to_string(device);
  }
  return names;
}

std::string all_names_of(const std::vector<Device>& devices) {
  const Ranks& ranks = Ranks::all();
  if (!ranks.several()) return names_of(devices);
  return fmt::format("{} in the first of {} processes", names_of(devices), ranks.count());
}

void load_early(Device device, CudaLibrary library) {
  if (device.backend == Backend::cuda) std::thread([library] { preload(library); }).detach();
}

void end_program(int code) {
  std::fflush(nullptr);
  if (in_use.backend == Backend::cpu) std::exit(code);
  std::_Exit(code);
}

Device device_in_use() { return in_use; }

}  // namespace holotone::cli
