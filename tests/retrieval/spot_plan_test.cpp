// Spots behind a lens: light against float64 sums, evenness, efficiency, levels, the zero order, motion, refusals.
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <holotone/core/error.hpp>
#include <holotone/core/random.hpp>
#include <holotone/retrieval/spots/spot_plan.hpp>
#include <limits>
#include <numbers>
#include <tests/reference/spots.hpp>
#include <tests/support/on_each_device.hpp>

namespace {

using holotone::Array;
using holotone::Backend;
using holotone::Complex;
using holotone::Device;
using holotone::SpotOptions;
using holotone::SpotPlan;
using holotone::SpotReport;
using holotone::SpotSteps;

using Spots = std::vector<std::array<float, 3>>;

/// A panel of 9.2 um behind which a lens of 20 cm has small angles.
SpotOptions small_angles(std::int64_t nx, std::int64_t ny) {
  SpotOptions options;
  options.grid = {nx, ny, 9.2e-6, 1.064e-6};
  options.focal_length_m = 0.2;
  return options;
}

holotone::View<const float, 2> positions(const Spots& spots) { return {spots.front().data(), {std::ssize(spots), 3}}; }

/// Places in widths of a spot.
Spots at_widths(const SpotOptions& options, const std::vector<std::array<double, 3>>& places) {
  const auto width_m = holotone::spot_width_m(options);
  Spots spots;
  for (const auto& place : places) {
    auto& spot = spots.emplace_back();
    for (std::size_t axis = 0; axis < 3; ++axis) spot[axis] = static_cast<float>(place[axis] * width_m[axis]);
  }
  return spots;
}

/// Random places at least three widths apart, within `half` widths of the axis and `depth` of the focal plane.
Spots random_spots(const SpotOptions& options, std::size_t count, double half, double depth, std::uint64_t seed = 5) {
  std::vector<std::array<double, 3>> places;
  for (std::uint64_t i = 0; places.size() < count; i += 3) {
    const auto draw = [&](std::uint64_t k) { return 2 * holotone::random_uniform64(seed, i + k) - 1; };
    const std::array<double, 3> place{half * draw(0), half * draw(1), depth * draw(2)};
    const bool is_apart = std::ranges::none_of(
        places, [&](const auto& other) { return std::hypot(other[0] - place[0], other[1] - place[1]) < 3; });
    if (is_apart) places.push_back(place);
  }
  return at_widths(options, places);
}

Spots lattice(const SpotOptions& options, int side, double pitch) {
  std::vector<std::array<double, 3>> places;
  for (int i = 0; i < side * side; ++i) {
    places.push_back({pitch * (i % side - 0.5 * (side - 1)) + 20.3, pitch * (i / side - 0.5 * (side - 1)) + 10.7, 0});
  }
  return at_widths(options, places);
}

reference::SpotPanel spot_panel(const SpotOptions& options) {
  const auto& grid = options.grid;
  return {grid.nx, grid.ny, grid.pitch_m, grid.wavelength_m, options.focal_length_m, options.refractive_index};
}

Array<float, 2> solved_phase(const SpotPlan& plan) {
  Array<float, 2> phase_rad(plan.options().grid.shape());
  plan.phase(phase_rad.view());
  return phase_rad;
}

double relative_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double difference = 0;
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference += (a[i] - b[i]) * (a[i] - b[i]);
    sum += b[i] * b[i];
  }
  return std::sqrt(difference / sum);
}

/// Standard deviation and worst difference over the mean of intensity / target.
std::array<double, 2> evenness_of(const std::vector<double>& intensity, const std::vector<float>& target = {}) {
  double sum = 0;
  double square = 0;
  double least = std::numeric_limits<double>::max();
  double most = 0;
  for (std::size_t i = 0; i < intensity.size(); ++i) {
    const double ratio = intensity[i] / (target.empty() ? 1.0 : static_cast<double>(target[i]));
    sum += ratio;
    square += ratio * ratio;
    least = std::min(least, ratio);
    most = std::max(most, ratio);
  }
  const auto n = static_cast<double>(intensity.size());
  const double mean = sum / n;
  return {std::sqrt(std::max(square / n - mean * mean, 0.0)) / mean, std::max(most - mean, mean - least) / mean};
}

