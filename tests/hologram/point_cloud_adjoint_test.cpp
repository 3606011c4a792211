// The adjoint of the sum over points: against float64, by dot products, and as derivatives of a loss.
#include <cmath>
#include <functional>
#include <holotone/core/random.hpp>
#include <holotone/hologram/point_cloud.hpp>
#include <numbers>
#include <tests/cases/point_cloud.hpp>
#include <tests/support/adjoint.hpp>
#include <tests/support/on_each_device.hpp>

namespace {

using holotone::Array;
using holotone::Device;
using holotone::ErrorCode;
using holotone::PointCloudOptions;
using holotone::PointCloudPlan;
using support::Complex;
using support::Complex64;
using Values = std::vector<Complex64>;

/// Bound of point_cloud.hpp.
constexpr double promised_error = 2e-6;

Values noise(const PointCloudOptions& options) {
  Values field(static_cast<std::size_t>(holotone::element_count(options.shape)));
  for (std::size_t i = 0; i < field.size(); ++i) {
    field[i] = {static_cast<double>(holotone::random_uniform(3, 2 * i)) - 0.5,
                static_cast<double>(holotone::random_uniform(3, 2 * i + 1)) - 0.5};
  }
  return field;
}

Values adjoint(const reference::PointWaves& points, const PointCloudOptions& options, const Values& field) {
  PointCloudPlan plan(options);
  plan.set_points(cases::sources(points));
  Array<Complex, 1> values({std::ssize(points.amplitude)});
  plan.adjoint(support::upload(field, options.shape, Device{}).view(), values.view());
  return {values.host().begin(), values.host().end()};
}

/// A_j exp(i phi_j)
Values light_of(const reference::PointWaves& points) {
  Values light;
  for (std::size_t j = 0; j < points.amplitude.size(); ++j) {
    light.push_back(std::polar(1.0, points.phase_rad.empty() ? 0.0 : static_cast<double>(points.phase_rad[j])) *
                    static_cast<double>(points.amplitude[j]));
  }
  return light;
}

struct NamedCase {
  const char* name;
  cases::PointCloudCase c;
};

std::vector<NamedCase> named_cases() {
  cases::PointCloudCase base;
  base.options.shape = {65, 96};
  base.count = 70;
  base.near_m = 0.1;
  base.far_m = 0.2;
  base.phases = true;
  auto near = base;  // points light squares of some 20 pixels; some light none
  near.near_m = 2e-3;
  near.far_m = 3e-3;
  near.extent = 1.8;
  near.options.cone_wavelength_m = 450e-9;
  auto front = base;
  front.near_m = -0.1;
  front.far_m = -0.02;
  front.options.band_limit = false;
  auto many = base;  // more than a chunk
  many.options.shape = {33, 20};
  many.count = 2100;
  return {{"behind", base}, {"near, band limit", near}, {"in front, without limit", front}, {"many", many}};
}

TEST(PointCloudAdjoint, AgreesWithFloat64AndWithDotProducts) {
  for (const auto& [name, c] : named_cases()) {
    auto points = cases::make_points(c);
    points.amplitude[3] = 0;  // its derivative is not 0
    const auto panel = cases::panel_of(c.options);
    const Values field = noise(c.options);
    const auto expected = point_cloud_adjoint(points, panel, field);
    const auto values = adjoint(points, c.options, field);
    support::expect_within(std::string(name) + ", values", support::relative_error(values.data(), expected),
                           promised_error);
    EXPECT_NE(values[3], Complex64(0));
    support::expect_within(std::string(name) + ", dot products",
                           support::adjoint_error(point_cloud_field(points, panel), field, light_of(points), values),
                           1e-5);
    if (c.near_m == 2e-3) {
      const auto unlit = std::count(values.begin(), values.end(), Complex64(0));
      EXPECT_EQ(unlit, unlit_points(cases::sources(points), c.options));
      EXPECT_GT(unlit, 0);
    }
  }
}

// All terms of the sum are 1: rounding must not grow with the panel.
TEST(PointCloudAdjoint, AWaveInPhaseCountsItsPixels) {
  const reference::PointWaves point{{{2e-5F, -3e-5F, -0.4F}}, {1}, {}};
  const PointCloudOptions options{.pitch_m = 2e-6, .shape = {8192, 96}, .band_limit = false};
  const auto values = adjoint(point, options, point_cloud_field(point, cases::panel_of(options)));
  support::expect_within("in phase", std::abs(values[0] / (8192. * 96) - 1.0), promised_error);
}

TEST(PointCloudAdjoint, IsTheSameForEveryMethod) {
  auto c = named_cases()[0].c;
  const auto points = cases::make_points(c);
  const Values field = noise(c.options);
  const auto expected = adjoint(points, c.options, field);
  for (const auto method : cases::point_methods) {
    c.options.method = method;
    EXPECT_EQ(adjoint(points, c.options, field), expected) << to_string(method);
  }
}

// E = 1/2 |U - T|^2 in float64, its central differences, and the formulas of point_cloud.hpp.
TEST(PointCloudAdjoint, GivesTheDerivativesOfALoss) {
  auto c = named_cases()[0].c;
  c.options.shape = {33, 48};
  c.count = 6;
  c.options.band_limit = false;
  const auto points = cases::make_points(c);
  const auto panel = cases::panel_of(c.options);
  const Values target = noise(c.options);
  const auto difference = [&](const reference::PointWaves& at) {
    auto field = point_cloud_field(at, panel);
    for (std::size_t i = 0; i < field.size(); ++i) field[i] -= target[i];
    return field;
  };
  const auto loss = [&](const reference::PointWaves& at) {
    double sum = 0;
    for (const auto& value : difference(at)) sum += 0.5 * std::norm(value);
    return sum;
  };
  const auto slope = [&](const std::function<float&(reference::PointWaves&)>& number, float step) {
    auto low = points;
    auto high = points;
    number(low) -= step;
    number(high) += step;
    return (loss(high) - loss(low)) / (static_cast<double>(number(high)) - static_cast<double>(number(low)));
  };
  const Values field = difference(points);
  Values field_times_x = field;
  for (std::int64_t i = 0; i < std::ssize(field); ++i) {
    const auto column = static_cast<double>(i % panel.nx);
    field_times_x[static_cast<std::size_t>(i)] *= (column - static_cast<double>(panel.nx - 1) / 2) * panel.pitch_m;
  }
  const auto values = adjoint(points, c.options, field);
  const auto moments = adjoint(points, c.options, field_times_x);
  const auto light = light_of(points);
  Values got[3];
  Values expected[3];
  for (std::size_t j = 0; j < values.size(); ++j) {
    const auto& [x, y, z] = points.position_m[j];
    const double amplitude = static_cast<double>(points.amplitude[j]);
    got[0].emplace_back((std::conj(light[j] / amplitude) * values[j]).real());
    got[1].emplace_back((std::conj(light[j]) * values[j]).imag());
    const auto moment = moments[j] - static_cast<double>(x) * values[j];
    got[2].emplace_back(2 * std::numbers::pi / (panel.wavelength_m * static_cast<double>(z)) *
                        (std::conj(light[j]) * moment).imag());
    expected[0].emplace_back(slope([j](auto& at) -> float& { return at.amplitude[j]; }, 1e-2F));
    expected[1].emplace_back(slope([j](auto& at) -> float& { return at.phase_rad[j]; }, 1e-3F));
    expected[2].emplace_back(slope([j](auto& at) -> float& { return at.position_m[j][0]; }, 2e-8F));
  }
  const char* const names[] = {"amplitude", "phase", "x"};
  for (std::size_t i = 0; i < 3; ++i) {
    support::expect_within(std::string("derivative by ") + names[i],
                           support::relative_error(got[i].data(), expected[i]), 1e-5);
  }
}

TEST(PointCloudAdjoint, RefusesWhatIsWrong) {
  const auto c = named_cases()[0].c;
  const auto points = cases::make_points(c);
  const Array<Complex, 2> field = support::upload(noise(c.options), c.options.shape, Device{});
  Array<Complex, 1> values({c.count});
  PointCloudPlan plan(c.options);
  const auto expect = [&](const std::string& text, const auto& call) {
    support::expect_error(ErrorCode::invalid_argument, "PointCloudPlan::adjoint: " + text, call);
  };
  expect("points: expected a call of set_points before", [&] { plan.adjoint(field.view(), values.view()); });
  plan.set_points(cases::sources(points));
  expect("values: expected shape {70}, got {69}", [&] { plan.adjoint(field.view(), {values.data(), {69}}); });
  expect("field: expected shape {65, 96}, got {96, 65}", [&] {
    plan.adjoint({field.data(), {96, 65}}, values.view());
  });
  class Stop final : public holotone::Progress {
    bool update(std::string_view, std::int64_t, std::int64_t) override { return false; }
  } stop;
  support::expect_error(ErrorCode::cancelled, "multiplying factors",
                        [&] { plan.adjoint(field.view(), values.view(), stop); });
  plan.set_points({});
  EXPECT_NO_THROW(plan.adjoint(field.view(), {}));
  expect("values: expected shape {0}, got {70}", [&] { plan.adjoint(field.view(), values.view()); });
  auto spherical = c.options;
  spherical.wave = holotone::Wave::spherical;
  support::expect_error(ErrorCode::unsupported, "PointCloudPlan::adjoint: wave: expected fresnel, got spherical",
                        [&] { PointCloudPlan(spherical).adjoint(field.view(), values.view()); });
}

}  // namespace
