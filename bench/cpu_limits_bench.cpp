// Limits of the CPU for the engines, each measured alone: the vector unit's sines and cosines, powers of two and
// multiply-adds; sums of mixtures of experts; BLAS's matrix products.
#include <bench/loop.hpp>
#include <bench/mixture_loop.hpp>
#include <bench/rows.hpp>
#include <benchmark/benchmark.h>
#include <cblas.h>
#include <fmt/format.h>
#include <holotone/core/parallel.hpp>
#include <holotone/core/simd.hpp>
#include <holotone/hologram/point_cloud/engine_cpu.hpp>
#include <holotone/smoe/render/sums/tile_sums.hpp>
#include <vector>

namespace bench {
namespace {

/// The engines' own sine and cosine in a tight loop over a first-level cache; the sum prevents dead-code elimination.
HOLOTONE_SIMD_CLONES
void many_sines(const std::uint32_t* turns, float* __restrict sum, std::int32_t count, std::int32_t rounds) {
  for (std::int32_t round = 0; round < rounds; ++round) {
    const auto shift = static_cast<std::uint32_t>(round) * 0x9E3779B9U;
    for (std::int32_t i = 0; i < count; ++i) {
      float sine = 0;
      float cosine = 0;
      holotone::point_cloud::sine_cosine(turns[i] + shift, sine, cosine);
      sum[i] += sine + cosine;
    }
  }
}

void run_sines(benchmark::State& state) {
  constexpr std::int32_t count = 1024;
  constexpr std::int32_t rounds = 4096;
  const auto threads = static_cast<std::int64_t>(holotone::thread_count());
  std::vector<std::uint32_t> turns(count);
  for (std::uint32_t i = 0; i < count; ++i) turns[i] = i * 2654435761U;
  std::vector<float> sums(static_cast<std::size_t>(threads * count));
  const double seconds = time_iterations(state, holotone::Queue(), [&] {
    holotone::parallel_for(0, threads, [&](std::int64_t thread) {
      many_sines(turns.data(), sums.data() + thread * count, count, rounds);
    });
    benchmark::DoNotOptimize(sums.data());
    benchmark::ClobberMemory();
  });
  state.counters["sincos_per_s"] = static_cast<double>(threads * count * rounds) / seconds;
}

void run_pairs(benchmark::State& state) {
  MixtureLoop loop;
  const double seconds = time_iterations(state, holotone::Queue(), [&] {
    loop.run();
    benchmark::DoNotOptimize(&loop);
    benchmark::ClobberMemory();
  });
  state.counters["pairs_per_s"] = loop.pairs() / seconds;
}

/// Floats per thread: twelve AVX-512 vectors.
constexpr std::int32_t vectors = 192;

/// The renderer's own power of two.
HOLOTONE_SIMD_CLONES void many_powers(const float* exponents, float* __restrict sum, std::int32_t rounds) {
  for (std::int32_t round = 0; round < rounds; ++round) {
    const auto shift = static_cast<float>(round % 16);
    for (std::int32_t i = 0; i < vectors; ++i) sum[i] += holotone::smoe::power_of_two(exponents[i] - shift);
  }
}

constexpr std::int32_t chain = 16;

/// Independent chains of multiply-adds, enough to hide their latency.
HOLOTONE_SIMD_CLONES void many_multiply_adds(const float* factors, float* __restrict sum, std::int32_t rounds) {
  for (std::int32_t round = 0; round < rounds; ++round) {
    for (std::int32_t i = 0; i < vectors; ++i) {
      float x = sum[i];
#pragma GCC unroll 16
      for (std::int32_t k = 0; k < chain; ++k) x = x * factors[i] + factors[i];
      sum[i] = x;
    }
  }
}

/// Each thread calls loop(numbers, sums, rounds), with `per_number` operations per number and round.
template <class Loop>
void run_vectors(benchmark::State& state, const char* counter, std::int32_t per_number, const Loop& loop) {
  constexpr std::int32_t rounds = 8192;
  const auto threads = static_cast<std::int64_t>(holotone::thread_count());
  std::vector<float> numbers(vectors);
  for (std::int32_t i = 0; i < vectors; ++i) numbers[static_cast<std::size_t>(i)] = -static_cast<float>(i) / vectors;
  std::vector<float> sums(static_cast<std::size_t>(threads * vectors));
  const double seconds = time_iterations(state, holotone::Queue(), [&] {
    holotone::parallel_for(0, threads,
                           [&](std::int64_t thread) { loop(numbers.data(), sums.data() + thread * vectors, rounds); });
    benchmark::DoNotOptimize(sums.data());
    benchmark::ClobberMemory();
  });
  state.counters[counter] = static_cast<double>(threads * vectors * per_number) * rounds / seconds;
}

/// The real product (2 ny x 2 n)(2 n x nx) of 1920x1080 pixels by sgemm only, 2048 points at a time.
void run_product(benchmark::State& state, std::int64_t points) {
  constexpr blasint rows = 2 * 1080;
  constexpr blasint columns = 1920;
  constexpr std::int64_t chunk_points = 2048;
  const auto depth = static_cast<std::size_t>(2 * std::min(points, chunk_points));
  std::vector<float> a(depth * rows);
  std::vector<float> b(depth * columns);
  std::vector<float> c(static_cast<std::size_t>(rows) * columns, 0.0F);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = holotone::random_uniform(1, i) - 0.5F;
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = holotone::random_uniform(2, i) - 0.5F;
  const double seconds = time_iterations(state, holotone::Queue(), [&] {
    for (std::int64_t done = 0; done < points; done += chunk_points) {
      const auto k = static_cast<blasint>(2 * std::min(points - done, chunk_points));
      cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, rows, columns, k, 1.0F, a.data(), rows, b.data(), columns,
                  done == 0 ? 0.0F : 1.0F, c.data(), columns);
    }
    benchmark::ClobberMemory();
  });
  state.counters["flops_per_s"] = 8.0 * static_cast<double>(points * 1080 * 1920) / seconds;
}

}  // namespace

void add_cpu_limits(const RowOptions& options) {
  register_row("cpu/sincos", run_sines);
  register_row("cpu/mixture", run_pairs);
  register_row("cpu/powers", [](benchmark::State& state) { run_vectors(state, "powers_per_s", 1, many_powers); });
  register_row("cpu/multiply_adds",
               [](benchmark::State& state) { run_vectors(state, "multiply_adds_per_s", chain, many_multiply_adds); });
  for (const std::int64_t points : {1024, 10240, 30720, 102400}) {
    if (points > options.max_points) continue;
    register_row(fmt::format("cpu/sgemm/{}", points),
                 [points](benchmark::State& state) { run_product(state, points); });
  }
}

}  // namespace bench
