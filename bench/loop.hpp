#pragma once
// Registration of rows with manual timing, and their timed loop.
#include <bench/measure.hpp>
#include <benchmark/benchmark.h>
#include <holotone/core/error.hpp>
#include <string>

namespace bench {

/// Registers a row in milliseconds, timed by body(state) (UseManualTime); an Error becomes the row's error.
template <class Body>
benchmark::internal::Benchmark* register_row(const std::string& name, const Body& body) {
  return benchmark::RegisterBenchmark(name.c_str(),
                                      [body](benchmark::State& state) {
                                        try {
                                          body(state);
                                        } catch (const holotone::Error& error) {
                                          state.SkipWithError(error.what());
                                        }
                                      })
      ->Unit(benchmark::kMillisecond)
      ->UseManualTime();
}

/// Runs work() and waits for `queue` in each iteration, timed by Stopwatch, in a row of register_row. Returns the mean
/// in seconds.
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
