#pragma once
// OpenCL buffers behind plain pointers. Not for users.
//
// A View holds a pointer, a kernel needs a cl_mem. Each buffer gets a range of addresses without access: pointers into
// it can be moved like any other, reading one stops the program, and a table leads back to buffer and offset.
#include <cstddef>
#include <holotone/core/device_opencl.hpp>

namespace holotone::opencl {

/// Buffer of a pointer, and its distance from the buffer's begin.
struct Place {
  cl_mem memory = nullptr;
  std::size_t offset = 0;
  std::size_t bytes = 0;  ///< from the pointer to the buffer's end
  cl_context context = nullptr;
};

/// Throws invalid_argument for a pointer that is not of an OpenCL buffer. A null pointer gives a null buffer.
Place locate(const void* data);

/// Gives the caller's buffer a range of addresses, and holds a reference to it until `forget`.
void* name(cl_mem memory);
void forget(void* data) noexcept;

/// Device memory not yet taken by this process; on a CPU at most what the host has free.
std::size_t free_bytes(int index);

}  // namespace holotone::opencl
