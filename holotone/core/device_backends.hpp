#pragma once
// Interface of a backend for device.cpp. Not for users.
#include <holotone/core/device.hpp>

namespace holotone::cpu {
DeviceInfo describe();
}  // namespace holotone::cpu

namespace holotone::cuda {
int device_count();
DeviceInfo describe(int index);
std::shared_ptr<void> create_stream(int index);
void synchronize(int index, void* stream);
void* allocate(std::size_t bytes, const Queue& queue);
void deallocate(void* memory, const Queue& queue) noexcept;
void copy_bytes(void* target, const void* source, std::size_t bytes, const Queue& queue);
}  // namespace holotone::cuda
