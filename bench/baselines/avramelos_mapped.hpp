#pragma once
// Transfers of the OpenCL decoder of Avramelos et al. 2020 (6.3): page-locked memory, mapped and unmapped in blocks.
#include <cstdint>
#include <holotone/core/device.hpp>
#include <memory>
#include <span>

namespace bench {

#if HOLOTONE_OPENCL
/// A buffer of OpenCL in page-locked host memory (CL_MEM_ALLOC_HOST_PTR), mapped in blocks of 4096 values.
class MappedBuffer {
 public:
  MappedBuffer(std::int64_t values, const holotone::Queue& queue);
  ~MappedBuffer();
  MappedBuffer(const MappedBuffer&) = delete;
  MappedBuffer& operator=(const MappedBuffer&) = delete;
  /// Copies `values` to the buffer or back through mapped blocks, each at most as long as the buffer. Waits until the
  /// last block is unmapped.
  void upload(std::span<const float> values);
  void download(std::span<float> values);

 private:
  struct State;
  std::unique_ptr<State> state_;
};
#endif

}  // namespace bench
