// Spots that move by their ids: appear, vanish, change places in the list, meet and part; light by float64 sums.
#include <algorithm>
#include <cmath>
#include <complex>
#include <gtest/gtest.h>
#include <holotone/core/error.hpp>
#include <holotone/core/random.hpp>
#include <holotone/retrieval/spots/spot_plan.hpp>
#include <numbers>
#include <tests/reference/spots.hpp>
#include <tests/support/on_each_device.hpp>

namespace {

using holotone::Array;
using holotone::SpotOptions;
using holotone::SpotPlan;
using holotone::SpotReport;

using Spots = std::vector<std::array<float, 3>>;
using Ids = std::vector<std::int64_t>;

SpotOptions lens(std::int64_t side) {
  SpotOptions options;
  options.grid = {side, side, 9.2e-6, 1.064e-6};
  options.focal_length_m = 0.2;
  return options;
}

holotone::View<const float, 2> positions(const Spots& spots) { return {spots.front().data(), {std::ssize(spots), 3}}; }
holotone::View<const std::int64_t, 1> ids(const Ids& id) { return {id.data(), {std::ssize(id)}}; }
holotone::View<const float, 1> numbers(const std::vector<float>& values) {
  return {values.data(), {std::ssize(values)}};
}

std::array<float, 3> at_widths(const SpotOptions& options, double x, double y) {
  const auto width_m = holotone::spot_width_m(options);
  return {static_cast<float>(x * width_m[0]), static_cast<float>(y * width_m[1]), 0};
}

/// Spots at least four widths apart.
Spots spread_spots(const SpotOptions& options, int count) {
  Spots spots;
  for (int i = 0; i < count; ++i) {
    const auto aside = [&](std::uint64_t k) {
      return 2 * holotone::random_uniform64(11, 2 * static_cast<std::uint64_t>(i) + k) - 1;
    };
    spots.push_back(at_widths(options, 6 * (i % 6) - 20 + aside(0), 6 * (i / 6) - 14 + aside(1)));
  }
  return spots;
}

Array<float, 2> shown_phase(const SpotPlan& plan) {
  Array<float, 2> phase_rad(plan.options().grid.shape());
  plan.phase(phase_rad.view());
  return phase_rad;
}

std::vector<double> exact_light(const SpotPlan& plan, const Spots& spots) {
  const auto& options = plan.options();
  const auto& grid = options.grid;
  const auto phase = shown_phase(plan);
  const std::complex<double> zero_order = std::polar(options.response.zero_order, options.zero_order_phase_rad);
  return reference::spot_intensities({grid.nx, grid.ny, grid.pitch_m, grid.wavelength_m, options.focal_length_m}, spots,
                                     phase.host(), {}, options.response.zero_order > 0 ? zero_order : 0);
}

void expect_even(const std::vector<double>& intensity, double tolerance) {
  double sum = 0;
  for (const double value : intensity) sum += value;
  const double mean = sum / static_cast<double>(intensity.size());
  for (std::size_t m = 0; m < intensity.size(); ++m) EXPECT_NEAR(intensity[m] / mean, 1, tolerance) << m;
}

TEST(SpotMove, TheOrderOfIdsDoesNotMatter) {
  const auto options = lens(128);
  const auto spots = spread_spots(options, 24);
  Ids id;
  for (std::int64_t i = 0; i < 24; ++i) id.push_back(1000 - 7 * i);
  Spots moved = spots;
  for (auto& spot : moved) spot[0] += 0.1F * spots[1][0] / 20;
  SpotPlan plan(options);
  plan.set_spots(positions(spots), {}, ids(id));
  plan.solve();
  plan.move(positions(moved));
  const auto plain = exact_light(plan, moved);
  auto turned = moved;
  auto turned_id = id;
  std::ranges::reverse(turned);
  std::ranges::reverse(turned_id);
  SpotPlan other(options);
  other.set_spots(positions(spots), {}, ids(id));
  other.solve();
  const auto report = other.move(positions(turned), ids(turned_id));
  EXPECT_EQ(report.free_spots, 0);
  const auto reversed = exact_light(other, turned);
  for (std::size_t m = 0; m < 24; ++m) EXPECT_NEAR(reversed[23 - m], plain[m], 1e-5 * plain[m]);
}

TEST(SpotMove, SpotsAppearAndVanishWhileTheOthersKeepTheirPhases) {
  const auto options = lens(128);
  const auto spots = spread_spots(options, 30);
  Ids id;
  for (std::int64_t i = 0; i < 30; ++i) id.push_back(i);
  const Spots first(spots.begin(), spots.begin() + 24);
  SpotPlan plan(options);
  plan.set_spots(positions(first));
  plan.solve();
  const auto before = shown_phase(plan);
  // The first four are gone, six are new.
  const Spots second(spots.begin() + 4, spots.end());
  const Ids second_id(id.begin() + 4, id.end());
  const auto report = plan.move(positions(second), ids(second_id), {}, 3);
  EXPECT_EQ(plan.spots(), 26);
  EXPECT_EQ(report.free_spots, 6);
  expect_even(exact_light(plan, second), 0.06);
  // Those that stay have the phases that they had: half way between the two phases their light is there.
  const auto after = shown_phase(plan);
  const Spots stay(spots.begin() + 4, spots.begin() + 24);
  const auto& grid = options.grid;
  Array<float, 2> middle(grid.shape());
  for (std::int64_t i = 0; i < middle.size(); ++i) {
    middle.data()[i] = static_cast<float>(std::arg(std::polar(1.0, static_cast<double>(before.data()[i])) +
                                                   std::polar(1.0, static_cast<double>(after.data()[i]))));
  }
  const auto light = reference::spot_intensities(
      {grid.nx, grid.ny, grid.pitch_m, grid.wavelength_m, options.focal_length_m}, stay, middle.host());
  for (const double value : light) EXPECT_GT(value, 0.9 * report.light.efficiency / 26);
  // The same ids a frame later are locked.
  EXPECT_EQ(plan.move(positions(second), ids(second_id)).free_spots, 0);
}

TEST(SpotMove, IntensitiesMayChange) {
  const auto options = lens(128);
  const auto spots = spread_spots(options, 12);
  Ids id;
  std::vector<float> target;
  for (std::int64_t i = 0; i < 12; ++i) id.push_back(i);
  for (int i = 0; i < 12; ++i) target.push_back(1.0F + 0.1F * static_cast<float>(i));
  SpotPlan plan(options);
  plan.set_spots(positions(spots));
  plan.solve();
  const auto report = plan.move(positions(spots), ids(id), numbers(target), 3);
  auto exact = exact_light(plan, spots);
  for (std::size_t m = 0; m < 12; ++m) {
    EXPECT_NEAR(report.light.intensity[m], exact[m], 1e-4 * exact[m]);
    exact[m] /= static_cast<double>(target[m]);
  }
  expect_even(exact, 0.01);
}

// Two spots that pass each other among others, with phases of seeds that make them opposite there: locked ones become 8
// times too strong.
TEST(SpotMove, SpotsThatMeetAreReleased) {
  for (const std::uint64_t seed : {27U, 32U, 33U, 1U}) {
    auto options = lens(64);
    options.seed = seed;
    auto spots = spread_spots(options, 12);
    spots.push_back(at_widths(options, -3, -25));
    spots.push_back(at_widths(options, 3, -25));
    Ids id;
    for (std::int64_t i = 0; i < 14; ++i) id.push_back(i);
    SpotPlan plan(options);
    plan.set_spots(positions(spots));
    plan.solve();
    for (int frame = 1; frame <= 60; ++frame) {
      spots[12] = at_widths(options, -3 + 0.1 * frame, -25);
      spots[13] = at_widths(options, 3 - 0.1 * frame, -25);
      const auto report = frame % 2 == 0 ? plan.move(positions(spots), ids(id)) : plan.move(positions(spots));
      const double gap = std::abs(6 - 0.2 * frame);
      EXPECT_EQ(report.free_spots, gap < 0.999 ? 2 : 0) << frame;
      if (frame % 3 == 0) expect_even(exact_light(plan, spots), gap < 1.5 ? 0.25 : 0.05);
    }
  }
}

TEST(SpotMove, ASpotThroughTheZeroOrderIsReleased) {
  auto options = lens(128);
  options.response.zero_order = 0.1;
  options.zero_order_phase_rad = 2;
  auto spots = spread_spots(options, 12);
  for (auto& spot : spots) spot[1] += at_widths(options, 0, 30)[1];
  spots.push_back(at_widths(options, -3.05, 0));
  SpotPlan plan(options);
  plan.set_spots(positions(spots));
  plan.solve();
  for (int frame = 1; frame <= 61; ++frame) {
    spots.back() = at_widths(options, -3.05 + 0.1 * frame, 0);
    const auto report = plan.move(positions(spots));
    const bool is_near = std::abs(-3.05 + 0.1 * frame) < 1;
    EXPECT_EQ(report.free_spots, is_near ? 1 : 0) << frame;
    if (frame % 3 == 0) expect_even(exact_light(plan, spots), 0.12);
  }
}

TEST(SpotMove, RefusesWhatCannotBe) {
  using holotone::ErrorCode;
  const auto options = lens(64);
  const Spots spots{at_widths(options, 5, 5), at_widths(options, -5, 5)};
  const Ids id{4, 9};
  SpotPlan plan(options);
  support::expect_error(ErrorCode::invalid_argument, "solve", [&] { plan.move(positions(spots), ids(id)); });
  support::expect_error(ErrorCode::invalid_argument, "4 twice", [&] {
    const Ids twice{4, 4};
    plan.set_spots(positions(spots), {}, ids(twice));
  });
  support::expect_error(ErrorCode::invalid_argument, "id", [&] {
    const Ids one{4};
    plan.set_spots(positions(spots), {}, ids(one));
  });
  plan.set_spots(positions(spots), {}, ids(id));
  plan.solve();
  support::expect_error(ErrorCode::invalid_argument, "steps", [&] { plan.move(positions(spots), ids(id), {}, 0); });
  support::expect_error(ErrorCode::invalid_argument, "9 twice", [&] {
    const Ids twice{9, 9};
    plan.move(positions(spots), ids(twice));
  });
  support::expect_error(ErrorCode::invalid_argument, "spot 1", [&] {
    const std::vector<float> dark{1, 0};
    plan.move(positions(spots), ids(id), numbers(dark));
  });
  support::expect_error(ErrorCode::invalid_argument, "position_m", [&] {
    const Spots one{spots[0]};
    plan.move(positions(one));
  });
  plan.move(positions(spots), ids(id));  // what was refused has changed nothing
  expect_even(exact_light(plan, spots), 0.01);
}

// The light of two spots changes by much more than their weights: whole changes swing to and fro and never settle.
class FewSpots : public support::OnEachDevice {};
TEST_P(FewSpots, StayEvenWhileTheyMove) {
  on_each([](holotone::Device device) {
    for (const int count : {1, 2, 3}) {
      const auto options = lens(128);
      auto spots = spread_spots(options, count);
      SpotPlan plan(options, holotone::Queue(device));
      plan.set_spots(positions(spots));
      plan.solve();
      for (int frame = 1; frame <= 40; ++frame) {
        for (std::size_t m = 0; m < spots.size(); ++m) {
          const double angle = 2.5 * static_cast<double>(m) + 0.7;
          const auto step = at_widths(options, 0.1 * std::cos(angle), 0.1 * std::sin(angle));
          spots[m][0] += step[0];
          spots[m][1] += step[1];
        }
        plan.move(positions(spots));
        if (frame % 4 == 0) expect_even(exact_light(plan, spots), 0.05);
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Device, FewSpots, testing::Values("cpu", "cuda", "opencl"));

}  // namespace
