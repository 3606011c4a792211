#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/no_backend.hpp>
#include <holotone/core/opencl.hpp>
#if HOLOTONE_OPENCL
#include <algorithm>
#include <holotone/core/kernel_opencl.hpp>
#endif

namespace holotone {

#if HOLOTONE_OPENCL

namespace {

/// Throws unless `memory` is a buffer that `device` can use.
void require_buffer(Device device, cl_mem memory) {
  constexpr std::string_view where = "OpenclMemory";
  if (device.backend != Backend::opencl) throw_argument(where, "device", "an OpenCL device", to_string(device));
  const cl::Buffer buffer(memory, true);
  cl_int status = CL_SUCCESS;
  const auto type = buffer.getInfo<CL_MEM_TYPE>(&status);
  opencl::check(status, "OpenclMemory: memory: clGetMemObjectInfo");
  if (type != CL_MEM_OBJECT_BUFFER) throw_argument(where, "memory", "a buffer", fmt::format("type {:#x}", type));
  const auto devices = buffer.getInfo<CL_MEM_CONTEXT>().getInfo<CL_CONTEXT_DEVICES>();
  if (std::ranges::none_of(devices,
                           [&](const cl::Device& each) { return opencl::find_index(each()) == device.index; })) {
    throw_argument(where, "memory", fmt::format("a buffer of a context with {}", to_string(device)),
                   "one of another context");
  }
}

}  // namespace

Device opencl_device(void* device) {
  const int index = opencl::find_index(static_cast<cl_device_id>(device));
  if (index < 0) throw_argument("opencl_device", "device", "a cl_device_id of this machine", "another handle");
  return {Backend::opencl, index};
}

OpenclPlace opencl_place(const void* data) {
  const auto place = opencl::locate(data);
  return {place.memory, place.offset, place.bytes};
}

OpenclMemory::OpenclMemory(Device device, void* memory) : device_(device), data_(nullptr, opencl::forget) {
  require_buffer(device, static_cast<cl_mem>(memory));
  data_.reset(opencl::name(static_cast<cl_mem>(memory)));
  bytes_ = opencl::locate(data_.get()).bytes;
}

void set_opencl_cache(std::string folder, std::function<void()> compiling) {
  opencl::set_cache(std::move(folder), std::move(compiling));
}

#else

Device opencl_device(void* /*device*/) { throw_no_backend("opencl_device", {Backend::opencl, 0}); }

OpenclPlace opencl_place(const void* /*data*/) { throw_no_backend("opencl_place", {Backend::opencl, 0}); }

OpenclMemory::OpenclMemory(Device /*device*/, void* /*memory*/) : data_(nullptr, [](void*) {}) {
  throw_no_backend("OpenclMemory", {Backend::opencl, 0});
}

void set_opencl_cache(std::string /*folder*/, std::function<void()> /*compiling*/) {
  throw_no_backend("set_opencl_cache", {Backend::opencl, 0});
}

#endif

void* OpenclMemory::at(std::size_t offset_bytes, std::int64_t count, std::size_t size) const {
  if (count < 0 || offset_bytes > bytes_ || static_cast<std::size_t>(count) > (bytes_ - offset_bytes) / size ||
      offset_bytes % size != 0) {
    throw_argument("OpenclMemory::view", "shape", fmt::format("an array within the {} bytes of the cl_mem", bytes_),
                   fmt::format("{} elements of {} bytes from byte {} on", count, size, offset_bytes));
  }
  return static_cast<std::byte*>(data_.get()) + offset_bytes;
}

}  // namespace holotone
