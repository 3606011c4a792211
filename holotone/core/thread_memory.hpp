#pragma once
#include <holotone/core/array.hpp>
#include <holotone/core/parallel.hpp>
#include <vector>

namespace holotone {

/// Scratch memory of each thread of a parallel loop, aligned to 64 bytes, uninitialised.
template <class T>
class ThreadMemory {
 public:
  /// Allocates at least `size` numbers for each thread; call before the loop.
  void reserve(std::int64_t size) {
    blocks_.resize(static_cast<std::size_t>(thread_count()));
    for (auto& block : blocks_) holotone::reserve(block, size);
  }
  /// The calling thread's block, inside parallel_for.
  T* thread_block() { return blocks_[static_cast<std::size_t>(omp_get_thread_num())].data(); }
  /// Calls body(i, block) for 0 <= i < count, on all threads or, because starting them costs more than little work,
  /// in the calling one.
  template <class Body>
  void for_each(std::int64_t count, bool is_little, const Body& body) {
    if (is_little) {
      for (std::int64_t i = 0; i < count; ++i) body(i, blocks_.front().data());
    } else {
      parallel_for(0, count, [&](std::int64_t i) { body(i, thread_block()); });
    }
  }
  [[nodiscard]] std::size_t bytes() const {
    std::size_t sum = 0;
    for (const auto& block : blocks_) sum += block.bytes();
    return sum;
  }

 private:
  std::vector<Array<T, 1>> blocks_;
};

}  // namespace holotone
