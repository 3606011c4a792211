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
  T* own() { return blocks_[static_cast<std::size_t>(omp_get_thread_num())].data(); }
  [[nodiscard]] std::size_t bytes() const {
    std::size_t sum = 0;
    for (const auto& block : blocks_) sum += block.bytes();
    return sum;
  }

 private:
  std::vector<Array<T, 1>> blocks_;
};

}  // namespace holotone
