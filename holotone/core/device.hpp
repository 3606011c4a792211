#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace holotone {

enum class Backend { cpu, cuda, opencl };

/// Identifier of a processor and its memory: the CPU or one GPU. Cheap to copy and compare.
struct Device {
  Backend backend = Backend::cpu;
  int index = 0;
  friend bool operator==(const Device&, const Device&) = default;
};

/// "cpu", "cuda:0" or "opencl:0".
std::string to_string(Device device);

/// Inverse of to_string; also "cuda" (= "cuda:0"), "opencl" (= "opencl:0") and "auto": the first CUDA device, else the
/// first GPU of OpenCL, else the CPU.
/// Throws invalid_argument for another name and unsupported for a device this machine lacks.
Device parse_device(std::string_view name);

/// Devices that this build can use on this machine: the CPU, CUDA's, OpenCL's (GPUs first, CPUs last). A GPU may be
/// there twice, for CUDA and for OpenCL. Does not throw if a GPU, a driver or OpenCL is missing.
std::vector<Device> devices();

/// Properties of a device: one row of `holotone devices`.
struct DeviceInfo {
  Device device;
  std::string name;              ///< model reported by the driver or the kernel
  int units = 0;                 ///< CPU threads or GPU multiprocessors
  std::size_t memory_bytes = 0;  ///< total memory
  std::size_t free_bytes = 0;    ///< free at the time of the query
  std::string detail;            ///< vector unit, or compute capability and driver
};
DeviceInfo describe(Device device);

/// In-order queue of work on one device. Copies share the queue.
///
/// On the CPU, work runs immediately in the caller's thread (with OpenMP threads inside), and synchronize() returns at
/// once. On CUDA, the queue is a stream, on OpenCL a command queue: work is enqueued, and synchronize() waits.
class Queue {
 public:
  /// The device's default queue. CUDA: the legacy default stream, which orders itself with blocking streams. OpenCL:
  /// one command queue for the process, whose copies with the host wait for the queues of create().
  Queue(Device device = {});  // NOLINT(google-explicit-constructor): a Device names its default queue
  /// Creates a new queue, destroyed with its last copy.
  static Queue create(Device device);
  /// Wraps the caller's cudaStream_t, or cl_command_queue (in order, on the same device, of any context), without
  /// owning it. Throws invalid_argument for another cl_command_queue.
  static Queue borrow(Device device, void* native_stream);

  [[nodiscard]] Device device() const noexcept { return device_; }
  [[nodiscard]] void* native() const noexcept { return native_.get(); }
  /// Waits for all enqueued work. Throws device, naming the failed call, for an error in this work.
  void synchronize() const;
  /// Makes work that this queue gets from now on wait for the work that `other` has now. CUDA, both queues: the host
  /// does not wait. Otherwise the host waits for `other`.
  void wait_for(const Queue& other) const;

 private:
  Queue(Device device, std::shared_ptr<void> native) : device_(device), native_(std::move(native)) {}
  Device device_;
  std::shared_ptr<void> native_;
};

/// Throws invalid_argument naming both devices unless they are the same.
void require_device(std::string_view where, std::string_view argument, Device expected, Device got);

/// Owning untyped block of memory on one device; storage of Array. CUDA memory is stream-ordered.
class Buffer {
 public:
  Buffer() = default;
  /// Allocates uninitialised memory. Throws out_of_memory with the bytes requested and the bytes free.
  Buffer(std::size_t bytes, Queue queue);
  /// Allocates host memory for copies with `device`: page-locked for CUDA, where copies then are asynchronous and up to
  /// several times faster, unless the system grants none; ordinary memory for other devices. Throws out_of_memory.
  static Buffer on_host_for(Device device, std::size_t bytes);
  [[nodiscard]] void* data() const noexcept { return data_.get(); }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] const Queue& queue() const noexcept { return queue_; }

 private:
  std::size_t bytes_ = 0;
  Queue queue_;
  std::unique_ptr<void, std::function<void(void*)>> data_;
};

/// Copies bytes between any two devices. Host to host is immediate. A copy with a GPU is enqueued on `queue`, which
/// must belong to that GPU. CUDA: page-locked host memory makes it asynchronous. OpenCL: a copy with the host waits.
void copy_bytes(void* target, Device target_device, const void* source, Device source_device, std::size_t bytes,
                const Queue& queue);

}  // namespace holotone
