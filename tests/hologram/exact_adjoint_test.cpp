// The adjoint of the exact wave's sum and its derivatives: against the float64 definition, and against the sum.
#include <cmath>
#include <cstdio>
#include <gtest/gtest.h>
#include <holotone/core/random.hpp>
#include <holotone/hologram/point_cloud.hpp>
#include <tests/cases/exact_scene.hpp>
#include <tests/support/adjoint.hpp>
#include <tests/support/on_each_device.hpp>

namespace {

using holotone::Array;
using holotone::Device;
using holotone::PointCloudPlan;
using holotone::PointDerivative;
using holotone::Wave;
using Complex = std::complex<float>;
using Values = std::vector<std::complex<double>>;

using Scene = cases::ExactScene;

Values noise(std::int64_t size) {
  Values field(static_cast<std::size_t>(size));
  for (std::size_t i = 0; i < field.size(); ++i) {
    field[i] = {static_cast<double>(holotone::random_uniform(3, 2 * i)) - 0.5,
                static_cast<double>(holotone::random_uniform(3, 2 * i + 1)) - 0.5};
  }
  return field;
}

Values adjoint(const PointCloudPlan& plan, const Values& field, Device device,
               PointDerivative by = PointDerivative::none) {
  Array<Complex, 1> values({plan.point_count()}, device);
  plan.adjoint(support::upload(field, plan.options().shape, device).view(), values.view(), by);
  const auto host = values.to(Device{});
  return {host.host().begin(), host.host().end()};
}

/// <h, field> of one point's wave of amplitude 1 and phase 0, by the definition.
std::complex<double> product(const std::array<float, 3>& place, const reference::PointPanel& panel, std::int64_t period,
                             const Values& field) {
  const reference::PointSpectrum wave({{place}, {1}, {}}, panel, period);
  double re = 0;
  double im = 0;
#pragma omp parallel for reduction(+ : re, im)
  for (std::int64_t i = 0; i < panel.ny * panel.nx; ++i) {
    const auto term = std::conj(wave.pixel(i / panel.nx, i % panel.nx)) * field[static_cast<std::size_t>(i)];
    re += term.real();
    im += term.imag();
  }
  return {re, im};
}

class ExactAdjoint : public support::OnEachDevice {};
HOLOTONE_ON_CPU_AND_CUDA(ExactAdjoint);

TEST_P(ExactAdjoint, IsTheDefinitionsAndSoAreItsDerivatives) {
  constexpr Scene scenes[] = {{"1 um, 0.1 mm", 1e-6, 1e-4, 1.2e-4, {16, 24}, 3, 320},
                              {"8 um, 5 mm", 8e-6, 5e-3, 5.5e-3, {16, 24}, 3, 320},
                              {"both sides", 1e-6, -1e-4, 0.8e-4, {16, 24}, 3, 320}};
  for (const auto& scene : scenes) {
    SCOPED_TRACE(scene.name);
    auto c = cases::exact_case(scene, holotone::PointMethod::fast);
    const auto points = cases::make_points(c);
    const auto panel = cases::panel_of(c.options);
    const Values field = noise(c.pixels());
    Values expected[4];
    for (const auto& place : points.position_m) {
      expected[0].push_back(product(place, panel, scene.period, field));
      for (std::size_t axis = 0; axis < 3; ++axis) {
        auto low = place;
        auto high = place;
        const float step = axis < 2 ? 1e-3F * static_cast<float>(scene.pitch_m) : 2e-4F * std::abs(place[2]);
        low[axis] -= step;
        high[axis] += step;
        const double distance = static_cast<double>(high[axis]) - static_cast<double>(low[axis]);
        expected[axis + 1].push_back(
            (product(high, panel, scene.period, field) - product(low, panel, scene.period, field)) / distance);
      }
    }
    on_each([&](Device device) {
      for (const double tolerance : {1e-3, 1e-5}) {
        c.options.tolerance = tolerance;
        PointCloudPlan plan(c.options, device);
        plan.set_points(cases::sources(points));
        for (const auto by : {PointDerivative::none, PointDerivative::x, PointDerivative::y, PointDerivative::z}) {
          const auto values = adjoint(plan, field, device, by);
          const double error = support::relative_error(values.data(), expected[static_cast<std::size_t>(by)]);
          std::printf("  %-14s tolerance %.0e, by %-4s: %.1e\n", scene.name, tolerance,
                      std::string(to_string(by)).c_str(), error);
          // Of three values each; central differences of the definition leave 1e-5.
          EXPECT_LE(error, by == PointDerivative::none ? tolerance : std::max(2 * tolerance, 5e-5));
        }
      }
    });
  }
}

// Deep scenes of many tiles, light up to the cone, and blocks: the transpose of the same sum.
TEST_P(ExactAdjoint, AgreesWithTheSumByDotProducts) {
  constexpr Scene scenes[] = {{"8 um, 20 cm", 8e-6, 0.2, 0.4, {300, 500}, 3000, 0},
                              {"3.74 um, 1 cm, deep", 3.74e-6, 0.001, 0.02, {400, 300}, 500, 0},
                              {"0.25 um, 0.1 mm", 0.25e-6, 1e-4, 1.05e-4, {900, 1200}, 50, 0},
                              {"blocks", 0.5e-6, 0.002, 0.0021, {300, 12000}, 40, 0}};
  for (const auto& scene : scenes) {
    SCOPED_TRACE(scene.name);
    auto c = cases::exact_case(scene, holotone::PointMethod::fast);
    c.options.tolerance = 1e-4;
    const auto points = cases::make_points(c);
    const Values field = noise(c.pixels());
    on_each([&](Device device) {
      PointCloudPlan plan(c.options, device);
      plan.set_points(cases::sources(points));
      Array<Complex, 2> summed(c.options.shape, device);
      plan.execute({.field = summed.view()});
      const auto there = summed.to(Device{});
      Values light;
      for (std::size_t j = 0; j < points.amplitude.size(); ++j) {
        light.push_back(std::polar(static_cast<double>(points.amplitude[j]), static_cast<double>(points.phase_rad[j])));
      }
      const auto values = adjoint(plan, field, device);
      // An inner product of noise is some 1 / sqrt(pixels) of the norms' product.
      double norms[3] = {};
      std::complex<double> inner = 0;
      for (std::int64_t i = 0; i < c.pixels(); ++i) {
        const std::complex<double> value(there.data()[i]);
        norms[0] += std::norm(value);
        norms[1] += std::norm(field[static_cast<std::size_t>(i)]);
        inner += std::conj(value) * field[static_cast<std::size_t>(i)];
      }
      std::complex<double> back = 0;
      for (std::size_t j = 0; j < light.size(); ++j) back += std::conj(light[j]) * values[j];
      const double error = std::abs(inner - back) / std::sqrt(norms[0] * norms[1] / static_cast<double>(c.pixels()));
      std::printf("  %-22s %.1e\n", scene.name, error);
      EXPECT_LE(error, 1e-3);
      EXPECT_EQ(adjoint(plan, field, device), values) << "the same bits every time";
    });
  }
}

TEST_P(ExactAdjoint, RefusesWhatItHasNot) {
  const auto c = cases::exact_case({"", 8e-6, 0.2, 0.21, {24, 32}, 4}, holotone::PointMethod::fast);
  const auto points = cases::make_points(c);
  const Values field = noise(c.pixels());
  const auto refused = [&](Device device, const std::string& text, bool band_limit, Wave wave, PointDerivative by,
                           double tolerance = 1e-3) {
    auto options = c.options;
    options.method = holotone::PointMethod::direct;
    options.wave = wave;
    options.band_limit = band_limit;
    options.tolerance = tolerance;
    PointCloudPlan plan(options, device);
    plan.set_points(cases::sources(points));
    support::expect_error(holotone::ErrorCode::unsupported, "PointCloudPlan::adjoint: " + text,
                          [&] { adjoint(plan, field, device, by); });
  };
  on_each([&](Device device) {
    refused(device, "band_limit: expected true for wave spherical, got false", false, Wave::spherical,
            PointDerivative::none);
    refused(device, "tolerance: expected at least 1e-05 for wave spherical, got 2e-06", true, Wave::spherical,
            PointDerivative::none, 2e-6);
    refused(device, "by: expected none for wave fresnel, got x", true, Wave::fresnel, PointDerivative::x);
  });
}

}  // namespace
