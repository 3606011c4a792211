// Accepted and rejected inputs of the plan, its error messages, and its choices.
#include <gtest/gtest.h>
#include <holotone/core/device.hpp>
#include <holotone/hologram/point_cloud.hpp>
#include <limits>
#include <tests/cases/point_cloud.hpp>
#include <tests/support/on_each_device.hpp>

namespace {

using holotone::Array;
using holotone::Device;
using holotone::Error;
using holotone::ErrorCode;
using holotone::point_cloud_tolerance_floor;
using holotone::PointCloudOptions;
using holotone::PointCloudPlan;
using holotone::PointMethod;
using holotone::Wave;

template <class Call>
void expect_error(ErrorCode code, const std::string& text, const Call& call) {
  try {
    call();
    ADD_FAILURE() << "nothing was thrown; expected: " << text;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_EQ(std::string(error.what()), text);
  }
}

class PointCloudPlanOnDevice : public support::OnEachDevice {};
HOLOTONE_ON_EACH_DEVICE(PointCloudPlanOnDevice);

cases::PointCloudCase tiny_case(std::int64_t count = 20) {
  cases::PointCloudCase c;
  c.options.shape = {24, 40};
  c.count = count;
  return c;
}

TEST(PointCloudPlan, RefusesOptionsOutOfRange) {
  const auto make = [](auto change) {
    return [change] {
      PointCloudOptions options;
      change(options);
      const PointCloudPlan plan(options);
    };
  };
  const auto invalid = ErrorCode::invalid_argument;
  expect_error(invalid, "PointCloudPlan: wavelength_m: expected > 0, got -5.32e-07",
               make([](auto& o) { o.wavelength_m = -532e-9; }));
  expect_error(invalid, "PointCloudPlan: pitch_m: expected > 0, got 0", make([](auto& o) { o.pitch_m = 0; }));
  expect_error(invalid, "PointCloudPlan: wavelength_m: expected > 0, got nan",
               make([](auto& o) { o.wavelength_m = std::numeric_limits<double>::quiet_NaN(); }));
  expect_error(invalid, "PointCloudPlan: shape: expected {ny, nx}, each 1 to 16777216, got {0, 1920}",
               make([](auto& o) {
                 o.shape = {0, 1920};
               }));
  expect_error(invalid, "PointCloudPlan: shape: expected {ny, nx}, each 1 to 16777216, got {1080, -1}",
               make([](auto& o) {
                 o.shape = {1080, -1};
               }));
  expect_error(invalid, "PointCloudPlan: tolerance: expected 2e-06 to 1, got 1e-09",
               make([](auto& o) { o.tolerance = 1e-9; }));
  expect_error(invalid, "PointCloudPlan: tolerance: expected 2e-06 to 1, got 1.5",
               make([](auto& o) { o.tolerance = 1.5; }));
  const auto unsupported = ErrorCode::unsupported;
  expect_error(unsupported, "PointCloudPlan: method: expected another one for tolerances below 1e-05, got fast",
               make([](auto& o) {
                 o.method = PointMethod::fast;
                 o.tolerance = 9e-6;
               }));
  const auto exact = [&](PointMethod method, bool band_limit) {
    return make([=](auto& o) {
      o.wave = Wave::spherical;
      o.method = method;
      o.band_limit = band_limit;
    });
  };
  expect_error(unsupported, "PointCloudPlan: wave: expected fresnel with recurrence, got spherical",
               exact(PointMethod::recurrence, true));
  expect_error(unsupported, "PointCloudPlan: wave: expected fresnel with separable, got spherical",
               exact(PointMethod::separable, true));
  expect_error(unsupported, "PointCloudPlan: wave: expected fresnel with fast without a band limit, got spherical",
               exact(PointMethod::fast, false));
}

TEST_P(PointCloudPlanOnDevice, RefusesPointsThatDoNotFitTogether) {
  on_each([&](Device device) {
    PointCloudPlan plan({.shape = {8, 8}}, device);
    std::vector<float> numbers(30, 1.0F);
    const auto set = [&](holotone::View<const float, 2> position, holotone::View<const float, 1> amplitude,
                         holotone::View<const float, 1> phase) {
      return [&plan, position, amplitude, phase] { plan.set_points({position, amplitude, phase}); };
    };
    const float* data = numbers.data();
    const auto invalid = ErrorCode::invalid_argument;
    expect_error(invalid, "PointCloudPlan::set_points: position_m: expected shape {n, 3}, got {5, 2}",
                 set({data, {5, 2}}, {data, {5}}, {}));
    expect_error(invalid, "PointCloudPlan::set_points: amplitude: expected shape {5}, one for each position, got {4}",
                 set({data, {5, 3}}, {data, {4}}, {}));
    expect_error(invalid, "PointCloudPlan::set_points: amplitude: expected shape {5}, one for each position, got {0}",
                 set({data, {5, 3}}, {}, {}));
    expect_error(invalid, "PointCloudPlan::set_points: phase_rad: expected shape {5} or an empty view, got {6}",
                 set({data, {5, 3}}, {data, {5}}, {data, {6}}));
    const Device other{holotone::Backend::cuda, 7};
    expect_error(invalid,
                 "PointCloudPlan::set_points: position_m: expected an array on device " + to_string(device) +
                     " or cpu, got one on device cuda:7",
                 set({data, {5, 3}, other}, {data, {5}, other}, {}));
    expect_error(invalid,
                 "PointCloudPlan::set_points: amplitude: expected an array on device cpu, got one on device cuda:7",
                 set({data, {5, 3}}, {data, {5}, other}, {}));
  });
}

TEST_P(PointCloudPlanOnDevice, NamesTheFirstBadPoint) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinite = std::numeric_limits<float>::infinity();
  struct Bad {
    int column;  // 0..2 position, 3 amplitude, 4 phase
    float value;
    const char* text;
  };
  const Bad all[] = {{0, nan, "x = nan, y = 2, z = -1, amplitude = 4, phase = 5"},
                     {1, infinite, "x = 1, y = inf, z = -1, amplitude = 4, phase = 5"},
                     {2, 0, "x = 1, y = 2, z = 0, amplitude = 4, phase = 5"},
                     {2, -infinite, "x = 1, y = 2, z = -inf, amplitude = 4, phase = 5"},
                     {3, nan, "x = 1, y = 2, z = -1, amplitude = nan, phase = 5"},
                     {4, nan, "x = 1, y = 2, z = -1, amplitude = 4, phase = nan"}};
  on_each([&](Device plan_device) {
    for (const auto source : {Device{}, plan_device}) {
      for (const auto& bad : all) {
        Array<float, 2> position({1000, 3});
        Array<float, 1> amplitude({1000});
        Array<float, 1> phase({1000});
        for (std::int64_t j = 0; j < 1000; ++j) {
          position(j, 0) = 1;
          position(j, 1) = 2;
          position(j, 2) = -1;
          amplitude(j) = 4;
          phase(j) = 5;
        }
        for (const std::int64_t j : {637, 900}) {
          (bad.column < 3 ? position(j, bad.column) : bad.column == 3 ? amplitude(j) : phase(j)) = bad.value;
        }
        const auto position_there = position.to(source);
        const auto amplitude_there = amplitude.to(source);
        const auto phase_there = phase.to(source);
        PointCloudPlan plan({.shape = {8, 8}}, plan_device);
        expect_error(
            ErrorCode::invalid_argument,
            std::string("PointCloudPlan::set_points: point 637: expected finite values and z other than 0 (the "
                        "panel's plane), got ") +
                bad.text,
            [&] {
              plan.set_points({position_there.view(), amplitude_there.view(), phase_there.view()});
            });
      }
    }
  });
}

