// propagate/angular_spectrum/4096 and 1080p: 4096x4096 and 1920x1080 pixels, 8 um, 532 nm, 0.2 m, zero-padded to twice
// the size both ways and band-limited (the library's defaults), complex field in and out on the device. Checked against
// Gaussian beams. new_distance: no two runs in succession have the same distance.
// propagate/angular_spectrum/8: the caller's time for one execute of 8x8 pixels, without waiting for a GPU. Checked
// against a plane wave. bench/baselines/python_peers.py makes the same call from Python.
// propagate/out_of_core/N: NxN pixels of 8 um in host memory, in place, by bands and strips through the device, with at
// most 16 GiB there. --out-of-core N: the host needs 24 N^2 bytes, 96 GiB for 65536. Checked against Gaussian beams.
// moved_bytes: copied between host and device, both ways.
// propagate/resident/N: NxN pixels of 8 um that the device holds, periodic, in place: two transforms.
// .../with_transfers: the same with the field copied to the device before and the middle half of its rows copied back.
// Checked against Gaussian beams. Only with --resident N; the host needs 16 N^2 bytes.
// reconstruct/sweep8: the intensity of a field of 1920x1080 pixels at eight distances. Checked against propagate.
// eye/look/1080p: what a pupil of 5 mm at 30 cm sees of that field, focused 10 cm behind the panel, from the field to
// the picture. Checked against the CPU.
// layers/8: the field of eight layers, 15 to 22 cm behind a panel of 1920x1080 pixels. Checked against the CPU.
// fft/round_trip/4096 and 1080p: a forward and an inverse transform in place of 4096x4096 and 2160x3840, the padded
// field of such a panel. Checked: the inverse undoes the forward.
#include <algorithm>
#include <bench/loop.hpp>
#include <bench/rows.hpp>
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <holotone/core/random.hpp>
#include <holotone/fft/fft.hpp>
#include <holotone/hologram/layers.hpp>
#include <holotone/optics/eye.hpp>
#include <holotone/optics/large_propagation.hpp>
#include <holotone/optics/propagation.hpp>
#include <holotone/optics/reconstruction.hpp>
#include <numbers>
#include <tests/cases/propagation.hpp>

namespace bench {
namespace {

enum class Distance { same, changing };

/// Times work() as the other rows do.
template <class Work>
void time_row(benchmark::State& state, const holotone::Queue& queue, const Work& work) {
  if (is_processor(queue.device())) {
    time_iterations(state, queue, work);
    return;
  }
  for (auto _ : state) state.SetIterationTime(rested_seconds_of(queue, 15, work));
  state.counters["sustained_ms"] = 1e3 * seconds_of(queue, 25, work);
}

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
  time_row(state, queue, work);
  state.counters["rel_error"] = error;
}

constexpr holotone::FieldGrid panel{1920, 1080, 8e-6, 532e-9};

/// sqrt(sum (a - b)^2 / sum b^2)
template <class T>
double relative_error(std::span<const T> got, std::span<const T> expected) {
  double difference = 0;
  double norm = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    difference += static_cast<double>(std::norm(got[i] - expected[i]));
    norm += static_cast<double>(std::norm(expected[i]));
  }
  return std::sqrt(difference / norm);
}

/// Ends a row whose error is too large.
bool is_within(benchmark::State& state, double error, double tolerance) {
  state.counters["rel_error"] = error;
  if (error <= tolerance) return true;
  state.SkipWithError(fmt::format("relative error {:.2e} is above {:.0e}", error, tolerance).c_str());
  return false;
}