/// Errors that the fp16 of CUDA makes, over those of float32.
double growth_on(Device device) { return device.backend == Backend::cuda ? 2 : 1; }

/// Solves and compares what the plan reports with float64 sums over its phase.
SpotReport solve_and_check(Device device, const SpotOptions& options, const Spots& spots, const SpotSteps& steps = {},
                           double tolerance = 1e-4) {
  SpotPlan plan(options, device);
  plan.set_spots(positions(spots));
  auto report = plan.solve(steps);
  const auto phase = solved_phase(plan);
  const auto exact = reference::spot_intensities(spot_panel(options), spots, phase.host());
  tolerance *= growth_on(device);
  EXPECT_LT(relative_difference(report.light.intensity, exact), tolerance);
  const auto [deviation, worst] = evenness_of(exact);
  EXPECT_NEAR(report.light.deviation, deviation, 3 * tolerance);
  EXPECT_NEAR(report.light.worst, worst, 10 * tolerance);
  return report;
}

class SpotPlans : public support::OnEachDevice {};

TEST_P(SpotPlans, OneSpotHasAllLight) {
  on_each([&](Device device) {
    for (const auto& options : {small_angles(128, 96), small_angles(97, 131)}) {
      const auto report = solve_and_check(device, options, at_widths(options, {{13.3, -7.9, 2.5}}));
      EXPECT_NEAR(report.light.efficiency, 1, device.backend == Backend::cuda ? 1e-4 : 1e-5);
      EXPECT_TRUE(report.reached);
    }
  });
}

TEST_P(SpotPlans, RandomSpotsAreEven) {
  on_each([&](Device device) {
    const auto options = small_angles(256, 200);
    for (const double depth : {0.0, 6.0}) {
      for (const std::size_t count : {5U, 60U}) {
        const auto report = solve_and_check(device, options, random_spots(options, count, 60, depth));
        EXPECT_TRUE(report.reached);
        EXPECT_LE(report.light.deviation, 1e-3);
        EXPECT_LE(report.light.worst, 7e-3);
        EXPECT_GT(report.light.efficiency, 0.75);  // pi / 4 for many
      }
    }
  });
}

TEST_P(SpotPlans, ALatticeGainsLightByFreeSteps) {
  on_each([&](Device device) {
    const auto options = small_angles(256, 256);
    const auto spots = lattice(options, 8, 8);
    const auto chosen = solve_and_check(device, options, spots);
    const auto few = solve_and_check(device, options, spots, {.free_steps = 2});
    EXPECT_GT(chosen.free_steps, 10);
    EXPECT_GT(chosen.light.efficiency, 0.915);
    EXPECT_GT(chosen.light.efficiency, few.light.efficiency + 0.03);
    EXPECT_TRUE(chosen.reached);
    EXPECT_TRUE(few.reached);
  });
}

TEST_P(SpotPlans, WeightsAloneStallOnALattice) {
  on_each([&](Device device) {
    const auto options = small_angles(256, 256);
    const auto spots = lattice(options, 8, 8);
    const auto weighted = solve_and_check(device, options, spots, {.free_steps = 30, .kept_steps = 0});
    const auto kept = solve_and_check(device, options, spots, {.free_steps = 30, .kept_steps = 12});
    EXPECT_FALSE(weighted.reached);
    EXPECT_LT(kept.light.deviation, 0.1 * weighted.light.deviation);
  });
}

