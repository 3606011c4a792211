#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <holotone/core/cuda.hpp>
#include <holotone/core/device.hpp>
#include <holotone/core/device_backends.hpp>
#include <holotone/core/error.hpp>
#include <holotone/core/no_backend.hpp>
#include <holotone/core/units.hpp>
#include <new>
#include <optional>
#include <sys/mman.h>

namespace holotone {
namespace {

constexpr std::size_t cpu_alignment = 64;
constexpr std::size_t huge_page = std::size_t{2} << 20;
constexpr std::size_t min_huge_bytes = 2 * huge_page;
constexpr std::size_t overcommit_bytes = std::size_t{1} << 30;  // smaller requests are not checked against memory

/// A number of digits alone.
std::optional<int> number(std::string_view digits) {
  int value = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (code != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

int device_count(Backend backend) {
  switch (backend) {
    case Backend::cpu: return 1;
    case Backend::cuda:
#if HOLOTONE_CUDA
      return cuda::device_count();
#else
      return 0;
#endif
    case Backend::opencl:
#if HOLOTONE_OPENCL
      return opencl::device_count();
#else
      return 0;
#endif
  }
  return 0;
}

/// Reason why a GPU's backend lacks a device.
std::string absence(Backend backend) {
  if (backend == Backend::opencl) {
#if HOLOTONE_OPENCL
    return opencl::absence();
#else
    return "this build has no OpenCL";
#endif
  }
  const int count = device_count(backend);
  return count > 0 ? fmt::format("CUDA has {} of them, counted from 0", count)
                   : "no CUDA device or driver, or a build without CUDA";
}

Device automatic_device() {
  if (device_count(Backend::cuda) > 0) return {Backend::cuda, 0};
#if HOLOTONE_OPENCL
  // GPUs come first. An OpenCL device that is the CPU itself is used only when it is asked for.
  if (opencl::device_count() > 0 && opencl::is_gpu(0)) return {Backend::opencl, 0};
#endif
  return {};
}

}  // namespace

void throw_no_backend(std::string_view where, Device device) {
  const bool built = device.backend == Backend::cpu || (device.backend == Backend::cuda && HOLOTONE_CUDA) ||
                     (device.backend == Backend::opencl && HOLOTONE_OPENCL);
  const std::string_view name = device.backend == Backend::cuda ? "CUDA" : "OpenCL";
  if (built) {
    throw_unsupported(where, "queue", HOLOTONE_CUDA ? "the CPU or CUDA" : "the CPU",
                      fmt::format("{}: this operation is not made for {}", to_string(device), name));
  }
  throw_unsupported(where, "queue", "the CPU", fmt::format("{}: this build has no {}", to_string(device), name));
}

std::string to_string(Device device) {
  switch (device.backend) {
    case Backend::cpu: return "cpu";
    case Backend::cuda: return fmt::format("cuda:{}", device.index);
    case Backend::opencl: return fmt::format("opencl:{}", device.index);
  }
  return "?";
}

std::vector<Device> devices() {
  std::vector<Device> all;
  for (const Backend backend : {Backend::cpu, Backend::cuda, Backend::opencl}) {
    for (int i = 0; i < device_count(backend); ++i) all.push_back({backend, i});
  }
  return all;
}

Device parse_device(std::string_view name) {
  if (name == "auto") return automatic_device();
  if (name == "cpu") return {};
  for (const Backend backend : {Backend::cuda, Backend::opencl}) {
    const std::string_view prefix = backend == Backend::cuda ? "cuda" : "opencl";
    if (!name.starts_with(prefix)) continue;
    const std::string_view rest = name.substr(prefix.size());
    const auto index = rest.empty() ? 0 : rest.front() == ':' ? number(rest.substr(1)) : std::nullopt;
    if (!index) continue;
    if (*index >= 0 && *index < device_count(backend)) return {backend, *index};
    throw_unsupported("", "device", "one of this machine's", fmt::format("'{}': {}", name, absence(backend)));
  }
  throw_argument("", "device", "auto, cpu, cuda, cuda:N, opencl or opencl:N", fmt::format("'{}'", name));
}

DeviceInfo describe(Device device) {
  switch (device.backend) {
    case Backend::cpu: return cpu::describe();
    case Backend::cuda:
#if HOLOTONE_CUDA
      return cuda::describe(device.index);
#else
      break;
#endif
    case Backend::opencl:
#if HOLOTONE_OPENCL
      return opencl::describe(device.index);
#else
      break;
#endif
  }
  throw_no_backend("describe", device);
}

void open_cuda([[maybe_unused]] int index) {
#if HOLOTONE_CUDA
  cuda::open(index);
#endif
}

Queue::Queue(Device device) : device_(device) {}

Queue Queue::create(Device device) {
#if HOLOTONE_CUDA
  if (device.backend == Backend::cuda) return {device, cuda::create_stream(device.index)};
#endif
#if HOLOTONE_OPENCL
  if (device.backend == Backend::opencl) return {device, opencl::create_queue(device.index)};
#endif
  return device;
}

Queue Queue::borrow(Device device, void* native_stream) {
#if HOLOTONE_OPENCL
  if (device.backend == Backend::opencl) opencl::require_native(device.index, native_stream);
#endif
  return {device, std::shared_ptr<void>(native_stream, [](void*) {})};
}

void Queue::synchronize() const {
  switch (device_.backend) {
    case Backend::cpu: return;
    case Backend::cuda:
#if HOLOTONE_CUDA
      return cuda::synchronize(device_.index, native_.get());
#else
      break;
#endif
    case Backend::opencl:
#if HOLOTONE_OPENCL
      return opencl::synchronize(*this);
#else
      break;
#endif
  }
  throw_no_backend("Queue::synchronize", device_);
}

void Queue::wait_for(const Queue& other) const {
#if HOLOTONE_CUDA
  if (device_.backend == Backend::cuda && other.device_.backend == Backend::cuda) return cuda::wait_for(*this, other);
#endif
  other.synchronize();
}

void require_device(std::string_view where, std::string_view argument, Device expected, Device got) {
  if (expected != got) {
    throw_argument(where, argument, "an array on device " + to_string(expected), "one on device " + to_string(got));
  }
}

Buffer::Buffer(std::size_t bytes, Queue queue) : bytes_(bytes), queue_(std::move(queue)) {
  if (bytes == 0) bytes = 1;  // an empty array still needs an address
  switch (queue_.device().backend) {
    case Backend::cpu: {
      const bool large = bytes >= min_huge_bytes;
      const std::size_t alignment = large ? huge_page : cpu_alignment;
      const std::size_t padded = (bytes + alignment - 1) / alignment * alignment;
      // A system that overcommits grants more memory than exists and kills the process later: refuse the request here.
      const bool possible = padded >= bytes && (bytes < overcommit_bytes || bytes <= describe(Device{}).memory_bytes);
      void* memory = possible ? std::aligned_alloc(alignment, padded) : nullptr;
      if (memory == nullptr) {
        throw Error(ErrorCode::out_of_memory,
                    ErrorFields{"Array", "", fmt::format("{} of host memory", format_bytes(static_cast<double>(bytes))),
                                fmt::format("none: {} are free",
                                            format_bytes(static_cast<double>(describe(Device{}).free_bytes)))});
      }
#ifdef MADV_HUGEPAGE
      // Passes down the columns of a large array touch a page for each row; huge pages save these misses. Failure is
      // harmless.
      if (large) madvise(memory, padded, MADV_HUGEPAGE);
#endif
      data_ = {memory, [](void* p) { std::free(p); }};
      return;
    }
    case Backend::cuda:
#if HOLOTONE_CUDA
      data_ = {cuda::allocate(bytes, queue_), [queue = queue_](void* p) { cuda::deallocate(p, queue); }};
      return;
#else
      break;
#endif
    case Backend::opencl:
#if HOLOTONE_OPENCL
      data_ = {opencl::allocate(bytes, queue_), [](void* p) { opencl::deallocate(p); }};
      return;
#else
      break;
#endif
  }
  throw_no_backend("Array", queue_.device());
}

Buffer Buffer::on_host_for([[maybe_unused]] Device device, std::size_t bytes) {
#if HOLOTONE_CUDA
  if (device.backend == Backend::cuda && bytes > 0) {
    if (void* const memory = cuda::allocate_on_host(device.index, bytes); memory != nullptr) {
      Buffer buffer;
      buffer.bytes_ = bytes;
      buffer.data_ = {memory, [](void* p) { cuda::deallocate_on_host(p); }};
      return buffer;
    }
  }
#endif
  return {bytes, Device{}};
}

void copy_bytes(void* target, Device target_device, const void* source, Device source_device, std::size_t bytes,
                const Queue& queue) {
  if (bytes == 0) return;
  if (target_device.backend == Backend::cpu && source_device.backend == Backend::cpu) {
    std::memcpy(target, source, bytes);
    return;
  }
  if (queue.device() != target_device && queue.device() != source_device) {
    const Device gpu = target_device.backend != Backend::cpu ? target_device : source_device;
    throw_argument("copy", "queue", "a queue of device " + to_string(gpu), "one of " + to_string(queue.device()));
  }
  const auto involves = [&](Backend backend) {
    return target_device.backend == backend || source_device.backend == backend;
  };
  if (involves(Backend::cuda) && involves(Backend::opencl)) {  // no driver joins the two
    queue.synchronize();
    std::vector<std::byte> host(bytes);
    copy_bytes(host.data(), Device{}, source, source_device, bytes, source_device);
    return copy_bytes(target, target_device, host.data(), Device{}, bytes, target_device);
  }
#if HOLOTONE_CUDA
  if (involves(Backend::cuda)) return cuda::copy_bytes(target, source, bytes, queue);
#endif
#if HOLOTONE_OPENCL
  if (involves(Backend::opencl)) {
    return opencl::copy_bytes(target, target_device, source, source_device, bytes, queue);
  }
#endif
  throw_no_backend("copy", queue.device());
}

}  // namespace holotone
