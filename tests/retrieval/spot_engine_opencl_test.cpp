// Both forms of OpenCL's products on every device: tables of GPUs are read by a CPU here too.
#include <cmath>
#include <gtest/gtest.h>
#include <holotone/core/random.hpp>
#include <holotone/retrieval/spots/spot_engine.hpp>
#include <numbers>
#include <tests/support/on_each_device.hpp>

namespace {

using holotone::Complex;
using holotone::Device;
using holotone::SpotOptions;
using holotone::spots::SpotScene;
using holotone::spots::StepKind;
using holotone::spots::Wave;

struct Panel {
  std::int64_t nx;
  std::int64_t ny;
  std::size_t spots;
  double focal_length_m;
  double depth_m;
};

SpotScene random_scene(const Panel& panel) {
  SpotScene scene;
  for (std::uint64_t i = 0; i < panel.spots; ++i) {
    const auto draw = [&](std::uint64_t k) { return holotone::random_uniform64(8, 3 * i + k) - 0.5; };
    scene.place.push_back({0.6 * draw(0), 0.6 * draw(1), panel.depth_m * draw(2)});
    scene.target.push_back(0.6 + 0.4 * draw(0));
    scene.shade.push_back(1);
  }
  return scene;
}

void expect_as_the_cpu(Device device, std::initializer_list<Panel> panels) {
  for (const auto& panel : panels) {
    SpotOptions options;
    options.grid = {panel.nx, panel.ny, 20e-6, 1.064e-6};
    options.focal_length_m = panel.focal_length_m;
    options.response.zero_order = 0.05;
    const auto scene = random_scene(panel);
    const auto pixels = static_cast<std::size_t>(panel.nx * panel.ny);
    std::vector<Complex> light(pixels);
    std::vector<float> phase_rad(pixels);
    for (std::size_t i = 0; i < pixels; ++i) {
      const float amplitude = i % 7 == 3 ? 0.0F : 0.2F + holotone::random_uniform(3, i);
      light[i] = std::polar(amplitude, 6 * holotone::random_uniform(4, i));
      // Not near an edge between two of twelve levels.
      const float level = std::floor(80 * holotone::random_uniform(5, i)) + 0.8F * holotone::random_uniform(6, i);
      phase_rad[i] = (level - 40.4F) * static_cast<float>(std::numbers::pi / 6);
    }
    const std::vector<Wave> unit(panel.spots, Wave(0.6, 0.8));
    /// u of a phase, of its rounding, and after steps.
    const auto looked = [&](holotone::spots::Engine& engine, bool is_lit) {
      std::vector<std::complex<double>> all;
      std::vector<Wave> value(panel.spots);
      const auto read = [&] {
        engine.read(value);
        all.insert(all.end(), value.begin(), value.end());
      };
      engine.set_light(is_lit ? light.data() : nullptr);
      engine.set_spots(scene);
      engine.set_phase(phase_rad.data());
      engine.look(0);
      read();
      engine.look(12);
      read();
      engine.start(scene.target, unit, {});
      engine.take(std::vector{holotone::spots::Step{StepKind::free}});
      read();
      engine.take(std::vector{holotone::spots::Step{StepKind::kept, 1.5}});
      read();
      return all;
    };
    // Of more than 150 in a plane the CPU has transforms, which are right to 3e-5.
    const double tolerance = panel.depth_m == 0 && panel.spots > 150 ? 1e-5 : 5e-6;
    for (const bool is_lit : {false, true}) {
      const auto expected = looked(*holotone::spots::make_engine_cpu(options), is_lit);
      for (const bool packed : {false, true}) {
        const auto got = looked(*holotone::spots::make_engine_opencl(options, device, packed), is_lit);
        support::expect_within(std::to_string(panel.nx) + " x " + std::to_string(panel.ny) + ", " +
                                   std::to_string(panel.spots) + (packed ? " spots, packed" : " spots"),
                               support::relative_error(got.data(), expected), tolerance);
      }
    }
  }
}

class SpotsOpencl : public support::OnEachDevice {};
HOLOTONE_ON_DEVICES(SpotsOpencl, "opencl");

// One pixel, a column, sizes off every vector and group, groups of depths.
TEST_P(SpotsOpencl, SmallPanelsAreLitAsByTheCpu) {
  on_each([](Device device) {
    expect_as_the_cpu(device,
                      {{1, 1, 1, 0.2, 0}, {1, 37, 2, 0.2, 1e-3}, {61, 3, 5, 0.2, 2e-3}, {11, 10, 4, 2e-4, 2e-6}});
  });
}

// More spots than one product has.
TEST_P(SpotsOpencl, ManySpotsAreLitAsByTheCpu) {
  on_each([](Device device) {
    expect_as_the_cpu(
        device, {{130, 67, 1, 0.2, 0}, {256, 192, 1030, 0.2, 0}, {97, 131, 530, 0.2, 3e-3}, {128, 96, 24, 4e-3, 2e-5}});
  });
}

// A phase that is set is read again; where the light is dark too.
TEST_P(SpotsOpencl, PhasesAreKept) {
  on_each([](Device device) {
    SpotOptions options;
    options.grid = {61, 37, 8e-6, 1.064e-6};
    options.focal_length_m = 0.1;
    const auto engine = holotone::spots::make_engine_opencl(options, device);
    std::vector<Complex> light(61 * 37);
    std::vector<float> phase_rad(light.size());
    for (std::size_t i = 0; i < light.size(); ++i) {
      light[i] = i % 5 == 0 ? Complex() : std::polar(0.3F, 0.01F * static_cast<float>(i));
      phase_rad[i] = 0.7F * static_cast<float>(i) - 900;
    }
    engine->set_light(light.data());
    engine->set_phase(phase_rad.data());
    std::vector<float> read(light.size());
    engine->phase(read.data());
    constexpr double turn = 2 * std::numbers::pi;
    for (std::size_t i = 0; i < light.size(); ++i) {
      ASSERT_GE(read[i], 0);
      ASSERT_LT(read[i], turn);
      ASSERT_NEAR(std::remainder(static_cast<double>(read[i]) - static_cast<double>(phase_rad[i]), turn), 0, 2e-6);
    }
    engine->round(16);
    engine->phase(read.data());
    for (std::size_t i = 0; i < light.size(); ++i) {
      const double level = std::round(16 * std::remainder(static_cast<double>(phase_rad[i]), turn) / turn);
      ASSERT_NEAR(std::remainder(static_cast<double>(read[i]) - turn * level / 16, turn), 0, 2e-6) << i;
    }
  });
}

}  // namespace