// Many spots in one plane are summed by non-uniform FFTs, others by matrix products.
TEST_P(SpotPlans, PlanesOfManySpotsAreRight) {
  on_each([&](Device device) {
    auto options = small_angles(96, 70);
    for (const double z : {0.0, 1.5}) {
      std::vector<std::array<double, 3>> places;
      for (int i = 0; i < 1600; ++i) places.push_back({2.0 * (i % 40) - 40.3, 1.5 * (i / 40) - 30.2, z});
      places.push_back({0.5, 33, -2});  // one beside the plane
      const auto spots = at_widths(options, places);
      SpotPlan plan(options, device);
      plan.set_spots(positions(spots));
      const auto report = plan.solve({.free_steps = 2, .kept_steps = 1});
      const auto phase = solved_phase(plan);
      EXPECT_LT(relative_difference(report.light.intensity,
                                    reference::spot_intensities(spot_panel(options), spots, phase.host())),
                3e-4 * growth_on(device));
    }
  });
}

TEST_P(SpotPlans, HighApertureIsThatOfAnAplanaticLens) {
  on_each([&](Device device) {
    SpotOptions options;
    options.grid = {256, 256, 20e-6, 1.064e-6};
    options.focal_length_m = 4e-3;  // the panel's corner is at sin = 0.68 of water
    options.refractive_index = 1.33;
    Spots spots;
    for (std::uint64_t i = 0; i < 24; ++i) {
      const auto draw = [&](std::uint64_t k) { return holotone::random_uniform(7, 3 * i + k) - 0.5F; };
      spots.push_back({80e-6F * draw(0), 80e-6F * draw(1), 20e-6F * draw(2)});
    }
    const auto report = solve_and_check(device, options, spots, {}, 2e-3);
    EXPECT_TRUE(report.reached);
    // The paraxial wave alone would be off by many radians there.
    const double sine = 0.5 * std::sqrt(2.0) * 255 * 20e-6 / (1.33 * 4e-3);
    const double lack =
        2 * std::numbers::pi * 1.33 * 10e-6 / 1.064e-6 * (1 - std::sqrt(1 - sine * sine) - 0.5 * sine * sine);
    EXPECT_GT(lack, 2);
  });
}

TEST_P(SpotPlans, IntensitiesAreTargets) {
  on_each([&](Device device) {
    const auto options = small_angles(256, 200);
    const auto spots = random_spots(options, 80, 60, 4);
    std::vector<float> intensity;
    for (std::uint64_t i = 0; i < spots.size(); ++i) intensity.push_back(0.1F + 0.9F * holotone::random_uniform(9, i));
    SpotPlan plan(options, device);
    plan.set_spots(positions(spots), {intensity.data(), {std::ssize(intensity)}});
    const auto report = plan.solve();
    EXPECT_TRUE(report.reached);
    const auto phase = solved_phase(plan);
    const auto exact = reference::spot_intensities(spot_panel(options), spots, phase.host());
    const auto [deviation, worst] = evenness_of(exact, intensity);
    EXPECT_LT(deviation, 1.3e-3);
    EXPECT_LT(worst, 8e-3);
  });
}

TEST_P(SpotPlans, LightOnThePanelCounts) {
  on_each([&](Device device) {
    const auto options = small_angles(256, 200);
    const auto spots = random_spots(options, 50, 60, 3);
    Array<Complex, 2> light(options.grid.shape());
    std::vector<double> amplitude;
    for (std::int64_t row = 0; row < 200; ++row) {
      for (std::int64_t column = 0; column < 256; ++column) {
        const double x = (static_cast<double>(column) - 120) / 90;
        const double y = (static_cast<double>(row) - 105) / 80;
        amplitude.push_back(x * x + y * y < 1.4 ? std::exp(-x * x - y * y) : 0);  // a Gaussian in a round pupil
        light(row, column) = Complex(std::polar(3 * amplitude.back(), 2.5 * x * y + x));
      }
    }
    SpotPlan plan(options, device);
    plan.set_light(light.view());
    plan.set_spots(positions(spots));
    const auto report = plan.solve();
    EXPECT_TRUE(report.reached);
    // The phase corrects the light's own: with both there the spots are even.
    auto sum = solved_phase(plan);
    for (std::int64_t i = 0; i < sum.size(); ++i) sum.data()[i] += std::arg(light.data()[i]);
    auto exact = reference::spot_intensities(spot_panel(options), spots, sum.host(), amplitude);
    // Shares of what one spot alone would have of this light.
    double whole = 0;
    double square = 0;
    for (const double a : amplitude) {
      whole += a;
      square += a * a;
    }
    for (double& value : exact) value *= square * static_cast<double>(amplitude.size()) / (whole * whole);
    EXPECT_LT(relative_difference(report.light.intensity, exact), 2e-4);
    EXPECT_NEAR(report.light.efficiency, 0.79, 0.03);
    const Spots one{spots.front()};
    plan.set_spots(positions(one));
    EXPECT_NEAR(plan.solve().light.efficiency, 1, 1e-4);
    EXPECT_LT(evenness_of(exact)[0], 1.3e-3);
  });
}

