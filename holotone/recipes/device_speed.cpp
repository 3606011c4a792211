#include <algorithm>
#include <chrono>
#include <complex>
#include <cstdint>
#include <cstring>
#include <holotone/core/parallel.hpp>
#include <holotone/hologram/point_cloud.hpp>
#include <holotone/optics/propagation.hpp>
#include <holotone/recipes/device_speed.hpp>
#include <string>
#include <vector>

namespace holotone {
namespace {

using Bytes = Array<std::uint8_t, 1>;

/// Seconds for the repetitions of one figure, and seconds after which even the first few of them end.
constexpr double figure_s = 0.12;
constexpr double figure_limit_s = 0.5;
constexpr std::size_t min_repetitions = 3;
constexpr std::size_t max_repetitions = 50;

/// Bytes of a copy: more than the caches of a GPU (50 MiB of an H100) and of most processors.
constexpr std::int64_t copied_bytes = std::int64_t{128} << 20;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// Times the works of one device, and reports how many figures are done.
struct Meter {
  const Queue& queue;
  Progress& progress;
  std::string stage;
  std::int64_t done = 0;
  static constexpr std::int64_t steps = 4;

  template <class Work>
  double median_seconds(double seconds, const Work& work) const;
};

/// Median seconds of a work and the wait for it. The first run, in which a driver loads its kernels, does not count.
template <class Work>
double Meter::median_seconds(double seconds, const Work& work) const {
  const auto run = [&] {
    progress.step(stage, done, steps);
    const Clock::time_point start = Clock::now();
    work();
    queue.synchronize();
    return seconds_since(start);
  };
  (void)run();
  std::vector<double> times;
  const Clock::time_point start = Clock::now();
  do {
    times.push_back(run());
  } while (times.size() < max_repetitions &&
           seconds_since(start) < (times.size() < min_repetitions ? figure_limit_s : seconds));
  std::ranges::sort(times);
  return times[times.size() / 2];
}

/// Host memory whose pages exist.
Bytes host_bytes(std::int64_t count) {
  Bytes bytes({count});
  std::memset(bytes.data(), 1, bytes.bytes());
  return bytes;
}

void measure_copies(const Meter& meter, DeviceFigures& figures) {
  const Queue& queue = meter.queue;
  Bytes host = host_bytes(copied_bytes);
  Bytes target({copied_bytes}, queue);
  const double upload_s =
      meter.median_seconds(figure_s, [&] { copy<std::uint8_t, 1>(target.view(), host.view(), queue); });
  const double download_s =
      meter.median_seconds(figure_s, [&] { copy<std::uint8_t, 1>(host.view(), target.view(), queue); });
  figures.upload_bytes_per_s = copied_bytes / upload_s;
  figures.download_bytes_per_s = copied_bytes / download_s;
}

/// On the CPU by all threads: a copy of its arrays is one thread's.
void copy_within(Bytes& target, const Bytes& source, const Queue& queue) {
  if (queue.device().backend != Backend::cpu) return copy(target.view(), source.view(), queue);
  constexpr std::int64_t piece = 1 << 20;
  static_assert(copied_bytes % piece == 0);
  parallel_for(0, copied_bytes / piece,
               [&](std::int64_t i) { std::memcpy(target.data() + i * piece, source.data() + i * piece, piece); });
}

double measure_memory(const Meter& meter) {
  const Queue& queue = meter.queue;
  const Device device = queue.device();
  const Bytes source = device.backend == Backend::cpu ? host_bytes(copied_bytes) : Bytes({copied_bytes}, queue);
  Bytes target({copied_bytes}, queue);
  return 2 * copied_bytes / meter.median_seconds(figure_s, [&] { copy_within(target, source, queue); });
}

double measure_propagation(const Meter& meter) {
  const Queue& queue = meter.queue;
  constexpr double distance_m = 0.1;
  const auto [ny, nx] = measured_propagation;
  PropagationPlan plan({.grid = {.nx = nx, .ny = ny, .pitch_m = 8e-6, .wavelength_m = 532e-9},
                        .method = PropagationMethod::angular_spectrum},
                       queue);
  Array<Complex, 2> light(measured_propagation);
  std::ranges::fill(light.host(), Complex(1));
  const Array<Complex, 2> input = light.to(queue.device());
  Array<Complex, 2> output(measured_propagation, queue);
  return meter.median_seconds(figure_s, [&] { plan.execute(input.view(), output.view(), distance_m); });
}

/// Points in front of a panel of this size, on a spiral.
struct Cloud {
  Array<float, 2> position_m;
  Array<float, 1> amplitude;

  Cloud(std::int64_t count, double panel_m) : position_m({count, 3}), amplitude({count}) {
    for (std::int64_t i = 0; i < count; ++i) {
      const double turn = static_cast<double>(i) / static_cast<double>(count);
      const auto place = std::polar(panel_m / 2 * turn, 100 * turn);
      position_m(i, std::int64_t{0}) = static_cast<float>(place.real());
      position_m(i, std::int64_t{1}) = static_cast<float>(place.imag());
      position_m(i, std::int64_t{2}) = static_cast<float>(-0.2 - 0.01 * turn);
      amplitude(i) = 1;
    }
  }
};

/// The number of points grows until a sum takes this time, in which the launch of a kernel is lost.
constexpr double min_sum_s = 5e-3;
constexpr std::int64_t min_points = 64;
constexpr std::int64_t max_points = 1 << 17;

double measure_points(const Meter& meter) {
  const Queue& queue = meter.queue;
  constexpr Shape<2> shape = {512, 512};
  constexpr double pitch_m = 8e-6;
  // Without the band limit every point lights every pixel.
  PointCloudPlan plan(
      {.pitch_m = pitch_m, .shape = shape, .method = PointMethod::direct, .wave = Wave::fresnel, .band_limit = false},
      queue);
  Array<std::complex<float>, 2> field(shape, queue);
  const auto sum = [&] { plan.execute({.field = field.view()}); };
  for (std::int64_t count = min_points;; count *= 8) {
    const Cloud cloud(count, 512 * pitch_m);
    plan.set_points({.position_m = cloud.position_m.view(), .amplitude = cloud.amplitude.view()});
    const bool last = 8 * count > max_points;
    if (!last && meter.median_seconds(0, sum) < min_sum_s) continue;
    const double pairs = static_cast<double>(count) * static_cast<double>(element_count(shape));
    return pairs / meter.median_seconds(figure_s, sum);
  }
}

}  // namespace

DeviceFigures measure_device(Device device, Progress& progress) {
  DeviceFigures figures;
  const Queue queue(device);
  Meter meter{queue, progress, "measuring " + to_string(device)};
  measure_copies(meter, figures);
  ++meter.done;
  figures.memory_bytes_per_s = measure_memory(meter);
  ++meter.done;
  figures.propagation_s = measure_propagation(meter);
  ++meter.done;
  figures.point_pixels_per_s = measure_points(meter);
  progress.step(meter.stage, Meter::steps, Meter::steps);
  return figures;
}

}  // namespace holotone
