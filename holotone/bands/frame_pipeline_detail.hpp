#pragma once
// Not for users.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <holotone/bands/bounded_queue_detail.hpp>
#include <holotone/bands/ordered_queue_detail.hpp>
#include <holotone/core/parallel.hpp>
#include <limits>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace holotone {

/// The failure of the earliest frame. Frames are begun in order, and those begun are finished: it does not depend on
/// the threads' timing.
class EarliestFailure {
 public:
  void keep_current(std::int64_t frame) {
    const std::lock_guard lock(mutex_);
    if (frame >= frame_) return;
    failure_ = std::current_exception();
    frame_ = frame;
  }
  void rethrow() {
    const std::lock_guard lock(mutex_);
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr failure_;
  std::int64_t frame_ = std::numeric_limits<std::int64_t>::max();
};

/// Moving pictures: several threads prepare frames, the calling thread computes them in turn, several others write what
/// was made of them. At most `preparers` + 1 prepared frames and four made ones are held.
template <class Prepared, class Made>
class FramePipeline {
 public:
  /// `first`: frame 0. `prepare(frame)` and `write(made)` are called in any thread.
  FramePipeline(std::int64_t frames, Prepared first, int preparers, std::function<Prepared(std::int64_t frame)> prepare,
                std::function<void(const Made& made)> write)
      : frames_(frames),
        first_(std::move(first)),
        preparers_(preparers),
        prepare_(std::move(prepare)),
        write_(std::move(write)),
        prepared_(preparers + 1) {}

  /// Calls compute(frame, prepared) for each frame in turn; it gives what it makes to put(). Of several frames that
  /// fail, throws the error of the first.
  void operator()(const std::function<void(std::int64_t frame, const Prepared& prepared)>& compute) {
    const int cores = thread_count();
    {
      std::vector<std::jthread> threads;
      const int writers = std::clamp(cores / 2, 1, 8);
      threads.reserve(static_cast<std::size_t>(preparers_ + writers));
      prepared_.push(0, std::move(first_));
      try {
        start(threads, writers, cores);
      } catch (...) {
        fail(0);
      }
      run(compute);
    }
    failure_.rethrow();
  }

  /// Hands something made of a frame to the threads that write. Waits for room; does nothing after a failure.
  void put(std::int64_t frame, Made made) { made_.push({frame, std::move(made)}); }

 private:
  struct Numbered {
    std::int64_t frame = 0;
    Made made;
  };

  void start(std::vector<std::jthread>& threads, int writers, int cores) {
    for (int i = 0; i < preparers_; ++i) {
      threads.emplace_back([this, cores] {
        if (preparers_ > 1) limit_threads(std::max(1, cores / 2 / preparers_));
        prepare();
      });
    }
    for (int i = 0; i < writers; ++i) {
      threads.emplace_back([this] {
        limit_threads(1);  // a frame each is faster than all at one
        write();
      });
    }
  }

  void fail(std::int64_t frame) {
    failure_.keep_current(frame);
    stopped_ = true;
    prepared_.abandon();
    made_.abandon();
  }

  void prepare() {
    while (!stopped_) {
      const std::int64_t frame = next_++;
      if (frame >= frames_) return;
      try {
        if (!prepared_.push(frame, prepare_(frame))) return;
      } catch (...) {
        fail(frame);
      }
    }
  }

  void run(const std::function<void(std::int64_t, const Prepared&)>& compute) {
    std::int64_t frame = 0;
    try {
      for (; frame < frames_ && !stopped_; ++frame) {
        const auto prepared = prepared_.pop();
        if (!prepared) return;
        compute(frame, *prepared);
      }
      made_.close();
    } catch (...) {
      fail(frame);
    }
  }

  void write() {
    while (const auto one = made_.pop()) {
      try {
        write_(one->made);
      } catch (...) {
        fail(one->frame);
      }
    }
  }

  std::int64_t frames_;
  Prepared first_;
  int preparers_;
  std::function<Prepared(std::int64_t)> prepare_;
  std::function<void(const Made&)> write_;
  OrderedQueue<Prepared> prepared_;
  BoundedQueue<Numbered> made_{4};
  std::atomic<std::int64_t> next_{1};
  std::atomic<bool> stopped_{false};
  EarliestFailure failure_;
};

}  // namespace holotone
