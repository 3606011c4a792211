#pragma once
// OpenCL kernels: built once for each context, kept on disk, launched by a call. Not for users.
#include <array>
#include <cstdint>
#include <functional>
#include <holotone/core/memory_opencl.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace holotone::opencl {

/// Numbers of work items along x, y, z.
using Range = std::array<std::size_t, 3>;

/// One item a pixel.
inline Range over(std::int64_t columns, std::int64_t rows = 1) {
  return {static_cast<std::size_t>(columns), static_cast<std::size_t>(rows), 1};
}

/// A kernel of a source file of the tree. Not for two threads at once; each plan owns its kernels.
class Kernel {
 public:
  Kernel() = default;
  /// Builds the program of `path` (from the root of the tree, "holotone/optics/propagation_opencl.cl"), unless this
  /// process has it for the context. Options are those of clBuildProgram, "-DTILE=8". Throws device with the
  /// compiler's messages, unsupported if the device has too little local memory.
  Kernel(const Queue& queue, std::string_view path, const char* name, const std::vector<std::string>& options = {});

  /// Enqueues whole groups. A pointer is passed as two arguments: a buffer (null: none) and a distance in elements of
  /// `long`, which ARRAY and AT of core/array_opencl.cl take. Other arguments are passed by value. Throws unsupported
  /// if the device has smaller groups.
  template <class... Arguments>
  void operator()(const Range& items, const Range& group, const Arguments&... arguments) {
    cl_uint at = 0;
    (set(at, arguments), ...);
    enqueue(items, group);
  }

  explicit operator bool() const { return kernel_() != nullptr; }
  /// For what OpenCL reports of it.
  [[nodiscard]] const cl::Kernel& native() const { return kernel_; }

 private:
  template <class Argument>
  void set(cl_uint& at, const Argument& argument) {
    if constexpr (std::is_pointer_v<Argument>) {
      set_place(at, locate(argument), sizeof(*argument));
    } else {
      static_assert(std::is_trivially_copyable_v<Argument> && !std::is_same_v<Argument, bool>);
      set_bytes(at, sizeof argument, &argument);
    }
  }
  void set_place(cl_uint& at, const Place& place, std::size_t element_bytes);
  void set_bytes(cl_uint& at, std::size_t bytes, const void* value);
  void enqueue(const Range& items, const Range& group);

  cl::Kernel kernel_;
  cl::CommandQueue queue_;
  cl_context context_ = nullptr;
  std::string device_name_;
  std::size_t largest_group_ = 0;
  std::string name_;
};

/// True for a CPU with vectors of at least eight floats: kernels then do well to spell vectors out.
bool prefers_vectors(const Queue& queue);

/// A built program of a text, from this process or from the folder of compiled kernels. `name` begins its file's name.
cl::Program program_of_text(const Queue& queue, std::string_view name, const std::string& text,
                            const std::string& options = {});

/// Makes another source known to Kernel, such as one of a benchmark.
void add_text(std::string_view path, std::string_view text);

/// Option of the compiler for correctly rounded float32 division and square root, which codes of the same bits as the
/// CPU's need; empty on a device that has none, whose codes differ where a value lies at the edge of two.
std::string exact_division(const Queue& queue);

/// Text of a source file of the tree with those that it includes in "", each once.
std::string program_text(std::string_view path);

/// Fills memory with zeros.
void clear(void* data, std::size_t bytes, const Queue& queue);

/// Folder of compiled kernels for other processes (kernel_cache.hpp); empty, as at first: none. `compiling` is called
/// once, before the first kernel that is compiled.
void set_cache(std::string folder, std::function<void()> compiling);

/// Names device, driver and platform: machine code is of use to them alone.
std::string device_identity(const Queue& queue);

}  // namespace holotone::opencl
