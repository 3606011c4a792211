#pragma once
// What a kernel takes of a GPU's processors, and how much of them it can fill. Not for users.
#include <string>
#if defined(__CUDACC__)
#include <holotone/core/cuda_check.hpp>
#endif

namespace holotone {

struct KernelResources {
  std::string name;
  int threads = 0;       ///< of a block
  int registers = 0;     ///< of a thread
  int shared_bytes = 0;  ///< of a block
  int local_bytes = 0;   ///< of a thread, in memory instead of registers
  int blocks = 0;        ///< that a processor holds at a time
  double occupancy = 0;  ///< threads of these blocks over the most that a processor holds
};

#if defined(__CUDACC__)
/// Resources of a kernel on the current device, by the CUDA occupancy interface. Throws Error{device}.
template <class... Arguments>
KernelResources resources_of(std::string name, void (*kernel)(Arguments...), int threads, int dynamic_bytes = 0) {
  cudaFuncAttributes attributes{};
  cuda::check(cudaFuncGetAttributes(&attributes, kernel), "cudaFuncGetAttributes");
  if (dynamic_bytes > 0) {
    cuda::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, dynamic_bytes),
                "cudaFuncSetAttribute");
  }
  int blocks = 0;
  cuda::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, dynamic_bytes),
              "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  int device = 0;
  int most = 1;
  cuda::check(cudaGetDevice(&device), "cudaGetDevice");
  cuda::check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxThreadsPerMultiProcessor, device), "cudaDeviceGetAttribute");
  return {std::move(name),
          threads,
          attributes.numRegs,
          static_cast<int>(attributes.sharedSizeBytes) + dynamic_bytes,
          static_cast<int>(attributes.localSizeBytes),
          blocks,
          static_cast<double>(blocks * threads) / most};
}
#endif

}  // namespace holotone
