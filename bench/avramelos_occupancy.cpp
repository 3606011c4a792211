#include <algorithm>
#include <bench/avramelos_tables.hpp>
#include <bench/baselines/avramelos_component.hpp>
#include <fmt/format.h>
#include <holotone/smoe/render/render_kernels.hpp>
#if HOLOTONE_CUDA
#include <cuda_runtime_api.h>
#include <stdexcept>
#endif

namespace bench {
#if HOLOTONE_CUDA
namespace {

using holotone::KernelResources;

/// What a processor of the GPU has for blocks of threads.
struct Processor {
  int threads;
  int blocks;
  int registers;
  int shared_bytes;
  int reserved_bytes;  ///< of shared memory, for each block
};

constexpr int rounded_up(int value, int unit) { return (value + unit - 1) / unit * unit; }

/// Blocks that a processor holds at a time: the arithmetic of CUDA's occupancy calculator for compute capability 8.0 to
/// 9.0. Registers are given to warps in units of 256, warps in fours; shared memory in units of 128 bytes.
constexpr int blocks_held(const Processor& processor, int threads, int registers, int shared_bytes) {
  const int warps = (threads + 31) / 32;
  const int by_threads = std::min(processor.blocks, processor.threads / 32 / warps);
  const int warps_by_registers = processor.registers / rounded_up(32 * registers, 256) / 4 * 4;
  const int by_shared = processor.shared_bytes / rounded_up(shared_bytes + processor.reserved_bytes, 128);
  return std::min({by_threads, warps_by_registers / warps, by_shared});
}

constexpr Processor hopper{2048, 32, 65536, 233472, 1024};
static_assert(blocks_held(hopper, 128, 64, 0) == 8);
static_assert(blocks_held(hopper, 128, 65, 0) == 7);
static_assert(blocks_held(hopper, 128, 16, 48 * 1024) == 4);
static_assert(blocks_held(hopper, 32, 16, 0) == 32);

double occupancy(const Processor& processor, int threads, int registers, int shared_bytes) {
  const int warps = (threads + 31) / 32;
  return 32.0 * warps * blocks_held(processor, threads, registers, shared_bytes) / processor.threads;
}

Processor processor_of(holotone::Device device) {
  const auto value = [&](cudaDeviceAttr attribute) {
    int number = 0;
    if (cudaDeviceGetAttribute(&number, attribute, device.index) != cudaSuccess) {
      throw std::runtime_error("cudaDeviceGetAttribute failed");
    }
    return number;
  };
  return {value(cudaDevAttrMaxThreadsPerMultiProcessor), value(cudaDevAttrMaxBlocksPerMultiprocessor),
          value(cudaDevAttrMaxRegistersPerMultiprocessor), value(cudaDevAttrMaxSharedMemoryPerMultiprocessor),
          value(cudaDevAttrReservedSharedMemoryPerBlock)};
}

/// The paper's decoder, and the kernels that render three channels.
std::vector<KernelResources> all_kernels(holotone::Device device) {
  if (cudaSetDevice(device.index) != cudaSuccess) throw std::runtime_error("cudaSetDevice failed");
  std::vector<KernelResources> kernels{AvramelosPasses::resources(DecoderMode::fast),
                                       AvramelosPasses::resources(DecoderMode::slow)};
  for (auto& kernel : holotone::smoe::list_kernels()) kernels.push_back(std::move(kernel));
  for (auto& kernel : holotone::smoe::sum_kernels(3)) kernels.push_back(std::move(kernel));
  return kernels;
}

void print_kernels(const std::vector<KernelResources>& kernels, const Processor& processor, nlohmann::json& results) {
  std::vector<std::vector<std::string>> rows = {
      {"kernel", "threads", "registers", "shared bytes", "local bytes", "blocks", "occupancy", "calculated"}};
  for (const auto& kernel : kernels) {
    const double calculated = occupancy(processor, kernel.threads, kernel.registers, kernel.shared_bytes);
    rows.push_back({kernel.name, std::to_string(kernel.threads), std::to_string(kernel.registers),
                    std::to_string(kernel.shared_bytes), std::to_string(kernel.local_bytes),
                    std::to_string(kernel.blocks), fmt::format("{:.3f}", kernel.occupancy),
                    fmt::format("{:.3f}", calculated)});
    results["figure_9"]["kernels"].push_back({{"kernel", kernel.name},
                                              {"threads", kernel.threads},
                                              {"registers", kernel.registers},
                                              {"shared_bytes", kernel.shared_bytes},
                                              {"local_bytes", kernel.local_bytes},
                                              {"blocks", kernel.blocks},
                                              {"occupancy", kernel.occupancy},
                                              {"calculated", calculated}});
  }
  print_table(rows);
}

/// A curve: occupancy of `own` with one of its numbers changed.
template <class Changed>
void print_curve(const char* name, const char* key, const std::vector<int>& values, const Changed& changed,
                 nlohmann::json& results) {
  fmt::print("{:>22}", name);
  for (const int value : values) fmt::print("  {}: {:.2f}", value, changed(value));
  fmt::print("\n");
  for (const int value : values) results["figure_9"][key].push_back({{"value", value}, {"occupancy", changed(value)}});
}

void print_curves(const KernelResources& kernel, const Processor& processor, nlohmann::json& results) {
  fmt::print("\nOccupancy of {} with one number changed\n", kernel.name);
  print_curve(
      "a. threads of a block", "threads", {32, 64, 128, 256, 384, 512, 768, 1024},
      [&](int value) { return occupancy(processor, value, kernel.registers, kernel.shared_bytes); }, results);
  print_curve(
      "b. registers", "registers", {16, 32, 40, 48, 56, 64, 80, 96, 128, 168, 255},
      [&](int value) { return occupancy(processor, kernel.threads, value, kernel.shared_bytes); }, results);
  print_curve(
      "c. shared bytes", "shared_bytes", {1024, 4096, 8192, 16384, 24576, 32768, 49152},
      [&](int value) { return occupancy(processor, kernel.threads, kernel.registers, value); }, results);
}

}  // namespace
#endif

#if HOLOTONE_OPENCL
namespace {

void print_groups(holotone::Device device, nlohmann::json& results) {
  const holotone::Queue queue(device);
  std::vector<std::vector<std::string>> rows = {
      {"kernel", "items", "largest group", "multiple", "local bytes", "private bytes"}};
  const int items = group_columns * group_rows;
  for (const auto memory : {PassMemory::local, PassMemory::global}) {
    for (const auto mode : {DecoderMode::fast, DecoderMode::slow}) {
      const auto resources = AvramelosPassesOpencl(2, mode, memory, queue).resources();
      const std::string name = fmt::format("11 a pass, {}{}", mode == DecoderMode::fast ? "fast" : "slow",
                                           memory == PassMemory::local ? "" : ", no local memory");
      rows.push_back({name, std::to_string(items), std::to_string(resources.largest_group),
                      std::to_string(resources.group_multiple), std::to_string(resources.local_bytes),
                      std::to_string(resources.private_bytes)});
      results["figure_9"]["groups"].push_back({{"kernel", name},
                                               {"items", items},
                                               {"largest_group", resources.largest_group},
                                               {"group_multiple", resources.group_multiple},
                                               {"local_bytes", resources.local_bytes},
                                               {"private_bytes", resources.private_bytes}});
    }
  }
  print_table(rows);
  fmt::print(
      "\nOpenCL reports neither registers nor the groups that a compute unit holds: no occupancy follows. Largest "
      "group: "
      "of the\n"
      "kernel as compiled, which registers limit. Private bytes: of an item, outside registers.\n");
}

}  // namespace
#endif

void print_figure_9(const TableOptions& options, nlohmann::json& results) {
  fmt::print("\nFigure 9: occupancy; published for the OpenCL decoder: 0.5, limited by its registers\n\n");
  results["figure_9"]["published_occupancy"] = 0.5;
#if HOLOTONE_CUDA
  if (options.device.backend == holotone::Backend::cuda) {
    const auto kernels = all_kernels(options.device);
    const auto processor = processor_of(options.device);
    print_kernels(kernels, processor, results);
    print_curves(kernels.front(), processor, results);
    fmt::print(
        "\nOccupancy: threads that a processor holds at a time over the most it can hold, by the CUDA occupancy "
        "interface for the\n"
        "kernels as compiled; calculated: by the published arithmetic of its limits, which the curves need.\n");
    return;
  }
#endif
#if HOLOTONE_OPENCL
  if (options.device.backend == holotone::Backend::opencl) return print_groups(options.device, results);
#endif
  fmt::print("{}: only a GPU has an occupancy.\n", to_string(options.device));
}

}  // namespace bench
