#pragma once
// The timed loop of the rows that run on the caller's clock.
#include <bench/measure.hpp>
#include <benchmark/benchmark.h>

namespace bench {

/// Runs work() and waits for `queue`, once an iteration, timed by Stopwatch; the row must be registered with
/// UseManualTime. Returns the mean in seconds.
template <class Work>
double time_iterations(benchmark::State& state, const holotone::Queue& queue, const Work& work) {
  double total = 0;
  for (auto _ : state) {
    const Stopwatch clock;
    work();
    queue.synchronize();
    const double seconds = clock.seconds();
    state.SetIterationTime(seconds);
    total += seconds;
  }
  return total / static_cast<double>(state.iterations());
}

}  // namespace bench
