// Frames of spots that move: their light, and that on the panel's way from frame to frame, by float64 sums.
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <holotone/core/error.hpp>
#include <holotone/core/random.hpp>
#include <holotone/recipes/spot_motion.hpp>
#include <numbers>
#include <numeric>
#include <tests/reference/spots.hpp>
#include <tests/support/on_each_device.hpp>

namespace {

using holotone::Array;
using holotone::EncodeOptions;
using holotone::PanelRelaxation;
using holotone::SpotFrame;
using holotone::SpotMotion;
using holotone::SpotMotionFrame;
using holotone::SpotMotionOptions;
using holotone::SpotOptions;

constexpr double two_pi = 2 * std::numbers::pi;

SpotOptions lens(std::int64_t side) {
  SpotOptions options;
  options.grid = {side, side, 8e-6, 1.064e-6};
  options.focal_length_m = 0.1;
  return options;
}

reference::SpotPanel spot_panel(const SpotOptions& options) {
  const auto& grid = options.grid;
  return {grid.nx, grid.ny, grid.pitch_m, grid.wavelength_m, options.focal_length_m};
}

/// Random places at least three widths apart.
SpotFrame random_frame(const SpotOptions& options, std::size_t count, double half) {
  const auto width_m = holotone::spot_width_m(options);
  std::vector<std::array<double, 2>> places;
  for (std::uint64_t i = 0; places.size() < count; i += 2) {
    const std::array<double, 2> place{half * (2 * holotone::random_uniform64(3, i) - 1),
                                      half * (2 * holotone::random_uniform64(3, i + 1) - 1)};
    const bool is_apart = std::ranges::none_of(
        places, [&](const auto& other) { return std::hypot(other[0] - place[0], other[1] - place[1]) < 3; });
    if (is_apart) places.push_back(place);
  }
  SpotFrame frame;
  for (const auto& [x, y] : places) {
    frame.id.push_back(std::ssize(frame.id) + 100);
    frame.spots.position_m.push_back({static_cast<float>(x * width_m[0]), static_cast<float>(y * width_m[1]), 0});
    frame.spots.intensity.push_back(1);
  }
  return frame;
}

/// Every spot a step farther, in its own direction.
void step_spots(SpotFrame& frame, const SpotOptions& options, double widths) {
  const auto width_m = holotone::spot_width_m(options);
  for (std::size_t m = 0; m < frame.id.size(); ++m) {
    const double angle = two_pi * holotone::random_uniform64(8, m);
    frame.spots.position_m[m][0] += static_cast<float>(widths * width_m[0] * std::cos(angle));
    frame.spots.position_m[m][1] += static_cast<float>(widths * width_m[1] * std::sin(angle));
  }
}

std::vector<float> code_phases(const SpotMotionFrame& made, int bits) {
  std::vector<float> phase;
  const double step = two_pi / (1 << bits);
  for (const auto code : made.codes.host()) phase.push_back(static_cast<float>(step * code));
  return phase;
}

double find_mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Light of the spots at the places between two frames, for the phase between two others, over the mean of both frames.
/// `shorter`: phases go the shorter way around the turn, as those of no panel do.
std::vector<double> light_between(const SpotOptions& options, const std::array<SpotFrame, 2>& frames,
                                  const std::array<std::vector<float>, 2>& phases, const std::array<double, 2>& means,
                                  double share, bool shorter = false) {
  std::vector<float> phase(phases[0].size());
  for (std::size_t i = 0; i < phase.size(); ++i) {
    double way = static_cast<double>(phases[1][i]) - static_cast<double>(phases[0][i]);
    if (shorter) way = std::remainder(way, two_pi);
    phase[i] = static_cast<float>(static_cast<double>(phases[0][i]) + share * way);
  }
  auto places = frames[0].spots.position_m;
  for (std::size_t m = 0; m < places.size(); ++m) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      places[m][axis] = static_cast<float>((1 - share) * static_cast<double>(places[m][axis]) +
                                           share * static_cast<double>(frames[1].spots.position_m[m][axis]));
    }
  }
  auto light = reference::spot_intensities(spot_panel(options), places, phase);
  for (double& value : light) value /= (1 - share) * means[0] + share * means[1];
  return light;
}

