#include <algorithm>
#include <atomic>
#include <fmt/format.h>
#include <holotone/core/device_backends.hpp>
#include <holotone/core/error.hpp>
#include <holotone/core/memory_opencl.hpp>
#include <holotone/core/units.hpp>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <sys/mman.h>
#include <vector>

namespace holotone::opencl {
namespace {

struct Block {
  cl::Buffer memory;
  std::size_t bytes = 0;
  int device = -1;  ///< index of the device whose memory it takes; -1: the caller's
  cl_context context = nullptr;
};

class Table {
 public:
  void* add(Block block) {
    void* const range = ::mmap(nullptr, block.bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range == MAP_FAILED) {
      throw Error(ErrorCode::out_of_memory, fmt::format("Array: {} of addresses: expected room, got none",
                                                        format_bytes(static_cast<double>(block.bytes))));
    }
    const std::unique_lock lock(mutex_);
    if (block.device >= 0) taken_[block.device] += block.bytes;
    blocks_.emplace(reinterpret_cast<std::uintptr_t>(range), std::move(block));
    return range;
  }

  void remove(void* range) {
    Block block;
    {
      const std::unique_lock lock(mutex_);
      auto node = blocks_.extract(reinterpret_cast<std::uintptr_t>(range));
      if (node.empty()) return;
      block = std::move(node.mapped());
      if (block.device >= 0) taken_[block.device] -= block.bytes;
    }
    ::munmap(range, block.bytes);
  }

  Place find(const void* data) {
    const auto address = reinterpret_cast<std::uintptr_t>(data);
    const std::shared_lock lock(mutex_);
    auto after = blocks_.upper_bound(address);
    if (after != blocks_.begin()) {
      const auto& [begin, block] = *--after;
      const std::size_t offset = address - begin;
      if (offset <= block.bytes) return {block.memory(), offset, block.bytes - offset, block.context};
    }
    throw_argument("OpenCL", "data", "a pointer into an array on an OpenCL device", "another pointer");
  }

  std::size_t taken(int device) {
    const std::shared_lock lock(mutex_);
    const auto taken = taken_.find(device);
    return taken == taken_.end() ? 0 : taken->second;
  }

 private:
  std::shared_mutex mutex_;
  std::map<std::uintptr_t, Block> blocks_;
  std::map<int, std::size_t> taken_;
};

/// Never destroyed: arrays in static storage may outlive it.
Table& table() {
  static Table& all = *new Table;
  return all;
}

[[noreturn]] void throw_memory(std::size_t bytes, int index, const std::string& got) {
  throw Error(
      ErrorCode::out_of_memory,
      ErrorFields{"Array", "", fmt::format("{} on opencl:{}", format_bytes(static_cast<double>(bytes)), index), got});
}

bool of_opencl(Device device) { return device.backend == Backend::opencl; }

/// Queue of a copy with the host. The default queue does not reach the memory of a context of the caller's.
cl::CommandQueue queue_for(const Queue& queue, const Place& place) {
  if (queue.native() != nullptr || place.context == context_of(queue)()) return queue_of(queue);
  cl_int status = CL_SUCCESS;
  cl::CommandQueue commands(cl::Context(place.context, true), device_of(queue), cl_command_queue_properties{0},
                            &status);
  check(status, "clCreateCommandQueue");
  return commands;
}

}  // namespace

Place locate(const void* data) { return data == nullptr ? Place{} : table().find(data); }

void* name(cl_mem memory) {
  cl::Buffer buffer(memory, true);
  cl_int status = CL_SUCCESS;
  const std::size_t bytes = buffer.getInfo<CL_MEM_SIZE>(&status);
  check(status, "clGetMemObjectInfo");
  const auto context = buffer.getInfo<CL_MEM_CONTEXT>(&status);
  check(status, "clGetMemObjectInfo");
  return table().add({std::move(buffer), bytes, -1, context()});
}

void forget(void* data) noexcept { table().remove(data); }

std::size_t free_bytes(int index) {
  const cl::Device device = device_of(Queue(Device{Backend::opencl, index}));
  const std::size_t all = info<CL_DEVICE_GLOBAL_MEM_SIZE>(device);
  const std::size_t room = all - std::min(all, table().taken(index));
  const bool on_host = (info<CL_DEVICE_TYPE>(device) & CL_DEVICE_TYPE_CPU) != 0;
  return on_host ? std::min(room, cpu::describe().free_bytes) : room;
}

void* allocate(std::size_t bytes, const Queue& queue) {
  const int index = queue.device().index;
  const std::size_t free = free_bytes(index);
  if (bytes > free) {
    throw_memory(bytes, index, fmt::format("none: {} are free", format_bytes(static_cast<double>(free))));
  }
  const auto most = info<CL_DEVICE_MAX_MEM_ALLOC_SIZE>(device_of(queue));
  if (bytes > most) {
    throw_memory(bytes, index, fmt::format("none: one array has at most {}", format_bytes(static_cast<double>(most))));
  }
  constexpr auto refused = "none: the driver refuses";
  cl_int status = CL_SUCCESS;
  const cl::Context context = context_of(queue);
  cl::Buffer memory(context, CL_MEM_READ_WRITE, bytes, nullptr, &status);
  if (status == CL_MEM_OBJECT_ALLOCATION_FAILURE || status == CL_OUT_OF_RESOURCES) throw_memory(bytes, index, refused);
  check(status, "clCreateBuffer");
  // A driver may wait with the memory until a kernel needs it, and then blame the kernel.
  status = queue_of(queue).enqueueMigrateMemObjects({memory}, CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED);
  if (status == CL_MEM_OBJECT_ALLOCATION_FAILURE || status == CL_OUT_OF_RESOURCES) throw_memory(bytes, index, refused);
  check(status, "clEnqueueMigrateMemObjects");
  return table().add({std::move(memory), bytes, index, context()});
}

void deallocate(void* memory) noexcept { table().remove(memory); }

void copy_bytes(void* target, Device target_device, const void* source, Device source_device, std::size_t bytes,
                const Queue& queue) {
  if (of_opencl(target_device) && of_opencl(source_device)) {
    if (target_device != source_device) {  // two contexts
      std::vector<std::byte> host(bytes);
      opencl::copy_bytes(host.data(), Device{}, source, source_device, bytes, Queue(source_device));
      return opencl::copy_bytes(target, target_device, host.data(), Device{}, bytes, Queue(target_device));
    }
    const Place to = locate(target);
    const Place from = locate(source);
    return check(clEnqueueCopyBuffer(queue_of(queue)(), from.memory, to.memory, from.offset, to.offset, bytes, 0,
                                     nullptr, nullptr),
                 "clEnqueueCopyBuffer");
  }
  // The default queue reads and writes what the others have done, as CUDA's does.
  if (queue.native() == nullptr) finish_others(queue.device().index);
  if (of_opencl(target_device)) {
    const Place to = locate(target);
    return check(
        clEnqueueWriteBuffer(queue_for(queue, to)(), to.memory, CL_TRUE, to.offset, bytes, source, 0, nullptr, nullptr),
        "clEnqueueWriteBuffer");
  }
  const Place from = locate(source);
  check(clEnqueueReadBuffer(queue_for(queue, from)(), from.memory, CL_TRUE, from.offset, bytes, target, 0, nullptr,
                            nullptr),
        "clEnqueueReadBuffer");
}

}  // namespace holotone::opencl
