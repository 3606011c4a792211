#pragma once
// For _cuda.cu files only: error checks, launch geometry, device scope. Not for users.
#include <cstdint>
#include <cuda_runtime.h>
#include <holotone/core/device.hpp>
#include <holotone/core/error.hpp>
#include <string>

namespace holotone::cuda {

/// Throws Error{device or out_of_memory} naming the call.
inline void check(cudaError_t status, const char* call) {
  if (status != cudaSuccess) {
    throw Error(status == cudaErrorMemoryAllocation ? ErrorCode::out_of_memory : ErrorCode::device,
                std::string(call) + ": " + cudaGetErrorString(status));
  }
}

/// Throws as check if the preceding kernel launch failed. Errors inside the kernel surface at Queue::synchronize.
inline void check_launch(const char* kernel) { check(cudaGetLastError(), kernel); }

inline cudaStream_t stream_of(const Queue& queue) { return static_cast<cudaStream_t>(queue.native()); }

/// Makes a device current for a scope.
class DeviceScope {
 public:
  explicit DeviceScope(Device device) {
    check(cudaGetDevice(&previous_), "cudaGetDevice");
    check(cudaSetDevice(device.index), "cudaSetDevice");
  }
  ~DeviceScope() { cudaSetDevice(previous_); }
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  int previous_ = 0;
};

/// Number of blocks of `threads` threads that cover `count` items.
inline unsigned blocks_for(std::int64_t count, int threads) {
  return static_cast<unsigned>((count + threads - 1) / threads);
}

}  // namespace holotone::cuda
