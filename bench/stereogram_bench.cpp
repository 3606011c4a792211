// stereogram/chess: one row of 12 hogels of 2048 x 2048 pixels of a panel of 24,576 x 24,576 (750 nm, 635 nm; Lagrange
// et al. 2024, Table 1). Only light to a window of 9.2 mm at 36 mm, from 7 x 7 views of 626 x 434 pixels with the
// focus plane 91 mm behind the panel. Views are in host memory, the field on the device. A hogel is checked against
// the plain sum of its waves in float64 at some pixels.
#include <bench/loop.hpp>
#include <bench/rows.hpp>
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <tests/cases/stereogram.hpp>

namespace bench {
namespace {

void run_stereogram(benchmark::State& state, holotone::Device device) {
  // Amplitudes, phases and curvatures in float32, 4e-7 rad each, and a transform of 2^22 samples.
  constexpr double tolerance = 6e-8 * (2 + 22) + 4 * 4e-7;
  constexpr std::int64_t hogel_row = 4;
  const cases::StereogramCase c;
  const holotone::ViewGrid source(cases::StereogramCase::views(), c.geometry);
  const auto queue = holotone::Queue::create(device);
  holotone::StereogramPlan plan(c.options, queue);
  const auto part = plan.rows_of_hogels(hogel_row, 1);
  holotone::Array<holotone::Complex, 2> row({part.rows, c.options.grid.nx}, queue);
  holotone::StereogramReport report;
  const auto work = [&] { report = plan.execute(source, 0, part, row.view()); };
  work();
  const double error = c.relative_error(source, row.to(holotone::Device{}).data(), hogel_row, 7, 8);
  if (!(error <= tolerance)) {
    state.SkipWithError(fmt::format("relative error {:.2e} is above {:.1e}", error, tolerance).c_str());
    return;
  }
  const double seconds = time_iterations(state, queue, work);
  state.counters["hogels_per_s"] = static_cast<double>(report.hogels) / seconds;
  state.counters["computed_share"] = static_cast<double>(report.computed) / static_cast<double>(report.rays);
  state.counters["layers_per_hogel"] = static_cast<double>(report.layers) / static_cast<double>(report.hogels);
  state.counters["rel_error"] = error;
}

}  // namespace

void add_stereogram_rows(const RowOptions& options) {
  const auto device = options.device;
  register_row("stereogram/chess", [device](benchmark::State& state) { run_stereogram(state, device); });
}

}  // namespace bench
