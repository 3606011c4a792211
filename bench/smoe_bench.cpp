// smoe/*: pictures of mixtures of experts, model and picture on the device, including placement and selection of
// components. Models are as dense as published ones (cases::dense_smoe). No error exceeds the tolerance of 0.25/255
// against the float64 sum of all components.
//
// render/{size}-{components}. render_window: the components whose centres are within 16 pixels of a tile, as Avramelos
// et al. views/64: 64 views of a light field of 10,000 components, 626 x 434 pixels, in one call (the time is that of
// all).
//
// fit/kodim23-5000 (`--picture kodim23.png`): 5,000 components in 1,000 steps, from the picture in host memory to the
// model there, once. An error below 41 dB. Counters: psnr of the colours before any rounding; steps; step_ms, total
// time over steps.
//
// render_fitted/1080p-kodim23-5000 (`--picture kodim23.png`): those components after 300 steps, the picture enlarged
// to 1920 x 1080 pixels.
//
// Counters of the others: max_error (some hundred pixels), components_per_tile; on a CPU also pairs_per_s, pixels
// times components_per_tile over the total time. Divided by that of cpu/mixture it is the fraction of those sums' peak
// rate.
#include <bench/loop.hpp>
#include <bench/rows.hpp>
#include <benchmark/benchmark.h>
#include <cmath>
#include <fmt/format.h>
#include <holotone/io/images/image.hpp>
#include <holotone/smoe/fit.hpp>
#include <holotone/smoe/render.hpp>
#include <tests/cases/smoe.hpp>