TEST_P(PointCloudPlanOnDevice, RefusesOutputsThatDoNotFit) {
  const auto c = tiny_case();
  const auto points = cases::make_points(c);
  on_each([&](Device device) {
    PointCloudPlan plan(c.options, device);
    Array<std::complex<float>, 2> field(c.options.shape, device);
    expect_error(ErrorCode::invalid_argument,
                 "PointCloudPlan::execute: points: expected a call of set_points before, got none", [&] {
                   plan.execute({field.view(), {}, {}});
                 });
    plan.set_points(cases::sources(points));
    expect_error(ErrorCode::invalid_argument,
                 "PointCloudPlan::execute: output: expected a field, real or phase view to write, got none",
                 [&] { plan.execute({}); });
    Array<float, 2> real({24, 41}, device);
    expect_error(ErrorCode::invalid_argument, "PointCloudPlan::execute: real: expected shape {24, 40}, got {24, 41}",
                 [&] {
                   plan.execute({{}, real.view(), {}});
                 });
    const holotone::View<std::uint8_t, 2> elsewhere(reinterpret_cast<std::uint8_t*>(field.data()), c.options.shape,
                                                    {holotone::Backend::cuda, 7});
    expect_error(ErrorCode::invalid_argument,
                 "PointCloudPlan::execute: phase: expected an array on device " + to_string(device) +
                     ", got one on device cuda:7",
                 [&] {
                   plan.execute({{}, {}, elsewhere});
                 });
  });
}