TEST_P(SpotPlans, CodesOfFewLevelsStayEven) {
  on_each([&](Device device) {
    auto options = small_angles(256, 256);
    options.levels = 16;
    const auto spots = random_spots(options, 40, 80, 0);
    const auto report = solve_and_check(device, options, spots);
    EXPECT_GT(report.rounded_steps, 0);
    EXPECT_LT(report.light.deviation, 2.5e-3);
    SpotPlan plan(options, device);
    plan.set_spots(positions(spots));
    plan.solve();
    const auto phase = solved_phase(plan);
    for (const float value : phase.host()) {
      const double level = static_cast<double>(value) * 16 / (2 * std::numbers::pi);
      ASSERT_NEAR(level, std::round(level), 1e-4);
    }
  });
}

// A plan's tables are those of the spots that it has now, also those that only some steps need.
TEST_P(SpotPlans, OtherSpotsOfAPlanAreSolvedAsTheFirst) {
  on_each([&](Device device) {
    auto options = small_angles(256, 192);
    options.response.zero_order = 0.05;
    SpotPlan plan(options, device);
    for (const double pitch : {4, 5, 6}) {  // lattices, on which weights alone stall
      const auto spots = lattice(options, 8, pitch);
      plan.set_spots(positions(spots));
      const auto report = plan.solve({.free_steps = 10, .kept_steps = 20});
      const auto phase = solved_phase(plan);
      auto exact = reference::spot_intensities(spot_panel(options), spots, phase.host(), {}, 0.05);
      for (double& value : exact) value /= 1 + 0.05 * 0.05;  // of all light, the unmodulated too
      EXPECT_LT(evenness_of(exact)[0], 1e-3) << pitch;
      std::printf("lattice of %g widths: deviation %.1e of 1e-3\n", pitch, evenness_of(exact)[0]);
      EXPECT_LT(relative_difference(report.light.intensity, exact), 1e-4 * growth_on(device)) << pitch;
    }
  });
}

TEST_P(SpotPlans, TheZeroOrderEntersEverySpot) {
  on_each([&](Device device) {
    auto options = small_angles(128, 128);
    options.response.zero_order = 0.15;
    options.zero_order_phase_rad = 0.7;
    auto spots = random_spots(options, 20, 40, 0);
    spots.push_back({0, 0, 0});  // in the zero order
    SpotPlan plan(options, device);
    plan.set_spots(positions(spots));
    const auto report = plan.solve();
    EXPECT_TRUE(report.reached);
    const auto phase = solved_phase(plan);
    auto exact = reference::spot_intensities(spot_panel(options), spots, phase.host(), {}, std::polar(0.15, 0.7));
    for (double& value : exact) value /= 1 + 0.15 * 0.15;
    EXPECT_LT(relative_difference(report.light.intensity, exact), 1e-4);
    // Without its part in the model the last spot would be another.
    const auto without = reference::spot_intensities(spot_panel(options), spots, phase.host());
    EXPECT_GT(std::abs(without.back() / exact.back() - 1), 0.1);
  });
}