namespace bench {
namespace {

using holotone::Array;
using holotone::Device;
using holotone::Queue;
using holotone::SmoeModel;
using holotone::SmoeRenderer;
using holotone::SmoeRenderOptions;
using holotone::SmoeSelection;
using holotone::SmoeView;

constexpr std::int64_t samples = 300;

/// Largest error at some pixels of all views.
double largest_error(const SmoeModel& model, const std::vector<SmoeView>& views, const Array<float, 4>& images) {
  const auto [count, ny, nx, channels] = images.shape();
  const int d = model.dimensions;
  Array<float, 2> at({samples, d});
  Array<float, 2> expected({samples, channels});
  std::vector<std::array<std::int64_t, 3>> pixels;
  for (std::int64_t i = 0; i < samples; ++i) {
    const auto below = [&](std::int64_t size, std::uint64_t axis) {
      return static_cast<std::int64_t>(holotone::random_uniform64(3 + axis, static_cast<std::uint64_t>(i)) *
                                       static_cast<double>(size));
    };
    const auto& pixel = pixels.emplace_back(std::array{below(count, 0), below(ny, 1), below(nx, 2)});
    const auto& view = views[static_cast<std::size_t>(pixel[0])];
    for (std::size_t axis = 0; axis < 2; ++axis) {
      const auto pixels_along = static_cast<double>(axis == 0 ? nx : ny);
      at(i, static_cast<int>(axis)) = static_cast<float>(
          view.corner[axis] + (static_cast<double>(pixel[2 - axis]) + 0.5) * view.extent[axis] / pixels_along);
    }
    for (int axis = 2; axis < d; ++axis) at(i, axis) = static_cast<float>(view.at[static_cast<std::size_t>(axis - 2)]);
  }
  evaluate(model, at.view(), expected.view());
  double worst = 0;
  for (std::int64_t i = 0; i < samples; ++i) {
    const auto& [view, row, column] = pixels[static_cast<std::size_t>(i)];
    for (std::int64_t c = 0; c < channels; ++c) {
      const double error =
          std::abs(static_cast<double>(images(view, row, column, c)) - static_cast<double>(expected(i, c)));
      worst = std::isnan(error) ? INFINITY : std::max(worst, error);
    }
  }
  return worst;
}

void run(benchmark::State& state, const SmoeModel& model, const std::vector<SmoeView>& views, Device device,
         SmoeSelection selection) {
  const auto queue = Queue::create(device);
  SmoeRenderOptions options;
  options.selection = selection;
  SmoeRenderer renderer(model, queue, options);
  const auto [ny, nx] = views.front().size;
  Array<float, 4> images({std::ssize(views), ny, nx, model.channels}, queue);
  // The views change in every run, so that no earlier work is reused.
  std::vector<SmoeView> others = views;
  for (auto& view : others) {
    for (auto& at : view.at) at += 1e-3;
  }
  bool other = false;
  const auto work = [&] { renderer.render((other = !other) ? others : views, images.view()); };
  renderer.render(views, images.view());
  const double error = largest_error(model, views, images.to(Device{}));
  if (selection == SmoeSelection::bounded && !(error <= options.tolerance)) {
    state.SkipWithError(fmt::format("an error of {:.2e} is above {:.2e}", error, options.tolerance).c_str());
    return;
  }
  state.counters["max_error"] = error;
  state.counters["components_per_tile"] = renderer.info().components_per_tile;
  if (device.backend == holotone::Backend::cpu) {
    const double pairs = static_cast<double>(std::ssize(views) * ny * nx) * renderer.info().components_per_tile;
    state.counters["pairs_per_s"] = pairs / time_iterations(state, queue, work);
  } else {
    for (auto _ : state) state.SetIterationTime(seconds_of(queue, 25, work));
  }
}

void run_fitted(benchmark::State& state, const std::string& path, Device device) {
  const auto image = holotone::to_float(holotone::read_image(path));
  // OpenCL renders what the CPU has fitted.
  const Device fitting = device.backend == holotone::Backend::opencl ? Device{} : device;
  // Its box begins at (0, 0).
  const auto model = holotone::fit_smoe(image.view(), {.components = 5000, .iterations = 300}, Queue::create(fitting));
  run(state, model, {{{1080, 1920}, {0, 0}, {model.high[0], model.high[1]}, {}}}, device, SmoeSelection::bounded);
}

void run_fit(benchmark::State& state, const std::string& path, Device device) {
  const auto image = holotone::to_float(holotone::read_image(path));
  const holotone::SmoeFitOptions options{.components = 5000, .iterations = 1000};
  const auto queue = Queue::create(device);
  {
    // Warm-up: a device's first kernels take longer.
    auto few = options;
    few.iterations = 2;
    (void)holotone::fit_smoe(image.view(), few, queue);
  }
  double psnr = 0;
  const double seconds = time_iterations(state, queue, [&] {
    holotone::SmoeFitter fitter(image.view(), options, queue);
    fitter.run();
    psnr = fitter.psnr_db();
  });
  if (!(psnr > 41)) state.SkipWithError(fmt::format("{:.2f} dB are below 41", psnr).c_str());
  state.counters["psnr"] = psnr;
  state.counters["steps"] = static_cast<double>(options.iterations);
  state.counters["step_ms"] = 1e3 * seconds / static_cast<double>(options.iterations);
}

SmoeView whole(std::int64_t width, std::int64_t height, std::vector<double> at = {}) {
  return {{height, width}, {0, 0}, {static_cast<double>(width), static_cast<double>(height)}, std::move(at)};
}

}  // namespace

void add_smoe_rows(const RowOptions& options) {
  const auto device = options.device;
  const bool cpu = device.backend == holotone::Backend::cpu;
  const auto add = [&](const std::string& name, auto body) {
    auto* const row = register_row(name, body);
    if (!cpu) row->Iterations(1);
  };
  const auto picture = [device](SmoeSelection selection, std::int64_t count, std::int64_t width, std::int64_t height) {
    return [=](benchmark::State& state) {
      const auto model = cases::dense_smoe(2, count, static_cast<double>(width), static_cast<double>(height));
      run(state, model, {whole(width, height)}, device, selection);
    };
  };
  add("smoe/render/1080p-169401", picture(SmoeSelection::bounded, 169401, 1920, 1080));
  add("smoe/render_window/1080p-169401", picture(SmoeSelection::window, 169401, 1920, 1080));
  if (!cpu) add("smoe/render/2160p-686763", picture(SmoeSelection::bounded, 686763, 3840, 2160));
  if (!options.picture.empty()) {
    if (device.backend != holotone::Backend::opencl) {
      register_row("smoe/fit/kodim23-5000", [device, path = options.picture](benchmark::State& state) {
        run_fit(state, path, device);
      })->Iterations(1);
    }
    add("smoe/render_fitted/1080p-kodim23-5000",
        [device, path = options.picture](benchmark::State& state) { run_fitted(state, path, device); });
  }
  for (const int side : {1, 8}) {
    add(fmt::format("smoe/views/{}", side * side), [=](benchmark::State& state) {
      const auto model = cases::dense_smoe(4, 10000, 626, 434);
      std::vector<SmoeView> views;
      views.reserve(static_cast<std::size_t>(side) * side);
      for (int i = 0; i < side * side; ++i) {
        views.push_back(whole(626, 434, {(i % side - 3.5) / 3.5, (static_cast<double>(i / side) - 3.5) / 3.5}));
      }
      run(state, model, views, device, SmoeSelection::bounded);
    });
  }
}

}  // namespace bench