TEST(PointCloudPlan, ABadCloudLeavesThePlanWithTheOneBefore) {
  const auto c = tiny_case();
  const auto points = cases::make_points(c);
  PointCloudPlan plan(c.options);
  plan.set_points(cases::sources(points));
  auto broken = points;
  broken.position_m[3][2] = 0;
  EXPECT_THROW(plan.set_points(cases::sources(broken)), Error);
  EXPECT_EQ(plan.point_count(), c.count);
  Array<std::complex<float>, 2> field(c.options.shape);
  plan.execute({field.view(), {}, {}});
  const auto expected = cases::sample_reference(c, points, c.pixels());
  EXPECT_LE(cases::relative_error(expected, field.data()), c.options.tolerance);
}

TEST_P(PointCloudPlanOnDevice, NoPointsGiveNoLight) {
  on_each([&](Device device) {
    for (const auto method : cases::point_methods) {
      if (!cases::has_method(method, 1e-3, device)) continue;
      PointCloudOptions options{.shape = {17, 33}, .method = method};
      PointCloudPlan plan(options, device);
      plan.set_points({});
      EXPECT_EQ(plan.point_count(), 0);
      Array<std::complex<float>, 2> field(options.shape, device);
      Array<float, 2> real(options.shape, device);
      Array<std::uint8_t, 2> phase(options.shape, device);
      plan.execute({field.view(), real.view(), phase.view()});
      holotone::Queue(device).synchronize();
      const auto host_field = field.to(Device{});
      const auto host_real = real.to(Device{});
      const auto host_phase = phase.to(Device{});
      for (std::int64_t i = 0; i < field.size(); ++i) {
        ASSERT_EQ(host_field.data()[i], std::complex<float>());
        ASSERT_EQ(host_real.data()[i], 0.0F);
        ASSERT_EQ(host_phase.data()[i], 0);
      }
    }
  });
}

TEST_P(PointCloudPlanOnDevice, AMethodThatTheDeviceLacksIsNamed) {
  on_each([&](Device device) {
    for (const auto method : cases::point_methods) {
      if (cases::has_method(method, 1e-3, device)) continue;
      expect_error(ErrorCode::unsupported,
                   "PointCloudPlan: method: expected direct, recurrence or auto on " + to_string(device) + ", got " +
                       std::string(to_string(method)),
                   [&] { const PointCloudPlan plan({.method = method}, device); });
    }
  });
}

TEST_P(PointCloudPlanOnDevice, InfoNamesTheMethodThatRuns) {
  on_each([&](Device device) {
    for (const auto method : cases::point_methods) {
      if (!cases::has_method(method, 1e-3, device)) continue;
      const PointCloudPlan plan({.method = method, .wave = Wave::fresnel}, device);
      EXPECT_EQ(plan.info().method, method);
      EXPECT_FALSE(plan.info().arithmetic.empty());
      EXPECT_EQ(PointCloudPlan({.method = method}, device).info().method, method)
          << "of the wave that points will take";
    }
    PointCloudPlan plan({.shape = {1080, 1920}, .wave = Wave::fresnel}, device);
    EXPECT_EQ(plan.info().method, PointMethod::automatic);
    auto c = tiny_case(1);
    plan.set_points(cases::sources(cases::make_points(c)));
    EXPECT_TRUE(plan.info().method == PointMethod::direct || plan.info().method == PointMethod::separable);
    c.count = 50000;
    if (!cases::has_method(PointMethod::fast, 1e-3, device)) {
      plan.set_points(cases::sources(cases::make_points(c)));
      EXPECT_EQ(plan.info().method, PointMethod::direct);
      return;
    }
    plan.set_points(cases::sources(cases::make_points(c)));
    EXPECT_EQ(plan.info().method, PointMethod::fast) << "many points";
    c.options.method = PointMethod::fast;
    PointCloudPlan asked(c.options, device);
    c.count = 10;
    asked.set_points(cases::sources(cases::make_points(c)));
    EXPECT_EQ(asked.info().method, PointMethod::separable) << "fast was asked for, and products of factors are cheaper";
    c.count = 50000;
    c.options.method = PointMethod::automatic;
    c.options.tolerance = point_cloud_tolerance_floor;
    PointCloudPlan exact(c.options, device);
    exact.set_points(cases::sources(cases::make_points(c)));
    EXPECT_EQ(exact.info().method, PointMethod::separable) << "more exact than fast can be";
    PointCloudPlan sphere({.wave = Wave::spherical, .band_limit = false}, device);
    sphere.set_points(cases::sources(cases::make_points(c)));
    EXPECT_EQ(sphere.info().method, PointMethod::direct) << "without a band limit no other method is exact";
    EXPECT_EQ(sphere.info().wave, Wave::spherical);
    PointCloudPlan limited({.wave = Wave::spherical}, device);
    limited.set_points(cases::sources(cases::make_points(c)));
    const bool opencl = device.backend == holotone::Backend::opencl;
    EXPECT_EQ(limited.info().method, opencl ? PointMethod::direct : PointMethod::fast);
  });
}

