// propagate/angular_spectrum/4096 and 1080p: 4096x4096 and 1920x1080 pixels, 8 um, 532 nm, 0.2 m, zero-padded to twice
// the size both ways and band-limited (the library's defaults), complex field in and out on the device. Checked against
// Gaussian beams. new_distance: no two runs in succession have the same distance.
#include <bench/loop.hpp>
#include <bench/rows.hpp>
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <holotone/optics/propagation.hpp>
#include <tests/cases/propagation.hpp>

namespace bench {
namespace {

enum class Distance { same, changing };

void run_angular_spectrum(benchmark::State& state, holotone::Shape<2> size, Distance distance,
                          holotone::Device device) {
  constexpr double tolerance = 1e-5;  // error of the closed form, see tests/optics/gaussian_beams_test.cpp
  cases::GaussianBeams c;
  c.grid.ny = size[0];
  c.grid.nx = size[1];
  const auto queue = holotone::Queue::create(device);
  const auto host = c.input();
  const auto input = copy_of(holotone::View<const holotone::Complex, 2>(host.data(), c.grid.shape()), device);
  holotone::Array<holotone::Complex, 2> output(c.grid.shape(), queue);
  holotone::PropagationPlan plan({.grid = c.grid, .method = holotone::PropagationMethod::angular_spectrum}, queue);
  int runs = 0;
  const auto work = [&] {
    const double step_m = distance == Distance::changing ? 1e-6 : 0;
    plan.execute(input.view(), output.view(), c.distance_m + step_m * (runs++ % 2));
  };
  work();
  queue.synchronize();
  const double error = c.relative_error(output.to(holotone::Device{}).data(), 4096);
  if (!(error <= tolerance)) {
    state.SkipWithError(fmt::format("relative error {:.2e} is above {:.0e}", error, tolerance).c_str());
    return;
  }
  if (device.backend == holotone::Backend::cpu) {
    time_iterations(state, queue, work);
  } else {
    for (auto _ : state) state.SetIterationTime(rested_seconds_of(queue, 15, work));
    state.counters["sustained_ms"] = 1e3 * seconds_of(queue, 25, work);
  }
  state.counters["rel_error"] = error;
}

}  // namespace

void add_propagation_rows(const RowOptions& options) {
  const auto device = options.device;
  const auto add = [device](const char* name, holotone::Shape<2> size, Distance distance) {
    auto* const row =
        register_row(name, [=](benchmark::State& state) { run_angular_spectrum(state, size, distance, device); });
    // On a GPU the row is the median of single runs on a rested card, as for the holograms.
    if (device.backend != holotone::Backend::cpu) row->Iterations(1);
  };
  add("propagate/angular_spectrum/4096", {4096, 4096}, Distance::same);
  add("propagate/angular_spectrum/4096/new_distance", {4096, 4096}, Distance::changing);
  add("propagate/angular_spectrum/1080p", {1080, 1920}, Distance::same);
  add("propagate/angular_spectrum/1080p/new_distance", {1080, 1920}, Distance::changing);
}

}  // namespace bench
