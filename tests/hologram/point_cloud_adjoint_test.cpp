// The adjoint of the sum over points on every device that has it: against float64, by dot products, and as derivatives
// of a loss.
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

/// The values of the points set, in host memory.
Values adjoint(const PointCloudPlan& plan, const Values& field, Device device) {
  Array<Complex, 1> values({plan.point_count()}, device);
  plan.adjoint(support::upload(field, plan.options().shape, device).view(), values.view());
  const auto host = values.to(Device{});
  return {host.host().begin(), host.host().end()};
}

Values adjoint(const reference::PointWaves& points, const PointCloudOptions& options, const Values& field,
               Device device) {
  PointCloudPlan plan(options, device);
  plan.set_points(cases::sources(points));
  return adjoint(plan, field, device);
}

/// A_j exp(i phi_j)
Values point_light(const reference::PointWaves& points) {
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
  auto tall = base;  // three bands of rows on CUDA
  tall.options.shape = {601, 21};
  tall.count = 5;
  return {
      {"behind", base}, {"near, band limit", near}, {"in front, without limit", front}, {"many", many}, {"tall", tall}};
}

class PointCloudAdjoint : public support::OnEachDevice {};
HOLOTONE_ON_CPU_AND_CUDA(PointCloudAdjoint);

TEST_P(PointCloudAdjoint, AgreesWithFloat64AndWithDotProducts) {
  for (const NamedCase& one : named_cases()) {
    const auto& c = one.c;
    const std::string name = one.name;
    auto points = cases::make_points(c);
    points.amplitude[3] = 0;  // its derivative is not 0
    const auto panel = cases::panel_of(c.options);
    const Values field = noise(c.options);
    const auto expected = point_cloud_adjoint(points, panel, field);
    const auto there = point_cloud_field(points, panel);
    on_each([&](Device device) {
      const auto values = adjoint(points, c.options, field, device);
      support::expect_within(name + ", values", support::relative_error(values.data(), expected), promised_error);
      EXPECT_NE(values[3], Complex64(0));
      support::expect_within(name + ", dot products", support::adjoint_error(there, field, point_light(points), values),
                             1e-5);
      if (c.near_m == 2e-3) {
        const auto unlit = std::count(values.begin(), values.end(), Complex64(0));
        EXPECT_EQ(unlit, unlit_points(cases::sources(points), c.options));
        EXPECT_GT(unlit, 0);
      }
    });
  }
}

// All terms of the sum are 1: rounding must not grow with the panel. It is two groups of bands on CUDA.
TEST_P(PointCloudAdjoint, AWaveInPhaseCountsItsPixels) {
  const reference::PointWaves point{{{2e-5F, -3e-5F, -0.4F}}, {1}, {}};
  const PointCloudOptions options{.pitch_m = 2e-6, .shape = {8192, 512}, .band_limit = false};
  const Values field = point_cloud_field(point, cases::panel_of(options));
  on_each([&](Device device) {
    const auto values = adjoint(point, options, field, device);
    support::expect_within("in phase", std::abs(values[0] / (8192. * 512) - 1.0), promised_error);
  });
}

TEST_P(PointCloudAdjoint, IsTheSameForEveryMethod) {
  auto c = named_cases()[0].c;
  const auto points = cases::make_points(c);
  const Values field = noise(c.options);
  on_each([&](Device device) {
    const auto expected = adjoint(points, c.options, field, device);
    for (const auto method : cases::point_methods) {
      auto options = c.options;
      options.method = method;
      EXPECT_EQ(adjoint(points, options, field, device), expected) << to_string(method);
    }
  });
}

// Half precision on CUDA ends at 65504 and 6e-8.
TEST_P(PointCloudAdjoint, ScalesWithTheField) {
  const auto c = named_cases()[0].c;
  const auto points = cases::make_points(c);
  const Values field = noise(c.options);
  on_each([&](Device device) {
    const auto expected = adjoint(points, c.options, field, device);
    for (const double scale : {0x1p-80, 0x1p80}) {
      Values scaled = field;
      for (auto& value : scaled) value *= scale;
      auto values = adjoint(points, c.options, scaled, device);
      for (auto& value : values) value /= scale;
      EXPECT_LE(support::relative_error(values.data(), expected), 1e-6) << scale;
    }
    EXPECT_EQ(adjoint(points, c.options, Values(field.size()), device), Values(points.amplitude.size()));
  });
}