/// Median of batches of calls. The queue is empty before each batch, so that no call waits for an earlier one.
void run_call(benchmark::State& state, holotone::Device device) {
  constexpr int batches = 201;
  constexpr int calls = 50;
  constexpr double distance_m = 1e-3;
  const holotone::FieldGrid grid{8, 8, 8e-6, 532e-9};
  const auto queue = holotone::Queue::create(device);
  const std::vector<holotone::Complex> ones(64, 1.0F);
  const auto input = copy_of(holotone::View<const holotone::Complex, 2>(ones.data(), grid.shape()), device);
  holotone::Array<holotone::Complex, 2> output(grid.shape(), queue);
  holotone::PropagationPlan plan(
      {.grid = grid, .method = holotone::PropagationMethod::angular_spectrum, .zero_pad = false}, queue);
  plan.execute(input.view(), output.view(), distance_m);
  queue.synchronize();
  const double phase_rad = 2 * std::numbers::pi * std::fmod(distance_m / grid.wavelength_m, 1.0);
  const std::vector<holotone::Complex> wave(64, holotone::Complex(std::polar(1.0, phase_rad)));
  const auto got = output.to(holotone::Device{});
  if (!is_within(state, relative_error(got.host(), std::span(wave)), 1e-6)) return;
  std::vector<double> seconds(batches);
  for (auto& mean : seconds) {
    queue.synchronize();
    const Stopwatch clock;
    for (int i = 0; i < calls; ++i) plan.execute(input.view(), output.view(), distance_m);
    mean = clock.seconds() / calls;
  }
  queue.synchronize();
  std::ranges::nth_element(seconds, seconds.begin() + batches / 2);
  for (auto _ : state) state.SetIterationTime(seconds[batches / 2]);
}

void run_out_of_core(benchmark::State& state, std::int64_t side, holotone::Device device) {
  constexpr std::size_t max_bytes = std::size_t{16} << 30;
  cases::GaussianBeams c;
  c.grid.ny = side;
  c.grid.nx = side;
  holotone::LargePropagationPlan plan(
      {.grid = c.grid,
       .distance_m = c.distance_m,
       .device_memory_bytes = std::min(max_bytes, holotone::describe(device).free_bytes / 2)},
      {device});
  auto field = c.input();
  const holotone::View<holotone::Complex, 2> view(field.data(), c.grid.shape());
  plan.execute(view, view);
  // Later runs go on from there, at the same cost.
  if (!is_within(state, c.relative_error(field.data(), 4096), 1e-5)) return;
  const double seconds = time_iterations(state, holotone::Queue(), [&] { plan.execute(view, view); });
  const auto info = plan.info();
  state.counters["host_bytes"] = static_cast<double>(info.host_bytes);
  state.counters["device_bytes"] = static_cast<double>(info.device_bytes);
  state.counters["moved_bytes"] = static_cast<double>(info.moved_bytes);
  state.counters["moved_bytes_per_s"] = static_cast<double>(info.moved_bytes) / seconds;
}

void run_resident(benchmark::State& state, std::int64_t side, bool with_transfers, holotone::Device device) {
  cases::GaussianBeams c;
  c.grid.ny = side;
  c.grid.nx = side;
  const auto queue = holotone::Queue::create(device);
  const auto bytes = static_cast<std::size_t>(side) * static_cast<std::size_t>(side) * sizeof(holotone::Complex);
  const auto staged = holotone::Buffer::on_host_for(device, bytes);
  auto* const host = static_cast<holotone::Complex*>(staged.data());
  {
    const auto input = c.input();
    std::copy(input.begin(), input.end(), host);
  }
  holotone::Array<holotone::Complex, 2> field(c.grid.shape(), queue);
  holotone::PropagationPlan plan(
      {.grid = c.grid, .method = holotone::PropagationMethod::angular_spectrum, .zero_pad = false}, queue);
  const std::int64_t first = side / 4 * side;
  const auto half = static_cast<std::size_t>(side / 2 * side) * sizeof(holotone::Complex);
  const auto work = [&] {
    if (with_transfers) holotone::copy_bytes(field.data(), device, host, holotone::Device{}, bytes, queue);
    plan.execute(field.view(), field.view(), c.distance_m);
    if (with_transfers)
      holotone::copy_bytes(host + first, holotone::Device{}, field.data() + first, device, half, queue);
  };
  holotone::copy_bytes(field.data(), device, host, holotone::Device{}, bytes, queue);
  plan.execute(field.view(), field.view(), c.distance_m);
  queue.synchronize();
  if (!is_within(state, c.relative_error(field.to(holotone::Device{}).data(), 4096), 1e-5)) return;
  // Later runs go on from there, at the same cost.
  time_iterations(state, queue, work);
}

