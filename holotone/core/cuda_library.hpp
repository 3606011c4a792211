#pragma once
// CUDA's libraries, loaded while the program runs: a machine without them loses the operations that need them, not the
// program. Not for users.
#include <holotone/core/cuda.hpp>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace holotone::cuda {

/// A library in its versions whose functions fit the headers that Holotone is compiled with.
struct LibraryVersions {
  std::string_view name;                ///< "cuFFT"
  std::vector<std::string> file_names;  ///< sonames, best first
  std::string_view python_package;      ///< that holds it: "nvidia-cufft"
};

/// Compiled with the headers of CUDA 13; those of 12.9 have the same functions, types and numbers.
const LibraryVersions& versions_of(CudaLibrary library);

/// Addresses of `functions` in the first library that has all of them; it stays open. The places are those of
/// set_cuda_library_folders. Throws unsupported.
std::vector<void*> load(const LibraryVersions& library, std::initializer_list<const char*> functions);

}  // namespace holotone::cuda

/// Members of a struct `Table`: a pointer for each function of `list`, under the function's own name, and a constructor
/// that loads them. A function-local static of it loads once, in one of several threads, and again after a failure.
#define HOLOTONE_LIBRARY_FUNCTIONS(Table, list)                                                     \
  list(HOLOTONE_LIBRARY_POINTER) explicit Table(const ::holotone::cuda::LibraryVersions& library) { \
    const auto all = ::holotone::cuda::load(library, {list(HOLOTONE_LIBRARY_NAME)});                \
    auto address = all.begin();                                                                     \
    list(HOLOTONE_LIBRARY_ADDRESS)                                                                  \
  }
#define HOLOTONE_LIBRARY_POINTER(name) decltype(&::name) name = nullptr;  // NOLINT(bugprone-macro-parentheses)
#define HOLOTONE_LIBRARY_NAME(name) #name,
#define HOLOTONE_LIBRARY_ADDRESS(name) name = reinterpret_cast<decltype(name)>(*address++);