TEST(PointCloudPlan, ReportsProgressAndStopsWhenToldTo) {
  struct Counter final : holotone::Progress {
    bool update(std::string_view, std::int64_t done, std::int64_t total) override {
      ++calls;
      ordered = ordered && done >= last && done <= total;
      last = done;
      final_one = done == total;
      return calls < stop_at;
    }
    int calls = 0;
    int stop_at = 1 << 30;
    std::int64_t last = 0;
    bool ordered = true;
    bool final_one = false;
  };
  auto c = tiny_case(5000);
  const auto points = cases::make_points(c);
  for (const auto method : cases::point_methods) {
    c.options.method = method;
    PointCloudPlan plan(c.options);
    plan.set_points(cases::sources(points));
    Array<std::complex<float>, 2> field(c.options.shape);
    Counter all;
    plan.execute({field.view(), {}, {}}, all);
    EXPECT_TRUE(all.ordered);
    EXPECT_TRUE(all.final_one);
    EXPECT_GE(all.calls, 3);
    Counter impatient;
    impatient.stop_at = 2;
    try {
      plan.execute({field.view(), {}, {}}, impatient);
      ADD_FAILURE() << "was not cancelled";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::cancelled);
    }
    EXPECT_EQ(impatient.calls, 2);
  }
}

// A point at distance d lights no pixel if it lies at least lambda |d| / (2 pitch) = 6.65 mm beyond the outermost
// pixel's centre.
TEST(PointCloudPlan, CountsThePointsThatLightNoPixel) {
  const float edge = static_cast<float>(959.5 * 8e-6 + 532e-9 * 0.2 / 16e-6);
  const float side = static_cast<float>(539.5 * 8e-6 + 532e-9 * 0.2 / 16e-6);
  const float position[6][3] = {{0, 0, -0.2F},
                                {edge - 1e-6F, 0, -0.2F},
                                {edge + 1e-6F, 0, -0.2F},
                                {0, -side + 1e-6F, 0.2F},
                                {0, -side - 1e-6F, 0.2F},
                                {edge + 1e-6F, 0, -0.3F}};
  const float amplitude[6] = {1, 1, 1, 1, 1, 1};
  const holotone::PointSources points{{&position[0][0], {6, 3}}, {amplitude, {6}}, {}};
  PointCloudOptions options{.wave = Wave::fresnel};
  EXPECT_EQ(unlit_points(points, options), 2);
  options.band_limit = false;
  EXPECT_EQ(unlit_points(points, options), 0);
  EXPECT_EQ(unlit_points({}, options), 0);
}

TEST(PointCloudPlan, TellsHowFarFresnelIsFromTheSphere) {
  // For a point on the axis, 20 cm from a PLUTO, the phase at the panel's corner differs by 1.1 rad.
  const float position[3] = {0, 0, -0.2F};
  const float amplitude = 1;
  const holotone::PointSources point{{position, {1, 3}}, {&amplitude, {1}}, {}};
  PointCloudOptions options{.band_limit = false};
  const double x = 959.5 * 8e-6;
  const double y = 539.5 * 8e-6;
  const double squared = x * x + y * y;
  const double distance = 0.2F;
  const double wavenumber = 6.283185307179586 / 532e-9;
  const double exact = wavenumber * (squared / (2 * distance) - (std::sqrt(squared + distance * distance) - distance));
  const double deviation = fresnel_deviation_rad(point, options);
  EXPECT_NEAR(deviation, exact, 1e-6);
  EXPECT_NEAR(deviation, 1.1, 0.05);
  options.band_limit = true;  // the corner is dark: light reaches 6.65 mm
  EXPECT_LT(fresnel_deviation_rad(point, options), 0.8);
  EXPECT_GT(fresnel_deviation_rad(point, options), 0.6);
  const float in_front[3] = {0, 0, 0.2F};
  options.band_limit = false;
  EXPECT_DOUBLE_EQ(fresnel_deviation_rad({{in_front, {1, 3}}, {&amplitude, {1}}, {}}, options), deviation);
  EXPECT_EQ(fresnel_deviation_rad({}, options), 0);
}

}  // namespace
