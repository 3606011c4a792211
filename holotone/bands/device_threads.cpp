#include <algorithm>
#include <atomic>
#include <exception>
#include <future>
#include <holotone/bands/device_threads.hpp>
#include <holotone/core/parallel.hpp>
#include <mutex>
#include <thread>
#include <vector>

namespace holotone {

void on_devices(std::size_t devices, const std::function<void(std::size_t)>& work) {
  if (devices == 1) return work(0);
  const int threads = std::max(1, thread_count() / static_cast<int>(devices));
  std::promise<bool> all_started;
  const std::shared_future<bool> begins = all_started.get_future();
  std::vector<std::jthread> workers;
  try {
    for (std::size_t i = 0; i < devices; ++i) {
      workers.emplace_back([&, i] {
        if (!begins.get()) return;
        limit_threads(threads);
        work(i);
      });
    }
  } catch (...) {
    all_started.set_value(false);
    throw;
  }
  all_started.set_value(true);
}

void share_among(std::size_t devices, std::int64_t count,
                 const std::function<void(std::size_t device, std::int64_t item)>& work) {
  std::atomic<std::int64_t> next = 0;
  std::mutex mutex;
  std::exception_ptr error;
  on_devices(devices, [&](std::size_t device) {
    try {
      for (std::int64_t item = next++; item < count; item = next++) work(device, item);
    } catch (...) {
      next = count;
      const std::scoped_lock lock(mutex);
      if (!error) error = std::current_exception();
    }
  });
  if (error) std::rethrow_exception(error);
}

}  // namespace holotone