TEST(SpotMotion, TheTransientIsThatOfThePanelsPhase) {
  const auto options = lens(96);
  const double tau_s = 4e-3;
  const double frame_s = 6e-3;  // the panel lags: exp(-1.5) of the way is left
  SpotMotion motion(options, EncodeOptions{}, {.relaxation = {.time_constant_s = tau_s}, .frame_time_s = frame_s});
  auto frame = random_frame(options, 25, 30);
  auto before = frame;
  std::vector<float> reached;
  double mean_before = 0;
  for (int number = 0; number < 3; ++number) {
    if (number > 0) step_spots(frame, options, 0.1);
    const auto made = motion.show(frame);
    const auto driven = code_phases(made, 8);
    const auto settled = reference::spot_intensities(spot_panel(options), frame.spots.position_m, driven);
    for (std::size_t m = 0; m < settled.size(); ++m) {
      EXPECT_NEAR(made.report.light.intensity[m], settled[m], 2e-4 * settled[m]) << m;
    }
    EXPECT_LT(made.report.light.deviation, 0.02);
    EXPECT_EQ(made.transient.has_value(), number > 0);
    if (number > 0) {
      const auto& seen = *made.transient;
      EXPECT_EQ(seen.id, frame.id);
      ASSERT_EQ(seen.time_s.size(), 5U);  // 90 % are reached after the frame's end
      EXPECT_NEAR(seen.time_s[2], tau_s * std::numbers::ln2, 1e-12);
      EXPECT_EQ(seen.time_s.back(), frame_s);
      std::vector<double> lowest(frame.id.size(), 10);
      for (std::size_t k = 0; k < seen.time_s.size(); ++k) {
        const double share = 1 - std::exp(-seen.time_s[k] / tau_s);
        const auto light =
            light_between(options, {before, frame}, {reached, driven}, {mean_before, find_mean(settled)}, share);
        EXPECT_NEAR(seen.mean[k], find_mean(light), 1e-3) << k;
        EXPECT_NEAR(seen.min[k], *std::ranges::min_element(light), 1e-3) << k;
        for (std::size_t m = 0; m < light.size(); ++m) {
          lowest[m] = std::min(lowest[m], light[m]);
          if (k == 2) {
            EXPECT_NEAR(seen.half_way[m], light[m], 1e-3) << m;
          }
        }
      }
      EXPECT_EQ(seen.mean_half_way, seen.mean[2]);
      for (std::size_t m = 0; m < lowest.size(); ++m) EXPECT_NEAR(seen.lowest[m], lowest[m], 1e-3) << m;
    }
    if (number == 0) reached = driven;
    const double left = std::exp(-frame_s / tau_s);
    for (std::size_t i = 0; i < driven.size(); ++i) {
      reached[i] = static_cast<float>(static_cast<double>(driven[i]) +
                                      left * (static_cast<double>(reached[i]) - static_cast<double>(driven[i])));
    }
    before = frame;
    mean_before = find_mean(settled);
  }
}

// Pixels whose phase passes the turn go back through all phases: they take a few per cent of the light, and phases that
// were new in every frame nearly all light of some spot.
TEST(SpotMotion, LockedPhasesKeepTheLightThatNewOnesLose) {
  auto options = lens(256);
  const SpotMotionOptions panel{.relaxation = {.time_constant_s = 1e-3}, .frame_time_s = 20e-3};
  auto before = random_frame(options, 150, 80);
  auto after = before;
  step_spots(after, options, 0.1);
  SpotMotion motion(options, EncodeOptions{}, panel);
  const auto first = code_phases(motion.show(before), 8);
  const auto made = motion.show(after);
  EXPECT_EQ(made.report.free_spots, 0);
  EXPECT_LT(made.report.light.deviation, 0.01);
  const auto second = code_phases(made, 8);
  const double mean = made.report.light.efficiency / 150;
  const auto shorter = light_between(options, {before, after}, {first, second}, {mean, mean}, 0.5, true);
  options.seed = 2;
  SpotMotion fresh(options, EncodeOptions{}, panel);
  const auto renewed = code_phases(fresh.show(after), 8);
  const auto lost = light_between(options, {before, after}, {first, renewed}, {mean, mean}, 0.5);
  const double lowest = *std::ranges::min_element(made.transient->lowest);
  std::printf(
      "half way: locked %.3f, lowest %.3f; by the shorter way %.3f, lowest %.3f; new phases %.3f, lowest %.4f\n",
      made.transient->mean_half_way, lowest, find_mean(shorter), *std::ranges::min_element(shorter), find_mean(lost),
      *std::ranges::min_element(lost));
  EXPECT_GT(made.transient->mean_half_way, 0.9);
  EXPECT_GT(lowest, 0.85);
  EXPECT_GT(*std::ranges::min_element(shorter), 0.97);
  EXPECT_LT(*std::ranges::min_element(lost), 0.05);
}

