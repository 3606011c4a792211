#pragma once
// Interface of a backend for device.cpp. Not for users.
#include <holotone/core/device.hpp>

namespace holotone::cpu {
DeviceInfo describe();
}  // namespace holotone::cpu

namespace holotone::cuda {
int device_count();
DeviceInfo describe(int index);
/// Creates the device's context, unless it exists.
void open(int index);
std::shared_ptr<void> create_stream(int index);
void synchronize(int index, void* stream);
void wait_for(const Queue& later, const Queue& earlier);
void* allocate(std::size_t bytes, const Queue& queue);
void deallocate(void* memory, const Queue& queue) noexcept;
/// Page-locked host memory; null where the system grants none.
void* allocate_on_host(int index, std::size_t bytes);
void deallocate_on_host(void* memory) noexcept;
void copy_bytes(void* target, const void* source, std::size_t bytes, const Queue& queue);
}  // namespace holotone::cuda

namespace holotone::opencl {
int device_count();
bool is_gpu(int index);
/// Reason why a device is not there: no loader, no platform, no device, or how many there are.
std::string absence();
DeviceInfo describe(int index);
std::shared_ptr<void> create_queue(int index);
/// Throws invalid_argument unless the cl_command_queue is in order and of the device.
void require_native(int index, void* native);
void synchronize(const Queue& queue);
void* allocate(std::size_t bytes, const Queue& queue);
void deallocate(void* memory) noexcept;
/// Copies between two devices, of which one is OpenCL's and the other OpenCL's or the CPU.
void copy_bytes(void* target, Device target_device, const void* source, Device source_device, std::size_t bytes,
                const Queue& queue);
}  // namespace holotone::opencl
