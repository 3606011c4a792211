// Noise in a viewing window over the panel's squares, against explicit sums in float64; weights of hogels against those
// of their windows.
#include <cmath>
#include <gtest/gtest.h>
#include <holotone/core/random.hpp>
#include <holotone/recipes/hogel_weights.hpp>
#include <holotone/recipes/window_meter.hpp>
#include <tests/reference/window.hpp>
#include <tests/support/on_each_device.hpp>

namespace holotone {
namespace {

using support::Complex64;
using support::expect_error;
using support::expect_within;

constexpr FieldGrid grid{24, 16, 8e-6, 532e-9};
// Its window is 0.25 x 0.13 cycles per pixel, off the axis, and the waves to it are curved by a tenth of a turn.
constexpr Viewer viewer{10e-3 / 60, 5e-3 / 60, 10e-3, 5e-3 / 60, -2e-3 / 60};

struct Panel {
  Array<Complex, 2> field{grid.shape()};
  Array<std::uint8_t, 2> codes{grid.shape()};
};

Panel random_panel() {
  Panel panel;
  for (std::int64_t i = 0; i < panel.field.size(); ++i) {
    const auto at = static_cast<std::uint64_t>(i);
    panel.field.data()[i] =
        Complex(std::polar(0.3 + 0.7 * random_uniform64(1, 2 * at), 2 * M_PI * random_uniform64(1, 2 * at + 1)));
    panel.codes.data()[i] = static_cast<std::uint8_t>(4 * random_uniform64(2, at));
  }
  return panel;
}

Complex64 shown(int code) { return std::polar(1.0, 2 * M_PI * code / 4); }

int nearest(Complex64 value) {
  int best = 0;
  for (int code = 1; code < 4; ++code) {
    if (std::abs(value - shown(code)) < std::abs(value - shown(best))) best = code;
  }
  return best;
}

/// Power of a square within a window over its number of pixels squared, frequency by frequency; `value` of row and
/// column.
template <class Value>
double share_of(std::int64_t side, const SignalWindow& window, const Value& value) {
  const auto all = static_cast<double>(side);
  double sum = 0;
  for (std::int64_t v = -side / 2; v < side - side / 2; ++v) {
    for (std::int64_t u = -side / 2; u < side - side / 2; ++u) {
      const double xi = static_cast<double>(u) / all;
      const double eta = static_cast<double>(v) / all;
      if (std::abs(xi - window.xi) > window.width / 2 || std::abs(eta - window.eta) > window.height / 2) continue;
      Complex64 own = 0;
      for (std::int64_t row = 0; row < side; ++row) {
        for (std::int64_t column = 0; column < side; ++column) {
          own += value(row, column) *
                 std::polar(1.0, -2 * M_PI * (xi * static_cast<double>(column) + eta * static_cast<double>(row)));
        }
      }
      sum += std::norm(own);
    }
  }
  return sum / std::pow(all, 4);
}

TEST(WindowMeter, IsTheMeanOfSumsWrittenOut) {
  const auto panel = random_panel();
  ErrorDiffusionOptions options;
  options.bits = 2;
  options.hogel_px = 8;  // 2 x 3 hogels, each a square
  WindowMeter meter(options, grid, viewer);
  // Two blocks of rows, one row of hogels each.
  for (const std::int64_t first : {0, 8}) {
    meter.add_rows(first, View<const Complex, 2>(panel.field.data() + first * grid.nx, {8, grid.nx}),
                   View<const std::uint8_t, 2>(panel.codes.data() + first * grid.nx, {8, grid.nx}), 1);
  }
  const auto got = meter.measured();
  EXPECT_EQ(got.squares, 6);
  WindowMeasure expected;
  std::vector<reference::Windowed> parts;
  std::vector<reference::Windowed> truncated_parts;
  for (std::int64_t top = 0; top < grid.ny; top += 8) {
    for (std::int64_t left = 0; left < grid.nx; left += 8) {
      const double x_m = (static_cast<double>(left) + 4 - 12) * grid.pitch_m;
      const double y_m = -(static_cast<double>(top) + 4 - 8) * grid.pitch_m;
      const auto window = signal_window(grid, viewer, x_m, y_m);
      const auto lens = [&](std::int64_t y, std::int64_t x) {
        return reference::curvature((static_cast<double>(x) - 3.5) * grid.pitch_m,
                                    (3.5 - static_cast<double>(y)) * grid.pitch_m, viewer.x_m - x_m, viewer.y_m - y_m,
                                    viewer.distance_m, grid.wavelength_m);
      };
      const auto bare = [&](std::int64_t y, std::int64_t x) { return Complex64(panel.field(top + y, left + x)); };
      const auto value = [&](std::int64_t y, std::int64_t x) { return bare(y, x) * lens(y, x); };
      const auto code = [&](std::int64_t y, std::int64_t x) {
        return shown(panel.codes(top + y, left + x)) * lens(y, x);
      };
      const auto cut = [&](std::int64_t y, std::int64_t x) { return shown(nearest(bare(y, x))) * lens(y, x); };
      const auto plane = [](const auto& own) {
        std::vector<Complex64> all;
        for (std::int64_t i = 0; i < 64; ++i) all.push_back(own(i / 8, i % 8));
        return all;
      };
      for (auto* const all : {&parts, &truncated_parts}) {
        all->push_back({plane(value), all == &parts ? plane(code) : plane(cut), 8, 8, window.xi, window.eta,
                        window.width, window.height});
      }
      expected.light += share_of(8, window, code) / 6;
      expected.truncated_light += share_of(8, window, cut) / 6;
      expected.noise += share_of(8, window, [&](auto y, auto x) { return code(y, x) - value(y, x); }) / 6;
      expected.truncated += share_of(8, window, [&](auto y, auto x) { return cut(y, x) - value(y, x); }) / 6;
    }
  }
  EXPECT_GT(expected.truncated, 0);
  expect_within("noise", std::abs(got.noise / expected.noise - 1), 1e-5);
  expect_within("light", std::abs(got.light / expected.light - 1), 1e-5);
  expect_within("noise of truncation", std::abs(got.truncated / expected.truncated - 1), 1e-5);
  expect_within("light of truncation", std::abs(got.truncated_light / expected.truncated_light - 1), 1e-5);
  const auto seen = reference::seen(parts);
  const auto truncated = reference::seen(truncated_parts);
  expect_within("signal seen", std::abs(6 * got.seen.signal / seen.signal - 1), 1e-5);
  expect_within("noise seen", std::abs(6 * got.seen.noise / seen.noise - 1), 1e-5);
  expect_within("signal of truncation", std::abs(6 * got.truncated_seen.signal / truncated.signal - 1), 1e-5);
  expect_within("noise of truncation", std::abs(6 * got.truncated_seen.noise / truncated.noise - 1), 1e-5);
  EXPECT_EQ(got.twin, 0);  // four phases
  EXPECT_EQ(got.zero_order, 0);
}

TEST(WindowMeter, MeasuresOnlySquaresThatLieInTheRows) {
  const auto panel = random_panel();
  ErrorDiffusionOptions options;
  options.bits = 2;
  options.hogel_px = 8;
  WindowMeter meter(options, grid, viewer);
  meter.add_rows(4, View<const Complex, 2>(panel.field.data(), {8, grid.nx}),
                 View<const std::uint8_t, 2>(panel.codes.data(), {8, grid.nx}), 1);
  EXPECT_EQ(meter.measured().squares, 0);
  EXPECT_EQ(meter.measured().noise, 0);
  EXPECT_EQ(meter.measured().seen.signal, 0);
}

TEST(HogelWeights, AreThoseOfTheWindowsFromTheHogelsMiddles) {
  WindowWeightOptions options;
  options.hogel_px = 8;
  options.weights.taps = 5;
  const auto got = window_weights(grid, viewer, options);
  std::vector<SignalWindow> windows;
  for (const double y : {4, -4}) {
    for (const double x : {-8, 0, 8}) {
      windows.push_back(*reached_window(grid, viewer, x * grid.pitch_m, y * grid.pitch_m));
    }
  }
  const auto expected = diffusion_weights(windows, options.weights);
  EXPECT_EQ(got.weights.taps, expected.taps);
  ASSERT_EQ(got.weights.values.shape(), (Shape<2>{6, 5}));
  EXPECT_TRUE(std::equal(expected.values.data(), expected.values.data() + 30, got.weights.values.data()));
  EXPECT_EQ(got.clipped, 0);
  EXPECT_EQ(got.unreached, 0);
  EXPECT_EQ(got.most_used, 5);
  expect_within("sum of moduli", std::abs(got.most_sum - 0.98), 1e-6);
  options.each_hogel = false;
  EXPECT_EQ(window_weights(grid, viewer, options).weights.values.shape(), (Shape<2>{1, 5}));
}

TEST(HogelWeights, CountThoseOfFloydAndSteinberg) {
  const auto own = counted_weights(floyd_steinberg_weights());
  EXPECT_EQ(own.least_used, 4);
  EXPECT_EQ(own.most_used, 4);
  EXPECT_EQ(own.least_sum, 1);
  EXPECT_EQ(own.most_sum, 1);
}

TEST(HogelWeights, RefuseAWindowThatNoLightReaches) {
  // lambda / (2 pitch) is 1.9 degrees; the viewer's near side is at 9.2 degrees.
  const Viewer aside{10e-3, 5e-3, 0.6, 0.1, 0};
  EXPECT_FALSE(reached_window(grid, aside, 0, 0).has_value());
  expect_error(ErrorCode::invalid_argument,
               "window_weights: viewer: expected a window that light from the panel reaches, no more than 1.91 deg",
               [&] { (void)window_weights(grid, aside); });
  // A window with half of its area beyond that angle is cropped.
  const Viewer half{10e-3, 5e-3, 0.6, 0.6 * std::tan(std::asin(grid.wavelength_m / (2 * grid.pitch_m))), 0};
  const auto cut = reached_window(grid, half, 0, 0);
  ASSERT_TRUE(cut.has_value());
  EXPECT_DOUBLE_EQ(cut->xi + cut->width / 2, 0.5);
  EXPECT_LT(cut->width, 0.6 * signal_window(grid, half, 0, 0).width);
}

}  // namespace
}  // namespace holotone
