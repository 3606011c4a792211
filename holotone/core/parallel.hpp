#pragma once
#include <cstdint>
#include <exception>
#include <omp.h>

namespace holotone {

/// Threads a parallel loop uses (OMP_NUM_THREADS rules).
inline int thread_count() { return omp_get_max_threads(); }

/// body(i) for begin <= i < end on all CPU threads, dynamically scheduled. The first exception thrown by a body is
/// rethrown to the caller after the loop; later iterations are skipped.
template <class Body>
void parallel_for(std::int64_t begin, std::int64_t end, const Body& body) {
  std::exception_ptr error;
  bool stop = false;
#pragma omp parallel for schedule(dynamic) default(none) shared(begin, end, body, error, stop)
  for (std::int64_t i = begin; i < end; ++i) {
    bool skip = false;
#pragma omp atomic read
    skip = stop;
    if (skip) continue;
    try {
      body(i);
    } catch (...) {
#pragma omp critical(holotone_parallel_for)
      if (!error) error = std::current_exception();
#pragma omp atomic write
      stop = true;
    }
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace holotone
