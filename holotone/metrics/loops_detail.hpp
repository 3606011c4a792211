#pragma once
// Loops that start threads only for enough work. Not for users.
#include <cstdint>
#include <holotone/core/parallel.hpp>

namespace holotone::metrics {

/// Minimum work for threads, in pixels or dots. With less, waiting for threads on a busy machine costs more than they
/// save.
inline constexpr std::int64_t worth_threads = 1 << 16;

/// Calls body(i) for 0 <= i < end, on all CPU threads if `work` is at least worth_threads.
template <class Body>
void loop(std::int64_t end, std::int64_t work, const Body& body) {
  if (work >= worth_threads) {
    parallel_for(0, end, body);
  } else {
    for (std::int64_t i = 0; i < end; ++i) body(i);
  }
}

}  // namespace holotone::metrics