TEST_P(SpotPlans, PixelsOfAFillFactorDarkenSpotsFarAside) {
  on_each([&](Device device) {
    auto options = small_angles(128, 128);
    options.response.fill_factor = 0.81;
    const auto spots = at_widths(options, {{10, 5, 0}, {-55, 40, 0}});
    SpotPlan plan(options, device);
    plan.set_spots(positions(spots));
    const auto report = plan.solve();
    const auto phase = solved_phase(plan);
    const auto points = reference::spot_intensities(spot_panel(options), spots, phase.host());
    const auto sinc = [](double x) { return std::sin(std::numbers::pi * x) / (std::numbers::pi * x); };
    const double shade = sinc(0.9 * 55 / 128) * sinc(0.9 * 40 / 128);
    EXPECT_NEAR(report.light.intensity[1], points[1] * shade * shade, 1e-4);
    EXPECT_NEAR(report.light.intensity[0] / report.light.intensity[1], 1, 2e-3);
  });
}

// A step of a tenth of a width: half way from phase to phase no spot goes out, as it does with new phases.
TEST_P(SpotPlans, MovingSpotsKeepTheirLight) {
  on_each([&](Device device) {
    const auto options = small_angles(256, 256);
    const auto spots = random_spots(options, 60, 80, 3);
    const auto width_m = holotone::spot_width_m(options);
    SpotPlan plan(options, device);
    plan.set_spots(positions(spots));
    plan.solve();
    const auto before = solved_phase(plan);
    Spots moved = spots;
    Spots half = spots;
    for (std::size_t i = 0; i < spots.size(); ++i) {
      const double angle = 2 * std::numbers::pi * holotone::random_uniform64(3, i);
      for (const std::size_t axis : {0U, 1U}) {
        const double step = 0.1 * width_m[axis] * (axis == 0 ? std::cos(angle) : std::sin(angle));
        moved[i][axis] += static_cast<float>(step);
        half[i][axis] += static_cast<float>(0.5 * step);
      }
    }
    const auto report = plan.move(positions(moved));
    EXPECT_LT(report.light.deviation, 5e-3);
    const auto after = solved_phase(plan);
    Array<float, 2> middle(options.grid.shape());
    for (std::int64_t i = 0; i < middle.size(); ++i) {
      const auto change = static_cast<float>(std::remainder(
          static_cast<double>(after.data()[i]) - static_cast<double>(before.data()[i]), 2 * std::numbers::pi));
      middle.data()[i] = before.data()[i] + 0.5F * change;
    }
    const auto in_transit = reference::spot_intensities(spot_panel(options), half, middle.host());
    const double mean = report.light.efficiency / static_cast<double>(spots.size());
    EXPECT_GT(*std::ranges::min_element(in_transit), 0.9 * mean);
  });
}

TEST_P(SpotPlans, TheSameSeedGivesTheSamePhase) {
  on_each([&](Device device) {
    auto options = small_angles(128, 96);
    const auto spots = random_spots(options, 30, 40, 2);
    const auto solved = [&](std::uint64_t seed) {
      options.seed = seed;
      SpotPlan plan(options, device);
      plan.set_spots(positions(spots));
      plan.solve();
      const auto phase = solved_phase(plan);
      return std::vector<float>(phase.host().begin(), phase.host().end());
    };
    const auto first = solved(4);
    const auto second = solved(4);
    if (device.backend == Backend::cuda) {  // sums meet in any order
      double square = 0;
      for (std::size_t i = 0; i < first.size(); ++i) {
        const double turns = static_cast<double>(first[i] - second[i]) / (2 * std::numbers::pi);
        square += std::pow(2 * std::numbers::pi * (turns - std::round(turns)), 2);
      }
      EXPECT_LT(std::sqrt(square / static_cast<double>(first.size())), 5e-3);
    } else {
      EXPECT_EQ(first, second);
    }
    EXPECT_NE(first, solved(5));
  });
}

