#pragma once
#include <cstddef>
#include <functional>
#include <holotone/core/array.hpp>
#include <memory>
#include <string>

// For programs with an OpenCL context of their own: their buffers as Views, Arrays as arguments of their kernels.
// Queue::borrow takes their queues. Handles are void pointers, so that this header needs none of OpenCL's. In a build
// without OpenCL every function here throws unsupported.

namespace holotone {

/// The Device of a cl_device_id. Throws invalid_argument for another handle.
Device opencl_device(void* device);

/// Place of an address in OpenCL's memory.
struct OpenclPlace {
  void* memory = nullptr;        ///< cl_mem, without a reference of its own
  std::size_t offset_bytes = 0;  ///< from the begin of the cl_mem
  std::size_t bytes = 0;         ///< from the address to the end of the cl_mem
};

/// The place of an address within an Array on an OpenCL device or within an OpenclMemory; null for null. Throws
/// invalid_argument for another address.
OpenclPlace opencl_place(const void* data);

/// A caller's cl_mem as memory of Views. Holds a reference to the cl_mem. Views are for plans whose queue belongs to
/// the context of the cl_mem (Queue::borrow).
class OpenclMemory {
 public:
  /// Throws invalid_argument unless `memory` is a buffer whose context has `device`, device for another handle.
  OpenclMemory(Device device, void* memory);

  [[nodiscard]] Device device() const noexcept { return device_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

  /// Array of elements of T from `offset_bytes` on. The view is valid as long as this object. Throws invalid_argument
  /// unless the array lies within the memory, at a multiple of sizeof(T).
  template <class T, std::size_t Rank>
  [[nodiscard]] View<T, Rank> view(Shape<Rank> shape, std::size_t offset_bytes = 0) const {
    return {static_cast<T*>(at(offset_bytes, element_count(shape), sizeof(T))), shape, device_};
  }

 private:
  [[nodiscard]] void* at(std::size_t offset_bytes, std::int64_t count, std::size_t size) const;

  Device device_;
  std::size_t bytes_ = 0;
  std::unique_ptr<void, void (*)(void*)> data_;
};

/// Keeps compiled OpenCL kernels in a folder, which is made at need, for later processes; empty, as at first: none.
/// Files that are damaged, of another driver, version or user are made again. A folder that cannot be written to is
/// ignored, and one of another user or that others can write to. Processes may share a folder. `compiling` is called
/// once, before the first kernel that is compiled: that takes a device's compiler up to some seconds.
void set_opencl_cache(std::string folder, std::function<void()> compiling = {});

}  // namespace holotone
