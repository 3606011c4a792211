#pragma once
// Who works with an object of the library.
#include "work.hpp"
#include <chrono>
#include <condition_variable>
#include <holotone/core/error.hpp>
#include <mutex>
#include <string>
#include <thread>

namespace holotone::python {

/// One thread at a time: others wait. A callback may use a plan that a function works with, and look at one that is
/// itself at work.
class Turn {
 public:
  enum class By { own_method, function };

  /// Without the interpreter's lock. Throws invalid_argument for a callback of a method, unless it only looks; while it
  /// waits, what a signal raises.
  void take(By by, const std::string& function, bool looks) {
    std::unique_lock lock(mutex_);
    if (depth_ > 0 && owner_ == std::this_thread::get_id()) {
      if (by_ == By::own_method && !looks) {
        throw_argument(function, "self", "an object that is not at work", "one whose method calls this function");
      }
    } else {
      while (!free_.wait_for(lock, std::chrono::milliseconds(50), [&] { return depth_ == 0; })) {
        lock.unlock();
        check_signals();
        lock.lock();
      }
      owner_ = std::this_thread::get_id();
      by_ = by;
    }
    ++depth_;
  }
  /// Of any thread.
  void give() {
    const std::scoped_lock lock(mutex_);
    if (--depth_ > 0) return;
    owner_ = std::thread::id();
    free_.notify_one();
  }
  /// The owner's work continues without it: it waits like the others.
  void disown() {
    const std::scoped_lock lock(mutex_);
    owner_ = std::thread::id();
  }

 private:
  std::mutex mutex_;
  std::condition_variable free_;
  std::thread::id owner_{};
  By by_ = By::own_method;
  int depth_ = 0;
};

/// Takes the turn for a scope.
class TurnScope {
 public:
  TurnScope(Turn& turn, Turn::By by, const std::string& function, bool looks = false) : turn_(turn) {
    turn.take(by, function, looks);
  }
  TurnScope(const TurnScope&) = delete;
  TurnScope& operator=(const TurnScope&) = delete;
  ~TurnScope() { turn_.give(); }

 private:
  Turn& turn_;
};

}  // namespace holotone::python