void run_sweep(benchmark::State& state, holotone::Device device) {
  constexpr int count = 8;
  cases::GaussianBeams c;
  c.grid = panel;
  const auto queue = holotone::Queue::create(device);
  const auto host = c.input();
  const auto field = copy_of(holotone::View<const holotone::Complex, 2>(host.data(), panel.shape()), device);
  holotone::ReconstructionPlan plan({.grid = panel, .method = holotone::PropagationMethod::angular_spectrum}, queue);
  holotone::Array<float, 2> intensity(panel.shape(), queue);
  const auto distance_m = [](int i) { return 0.15 + 0.01 * i; };
  const auto work = [&] {
    plan.set_field(field.view());
    for (int i = 0; i < count; ++i) plan.execute(distance_m(i), intensity.view());
  };
  work();
  holotone::Array<float, 2> wanted(panel.shape(), queue);
  holotone::PropagationPlan({.grid = panel, .method = holotone::PropagationMethod::angular_spectrum}, queue)
      .execute_intensity(field.view(), wanted.view(), -distance_m(count - 1));
  queue.synchronize();
  const auto got = intensity.to(holotone::Device{});
  const auto expected = wanted.to(holotone::Device{});
  if (is_within(state, relative_error(got.host(), expected.host()), 1e-6)) time_row(state, queue, work);
}

void run_eye(benchmark::State& state, holotone::Device device) {
  cases::GaussianBeams c;
  c.grid = panel;
  const auto host = c.input();
  const holotone::View<const holotone::Complex, 2> input(host.data(), panel.shape());
  const holotone::EyeOptions options{.grid = panel, .pupil = {.width_m = 5e-3, .height_m = 5e-3, .distance_m = 0.3}};
  const auto look = [](holotone::EyePlan& plan, holotone::View<const holotone::Complex, 2> field,
                       holotone::Array<float, 2>& picture) {
    plan.clear();
    plan.add_rows(field, 0);
    plan.look(0.1, picture.view());
  };
  const auto queue = holotone::Queue::create(device);
  const auto field = copy_of(input, device);
  holotone::EyePlan plan(options, queue);
  holotone::Array<float, 2> picture(plan.output_grid().shape(), queue);
  if (!is_processor(device)) {
    look(plan, field.view(), picture);
    holotone::EyePlan cpu(options);
    holotone::Array<float, 2> wanted(cpu.output_grid().shape());
    look(cpu, input, wanted);
    const auto got = picture.to(holotone::Device{});
    const auto& expected = wanted;
    if (!is_within(state, relative_error(got.host(), expected.host()), 1e-4)) return;
  }
  time_row(state, queue, [&] { look(plan, field.view(), picture); });
}

/// Layers of points that cover a quarter of the pixels, on a device.
struct Layers {
  explicit Layers(holotone::Device device) {
    for (int i = 0; i < 8; ++i) {
      holotone::Array<float, 2> picture(panel.shape());
      for (std::int64_t pixel = 0; pixel < picture.size(); ++pixel) {
        const float draw = holotone::random_uniform(static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(pixel));
        picture.data()[pixel] = draw > 0.75F ? draw : 0;
      }
      const auto& there = pictures.emplace_back(picture.to(device));
      layers.push_back({.intensity = there.view(), .distance_m = 0.15 + 0.01 * i});
    }
  }
  std::vector<holotone::Array<float, 2>> pictures;
  std::vector<holotone::Layer> layers;
};

