#pragma once
#include <algorithm>
#include <chrono>

namespace holotone::web {

/// A bound on events per second: a store of `at_once` events that refills at `per_s`.
class RateLimit {
 public:
  using Time = std::chrono::steady_clock::time_point;

  RateLimit(double per_s, double at_once, Time now) : per_s_(per_s), at_once_(at_once), left_(at_once), last_(now) {}

  /// Takes one event and returns how long to wait before the next.
  std::chrono::steady_clock::duration take(Time now) {
    left_ = std::min(at_once_, left_ + per_s_ * std::chrono::duration<double>(now - last_).count()) - 1;
    last_ = now;
    const std::chrono::duration<double> wait(std::max(0.0, 1 - left_) / per_s_);
    return std::chrono::duration_cast<std::chrono::steady_clock::duration>(wait);
  }

 private:
  double per_s_;
  double at_once_;
  double left_;
  Time last_;
};

}  // namespace holotone::web
