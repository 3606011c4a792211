// The exact wave: its spectrum against the float64 definition, and methods against each other and against the sum.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <gtest/gtest.h>
#include <holotone/core/device.hpp>
#include <holotone/hologram/point_cloud.hpp>
#include <tests/cases/exact_scene.hpp>
#include <tests/support/on_each_device.hpp>

namespace {

using holotone::Array;
using holotone::Device;
using holotone::PointMethod;
using holotone::Wave;

using Scene = cases::ExactScene;

/// Reach from a third of a pixel to 2,000; light up to the cone; deep scenes; both sides of the panel.
constexpr Scene defined_scenes[] = {
    {"8 um, 20 cm", 8e-6, 0.2, 0.21, {120, 160}, 15, 3072},
    {"8 um, 2 cm", 8e-6, 0.02, 0.022, {120, 160}, 60, 768},
    {"8 um, 2 mm", 8e-6, 0.002, 0.003, {120, 160}, 60, 512},
    {"20 um, 0.5 mm", 20e-6, 0.0005, 0.0006, {64, 64}, 40, 512},
    {"3.74 um, 1 cm, deep", 3.74e-6, 0.001, 0.02, {150, 200}, 25, 2048},
    {"1 um, 0.5 mm", 1e-6, 0.0005, 0.00055, {256, 256}, 25, 1024},
    {"0.5 um, 0.5 mm, deep", 0.5e-6, 0.00005, 0.001, {256, 256}, 10, 3072},
    {"0.25 um, 0.1 mm", 0.25e-6, 0.0001, 0.00012, {256, 256}, 10, 3072},
    {"0.1 um, 1 um", 0.1e-6, 1e-6, 2e-6, {40, 48}, 20, 1536},
    {"up to the cone", 0.25e-6, 0.0001, 0.000105, {1200, 1600}, 5, 7168},
    {"before the panel", 1e-6, -0.0006, -0.0005, {200, 256}, 25, 1024},
    {"both sides", 1e-6, -0.0003, 0.0005, {200, 256}, 25, 1024},
};

/// Points and panels so small that every pixel lies within 0.85 of every point's reach, and farther than three zones of
/// sqrt(lambda d) from its end.
constexpr Scene inner_scenes[] = {
    {"20 um, 2 m", 20e-6, 1.8, 2.2, {200, 240}, 80},         {"8 um, 2 m", 8e-6, 1.9, 2.0, {200, 240}, 80},
    {"8 um, 20 cm", 8e-6, 0.2, 0.4, {200, 240}, 80},         {"8 um, 20 cm, before", 8e-6, -0.4, -0.2, {200, 240}, 80},
    {"3.74 um, 5 cm", 3.74e-6, 0.05, 0.06, {200, 240}, 80},  {"1 um, 5 mm", 1e-6, 0.005, 0.0055, {300, 400}, 80},
    {"1 um, 5 mm, deep", 1e-6, 0.005, 0.1, {300, 400}, 80},  {"0.5 um, 3 mm", 0.5e-6, 0.003, 0.004, {300, 400}, 80},
    {"0.25 um, 0.5 mm", 0.25e-6, 5e-4, 6e-4, {300, 400}, 80}};

Array<std::complex<float>, 2> summed(const cases::PointCloudCase& c, const reference::PointWaves& points,
                                     Device device) {
  return holotone::point_cloud_field(cases::sources(points), c.options, device).to(Device{});
}

class ExactWave : public support::OnEachDevice {};
HOLOTONE_ON_CPU_AND_CUDA(ExactWave);

TEST_P(ExactWave, SpectrumIsTheDefinition) {
  for (const auto& scene : defined_scenes) {
    SCOPED_TRACE(scene.name);
    auto c = cases::exact_case(scene, PointMethod::fast);
    const auto points = cases::make_points(c);
    const reference::PointSpectrum spectrum(points, cases::panel_of(c.options), scene.period);
    cases::PixelSample expected;
    for (std::uint64_t k = 0; k < 24; ++k) {
      const auto pixel = holotone::random_bits(5, k) % static_cast<std::uint64_t>(c.pixels());
      expected.index.push_back(static_cast<std::int64_t>(pixel));
    }
    expected.value.resize(expected.index.size());
#pragma omp parallel for schedule(dynamic)
    for (std::size_t i = 0; i < expected.index.size(); ++i) {
      expected.value[i] = spectrum.pixel(expected.index[i] / scene.shape[1], expected.index[i] % scene.shape[1]);
    }
    for (const double tolerance : {1e-2, 1e-3, 1e-4, 1e-5}) {
      c.options.tolerance = tolerance;
      on_each([&](Device device) {
        const double error = cases::relative_error(expected, summed(c, points, device).data());
        std::printf("  %-22s tolerance %.0e: %.1e\n", scene.name, tolerance, error);
        EXPECT_LE(error, tolerance);
      });
    }
  }
}

TEST_P(ExactWave, LightIsTheSumOfSpheresInside) {
  for (const auto& scene : inner_scenes) {
    SCOPED_TRACE(scene.name);
    auto c = cases::exact_case(scene, PointMethod::fast);
    const auto points = cases::make_points(c);
    auto unlimited = c;
    unlimited.options.band_limit = false;
    const auto expected = cases::sample_reference(unlimited, points, 400);
    for (const double tolerance : {1e-3, 1e-4}) {
      for (const auto method : {PointMethod::fast, PointMethod::direct}) {
        c.options.method = method;
        c.options.tolerance = tolerance;
        on_each([&](Device device) {
          const double error = cases::relative_error(expected, summed(c, points, device).data());
          std::printf("  %-22s %-6s tolerance %.0e: %.1e\n", scene.name, std::string(to_string(method)).c_str(),
                      tolerance, error);
          EXPECT_LE(error, tolerance);
        });
      }
    }
  }
}

// Light of a whole panel within the band limit: on CUDA Fresnel's and a filter, in shallow clouds and deep ones.
TEST_P(ExactWave, FarLightIsTheSumOfSpheres) {
  constexpr Scene scenes[] = {{"8 um, 50 cm", 8e-6, 0.5, 0.6, {1080, 1920}, 400},
                              {"8 um, 50 cm, deep", 8e-6, 0.5, 0.9, {1080, 1920}, 400},
                              {"8 um, 50 cm, before", 8e-6, -0.6, -0.5, {1080, 1920}, 400},
                              {"3.74 um, 25 cm", 3.74e-6, 0.25, 0.255, {2160, 3840}, 400}};
  for (const auto& scene : scenes) {
    SCOPED_TRACE(scene.name);
    auto c = cases::exact_case(scene, PointMethod::fast);
    const auto points = cases::make_points(c);
    auto unlimited = c;
    unlimited.options.band_limit = false;
    const auto expected = cases::sample_reference(unlimited, points, 2000);
    on_each([&](Device device) {
      for (const double tolerance : {1e-3, 1e-4}) {
        c.options.tolerance = tolerance;
        holotone::PointCloudPlan plan(c.options, device);
        plan.set_points(cases::sources(points));
        Array<std::complex<float>, 2> field(c.options.shape, device);
        plan.execute({.field = field.view()});
        const double error = cases::relative_error(expected, field.to(Device{}).data());
        const auto how = plan.info().arithmetic;
        std::printf("  %-20s tolerance %.0e: %.1e, %s\n", scene.name, tolerance, error, how.c_str());
        EXPECT_LE(error, tolerance);
        if (device.backend == holotone::Backend::cuda && tolerance == 1e-3) {
          EXPECT_NE(how.find("filter"), std::string::npos);
        }
      }
    });
  }
}

/// |sum U conj E|^2 / (sum |U|)^2 over the pixels within `share` of a point's reach, E its sphere without a limit.
double strehl(const cases::PointCloudCase& c, const reference::PointWaves& point, const std::complex<float>* field,
              double share) {
  auto panel = cases::panel_of(c.options);
  panel.band_limit = false;
  panel.spherical = true;
  const double reach = share * c.options.wavelength_m * c.near_m / (2 * c.options.pitch_m * c.options.pitch_m);
  std::complex<double> sum = 0;
  double size = 0;
  const auto [ny, nx] = c.options.shape;
  for (std::int64_t row = 0; row < ny; ++row) {
    for (std::int64_t column = 0; column < nx; ++column) {
      if (std::abs(static_cast<double>(row) - 0.5 * static_cast<double>(ny - 1)) > reach) continue;
      if (std::abs(static_cast<double>(column) - 0.5 * static_cast<double>(nx - 1)) > reach) continue;
      const std::complex<double> value(field[row * nx + column]);
      sum += value * std::conj(reference::point_cloud_pixel(point, panel, row, column));
      size += std::abs(value);
    }
  }
  return std::norm(sum) / (size * size);
}

TEST_P(ExactWave, PointFocusesWhereFresnelsDoesNot) {
  on_each([&](Device device) {
    const struct {
      double pitch_m;
      double distance_m;
      holotone::Shape<2> shape;
      double fresnel;  ///< of the whole light, measured by an independent program
    } points[] = {{3.74e-6, 0.05, {2000, 2000}, 0.360},
                  {1e-6, 0.005, {2048, 2048}, 0.038},
                  {0.5e-6, 0.0015, {3400, 3400}, 0.016}};
    for (const auto& p : points) {
      SCOPED_TRACE(p.pitch_m);
      auto c = cases::exact_case({"", p.pitch_m, p.distance_m, p.distance_m, p.shape, 1}, PointMethod::fast);
      const reference::PointWaves point{{{0, 0, static_cast<float>(-p.distance_m)}}, {1}, {}};
      const double exact = strehl(c, point, summed(c, point, device).data(), 0.9);
      EXPECT_GE(exact, 0.999);
      c.options.wave = Wave::fresnel;
      c.options.method = PointMethod::separable;
      const double fresnel = strehl(c, point, summed(c, point, device).data(), 1);
      EXPECT_NEAR(fresnel, p.fresnel, 0.02);
      std::printf("  %.2f um, %.1f mm: exact %.5f within 0.9 of the reach, Fresnel %.3f\n", 1e6 * p.pitch_m,
                  1e3 * p.distance_m, exact, fresnel);
    }
  });
}

TEST_P(ExactWave, MethodsDifferAtTheEdgeOfLightAlone) {
  on_each([&](Device device) {
    auto c = cases::exact_case({"", 1e-6, 0.005, 0.005, {2800, 2800}, 1}, PointMethod::fast);
    const reference::PointWaves point{{{3e-5F, -2e-5F, -0.005F}}, {1}, {}};
    const auto fast = summed(c, point, device);
    c.options.method = PointMethod::direct;
    const auto direct = summed(c, point, device);
    double difference = 0;
    double norm = 0;
    for (std::int64_t i = 0; i < c.pixels(); ++i) {
      difference += std::norm(fast.data()[i] - direct.data()[i]);
      norm += std::norm(direct.data()[i]);
    }
    EXPECT_LE(std::sqrt(difference / norm), 0.2);
    std::printf("  methods differ by %.3f over all light\n", std::sqrt(difference / norm));
  });
}

TEST(ExactWaveChoice, AutomaticTakesItWhereFresnelsFails) {
  const auto wave_of = [](double pitch_m, double distance_m, PointMethod method, bool band_limit) {
    holotone::PointCloudPlan plan({.pitch_m = pitch_m,
                                   .shape = {1080, 1920},
                                   .method = method,
                                   .wave = Wave::automatic,
                                   .band_limit = band_limit});
    const reference::PointWaves point{{{0, 0, static_cast<float>(-distance_m)}}, {1}, {}};
    plan.set_points(cases::sources(point));
    return plan.info().wave;
  };
  // Deviations: 0.03 rad, 1.1 rad at the corner within the limit's light of 0.2 m.
  EXPECT_EQ(wave_of(8e-6, 1.0, PointMethod::automatic, true), Wave::fresnel);
  EXPECT_EQ(wave_of(8e-6, 0.2, PointMethod::automatic, true), Wave::spherical);
  EXPECT_EQ(wave_of(1e-6, 0.005, PointMethod::automatic, true), Wave::spherical);
  EXPECT_EQ(wave_of(8e-6, -0.2, PointMethod::direct, true), Wave::spherical);
  EXPECT_EQ(wave_of(8e-6, 5e-5, PointMethod::automatic, true), Wave::spherical);  // Fresnel's edge lights no pixel
  // Methods without it keep Fresnel's wave, which is what was asked for by their name.
  EXPECT_EQ(wave_of(1e-6, 0.005, PointMethod::separable, true), Wave::fresnel);
  EXPECT_EQ(wave_of(8e-6, 0.2, PointMethod::automatic, false), Wave::fresnel);
}

TEST(ExactWaveChoice, AFineToleranceHidesLess) {
  const reference::PointWaves point{{{0, 0, -0.8F}}, {1}, {}};
  holotone::PointCloudOptions options{.shape = {1080, 1920}};
  EXPECT_EQ(holotone::PointCloudPlan::find_wave(cases::sources(point), options), Wave::fresnel);  // 0.02 rad
  options.tolerance = 1e-4;
  EXPECT_EQ(holotone::PointCloudPlan::find_wave(cases::sources(point), options), Wave::spherical);
  options.wave = Wave::fresnel;
  EXPECT_EQ(holotone::PointCloudPlan::find_wave(cases::sources(point), options), Wave::fresnel);
  const reference::PointWaves none;
  EXPECT_NO_THROW((void)holotone::PointCloudPlan::find_wave(cases::sources(none), options));
  const reference::PointWaves bad{{{0, 0, 0}}, {1}, {}};
  support::expect_error(holotone::ErrorCode::invalid_argument, "PointCloudPlan::set_points: point 0",
                        [&] { (void)holotone::PointCloudPlan::find_wave(cases::sources(bad), options); });
}

// A point at the panel beside one far from it: the spectrum would take minutes.
TEST_P(ExactWave, AutomaticDoesNotWaitForNarrowLight) {
  on_each([&](Device device) {
    auto c = cases::exact_case({"", 1e-6, 0.1, 0.1, {200, 200}, 2}, PointMethod::automatic);
    holotone::PointCloudPlan plan(c.options, device);
    const reference::PointWaves points{{{0, 0, -1e-7F}, {0, 0, -0.1F}}, {1, 1}, {}};
    plan.set_points(cases::sources(points));
    EXPECT_EQ(plan.info().method, PointMethod::direct) << plan.info().arithmetic;
  });
}

// direct's band limit is that of rays: not of light some zones wide, where the methods differ by up to their sum.
TEST_P(ExactWave, AutomaticIsTheDefinitionWhereLightIsNarrow) {
  on_each([&](Device device) {
    for (const auto& [pitch_m, distance_m, method] :
         {std::tuple{8e-6, 0.02, PointMethod::fast}, std::tuple{20e-6, 0.0005, PointMethod::fast},
          std::tuple{1e-6, 0.005, PointMethod::direct}}) {
      auto c = cases::exact_case({"", pitch_m, distance_m, distance_m, {300, 300}, 1}, PointMethod::automatic);
      holotone::PointCloudPlan plan(c.options, device);
      plan.set_points(cases::sources(cases::make_points(c)));
      EXPECT_EQ(plan.info().method, method) << pitch_m;
    }
  });
}

// Where Fresnel's deviation is small and the band limit cuts light, exact waves of many points are faster.
// Each took more than twice as long by the other (two cores).
TEST(ExactWaveChoice, TilesThatTheBandLimitWeighsArePriced) {
  for (const auto& [pitch_m, near_m, far_m, count, method] :
       {std::tuple{0.5e-6, 5e-4, 1e-3, std::int64_t{1000}, PointMethod::fast},
        std::tuple{1e-6, 2e-3, 2.04e-3, std::int64_t{100}, PointMethod::direct}}) {
    const auto c = cases::exact_case({"", pitch_m, near_m, far_m, {1080, 1920}, count}, PointMethod::automatic);
    holotone::PointCloudPlan plan(c.options);
    plan.set_points(cases::sources(cases::make_points(c)));
    EXPECT_EQ(plan.info().method, method) << pitch_m;
  }
}

TEST_P(ExactWave, AutomaticIsTheFasterOneWhereBothWillDo) {
  on_each([&](Device device) {
    for (const std::int64_t count : {10, 1000000}) {
      auto c = cases::exact_case({"", 20e-6, 0.3, 0.31, {1080, 1920}, count}, PointMethod::automatic);
      c.options.wave = Wave::automatic;
      holotone::PointCloudPlan plan(c.options, device);
      plan.set_points(cases::sources(cases::make_points(c)));
      EXPECT_EQ(plan.info().wave, count == 10 ? Wave::fresnel : Wave::spherical) << plan.info().arithmetic;
    }
  });
}

TEST_P(ExactWave, ExtremePointsLeaveTheOthersAlone) {
  on_each([&](Device device) {
    auto c = cases::exact_case({"", 8e-6, 0.2, 0.21, {60, 90}, 20}, PointMethod::fast);
    const auto points = cases::make_points(c);
    const auto expected = summed(c, points, device);
    // On the panel, kilometres away, far aside; amplitudes of zero leave their light out, not their places.
    for (const auto& place :
         {std::array{0.0F, 0.0F, -1e-7F}, std::array{0.0F, 0.0F, 1e-9F}, std::array{0.0F, 1e-4F, -3e4F},
          std::array{5.0F, -5.0F, -0.2F}, std::array{0.0F, 0.0F, -1e30F}, std::array{1e30F, 0.0F, -1.0F}}) {
      auto more = points;
      more.position_m.push_back(place);
      more.amplitude.push_back(1e-6F);
      more.phase_rad.push_back(0);
      const auto field = summed(c, more, device);
      double difference = 0;
      double norm = 0;
      for (std::int64_t i = 0; i < c.pixels(); ++i) {
        difference += std::norm(field.data()[i] - expected.data()[i]);
        norm += std::norm(expected.data()[i]);
      }
      EXPECT_LE(std::sqrt(difference / norm), 1.5e-3) << place[0] << " " << place[1] << " " << place[2];
    }
  });
}

// Panels whose spectra are computed in blocks, whose tiles are summed in groups, or whose points are summed on coarse
// nodes, beside the same pixels of a small panel in their middle. Those on nodes light it from afar.
TEST_P(ExactWave, PartsOfALargePanelAreThoseOfASmallOne) {
  on_each([&](Device device) {
    const bool cpu = device.backend == holotone::Backend::cpu;
    const struct {
      Scene scene;
      double cloud_px;
      const char* sums;
      PointMethod other;
    } cases[] = {
        {{"blocks", 0.5e-6, 0.002, 0.0021, {cpu ? 12000 : 24000, cpu ? 12000 : 24000}, 50}, 240, "spectrum", {}},
        {{"groups", 1e-6, 0.005, 0.015, {8192, 8192}, 50}, 240, "spectrum", {}},
        {{"nodes, 1 um", 1e-6, 0.005, 0.015, {9000, 9000}, 3000}, 1800, "coarse nodes", PointMethod::direct},
        {{"nodes, 1 um, crowd", 1e-6, 0.005, 0.015, {14000, 14000}, 80000}, 1800, "coarse nodes", PointMethod::direct},
        {{"nodes, 1 um, before", 1e-6, -0.015, -0.005, {9000, 9000}, 3000}, 1800, "coarse nodes", PointMethod::direct},
        {{"nodes, 1 um, 5 cm", 1e-6, 0.05, 0.08, {9000, 9000}, 3000}, 8000, "coarse nodes", PointMethod::direct},
        {{"nodes, 1 um, 10 cm", 1e-6, 0.09, 0.11, {9000, 9000}, 3000}, 8900, "coarse nodes", PointMethod::direct},
        {{"nodes, 8 um", 8e-6, 0.3, 0.38, {9000, 9000}, 3000}, 1600, "coarse nodes", PointMethod::direct}};
    for (const auto& [scene, cloud_px, sums, other] : cases) {
      if (cpu && &scene != &cases[0].scene) break;  // its blocks are those of a smaller limit
      SCOPED_TRACE(scene.name);
      const std::int64_t side = scene.shape[0];
      auto c = cases::exact_case(scene, PointMethod::fast);
      c.extent = cloud_px / static_cast<double>(side);
      const auto points = cases::make_points(c);
      holotone::PointCloudPlan plan(c.options, device);
      plan.set_points(cases::sources(points));
      EXPECT_NE(plan.info().arithmetic.find(sums), std::string::npos) << plan.info().arithmetic;
      const holotone::RowRange rows{side / 2 - 10, 20};
      Array<std::complex<float>, 2> there({rows.rows, side}, device);
      plan.execute(rows, {.field = there.view()});
      const auto part = there.to(Device{});
      auto small = c;
      small.options.shape = {200, 240};
      if (other != PointMethod::automatic) small.options.method = other;
      const auto middle = summed(small, points, device);
      double difference = 0;
      double norm = 0;
      for (std::int64_t row = 0; row < rows.rows; ++row) {
        for (std::int64_t column = 0; column < 240; ++column) {
          const auto expected = middle(90 + row, column);
          difference += std::norm(part(row, side / 2 - 120 + column) - expected);
          norm += std::norm(expected);
        }
      }
      std::printf("  %-20s tolerance %.0e: %.1e, %s\n", scene.name, c.options.tolerance, std::sqrt(difference / norm),
                  plan.info().arithmetic.c_str());
      // Beside direct the error is this sum's alone, else that of two.
      EXPECT_LE(std::sqrt(difference / norm), (other == PointMethod::direct ? 1 : 1.5) * c.options.tolerance);
    }
  });
}

// Coarse nodes end light in the middle of its soft edge.
TEST_P(ExactWave, LightOfAPrintIsThatOfDirectAllOver) {
  on_each([&](Device device) {
    if (device.backend == holotone::Backend::cpu) return;  // it has no coarse nodes
    for (const auto& [pitch_m, near_m] : {std::array{0.9e-6, 0.0099}, std::array{8e-6, 0.3}}) {
      SCOPED_TRACE(pitch_m);
      auto c = cases::exact_case({"", pitch_m, near_m, 1.02 * near_m, {8400, 8400}, 4}, PointMethod::fast);
      c.extent = 0.2;
      const auto points = cases::make_points(c);
      holotone::PointCloudPlan nodes(c.options, device);
      nodes.set_points(cases::sources(points));
      EXPECT_NE(nodes.info().arithmetic.find("coarse nodes"), std::string::npos) << nodes.info().arithmetic;
      c.options.method = PointMethod::direct;
      holotone::PointCloudPlan direct(c.options, device);
      direct.set_points(cases::sources(points));
      double difference = 0;
      double norm = 0;
      for (std::int64_t row = 0; row < c.options.shape[0]; row += 600) {
        Array<std::complex<float>, 2> sums({600, c.options.shape[1]}, device);
        nodes.execute({row, 600}, {.field = sums.view()});
        const auto got = sums.to(Device{});
        direct.execute({row, 600}, {.field = sums.view()});
        const auto expected = sums.to(Device{});
        for (std::int64_t i = 0; i < got.size(); ++i) {
          difference += std::norm(got.data()[i] - expected.data()[i]);
          norm += std::norm(expected.data()[i]);
        }
      }
      std::printf("  %.2f um: methods differ by %.3f over all light\n", pitch_m * 1e6, std::sqrt(difference / norm));
      EXPECT_LT(std::sqrt(difference / norm), 0.2);
    }
  });
}

}  // namespace