TEST_P(PointCloudAdjoint, KeepsThePointsSet) {
  const auto c = named_cases()[0].c;
  const auto points = cases::make_points(c);
  const Values field = noise(c.options);
  on_each([&](Device device) {
    const auto expected = adjoint(points, c.options, field, device);
    PointCloudPlan plan(c.options, device);
    {
      const auto host = cases::sources(points);
      auto position_m = copy_of(host.position_m, device);
      const auto amplitude = copy_of(host.amplitude, device);
      plan.set_points({position_m.view(), amplitude.view(), {}});
      const std::vector<float> zeros(static_cast<std::size_t>(position_m.size()));
      copy<float, 2>(position_m.view(), {zeros.data(), position_m.shape()}, holotone::Queue(device));
    }
    EXPECT_EQ(adjoint(plan, field, device), expected) << "from arrays of the device, overwritten since";
    auto larger = c;
    larger.count = 99;
    auto bad = cases::make_points(larger);
    bad.amplitude[98] = NAN;
    EXPECT_THROW(plan.set_points(cases::sources(bad)), holotone::Error);
    EXPECT_EQ(adjoint(plan, field, device), expected) << "after points that were refused";
  });
}

// E = 1/2 |U - T|^2 in float64, its central differences, and the formulas of point_cloud.hpp.
TEST_P(PointCloudAdjoint, GivesTheDerivativesOfALoss) {
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
  const auto light = point_light(points);
  Values expected[3];
  for (std::size_t j = 0; j < light.size(); ++j) {
    expected[0].emplace_back(slope([j](auto& at) -> float& { return at.amplitude[j]; }, 1e-2F));
    expected[1].emplace_back(slope([j](auto& at) -> float& { return at.phase_rad[j]; }, 1e-3F));
    expected[2].emplace_back(slope([j](auto& at) -> float& { return at.position_m[j][0]; }, 2e-8F));
  }
  on_each([&](Device device) {
    const auto values = adjoint(points, c.options, field, device);
    const auto moments = adjoint(points, c.options, field_times_x, device);
    Values got[3];
    for (std::size_t j = 0; j < values.size(); ++j) {
      const auto& [x, y, z] = points.position_m[j];
      const double amplitude = static_cast<double>(points.amplitude[j]);
      got[0].emplace_back((std::conj(light[j] / amplitude) * values[j]).real());
      got[1].emplace_back((std::conj(light[j]) * values[j]).imag());
      const auto moment = moments[j] - static_cast<double>(x) * values[j];
      got[2].emplace_back(2 * std::numbers::pi / (panel.wavelength_m * static_cast<double>(z)) *
                          (std::conj(light[j]) * moment).imag());
    }
    const char* const names[] = {"amplitude", "phase", "x"};
    for (std::size_t i = 0; i < 3; ++i) {
      support::expect_within(std::string("derivative by ") + names[i],
                             support::relative_error(got[i].data(), expected[i]), 1e-5);
    }
  });
}

TEST_P(PointCloudAdjoint, RefusesWhatIsWrong) {
  on_each([](Device device) {
    const auto c = named_cases()[0].c;
    const auto points = cases::make_points(c);
    const Array<Complex, 2> field = support::upload(noise(c.options), c.options.shape, device);
    Array<Complex, 1> values({c.count}, device);
    PointCloudPlan plan(c.options, device);
    const auto expect = [&](const std::string& text, const auto& call) {
      support::expect_error(ErrorCode::invalid_argument, "PointCloudPlan::adjoint: " + text, call);
    };
    expect("points: expected a call of set_points before", [&] { plan.adjoint(field.view(), values.view()); });
    plan.set_points(cases::sources(points));
    expect("values: expected shape {70}, got {69}", [&] { plan.adjoint(field.view(), {values.data(), {69}, device}); });
    expect("field: expected shape {65, 96}, got {96, 65}", [&] {
      plan.adjoint({field.data(), {96, 65}, device}, values.view());
    });
    class Stop final : public holotone::Progress {
      bool update(std::string_view, std::int64_t, std::int64_t) override { return false; }
    } stop;
    support::expect_error(ErrorCode::cancelled, "multiplying factors",
                          [&] { plan.adjoint(field.view(), values.view(), {}, stop); });
    plan.set_points({});
    EXPECT_NO_THROW(plan.adjoint(field.view(), {}));
    expect("values: expected shape {0}, got {70}", [&] { plan.adjoint(field.view(), values.view()); });
  });
}

}  // namespace