// Sizes off every vector and group of work items, a pixel a side, spots of several depths.
TEST_P(SpotPlans, AnySizeIsSummedRight) {
  on_each([&](Device device) {
    for (const auto& [nx, ny] : {std::array{61, 37}, std::array{131, 5}, std::array{3, 97}}) {
      const auto options = small_angles(nx, ny);
      solve_and_check(device, options, at_widths(options, {{0.7, -0.9, 0.4}}), {.free_steps = 2, .kept_steps = 1});
      solve_and_check(device, options, at_widths(options, {{0.7, -0.9, 0}, {-1.1, 1.2, 0.3}, {0.1, 0.2, -0.5}}),
                      {.free_steps = 2, .kept_steps = 2});
    }
  });
}

// Errors of sums stay errors of the phase: no step makes them grow.
TEST_P(SpotPlans, PhasesAreThoseOfTheCpu) {
  const auto options = small_angles(256, 192);
  const auto spots = random_spots(options, 60, 60, 4);
  const auto solved = [&](Device device) {
    SpotPlan plan(options, device);
    plan.set_spots(positions(spots));
    plan.solve({.free_steps = 2, .kept_steps = 2});
    return solved_phase(plan);
  };
  const auto expected = solved(Device{});
  on_each([&](Device device) {
    const auto phase = solved(device);
    double sum = 0;
    for (std::int64_t i = 0; i < phase.size(); ++i) {
      sum += std::norm(std::polar(1.0F, phase.data()[i]) - std::polar(1.0F, expected.data()[i]));
    }
    EXPECT_LT(std::sqrt(sum / static_cast<double>(phase.size())), 1e-3 * growth_on(device));
  });
}

TEST_P(SpotPlans, RefusesWhatCannotBe) {
  on_each([&](Device device) {
    using holotone::ErrorCode;
    const auto options = small_angles(128, 96);
    const auto refused = [&](const SpotOptions& wrong) { SpotPlan plan(wrong, device); };
    auto wrong = options;
    wrong.focal_length_m = 0;
    support::expect_error(ErrorCode::invalid_argument, "focal_length_m", [&] { refused(wrong); });
    wrong = options;
    wrong.levels = 1;
    support::expect_error(ErrorCode::invalid_argument, "levels", [&] { refused(wrong); });
    wrong = options;
    wrong.refractive_index = std::numeric_limits<double>::quiet_NaN();
    support::expect_error(ErrorCode::invalid_argument, "refractive_index", [&] { refused(wrong); });
    SpotPlan plan(options, device);
    support::expect_error(ErrorCode::invalid_argument, "spots", [&] { plan.solve(); });
    const auto set = [&](const Spots& spots, const std::vector<float>& intensity = {}) {
      plan.set_spots(positions(spots), {intensity.empty() ? nullptr : intensity.data(), {std::ssize(intensity)}});
    };
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    support::expect_error(ErrorCode::invalid_argument, "spot 1", [&] { set({{0, 0, 0}, {nan, 0, 0}}); });
    support::expect_error(ErrorCode::invalid_argument, "spot 0", [&] { set({{0.1F, 0, 0}}); });
    support::expect_error(ErrorCode::invalid_argument, "spot 0", [&] { set({{0, 0, 0}}, {0}); });
    support::expect_error(ErrorCode::invalid_argument, "intensity", [&] { set({{0, 0, 0}}, {1, 1}); });
    support::expect_error(ErrorCode::invalid_argument, "position_m", [&] { plan.set_spots({}); });
    auto near = options;
    near.focal_length_m = 0.5e-3;  // the corner is beyond it
    SpotPlan beyond(near, device);
    const Spots deep{{0, 0, 1e-6F}};
    support::expect_error(ErrorCode::invalid_argument, "focal_length_m", [&] { beyond.set_spots(positions(deep)); });
    const Spots flat{{1e-6F, 0, 0}};
    beyond.set_spots(positions(flat));  // in the plane no depth matters
    support::expect_error(ErrorCode::invalid_argument, "spots", [&] { plan.move(positions(flat)); });
  });
}

HOLOTONE_ON_EACH_DEVICE(SpotPlans);

}  // namespace
