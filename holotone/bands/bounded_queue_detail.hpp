#pragma once
// Not for users.
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

namespace holotone {

/// Queue of at most `capacity` values between threads: push waits while it is full, pop while it is empty.
template <class T>
class BoundedQueue {
 public:
  explicit BoundedQueue(std::size_t capacity) : capacity_(capacity) {}

  /// Waits for room; false if the queue was closed.
  bool push(T value) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return closed_ || values_.size() < capacity_; });
    if (closed_) return false;
    values_.push_back(std::move(value));
    changed_.notify_all();
    return true;
  }

  /// Waits for a value; nothing once the queue is closed and empty.
  std::optional<T> pop() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return closed_ || !values_.empty(); });
    if (values_.empty()) return std::nullopt;
    std::optional<T> value(std::move(values_.front()));
    values_.pop_front();
    changed_.notify_all();
    return value;
  }

  /// Waits at most `time`; true if pop would not wait.
  bool wait(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, time, [&] { return closed_ || !values_.empty(); });
  }

  /// Ends the input; pop still returns the remaining values.
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }

  /// Ends the input and discards the remaining values.
  void abandon() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    values_.clear();
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<T> values_;
  std::size_t capacity_;
  bool closed_ = false;
};

}  // namespace holotone
