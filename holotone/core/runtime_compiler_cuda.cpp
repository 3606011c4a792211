#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <holotone/core/crc32.hpp>
#include <holotone/core/cuda_check.hpp>
#include <holotone/core/runtime_compiler_cuda.hpp>
#include <mutex>
#include <nvrtc.h>
#include <span>
#include <unistd.h>

namespace holotone::cuda {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view mark = "holotone kernel 1\n";

void check_compiler(nvrtcResult result, const char* call) {
  if (result != NVRTC_SUCCESS) {
    throw Error(ErrorCode::device, fmt::format("{}: {}", call, nvrtcGetErrorString(result)));
  }
}

std::uint32_t checksum(std::string_view text) { return crc32(std::as_bytes(std::span(text.data(), text.size()))); }

/// Every input that the machine code depends on.
std::string identity(const KernelSource& source, int capability) {
  int major = 0;
  int minor = 0;
  check_compiler(nvrtcVersion(&major, &minor), "nvrtcVersion");
  std::string text = fmt::format("{} {} {}.{}\n", source.name, capability, major, minor);
  for (const auto& define : source.defines) text += define + "\n";
  for (const auto& [name, header] : source.headers) text += fmt::format("{} {}\n{}", name, header.size(), header);
  return text + source.text;
}

/// Identity and machine code, each with its length, then a checksum of both.
std::string packed(const std::string& identity, const std::string& code) {
  const std::string body = fmt::format("{} {}\n", identity.size(), code.size()) + identity + code;
  return fmt::format("{}{:08x}\n", mark, checksum(body)) + body;
}

/// Machine code in a cache file; empty if the file is damaged or has another identity.
std::string unpacked(const std::string& file, const std::string& identity) {
  const std::size_t head = mark.size() + 9;
  if (file.size() <= head || !file.starts_with(mark)) return {};
  const std::string body = file.substr(head);
  if (file.substr(mark.size(), 9) != fmt::format("{:08x}\n", checksum(body))) return {};
  const std::string lengths = body.substr(0, body.find('\n') + 1);
  const std::size_t rest = lengths.size() + identity.size();
  if (body.size() <= rest || body.compare(lengths.size(), identity.size(), identity) != 0) return {};
  return lengths == fmt::format("{} {}\n", identity.size(), body.size() - rest) ? body.substr(rest) : std::string();
}

void keep(const fs::path& path, const std::string& text) {
  std::error_code failed;
  fs::create_directories(path.parent_path(), failed);
  const fs::path temporary = path.string() + fmt::format(".{}", ::getpid());
  std::ofstream stream(temporary, std::ios::binary);
  stream.write(text.data(), static_cast<std::streamsize>(text.size()));
  stream.close();
  if (stream) fs::rename(temporary, path, failed);
  if (!stream || failed) fs::remove(temporary, failed);
}

std::string compiled(const KernelSource& source, int capability) {
  std::vector<const char*> names;
  std::vector<const char*> texts;
  for (const auto& [name, text] : source.headers) {
    names.push_back(name.c_str());
    texts.push_back(text.c_str());
  }
  nvrtcProgram program = nullptr;
  check_compiler(nvrtcCreateProgram(&program, source.text.c_str(), source.name.c_str(), static_cast<int>(names.size()),
                                    texts.data(), names.data()),
                 "nvrtcCreateProgram");
  const std::unique_ptr<_nvrtcProgram, void (*)(nvrtcProgram)> owner(
      program, [](nvrtcProgram own) { nvrtcDestroyProgram(&own); });
  // -fmad=false: fused operations are explicit in the source.
  std::vector<std::string> options = {fmt::format("-arch=sm_{}", capability), "-std=c++20", "-fmad=false",
                                      "-default-device"};
  for (const auto& define : source.defines) options.push_back("-D" + define);
  std::vector<const char*> arguments;
  for (const auto& option : options) arguments.push_back(option.c_str());
  if (nvrtcCompileProgram(program, static_cast<int>(arguments.size()), arguments.data()) != NVRTC_SUCCESS) {
    std::size_t size = 0;
    check_compiler(nvrtcGetProgramLogSize(program, &size), "nvrtcGetProgramLogSize");
    std::string log(size, '\0');
    check_compiler(nvrtcGetProgramLog(program, log.data()), "nvrtcGetProgramLog");
    throw Error(ErrorCode::device, fmt::format("{} cannot be compiled for sm_{}: {}", source.name, capability, log));
  }
  std::size_t size = 0;
  check_compiler(nvrtcGetCUBINSize(program, &size), "nvrtcGetCUBINSize");
  std::string code(size, '\0');
  check_compiler(nvrtcGetCUBIN(program, code.data()), "nvrtcGetCUBIN");
  return code;
}

}  // namespace

std::string compile(const KernelSource& source, int capability, const std::string& cache_folder) {
  if (cache_folder.empty()) return compiled(source, capability);
  const std::string own = identity(source, capability);
  const fs::path path =
      fs::path(cache_folder) / fmt::format("{}-{:08x}-{}.kernel", source.name, checksum(own), own.size());
  std::ifstream stream(path, std::ios::binary);
  const std::string file((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  std::string code = unpacked(file, own);
  if (code.empty()) {
    code = compiled(source, capability);
    keep(path, packed(own, code));
  }
  return code;
}

KernelLibrary::KernelLibrary(const std::string& machine_code) {
  cudaLibrary_t library = nullptr;
  check(cudaLibraryLoadData(&library, machine_code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
        "cudaLibraryLoadData");
  library_ = std::shared_ptr<CUlib_st>(library, [](cudaLibrary_t own) { cudaLibraryUnload(own); });
}

const void* KernelLibrary::kernel(const char* name) const {
  cudaKernel_t kernel = nullptr;
  check(cudaLibraryGetKernel(&kernel, library_.get(), name), "cudaLibraryGetKernel");
  return reinterpret_cast<const void*>(kernel);
}

KernelLibrary kernels_of(const KernelSource& source, Device device, const std::string& cache_folder) {
  static std::mutex mutex;
  static std::map<std::string, KernelLibrary> libraries;
  int major = 0;
  int minor = 0;
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device.index), "cudaDeviceGetAttribute");
  check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device.index), "cudaDeviceGetAttribute");
  const int capability = 10 * major + minor;
  const std::lock_guard lock(mutex);
  const std::string own = identity(source, capability);
  const auto at = libraries.find(own);
  if (at != libraries.end()) return at->second;
  return libraries.emplace(own, KernelLibrary(compile(source, capability, cache_folder))).first->second;
}

}  // namespace holotone::cuda
