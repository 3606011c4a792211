// Amplitudes that fall as 1 / r: methods, the adjoint and its derivatives against float64, and the energy on the panel.
#include <array>
#include <cmath>
#include <cstdio>
#include <gtest/gtest.h>
#include <holotone/hologram/point_cloud.hpp>
#include <tests/cases/exact_scene.hpp>
#include <tests/support/adjoint.hpp>
#include <tests/support/on_each_device.hpp>

namespace {

using holotone::Array;
using holotone::Device;
using holotone::PointCloudPlan;
using holotone::PointDerivative;
using holotone::PointMethod;
using holotone::Wave;
using Complex = std::complex<float>;

using Scene = cases::ExactScene;

cases::PointCloudCase make_case(const Scene& scene, PointMethod method) {
  auto c = cases::exact_case(scene, method);
  c.options.falloff = true;
  return c;
}

Array<Complex, 2> summed(const cases::PointCloudCase& c, const reference::PointWaves& points, Device device) {
  return holotone::point_cloud_field(cases::sources(points), c.options, device).to(Device{});
}

/// Panels within 0.85 of every point's reach.
constexpr Scene inner_scenes[] = {{"8 um, 20 cm, deep", 8e-6, 0.2, 2.0, {200, 240}, 80},
                                  {"8 um, 60 cm", 8e-6, 0.6, 0.61, {200, 240}, 80},
                                  {"3.74 um, 5 cm, before", 3.74e-6, -0.06, -0.05, {200, 240}, 80},
                                  {"1 um, 5 mm, deep", 1e-6, 0.005, 0.1, {300, 400}, 80},
                                  {"0.25 um, 0.5 mm", 0.25e-6, 5e-4, 6e-4, {300, 400}, 80}};

class Falloff : public support::OnEachDevice {};
HOLOTONE_ON_EACH_DEVICE(Falloff);

TEST_P(Falloff, LightIsTheSumOfSpheresInside) {
  for (const auto& scene : inner_scenes) {
    SCOPED_TRACE(scene.name);
    auto c = make_case(scene, PointMethod::direct);
    const auto points = cases::make_points(c);
    auto unlimited = c;
    unlimited.options.band_limit = false;
    const auto expected = cases::sample_reference(unlimited, points, 400);
    on_each([&](Device device) {
      for (const double tolerance : {1e-3, 1e-4}) {
        c.options.tolerance = unlimited.options.tolerance = tolerance;
        for (const auto method : {PointMethod::fast, PointMethod::direct}) {
          if (method == PointMethod::fast && device.backend == holotone::Backend::opencl) continue;
          c.options.method = method;
          const double error = cases::relative_error(expected, summed(c, points, device).data());
          std::printf("  %-22s %-6s tolerance %.0e: %.1e\n", scene.name, std::string(to_string(method)).c_str(),
                      tolerance, error);
          EXPECT_LE(error, tolerance);
        }
        EXPECT_LE(cases::relative_error(expected, summed(unlimited, points, device).data()), tolerance);
      }
    });
  }
}

TEST_P(Falloff, EdgesOfDirectAreTheReferences) {
  on_each([&](Device device) {
    for (const Scene& scene : {Scene{"8 um, 1 cm", 8e-6, 0.01, 0.012, {150, 220}, 40},
                               Scene{"1 um, both sides", 1e-6, -3e-4, 5e-4, {200, 256}, 40},
                               Scene{"0.25 um, up to the cone", 0.25e-6, 2e-5, 3e-5, {400, 500}, 10}}) {
      const auto c = make_case(scene, PointMethod::direct);
      const auto points = cases::make_points(c);
      EXPECT_LE(cases::relative_error(cases::sample_reference(c, points, 3000), summed(c, points, device).data()), 2e-4)
          << scene.name;
    }
  });
}

class FastFalloff : public support::OnEachDevice {};
HOLOTONE_ON_CPU_AND_CUDA(FastFalloff);

TEST_P(FastFalloff, SpectrumIsTheDefinition) {
  for (const Scene& scene : {Scene{"8 um, 2 cm", 8e-6, 0.02, 0.022, {120, 160}, 40, 768},
                             Scene{"1 um, both sides", 1e-6, -0.0003, 0.0005, {200, 256}, 25, 1024},
                             Scene{"0.5 um, 20 um", 0.5e-6, 2e-5, 3e-5, {120, 160}, 25, 512}}) {
    SCOPED_TRACE(scene.name);
    auto c = make_case(scene, PointMethod::fast);
    const auto points = cases::make_points(c);
    const reference::PointSpectrum spectrum(points, cases::panel_of(c.options), scene.period);
    cases::PixelSample expected;
    for (std::uint64_t k = 0; k < 24; ++k) {
      const auto pixel = holotone::random_bits(5, k) % static_cast<std::uint64_t>(c.pixels());
      expected.index.push_back(static_cast<std::int64_t>(pixel));
      expected.value.push_back(
          spectrum.pixel(expected.index.back() / scene.shape[1], expected.index.back() % scene.shape[1]));
    }
    on_each([&](Device device) {
      for (const double tolerance : {1e-2, 1e-3, 1e-4, 1e-5}) {
        c.options.tolerance = tolerance;
        const double error = cases::relative_error(expected, summed(c, points, device).data());
        std::printf("  %-18s tolerance %.0e: %.1e\n", scene.name, tolerance, error);
        EXPECT_LE(error, tolerance);
      }
    });
  }
}

// <U, G> = sum conj(A exp(i phi)) values, and derivatives by finite differences of sums.
TEST_P(FastFalloff, AdjointAndDerivativesAreThoseOfTheSum) {
  on_each([&](Device device) {
    auto c = make_case({"", 1e-6, 1e-4, 1.2e-4, {16, 24}, 3}, PointMethod::fast);
    c.options.tolerance = 1e-5;
    const auto points = cases::make_points(c);
    const auto panel = cases::panel_of(c.options);
    std::vector<std::complex<double>> field(static_cast<std::size_t>(c.pixels()));
    for (std::size_t i = 0; i < field.size(); ++i) {
      field[i] = {static_cast<double>(holotone::random_uniform(3, 2 * i)) - 0.5,
                  static_cast<double>(holotone::random_uniform(3, 2 * i + 1)) - 0.5};
    }
    const auto product = [&](const std::array<float, 3>& place) {
      const reference::PointSpectrum wave({{place}, {1}, {}}, panel, 320);
      std::complex<double> sum = 0;
      for (std::int64_t i = 0; i < c.pixels(); ++i) {
        sum += std::conj(wave.pixel(i / panel.nx, i % panel.nx)) * field[static_cast<std::size_t>(i)];
      }
      return sum;
    };
    PointCloudPlan plan(c.options, device);
    plan.set_points(cases::sources(points));
    for (const auto by : {PointDerivative::none, PointDerivative::x, PointDerivative::y, PointDerivative::z}) {
      std::vector<std::complex<double>> expected;
      for (const auto& place : points.position_m) {
        if (by == PointDerivative::none) {
          expected.push_back(product(place));
          continue;
        }
        const auto axis = static_cast<std::size_t>(by) - 1;
        auto low = place;
        auto high = place;
        const float step = axis < 2 ? 1e-9F : 2e-4F * std::abs(place[2]);
        low[axis] -= step;
        high[axis] += step;
        expected.push_back((product(high) - product(low)) /
                           (static_cast<double>(high[axis]) - static_cast<double>(low[axis])));
      }
      Array<Complex, 1> values({plan.point_count()}, device);
      plan.adjoint(support::upload(field, c.options.shape, device).view(), values.view(), by);
      const auto host = values.to(Device{});
      const std::vector<std::complex<double>> found(host.host().begin(), host.host().end());
      const double error = support::relative_error(found.data(), expected);
      std::printf("  by %-4s: %.1e\n", std::string(to_string(by)).c_str(), error);
      EXPECT_LE(error, by == PointDerivative::none ? 1e-5 : 5e-5);
    }
  });
}

TEST(FalloffOption, EnergyIsThatOfTheField) {
  for (const Scene& scene : {Scene{"", 8e-6, 0.02, 0.02, {300, 400}, 1}, Scene{"", 1e-6, 2e-4, 2e-4, {300, 400}, 1}}) {
    for (const bool band_limit : {true, false}) {
      auto c = make_case(scene, PointMethod::direct);
      c.options.band_limit = band_limit;
      const reference::PointWaves point{{{3e-5F, -2e-5F, static_cast<float>(-scene.near_m)}}, {0.7F}, {}};
      double expected = 0;
      const auto panel = cases::panel_of(c.options);
      const double limit = 0.532e-6 / (2 * scene.pitch_m);
      for (std::int64_t i = 0; i < c.pixels(); ++i) {
        const double x = (static_cast<double>(i % panel.nx) - 199.5) * scene.pitch_m - 3e-5;
        const double y = (149.5 - static_cast<double>(i / panel.nx)) * scene.pitch_m + 2e-5;
        const double corner = std::sqrt(2.0) * limit;
        const double reach = scene.near_m * limit / std::sqrt(1 - corner * corner) + 2 * scene.pitch_m;
        if (band_limit && (std::abs(x) > reach || std::abs(y) > reach)) continue;
        expected += 0.49 / (x * x + y * y + scene.near_m * scene.near_m) / static_cast<double>(c.pixels());
      }
      EXPECT_NEAR(lit_energy(cases::sources(point), c.options) / expected, 1, 1e-3);
    }
  }
}

TEST(FalloffOption, TakesExactWavesAloneAndIsTheirsByDefault) {
  holotone::PointCloudOptions options{.shape = {40, 50}, .falloff = true};
  PointCloudPlan plan(options);
  const reference::PointWaves point{{{0, 0, -2}}, {1}, {}};
  plan.set_points(cases::sources(point));
  EXPECT_EQ(plan.info().wave, Wave::spherical);
  options.wave = Wave::fresnel;
  support::expect_error(holotone::ErrorCode::invalid_argument,
                        "PointCloudPlan: falloff: expected wave auto or spherical, got fresnel",
                        [&] { PointCloudPlan{options}; });
  options.wave = Wave::automatic;
  options.method = PointMethod::separable;
  support::expect_error(holotone::ErrorCode::unsupported, "PointCloudPlan: falloff: expected a method with exact waves",
                        [&] { PointCloudPlan{options}; });
}

// What a float of A / |d| or a file does not hold is refused with its point; a point far nearer than a pixel is 1 / r.
TEST_P(Falloff, NearPointsAreRightOrRefused) {
  on_each([&](Device device) {
    holotone::PointCloudOptions options{.shape = {17, 33}, .method = PointMethod::direct, .band_limit = false};
    options.falloff = true;
    PointCloudPlan plan(options, device);
    for (const auto& [distance_m, amplitude] : {std::pair{1e-40F, 1.0F}, std::pair{1e-30F, 1.0F}, {1e-6F, 1e10F}}) {
      const reference::PointWaves points{{{0, 0, -0.1F}, {0, 0, -distance_m}}, {1, amplitude}, {}};
      support::expect_error(holotone::ErrorCode::invalid_argument,
                            "PointCloudPlan::set_points: point 1: expected amplitude / |z| of at most 1e+15",
                            [&] { plan.set_points(cases::sources(points)); });
    }
    // OpenCL's phases have no float64: points still nearer lose their tolerance.
    for (const float distance_m : {1e-6F, 1e-9F, 1e-12F}) {
      const reference::PointWaves point{{{1e-6F, 2e-6F, -distance_m}}, {1}, {}};
      plan.set_points(cases::sources(point));
      Array<Complex, 2> field(options.shape, device);
      plan.execute({.field = field.view()});
      const auto there = field.to(Device{});
      for (std::int64_t i = 0; i < there.size(); ++i) {
        const double x = (static_cast<double>(i % 33) - 16) * options.pitch_m - 1e-6;
        const double y = (8 - static_cast<double>(i / 33)) * options.pitch_m - 2e-6;
        const double r = std::hypot(x, y, static_cast<double>(distance_m));
        EXPECT_NEAR(static_cast<double>(std::abs(there.data()[i])) * r, 1, 1e-5) << distance_m << ", " << i;
      }
    }
  });
}

}  // namespace
