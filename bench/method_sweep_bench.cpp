// hologram/sweep/SCENE/METHOD: 40 clouds over a panel of 1920 x 1080, from 0.25 to 20 um, 0.5 mm to 2 m, 100 to 10
// million points, shallow and twice as deep as near, with the band limit, tolerance 1e-3; each by `auto` and by every
// method that may be right there. Timed: from points on the device to the field there. bench/method_sweep.py compares.
#include <array>
#include <bench/loop.hpp>
#include <bench/rows.hpp>
#include <benchmark/benchmark.h>
#include <cmath>
#include <fmt/format.h>
#include <string>

namespace bench {
namespace {

using holotone::PointMethod;
using holotone::Wave;

struct Scene {
  double pitch_um;
  double near_mm;
  bool deep;
  std::int64_t count;

  [[nodiscard]] std::string name() const {
    return fmt::format("{:g}um_{:g}mm_{}/{}", pitch_um, near_mm, deep ? "deep" : "shallow", count);
  }
};

struct Candidate {
  std::string name;
  Wave wave;
  PointMethod method;
  double cpu_pairs;   ///< pairs of points and pixels at most
  double cuda_pairs;  ///< a row then takes some seconds
};
const std::array candidates{Candidate{"auto", Wave::automatic, PointMethod::automatic, 1e12, 1e14},
                            Candidate{"fresnel_direct", Wave::fresnel, PointMethod::direct, 5e9, 2e12},
                            Candidate{"fresnel_separable", Wave::fresnel, PointMethod::separable, 5e10, 2e13},
                            Candidate{"fresnel_fast", Wave::fresnel, PointMethod::fast, 1e12, 1e14},
                            Candidate{"exact_direct", Wave::spherical, PointMethod::direct, 3e9, 1e12},
                            Candidate{"exact_fast", Wave::spherical, PointMethod::fast, 1e12, 1e14}};

cases::PointCloudCase make_case(const Scene& scene) {
  cases::PointCloudCase c;
  c.options.pitch_m = 1e-6 * scene.pitch_um;
  c.options.shape = {1080, 1920};
  c.near_m = 1e-3 * scene.near_mm;
  c.far_m = (scene.deep ? 2 : 1.02) * c.near_m;
  c.count = scene.count;
  c.options.tolerance = 1e-3;
  return c;
}

void time_row(benchmark::State& state, const Scene& scene, const Candidate& candidate, holotone::Device device) {
  auto c = make_case(scene);
  const auto points = cases::make_points(c);
  const auto sources = cases::sources(points);
  c.options.wave = Wave::fresnel;
  const double deviation = holotone::fresnel_deviation_rad(sources, c.options);
  if (candidate.wave == Wave::fresnel && deviation > 0.1) {
    state.SkipWithError("Fresnel's wave is wrong there");
    return;
  }
  constexpr double min_zones = 12;  // min_ray_zones of the chooser
  const double zones = std::sqrt(c.options.wavelength_m * c.near_m) / (2 * c.options.pitch_m);
  if (candidate.wave == Wave::spherical && candidate.method == PointMethod::direct && zones < min_zones) {
    state.SkipWithError("rays do not describe the band limit there");
    return;
  }
  c.options.wave = candidate.wave;
  c.options.method = candidate.method;
  const auto queue = holotone::Queue::create(device);
  const auto position_m = copy_of(sources.position_m, device);
  const auto amplitude = copy_of(sources.amplitude, device);
  holotone::Array<std::complex<float>, 2> field(c.options.shape, queue);
  holotone::PointCloudPlan plan(c.options, queue);
  const auto work = [&] {
    plan.set_points({position_m.view(), amplitude.view(), {}});
    plan.execute({.field = field.view()});
  };
  work();
  queue.synchronize();
  for (auto _ : state) state.SetIterationTime(seconds_of(queue, 3, work));
  state.counters["deviation_rad"] = deviation;
  state.SetLabel(fmt::format("{}: {}", to_string(plan.info().wave), plan.info().arithmetic));
}

}  // namespace

void add_method_sweep_rows(const RowOptions& options) {
  if (!options.sweep) return;
  struct Place {
    double pitch_um;
    double near_mm;
  };
  constexpr std::array places{Place{0.25, 0.5}, Place{0.25, 1}, Place{0.5, 0.5}, Place{0.5, 3},   Place{1, 2},
                              Place{1, 5},      Place{1, 20},   Place{3.74, 5},  Place{3.74, 20}, Place{3.74, 50},
                              Place{3.74, 200}, Place{8, 10},   Place{8, 50},    Place{8, 200},   Place{8, 500},
                              Place{8, 2000},   Place{20, 50},  Place{20, 300},  Place{20, 1000}, Place{20, 2000}};
  constexpr std::array<std::int64_t, 6> counts{100, 1000, 10000, 100000, 1000000, 10000000};
  const bool cpu = options.device.backend == holotone::Backend::cpu;
  std::size_t number = 0;
  for (const auto& place : places) {
    for (const bool deep : {false, true}) {
      // On a CPU up to 100,000 points.
      const Scene scene{place.pitch_um, place.near_mm, deep, counts[number++ * 5 % (cpu ? 4 : 6)]};
      const double pairs = static_cast<double>(scene.count) * 1920 * 1080;
      for (const auto& candidate : candidates) {
        if (pairs > (cpu ? candidate.cpu_pairs : candidate.cuda_pairs)) continue;
        register_row("hologram/sweep/" + scene.name() + "/" + candidate.name, [=,
                                                                               device = options.device](auto& state) {
          time_row(state, scene, candidate, device);
        })->Iterations(1);
      }
    }
  }
}

}  // namespace bench
