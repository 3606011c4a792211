#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <holotone/core/device.hpp>
#include <holotone/core/device_backends.hpp>
#include <holotone/core/error.hpp>
#include <holotone/core/units.hpp>
#include <new>
#include <sys/mman.h>

namespace holotone {
namespace {

constexpr std::size_t cpu_alignment = 64;
constexpr std::size_t huge_page = std::size_t{2} << 20;
constexpr std::size_t least_huge_bytes = 2 * huge_page;
constexpr std::size_t overcommit_bytes = std::size_t{1} << 30;  // smaller requests are not checked against memory

#if !HOLOTONE_CUDA
[[noreturn]] void throw_no_cuda(std::string_view where) {
  throw Error(ErrorCode::unsupported, fmt::format("{}: this build has no CUDA", where));
}
#endif

}  // namespace

std::string to_string(Device device) {
  switch (device.backend) {
    case Backend::cpu: return "cpu";
    case Backend::cuda: return fmt::format("cuda:{}", device.index);
  }
  return "?";
}

std::vector<Device> devices() {
  std::vector<Device> all{Device{}};
#if HOLOTONE_CUDA
  for (int i = 0; i < cuda::device_count(); ++i) all.push_back({Backend::cuda, i});
#endif
  return all;
}

Device parse_device(std::string_view name) {
  const auto all = devices();
  if (name == "auto") return all.size() > 1 ? all[1] : all[0];
  if (name == "cpu") return {};
  if (name.starts_with("cuda")) {
    int index = 0;
    bool known = name == "cuda";
    if (name.starts_with("cuda:")) {
      const auto digits = name.substr(5);
      const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
      known = code == std::errc{} && end == digits.data() + digits.size();
    }
    if (known) {
      const Device device{Backend::cuda, index};
      for (const auto& have : all) {
        if (have == device) return device;
      }
      throw_unsupported("", "device", "one of this machine's",
                        fmt::format("'{}': {}", name,
                                    all.size() > 1 ? fmt::format("there are {} CUDA devices", all.size() - 1)
                                                   : "no CUDA device or driver, or a build without CUDA"));
    }
  }
  throw_argument("", "device", "auto, cpu, cuda or cuda:N", fmt::format("'{}'", name));
}

DeviceInfo describe(Device device) {
  switch (device.backend) {
    case Backend::cpu: return cpu::describe();
    case Backend::cuda:
#if HOLOTONE_CUDA
      return cuda::describe(device.index);
#else
      throw_no_cuda("describe");
#endif
  }
  return {};
}

Queue::Queue(Device device) : device_(device) {}

Queue Queue::create(Device device) {
#if HOLOTONE_CUDA
  if (device.backend == Backend::cuda) return {device, cuda::create_stream(device.index)};
#endif
  return device;
}

Queue Queue::borrow(Device device, void* native_stream) {
  return {device, std::shared_ptr<void>(native_stream, [](void*) {})};
}

void Queue::synchronize() const {
  switch (device_.backend) {
    case Backend::cpu: return;
    case Backend::cuda:
#if HOLOTONE_CUDA
      return cuda::synchronize(device_.index, native_.get());
#else
      throw_no_cuda("Queue::synchronize");
#endif
  }
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
      const bool large = bytes >= least_huge_bytes;
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
      throw_no_cuda("Array");
#endif
  }
}

void copy_bytes(void* target, Device target_device, const void* source, Device source_device, std::size_t bytes,
                const Queue& queue) {
  if (bytes == 0) return;
  if (target_device.backend == Backend::cpu && source_device.backend == Backend::cpu) {
    std::memcpy(target, source, bytes);
    return;
  }
#if HOLOTONE_CUDA
  if (queue.device() != target_device && queue.device() != source_device) {
    const Device gpu = target_device.backend == Backend::cuda ? target_device : source_device;
    throw_argument("copy", "queue", "a queue of device " + to_string(gpu), "one of " + to_string(queue.device()));
  }
  cuda::copy_bytes(target, source, bytes, queue);
#else
  (void)queue;
  throw_no_cuda("copy");
#endif
}

}  // namespace holotone