TEST(SpotMotion, SpotsAppearVanishAndChangeOrder) {
  const auto options = lens(128);
  const auto all = random_frame(options, 24, 40);
  const auto some = [&](std::size_t first, std::size_t last, bool reversed) {
    SpotFrame frame;
    for (std::size_t m = first; m < last; ++m) {
      const auto at = reversed ? last + first - 1 - m : m;
      frame.id.push_back(all.id[at]);
      frame.spots.position_m.push_back(all.spots.position_m[at]);
      frame.spots.intensity.push_back(all.spots.intensity[at]);
    }
    return frame;
  };
  SpotMotion motion(options, EncodeOptions{}, {.relaxation = {.time_s = {1e-3, 5e-3}, .share = {0.4, 1}}});
  auto frame = some(0, 20, false);
  const auto first = code_phases(motion.show(frame), 8);
  auto next = some(3, 24, true);
  next.time = 10e-3;
  const auto made = motion.show(next);
  EXPECT_EQ(made.report.free_spots, 4);
  EXPECT_EQ(made.transient->id.size(), 17U);
  EXPECT_NEAR(made.transient->time_s[2], 1e-3 + 4e-3 / 6, 1e-9);  // half way by the table
  const auto second = code_phases(made, 8);
  std::array<SpotFrame, 2> shared;
  for (const auto id : made.transient->id) {
    for (auto* of : {&frame, &next}) {
      auto& to = shared.at(of == &frame ? 0 : 1);
      const auto at = static_cast<std::size_t>(std::ranges::find(of->id, id) - of->id.begin());
      to.spots.position_m.push_back(of->spots.position_m.at(at));
    }
  }
  std::array<double, 2> means{};
  for (const std::size_t k : {0U, 1U}) {
    means[k] = find_mean(
        reference::spot_intensities(spot_panel(options), shared[k].spots.position_m, k == 0 ? first : second));
  }
  const auto light = light_between(options, shared, {first, second}, means, 0.5);
  for (std::size_t m = 0; m < light.size(); ++m) EXPECT_NEAR(made.transient->half_way[m], light[m], 1e-3) << m;
  const auto exact = reference::spot_intensities(spot_panel(options), next.spots.position_m, second);
  for (std::size_t m = 0; m < exact.size(); ++m) {
    EXPECT_NEAR(made.report.light.intensity[m], exact[m], 2e-4 * exact[m]);
    EXPECT_NEAR(exact[m] / find_mean(exact), 1, 0.04);
  }
}

// A wavefront map in the codes is not in the spots' light, and neither is it on the way.
TEST(SpotMotion, ACorrectionIsInTheCodesAlone) {
  const auto options = lens(64);
  Array<float, 2> map(options.grid.shape());
  for (std::int64_t i = 0; i < map.size(); ++i) map.data()[i] = 0.002F * static_cast<float>(i % 64 * (i / 64));
  EncodeOptions encoding;
  encoding.correction_rad = map.view();
  SpotMotion motion(options, encoding, {.relaxation = {.time_constant_s = 1e-3}, .frame_time_s = 30e-3});
  auto frame = random_frame(options, 8, 20);
  motion.show(frame);
  step_spots(frame, options, 0.1);
  const auto made = motion.show(frame);
  EXPECT_LT(made.report.light.deviation, 0.02);
  EXPECT_GT(made.report.light.efficiency, 0.7);
  auto phase = code_phases(made, 8);
  for (std::size_t i = 0; i < phase.size(); ++i) phase[i] -= map.data()[i];
  const auto exact = reference::spot_intensities(spot_panel(options), frame.spots.position_m, phase);
  for (std::size_t m = 0; m < exact.size(); ++m) {
    EXPECT_NEAR(made.report.light.intensity[m], exact[m], 3e-4 * exact[m]);
    EXPECT_NEAR(made.transient->mean.back(), 1, 1e-2);
  }
}

TEST(SpotMotion, RefusesWhatCannotBe) {
  using holotone::ErrorCode;
  const auto options = lens(64);
  const auto made = [&](const EncodeOptions& encoding, const SpotMotionOptions& motion) {
    (void)SpotMotion(options, encoding, motion);
  };
  support::expect_error(ErrorCode::invalid_argument, "encoding",
                        [&] { made({.encoding = holotone::Encoding::amplitude}, {}); });
  support::expect_error(ErrorCode::invalid_argument, "motion_steps", [&] { made({}, {.motion_steps = 0}); });
  support::expect_error(ErrorCode::invalid_argument, "frame_time_s", [&] { made({}, {.frame_time_s = 0.0}); });
  support::expect_error(ErrorCode::invalid_argument, "time_constant_s",
                        [&] { made({}, {.relaxation = {.time_constant_s = -1}}); });
  SpotMotion motion(options, EncodeOptions{}, {.relaxation = {.time_constant_s = 1}});
  support::expect_error(ErrorCode::invalid_argument, "at least 1 spot", [&] { motion.show({}); });
  auto frame = random_frame(options, 3, 20);
  motion.show(frame);
  support::expect_error(ErrorCode::invalid_argument, "later than 0", [&] { motion.show(frame); });
  frame.time = 1;
  frame.id[1] = frame.id[0];
  support::expect_error(ErrorCode::invalid_argument, "twice", [&] { motion.show(frame); });
}

}  // namespace
