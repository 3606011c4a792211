#include <fmt/format.h>
#include <holotone/core/cuda.hpp>
#include <holotone/core/cuda_library.hpp>
#include <holotone/core/error.hpp>
#include <holotone/core/shared_library.hpp>
#include <mutex>
#include <unistd.h>

namespace holotone {
namespace {

const std::string toolkit_folder = "/usr/local/cuda/lib64";

struct Setting {
  std::mutex mutex;
  std::vector<std::string> folders;
};
Setting& setting() {
  static Setting setting;
  return setting;
}

std::vector<std::string> folders_set() {
  const std::lock_guard lock(setting().mutex);
  return setting().folders;
}

/// Names for dlopen, in the order of the search.
std::vector<std::string> list_names(const cuda::LibraryVersions& library, const std::vector<std::string>& folders) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& prefix) {
    for (const auto& file : library.file_names) names.push_back(prefix + file);
  };
  for (const auto& folder : folders) add(folder + "/");
  add("");  // the system's loader
  add(toolkit_folder + "/");
  return names;
}

/// True if a library was not opened because there is none, not because it or one that it needs is damaged or missing.
bool is_absent(const std::string& name, const std::string& reason) {
  const bool plain = name.find('/') == std::string::npos;
  return reason.starts_with(name + ":") && (plain || ::access(name.c_str(), F_OK) != 0);
}

/// The addresses, or none and the reason in `reason`.
std::vector<void*> addresses_in(const SharedLibrary& library, std::initializer_list<const char*> functions,
                                const std::string& name, std::string& reason) {
  std::vector<void*> addresses;
  for (const char* const function : functions) {
    if (void (*address)() = nullptr; library.load(address, function)) {
      addresses.push_back(reinterpret_cast<void*>(address));
    } else {
      reason = fmt::format("{} lacks {}", name, function);
      return {};
    }
  }
  return addresses;
}

}  // namespace

void set_cuda_library_folders(std::vector<std::string> folders) {
  const std::lock_guard lock(setting().mutex);
  setting().folders = std::move(folders);
}

const cuda::LibraryVersions& cuda::versions_of(CudaLibrary library) {
  static const LibraryVersions cublaslt{"cuBLASLt", {"libcublasLt.so.13", "libcublasLt.so.12"}, "nvidia-cublas"};
  static const LibraryVersions cufft{"cuFFT", {"libcufft.so.12", "libcufft.so.11"}, "nvidia-cufft"};
  return library == CudaLibrary::cublaslt ? cublaslt : cufft;
}

void preload(CudaLibrary library) noexcept {
  try {
    const auto& versions = cuda::versions_of(library);
    for (const auto& name : list_names(versions, folders_set())) {
      if (SharedLibrary{name.c_str()}.open()) return;
    }
  } catch (...) {  // out of memory: the plan reports it
  }
}

std::vector<void*> cuda::load(const LibraryVersions& library, std::initializer_list<const char*> functions) {
  std::string unusable;
  std::vector<void*> found;
  const auto fits = [&](SharedLibrary opened, const std::string& name) {
    std::string reason = opened.reason();
    if (opened.open()) {
      found = addresses_in(opened, functions, name, reason);
      if (!found.empty()) return true;
      opened.close();
    } else if (is_absent(name, reason)) {
      return false;
    }
    unusable += (unusable.empty() ? "" : "; ") + reason;
    return false;
  };
  const auto folders = folders_set();
  for (const auto& file : library.file_names) {
    if (fits(SharedLibrary::of_process(file.c_str()), file)) return found;
  }
  for (const auto& name : list_names(library, folders)) {
    if (fits(SharedLibrary{name.c_str()}, name)) return found;
  }
  std::string places;
  for (const auto& folder : folders) places += folder + ", ";
  throw Error(
      ErrorCode::unsupported,
      fmt::format("{}: expected {} in {}the system's folders or {}, got {}; install NVIDIA's CUDA toolkit, or in "
                  "Python: pip install {}",
                  library.name, fmt::join(library.file_names, " or "), places, toolkit_folder,
                  unusable.empty() ? "none" : unusable, library.python_package));
}

}  // namespace holotone
