#pragma once
#include <cstdint>
#include <exception>
#include <omp.h>

namespace holotone {

/// Threads a parallel loop uses (OMP_NUM_THREADS rules).
inline int thread_count() { return omp_get_max_threads(); }

/// body(i) for begin <= i < end on all CPU threads, dynamically scheduled. If bodies throw, the exception of the lowest i
/// reaches the caller, whatever the threads' timing; iterations beyond it may be skipped.
template <class Body>
void parallel_for(std::int64_t begin, std::int64_t end, const Body& body) {
  std::exception_ptr error;
  std::int64_t failed = end;  // the lowest i that threw so far
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

}  // namespace holotone
