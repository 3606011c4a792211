#pragma once
// Run-time compilation of kernels whose parameters are unknown at build time. Not for users.
#include <cuda_runtime.h>
#include <holotone/core/device.hpp>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace holotone::cuda {

/// Source text of a kernel, and the texts of its include files by name.
struct KernelSource {
  std::string name;
  std::string text;
  std::map<std::string, std::string> headers;
  std::vector<std::string> defines;  ///< "NAME=VALUE"
};

/// Compiles to machine code for a compute capability such as 90, by NVRTC. A non-empty `cache_folder` stores the code
/// for other processes, with its length and checksum. A folder that is not writable is ignored. Throws device with the
/// compiler's message. Needs no GPU.
std::string compile(const KernelSource& source, int capability, const std::string& cache_folder = {});

/// Loaded machine code of compile(). Copies share it.
class KernelLibrary {
 public:
  KernelLibrary() = default;
  explicit KernelLibrary(const std::string& machine_code);
  /// Function pointer for cudaLaunchKernel. Throws device for an unknown name.
  [[nodiscard]] const void* kernel(const char* name) const;

 private:
  std::shared_ptr<CUlib_st> library_;
};

/// Compiles and loads kernels for a device, once for each source and capability in a process.
KernelLibrary load_kernels(const KernelSource& source, Device device, const std::string& cache_folder = {});

}  // namespace holotone::cuda
