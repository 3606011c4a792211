#include <algorithm>
#include <holotone/bands/band_memory.hpp>
#include <utility>

namespace holotone {

void BandMemory::allocate_ahead(const std::vector<Device>& devices, std::size_t bytes) {
  if (devices.empty() || devices.front().backend != Backend::cuda) return;
  ahead_ = std::jthread([this, devices, bytes] {
    try {
      for (std::size_t i = kept_of(bytes); i <= devices.size(); ++i) {
        keep(Buffer::on_host_for(devices[std::min(i, devices.size() - 1)], bytes));
      }
    } catch (...) {  // take() tries again
    }
  });
}

std::size_t BandMemory::kept_of(std::size_t bytes) {
  const std::scoped_lock lock(mutex_);
  const auto fits = [bytes](const Buffer& one) { return one.bytes() == bytes; };
  return static_cast<std::size_t>(std::count_if(kept_.begin(), kept_.end(), fits));
}

Buffer BandMemory::take(Device device, std::size_t bytes) {
  Buffer memory = found(bytes);
  if (memory.bytes() == bytes) return memory;
  std::jthread ahead;
  {
    const std::scoped_lock lock(mutex_);
    ahead = std::move(ahead_);
  }
  if (ahead.joinable()) ahead.join();
  memory = found(bytes);
  return memory.bytes() == bytes ? std::move(memory) : Buffer::on_host_for(device, bytes);
}

void BandMemory::keep(Buffer memory) {
  const std::scoped_lock lock(mutex_);
  kept_.push_back(std::move(memory));
}

Buffer BandMemory::found(std::size_t bytes) {
  const std::scoped_lock lock(mutex_);
  const auto fits =
      std::find_if(kept_.begin(), kept_.end(), [bytes](const Buffer& one) { return one.bytes() == bytes; });
  if (fits == kept_.end()) return {};
  Buffer memory = std::move(*fits);
  kept_.erase(fits);
  return memory;
}

}  // namespace holotone
