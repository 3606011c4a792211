#include <fmt/format.h>
#include <holotone/core/cuda_check.hpp>
#include <holotone/core/cuda_library.hpp>
#include <holotone/core/kernel_cache.hpp>
#include <holotone/core/runtime_compiler_cuda.hpp>
#include <mutex>
#include <nvrtc.h>

namespace holotone::cuda {
namespace {

#define HOLOTONE_NVRTC(apply)                                                                                     \
  apply(nvrtcVersion) apply(nvrtcGetErrorString) apply(nvrtcCreateProgram) apply(nvrtcDestroyProgram)             \
      apply(nvrtcCompileProgram) apply(nvrtcGetProgramLogSize) apply(nvrtcGetProgramLog) apply(nvrtcGetCUBINSize) \
          apply(nvrtcGetCUBIN)
struct Compiler {
  HOLOTONE_LIBRARY_FUNCTIONS(Compiler, HOLOTONE_NVRTC)
};

/// Compiled with the headers of NVRTC 13. Those of 12.9 have the same functions, types and numbers.
const Compiler& compiler() {
  static const Compiler functions({"NVRTC", {"libnvrtc.so.13", "libnvrtc.so.12"}, "nvidia-cuda-nvrtc"});
  return functions;
}

void check_compiler(nvrtcResult result, const char* call) {
  if (result != NVRTC_SUCCESS) {
    throw Error(ErrorCode::device, fmt::format("{}: {}", call, compiler().nvrtcGetErrorString(result)));
  }
}

/// Every input that the machine code depends on.
std::string identity(const KernelSource& source, int capability) {
  int major = 0;
  int minor = 0;
  check_compiler(compiler().nvrtcVersion(&major, &minor), "nvrtcVersion");
  std::string text = fmt::format("{} {} {}.{}\n", source.name, capability, major, minor);
  for (const auto& define : source.defines) text += define + "\n";
  for (const auto& [name, header] : source.headers) text += fmt::format("{} {}\n{}", name, header.size(), header);
  return text + source.text;
}

std::string compiled(const KernelSource& source, int capability) {
  std::vector<const char*> names;
  std::vector<const char*> texts;
  for (const auto& [name, text] : source.headers) {
    names.push_back(name.c_str());
    texts.push_back(text.c_str());
  }
  nvrtcProgram program = nullptr;
  check_compiler(compiler().nvrtcCreateProgram(&program, source.text.c_str(), source.name.c_str(),
                                               static_cast<int>(names.size()), texts.data(), names.data()),
                 "nvrtcCreateProgram");
  const std::unique_ptr<_nvrtcProgram, void (*)(nvrtcProgram)> owner(
      program, [](nvrtcProgram handle) { compiler().nvrtcDestroyProgram(&handle); });
  // -fmad=false: fused operations are explicit in the source.
  std::vector<std::string> options = {fmt::format("-arch=sm_{}", capability), "-std=c++20", "-fmad=false",
                                      "-default-device"};
  for (const auto& define : source.defines) options.push_back("-D" + define);
  std::vector<const char*> arguments;
  for (const auto& option : options) arguments.push_back(option.c_str());
  if (compiler().nvrtcCompileProgram(program, static_cast<int>(arguments.size()), arguments.data()) != NVRTC_SUCCESS) {
    std::size_t size = 0;
    check_compiler(compiler().nvrtcGetProgramLogSize(program, &size), "nvrtcGetProgramLogSize");
    std::string log(size, '\0');
    check_compiler(compiler().nvrtcGetProgramLog(program, log.data()), "nvrtcGetProgramLog");
    throw Error(ErrorCode::device, fmt::format("{} cannot be compiled for sm_{}: {}", source.name, capability, log));
  }
  std::size_t size = 0;
  check_compiler(compiler().nvrtcGetCUBINSize(program, &size), "nvrtcGetCUBINSize");
  std::string code(size, '\0');
  check_compiler(compiler().nvrtcGetCUBIN(program, code.data()), "nvrtcGetCUBIN");
  return code;
}

}  // namespace

std::string compile(const KernelSource& source, int capability, const std::string& cache_folder) {
  return kept_kernel(cache_folder, source.name, identity(source, capability),
                     [&] { return compiled(source, capability); });
}

KernelLibrary::KernelLibrary(const std::string& machine_code) {
  cudaLibrary_t library = nullptr;
  check(cudaLibraryLoadData(&library, machine_code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
        "cudaLibraryLoadData");
  library_ = std::shared_ptr<CUlib_st>(library, [](cudaLibrary_t handle) { cudaLibraryUnload(handle); });
}

const void* KernelLibrary::kernel(const char* name) const {
  cudaKernel_t kernel = nullptr;
  check(cudaLibraryGetKernel(&kernel, library_.get(), name), "cudaLibraryGetKernel");
  return reinterpret_cast<const void*>(kernel);
}

KernelLibrary load_kernels(const KernelSource& source, Device device, const std::string& cache_folder) {
  static std::mutex mutex;
  static std::map<std::string, KernelLibrary> libraries;
  int major = 0;
  int minor = 0;
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device.index), "cudaDeviceGetAttribute");
  check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device.index), "cudaDeviceGetAttribute");
  const int capability = 10 * major + minor;
  const std::lock_guard lock(mutex);
  const std::string name = identity(source, capability);
  const auto at = libraries.find(name);
  if (at != libraries.end()) return at->second;
  return libraries.emplace(name, KernelLibrary(compile(source, capability, cache_folder))).first->second;
}

}  // namespace holotone::cuda
