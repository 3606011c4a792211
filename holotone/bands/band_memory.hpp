#pragma once
#include <cstddef>
#include <holotone/core/device.hpp>
#include <mutex>
#include <thread>
#include <vector>

namespace holotone {

/// Host memory of bands: page-locked for CUDA, which takes long to allocate. So it is allocated ahead, and kept for the
/// next colour.
class BandMemory {
 public:
  /// Begins to allocate `bytes` for each device, and once more for the band that is written. Errors are left to take().
  void allocate_ahead(const std::vector<Device>& devices, std::size_t bytes);
  /// Returns memory for copies with the device. Throws out_of_memory.
  Buffer take(Device device, std::size_t bytes);
  void keep(Buffer memory);

 private:
  std::size_t kept_of(std::size_t bytes);
  Buffer found(std::size_t bytes);

  std::mutex mutex_;
  std::vector<Buffer> kept_;
  std::jthread ahead_;
};

}  // namespace holotone
