#pragma once
#include <cli/common/console.hpp>
#include <cli/options/option_table.hpp>
#include <holotone/core/cuda.hpp>
#include <holotone/core/device.hpp>
#include <holotone/recipes/operations.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holotone::cli {

/// The device that --device names (parse_device). `operation`: what the command is made of, if not of several;
/// "auto" is then a device that has it, and another device without it is refused. OpenCL: compiled kernels are kept for
/// the next run (cache_folder); a remark precedes the first compilation. CUDA: a thread makes the device ready
/// meanwhile; end the program by end_program.
Device device_option(std::string_view name, const ConsoleOptions& console, std::optional<OperationId> operation = {});

/// The devices that --device names: one of device_option, several with commas between, or "all": every CUDA device,
/// else that of "auto". All are of one backend; one may be named more than once. Under mpirun the processes of a host
/// share its CUDA devices for "auto" and "all": each has one, or several of its own. Throws as device_option.
std::vector<Device> devices_option(std::string_view name, const ConsoleOptions& console,
                                   std::optional<OperationId> operation = {});

/// Throws invalid_argument naming --device or mpirun, `expected` and `output` for several devices or processes.
void require_one_device(const std::vector<Device>& devices, std::string_view expected, std::string_view output);

/// The row of --device: target, and what differs from one device for the whole command.
OptionRow device_row(OptionRow row);

/// "cuda" of "cuda:1".
std::string backend_of(Device device);

/// "cuda:0,cuda:1"
std::string names_of(const std::vector<Device>& devices);

/// The same for a summary: "cuda:0 in the first of 3 processes".
std::string all_names_of(const std::vector<Device>& devices);

/// Folder of compiled kernels for the device in use: cache_folder, or none for the CPU, and with a warning none where
/// other users could place machine code.
std::string kernel_folder(const ConsoleOptions& console);

/// Loads a library of CUDA in a thread if `device` is CUDA's.
void load_early(Device device, CudaLibrary library);

/// Ends the process with this code. A GPU's driver may still run threads: then without taking its libraries apart,
/// which would take time and, under such threads, crash.
[[noreturn]] void end_program(int code);

/// The device that device_option gave last; the CPU at first.
Device device_in_use();

}  // namespace holotone::cli
