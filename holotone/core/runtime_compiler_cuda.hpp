#pragma once
// Kernels compiled when the program runs, for what only then is known. Not for users.
#include <cuda_runtime.h>
#include <holotone/core/device.hpp>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace holotone::cuda {

/// Source text, and the texts of what it includes by their names.
struct KernelSource {
  std::string name;
  std::string text;
  std::map<std::string, std::string> headers;
  std::vector<std::string> defines;  ///< "NAME=VALUE"
};

/// Machine code for a compute capability such as 90, by NVRTC. `cache_folder`, if given, keeps it: a second process reads the file, checked by its
/// length and checksum, and a folder that cannot be written is no error. Throws device with the compiler's words. Needs no GPU.
std::string compile(const KernelSource& source, int capability, const std::string& cache_folder = {});

/// What compile made, loaded. Copies share it.
class KernelLibrary {
 public:
  KernelLibrary() = default;
  explicit KernelLibrary(const std::string& machine_code);
  /// For cudaLaunchKernel and the like. Throws device for a name that is not there.
  [[nodiscard]] const void* kernel(const char* name) const;

 private:
  std::shared_ptr<CUlib_st> library_;
};

/// Compiled and loaded for a device; once for each source and capability in a process.
KernelLibrary kernels_of(const KernelSource& source, Device device, const std::string& cache_folder = {});

}  // namespace holotone::cuda