void run_layers(benchmark::State& state, holotone::Device device) {
  const auto queue = holotone::Queue::create(device);
  const Layers scene(device);
  holotone::LayerPlan plan({.grid = panel}, queue);
  plan.set_layers(scene.layers);
  holotone::Array<holotone::Complex, 2> field(panel.shape(), queue);
  if (!is_processor(device)) {
    plan.execute(field.view());
    const Layers layers(holotone::Device{});
    holotone::LayerPlan cpu({.grid = panel});
    cpu.set_layers(layers.layers);
    holotone::Array<holotone::Complex, 2> wanted(panel.shape());
    cpu.execute(wanted.view());
    queue.synchronize();
    const auto got = field.to(holotone::Device{});
    const auto& expected = wanted;
    if (!is_within(state, relative_error(got.host(), expected.host()), 1e-5)) return;
  }
  time_row(state, queue, [&] { plan.execute(field.view()); });
}

void run_fft(benchmark::State& state, holotone::Shape<2> shape, holotone::Device device) {
  const auto queue = holotone::Queue::create(device);
  holotone::Array<holotone::Complex, 2> host(shape);
  for (std::int64_t i = 0; i < host.size(); ++i) {
    const auto number = static_cast<std::uint64_t>(i);
    host.data()[i] = {holotone::random_uniform(1, number), holotone::random_uniform(2, number)};
  }
  auto data = host.to(device);
  const holotone::FftPlan plan(shape, queue);
  const auto work = [&] {
    plan.execute(data.view(), holotone::FftDirection::forward);
    plan.execute(data.view(), holotone::FftDirection::inverse);
  };
  work();
  queue.synchronize();
  const auto got = data.to(holotone::Device{});
  const auto& expected = host;
  if (!is_within(state, relative_error(got.host(), expected.host()), 1e-6)) return;
  time_row(state, queue, work);
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
  register_row("propagate/angular_spectrum/8", [=](benchmark::State& state) { run_call(state, device); })
      ->Unit(benchmark::kMicrosecond)
      ->Iterations(1);
  add("propagate/angular_spectrum/4096", {4096, 4096}, Distance::same);
  add("propagate/angular_spectrum/4096/new_distance", {4096, 4096}, Distance::changing);
  add("propagate/angular_spectrum/1080p", {1080, 1920}, Distance::same);
  add("propagate/angular_spectrum/1080p/new_distance", {1080, 1920}, Distance::changing);
  auto* const large =
      register_row(fmt::format("propagate/out_of_core/{}", options.out_of_core),
                   [=, side = options.out_of_core](benchmark::State& state) { run_out_of_core(state, side, device); });
  constexpr std::int64_t seconds_long = 32768;
  if (device.backend != holotone::Backend::cpu) large->Iterations(options.out_of_core > seconds_long ? 1 : 3);
  for (const bool with_transfers : {false, true}) {
    if (options.resident == 0) break;
    register_row(
        fmt::format("propagate/resident/{}{}", options.resident, with_transfers ? "/with_transfers" : ""),
        [=, side = options.resident](benchmark::State& state) { run_resident(state, side, with_transfers, device); })
        ->Iterations(3);
  }
  const auto add_scene = [device](const char* name, void (*run)(benchmark::State&, holotone::Device)) {
    auto* const row = register_row(name, [=](benchmark::State& state) { run(state, device); });
    if (device.backend != holotone::Backend::cpu) row->Iterations(1);
  };
  add_scene("reconstruct/sweep8/1080p", run_sweep);
  add_scene("eye/look/1080p", run_eye);
  add_scene("layers/8/1080p", run_layers);
  const auto add_fft = [device](const char* name, holotone::Shape<2> shape) {
    auto* const row = register_row(name, [=](benchmark::State& state) { run_fft(state, shape, device); });
    if (device.backend != holotone::Backend::cpu) row->Iterations(1);
  };
  add_fft("fft/round_trip/1080p", {2160, 3840});
  add_fft("fft/round_trip/4096", {4096, 4096});
}

}  // namespace bench
