#pragma once
// Not for users.
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

namespace holotone {

/// Queue of numbered values that threads push in any order and one thread pops by number, from 0. A push waits while
/// its number is `ahead` or more after the next to be popped, so that at most `ahead` values are held.
template <class T>
class OrderedQueue {
 public:
  explicit OrderedQueue(std::int64_t ahead) : ahead_(ahead) {}

  /// Waits for room; false if the queue was abandoned.
  bool push(std::int64_t number, T value) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return abandoned_ || number < next_ + ahead_; });
    if (abandoned_) return false;
    values_.emplace(number, std::move(value));
    changed_.notify_all();
    return true;
  }

  /// Waits for the next number; nothing once the queue is abandoned.
  std::optional<T> pop() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return abandoned_ || values_.contains(next_); });
    if (abandoned_) return std::nullopt;
    auto value = values_.extract(next_++);
    changed_.notify_all();
    return std::move(value.mapped());
  }

  /// Discards the values and ends every wait.
  void abandon() {
    const std::lock_guard lock(mutex_);
    abandoned_ = true;
    values_.clear();
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::int64_t, T> values_;
  std::int64_t ahead_;
  std::int64_t next_ = 0;
  bool abandoned_ = false;
};

}  // namespace holotone
