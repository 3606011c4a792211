#pragma once
#include <cstdint>
#include <exception>
#include <omp.h>

namespace holotone {

/// Threads of a parallel loop; OMP_NUM_THREADS sets it.
inline int thread_count() { return omp_get_max_threads(); }

/// Sets the number of threads of parallel loops that the calling thread runs: where several threads each work on a part
/// of their own.
inline void limit_threads(int count) { omp_set_num_threads(count); }

/// Calls body(i) for begin <= i < end on all CPU threads, scheduled dynamically. If bodies throw, the exception of the
/// lowest i reaches the caller, independent of the threads' timing; later iterations may be skipped.
template <class Body>
void parallel_for(std::int64_t begin, std::int64_t end, const Body& body) {
  std::exception_ptr error;
  std::int64_t failed = end;  // lowest i that threw so far
#pragma omp parallel for schedule(dynamic) default(none) shared(begin, end, body, error, failed)
  for (std::int64_t i = begin; i < end; ++i) {
    std::int64_t lowest = 0;
#pragma omp atomic read
    lowest = failed;
    if (i > lowest) continue;
    try {
      body(i);
    } catch (...) {
#pragma omp critical(holotone_parallel_for)
      if (i < failed) {
        error = std::current_exception();
#pragma omp atomic write
        failed = i;
      }
    }
  }
  if (error) std::rethrow_exception(error);
}

/// Calls body(begin, end) for blocks of 4096 of 0 .. count - 1 on all CPU threads.
template <class Body>
void parallel_blocks(std::int64_t count, const Body& body) {
  constexpr std::int64_t block = 4096;
  parallel_for(0, (count + block - 1) / block,
               [&](std::int64_t b) { body(b * block, count < (b + 1) * block ? count : (b + 1) * block); });
}

}  // namespace holotone
