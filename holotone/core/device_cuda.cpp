#include <holotone/core/cuda_check.hpp>
#include <holotone/core/device_backends.hpp>
#include <holotone/core/units.hpp>
#include <map>
#include <mutex>
#include <set>

namespace holotone::cuda {

int device_count() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) {
    cudaGetLastError();  // a missing driver or device is not an error here: clear it
    return 0;
  }
  return count;
}

DeviceInfo describe(int index) {
  const DeviceScope scope({Backend::cuda, index});
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, index), "cudaGetDeviceProperties");
  int driver = 0;
  check(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  DeviceInfo info;
  info.device = {Backend::cuda, index};
  info.name = properties.name;
  info.units = properties.multiProcessorCount;
  check(cudaMemGetInfo(&info.free_bytes, &info.memory_bytes), "cudaMemGetInfo");
  info.detail = "compute capability " + std::to_string(properties.major) + "." + std::to_string(properties.minor) +
                ", CUDA driver " + std::to_string(driver / 1000) + "." + std::to_string(driver % 1000 / 10);
  return info;
}

std::shared_ptr<void> create_stream(int index) {
  const DeviceScope scope({Backend::cuda, index});
  cudaStream_t stream = nullptr;
  check(cudaStreamCreate(&stream), "cudaStreamCreate");
  return {stream, [index](void* handle) {
            cudaSetDevice(index);
            cudaStreamDestroy(static_cast<cudaStream_t>(handle));
          }};
}

void synchronize(int index, void* stream) {
  const DeviceScope scope({Backend::cuda, index});
  check(cudaStreamSynchronize(static_cast<cudaStream_t>(stream)), "Queue::synchronize");
}

namespace {

bool is_legacy(const Queue& queue) { return queue.native() == nullptr || stream_of(queue) == cudaStreamLegacy; }

/// True if CUDA itself orders the work: that of a blocking stream after that of the legacy default stream. The reverse
/// holds for work as well, but not for calls that wait for the legacy stream alone.
bool is_ordered(const Queue& later, const Queue& earlier) {
  if (later.device() != earlier.device() || !is_legacy(earlier)) return false;
  unsigned flags = 0;
  check(cudaStreamGetFlags(stream_of(later), &flags), "cudaStreamGetFlags");
  return (flags & cudaStreamNonBlocking) == 0;
}

}  // namespace

void wait_for(const Queue& later, const Queue& earlier) {
  if (later.device() == earlier.device() && later.native() == earlier.native()) return;
  const DeviceScope scope(earlier.device());
  if (is_ordered(later, earlier)) return;
  cudaEvent_t event = nullptr;
  check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreateWithFlags");
  const std::unique_ptr<CUevent_st, cudaError_t (*)(cudaEvent_t)> owner(event, &cudaEventDestroy);
  check(cudaEventRecord(event, stream_of(earlier)), "Queue::wait_for");
  // The event may be destroyed before the work is done: the stream keeps what it needs of it.
  check(cudaStreamWaitEvent(stream_of(later), event), "Queue::wait_for");
}

namespace {

/// Keeps freed memory in the device's pool, so that a plan rebuilt for every frame makes no driver calls.
void keep_pool(int index) {
  static std::once_flag once[64];
  std::call_once(once[index % 64], [index] {
    cudaMemPool_t pool = nullptr;
    check(cudaDeviceGetDefaultMemPool(&pool, index), "cudaDeviceGetDefaultMemPool");
    std::uint64_t threshold = std::uint64_t{1} << 32;
    check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold), "cudaMemPoolSetAttribute");
  });
}

/// Pieces of memory outside the pools, of devices that were opened early: the first piece of a pool takes 8 ms, one by
/// cudaMalloc 0.1 ms, and short programs need few.
class EarlyPieces {
 public:
  static EarlyPieces& all() {
    static auto* const pieces = new EarlyPieces;  // arrays may outlive static objects
    return *pieces;
  }
  void grant(int index) {
    const std::lock_guard lock(mutex_);
    left_.try_emplace(index, 32);
  }
  /// Null where none are left, and if there is no memory.
  void* take(int index, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    const auto left = left_.find(index);
    if (left == left_.end() || left->second == 0) return nullptr;
    --left->second;
    void* memory = nullptr;
    if (cudaMalloc(&memory, bytes) == cudaSuccess) taken_.insert(memory);
    cudaGetLastError();  // the pool reports it
    return memory;
  }
  /// False for other memory. Waits for the device.
  bool give_back(void* memory) noexcept {
    const std::lock_guard lock(mutex_);
    if (taken_.erase(memory) == 0) return false;
    cudaFree(memory);
    return true;
  }

 private:
  std::mutex mutex_;
  std::map<int, int> left_;
  std::set<void*> taken_;
};

}  // namespace

void* allocate(std::size_t bytes, const Queue& queue) {
  const DeviceScope scope(queue.device());
  if (void* const piece = EarlyPieces::all().take(queue.device().index, bytes); piece != nullptr) return piece;
  keep_pool(queue.device().index);
  void* memory = nullptr;
  const cudaError_t status = cudaMallocAsync(&memory, bytes, stream_of(queue));
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();  // clear it: the device is fine
    std::size_t free_bytes = 0;
    std::size_t total_bytes = 0;
    cudaMemGetInfo(&free_bytes, &total_bytes);
    throw Error(ErrorCode::out_of_memory,
                ErrorFields{"Array", "", format_bytes(static_cast<double>(bytes)) + " on " + to_string(queue.device()),
                            "none: " + format_bytes(static_cast<double>(free_bytes)) + " of " +
                                format_bytes(static_cast<double>(total_bytes)) + " are free"});
  }
  check(status, "cudaMallocAsync");
  return memory;
}

void open(int index) {
  const DeviceScope scope({Backend::cuda, index});
  EarlyPieces::all().grant(index);
  check(cudaFree(nullptr), "open");
}

void deallocate(void* memory, const Queue& queue) noexcept {
  int previous = 0;
  cudaGetDevice(&previous);
  cudaSetDevice(queue.device().index);
  if (!EarlyPieces::all().give_back(memory)) cudaFreeAsync(memory, stream_of(queue));
  cudaSetDevice(previous);
}

void* allocate_on_host(int index, std::size_t bytes) {
  const DeviceScope scope({Backend::cuda, index});
  void* memory = nullptr;
  // Portable: page-locked for every device, not for the current one alone.
  if (cudaHostAlloc(&memory, bytes, cudaHostAllocPortable) == cudaSuccess) return memory;
  cudaGetLastError();  // a limit on locked memory is not an error here: clear it
  return nullptr;
}

void deallocate_on_host(void* memory) noexcept { cudaFreeHost(memory); }

void copy_bytes(void* target, const void* source, std::size_t bytes, const Queue& queue) {
  const DeviceScope scope(queue.device());
  check(cudaMemcpyAsync(target, source, bytes, cudaMemcpyDefault, stream_of(queue)), "cudaMemcpyAsync");
}

}  // namespace holotone::cuda
