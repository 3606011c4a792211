// Noise in a viewing window over the panel's squares, against explicit sums in float64; weights of hogels against those
// of their windows.
#include <cmath>
#include <gtest/gtest.h>
#include <holotone/core/random.hpp>
#include <holotone/fft/fft.hpp>
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
  Array<Complex, 2> field;
  Array<std::uint8_t, 2> codes;
};

Panel random_panel(const FieldGrid& panel_grid) {
  Panel panel{Array<Complex, 2>(panel_grid.shape()), Array<std::uint8_t, 2>(panel_grid.shape())};
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

/// A part of the panel as squares see it: columns `first` to `first + count - 1` of all rows, fading over the overlaps.
struct Part {
  std::int64_t first;
  std::int64_t count;
  std::int64_t before;
  std::int64_t after;
};

/// The measure of a panel of few rows, written out.
struct Written {
  reference::Seen seen;
  reference::Seen truncated;
  double noise = 0;
  double light = 0;
};
Written written(const FieldGrid& panel_grid, const Viewer& eyes, const Panel& panel, const std::vector<Part>& parts) {
  std::vector<reference::Windowed> of_codes;
  std::vector<reference::Windowed> of_truncation;
  double incident = 0;
  Written sums;
  for (const auto& part : parts) {
    const double x_m =
        (static_cast<double>(part.first) + static_cast<double>(part.count - panel_grid.nx) / 2) * panel_grid.pitch_m;
    const auto window = signal_window(panel_grid, eyes, x_m, 0);
    reference::Windowed codes{{}, {}, panel_grid.ny, part.count, window.xi, window.eta, window.width, window.height};
    auto truncation = codes;
    auto noise = codes;
    for (std::int64_t row = 0; row < panel_grid.ny; ++row) {
      for (std::int64_t column = 0; column < part.count; ++column) {
        const auto fade = [](std::int64_t i, std::int64_t length) {
          return i < length ? std::sin(M_PI / 2 * (static_cast<double>(i) + 0.5) / static_cast<double>(length)) : 1;
        };
        const auto from = [&](std::int64_t at, std::int64_t all) {
          return (static_cast<double>(at) - static_cast<double>(all - 1) / 2) * panel_grid.pitch_m;
        };
        const auto factor = fade(column, part.before) * fade(part.count - 1 - column, part.after) *
                            reference::curvature(from(column, part.count), -from(row, panel_grid.ny), eyes.x_m - x_m,
                                                 eyes.y_m, eyes.distance_m, panel_grid.wavelength_m);
        const Complex64 h(panel.field(row, part.first + column));
        codes.field.push_back(factor * h);
        codes.light.push_back(factor * shown(panel.codes(row, part.first + column)));
        truncation.light.push_back(factor * shown(nearest(h)));
        noise.light.push_back(codes.light.back() - codes.field.back());
        incident += std::norm(factor);
      }
    }
    truncation.field = noise.field = codes.field;
    for (const auto& [h, q] : reference::amplitudes(noise)) sums.noise += std::norm(q);
    for (const auto& [h, q] : reference::amplitudes(codes)) sums.light += std::norm(q);
    of_codes.push_back(std::move(codes));
    of_truncation.push_back(std::move(truncation));
  }
  // Sums of squared amplitudes are shares of the pixels; all parts have as many.
  const double share = static_cast<double>(parts[0].count * panel_grid.ny) / incident;
  const auto scaled = [&](reference::Seen seen) { return reference::Seen{share * seen.signal, share * seen.noise}; };
  return {scaled(reference::seen(of_codes)), scaled(reference::seen(of_truncation)), share * sums.noise,
          share * sums.light};
}

WindowMeasure measured(const FieldGrid& panel_grid, const Viewer& eyes, const Panel& panel,
                       const std::vector<std::int64_t>& rows) {
  ErrorDiffusionOptions options;
  options.bits = 2;
  WindowMeter meter(options, panel_grid, eyes);
  std::int64_t first = 0;
  for (const std::int64_t count : rows) {
    meter.add_rows(first, View<const Complex, 2>(&panel.field(first, 0), {count, panel_grid.nx}),
                   View<const std::uint8_t, 2>(&panel.codes(first, 0), {count, panel_grid.nx}), 1);
    first += count;
  }
  return meter.measured();
}

void expect_written(const WindowMeasure& got, const Written& expected) {
  EXPECT_GT(expected.truncated.signal, 0);
  expect_within("noise", std::abs(got.noise / expected.noise - 1), 1e-5);
  expect_within("light", std::abs(got.light / expected.light - 1), 1e-5);
  expect_within("signal seen", std::abs(got.seen.signal / expected.seen.signal - 1), 1e-5);
  expect_within("noise seen", std::abs(got.seen.noise / expected.seen.noise - 1), 1e-5);
  expect_within("signal of truncation", std::abs(got.truncated_seen.signal / expected.truncated.signal - 1), 1e-5);
  expect_within("noise of truncation", std::abs(got.truncated_seen.noise / expected.truncated.noise - 1), 1e-5);
  EXPECT_EQ(got.twin, 0);  // four phases
  EXPECT_EQ(got.zero_order, 0);
}

TEST(WindowMeter, ASmallPanelIsMeasuredAsAWhole) {
  const auto panel = random_panel(grid);
  const auto got = measured(grid, viewer, panel, {5, 11});
  EXPECT_EQ(got.squares, 1);
  expect_written(got, written(grid, viewer, panel, {{0, grid.nx, 0, 0}}));
}

TEST(WindowMeter, SquaresOverlapAndFade) {
  const FieldGrid wide{1000, 4, 8e-6, 532e-9};
  const Viewer ahead{10e-3, 20e-3, 0.1, 1e-3, 0};
  const auto panel = random_panel(wide);
  const auto got = measured(wide, ahead, panel, {1, 2, 1});
  EXPECT_EQ(got.squares, 2);
  expect_written(got, written(wide, ahead, panel, {{0, 576, 0, 152}, {424, 576, 152, 0}}));
}

// Hogels drop their errors at their borders, which lie inside the squares.
TEST(WindowMeter, MeasuresTheLightOfTheWholePanel) {
  const FieldGrid wide{1400, 40, 2e-6, 532e-9};
  const Viewer ahead{2.4e-3, 2.4e-3, 36e-3, 0, 0};
  Panel panel{Array<Complex, 2>(wide.shape()), Array<std::uint8_t, 2>(wide.shape())};
  for (std::int64_t i = 0; i < panel.field.size(); ++i) {
    const auto at = static_cast<std::uint64_t>(i);
    const bool low = (i % wide.nx < 170 || i % wide.nx > wide.nx - 170) && (i / wide.nx < 5 || i / wide.nx > 35);
    panel.field.data()[i] = low ? Complex(std::polar(std::sqrt(-std::log(1 - random_uniform64(8, 2 * at))),
                                                     2 * M_PI * random_uniform64(8, 2 * at + 1)))
                                : Complex(0);
  }
  FftPlan(wide.shape()).execute(panel.field.view(), FftDirection::inverse);
  WindowWeightOptions weights{.hogel_px = 100, .beam = {}};
  weights.weights.rule = WeightRule::least_squares;
  ErrorDiffusionOptions options;
  options.bits = 2;
  options.hogel_px = 100;
  ErrorDiffusionPlan plan(options, window_weights(wide, ahead, weights).weights, wide.shape());
  plan.execute(panel.field.view(), panel.codes.view());
  for (auto& value : panel.field.host()) value /= plan.report().scale;
  const auto got = measured(wide, ahead, panel, {40});
  EXPECT_EQ(got.squares, 3);
  const auto expected = written(wide, ahead, panel, {{0, wide.nx, 0, 0}});
  const auto decibels = [](const auto& seen) { return 10 * std::log10(seen.signal / seen.noise); };
  std::printf("signal to noise, dB: %.2f in squares, %.2f of the whole panel; truncated %.2f, %.2f\n",
              decibels(got.seen), decibels(expected.seen), decibels(got.truncated_seen), decibels(expected.truncated));
  EXPECT_NEAR(decibels(got.seen), decibels(expected.seen), 0.1);
  EXPECT_NEAR(decibels(got.truncated_seen), decibels(expected.truncated), 0.1);
}

TEST(WindowMeter, AnIncompleteSquareIsNotMeasured) {
  const auto panel = random_panel(grid);
  const auto got = measured(grid, viewer, panel, {5, 10});
  EXPECT_EQ(got.squares, 0);
  EXPECT_EQ(got.noise, 0);
  EXPECT_EQ(got.seen.signal, 0);
}

// The rows of a square are enough to measure it; here half of the eight squares at the top begin at row 0.
TEST(WindowMeter, LargePanelsAreMeasuredInSquaresSpreadOverThem) {
  const FieldGrid large{8192, 8192, 2e-6, 532e-9};
  Panel panel{Array<Complex, 2>({576, large.nx}), Array<std::uint8_t, 2>({576, large.nx})};
  std::fill_n(panel.field.data(), panel.field.size(), Complex(1));
  std::fill_n(panel.codes.data(), panel.codes.size(), std::uint8_t{0});
  WindowMeter meter({}, large, {6e-3, 6e-3, 0.1, 0, 0});
  meter.add_rows(0, panel.field.view(), panel.codes.view(), 1);
  EXPECT_EQ(meter.measured().squares, 4);
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
  EXPECT_EQ(got.max_used, 5);
  expect_within("sum of moduli", std::abs(got.max_sum - 0.98), 1e-6);
  options.each_hogel = false;
  EXPECT_EQ(window_weights(grid, viewer, options).weights.values.shape(), (Shape<2>{1, 5}));
}

TEST(WindowMeter, RefusesRowsBeyondThePanel) {
  const FieldGrid small{32, 16, 8e-6, 532e-9};
  WindowMeter meter({}, small, {10e-3, 5e-3, 0.6, 0, 0});
  const Array<Complex, 2> field({4, 32});
  const Array<std::uint8_t, 2> codes({4, 32});
  for (const std::int64_t row : {-1, 13, 15, 100}) {
    expect_error(ErrorCode::invalid_argument, "WindowMeter::add_rows: field: expected rows of 32 pixels within 16",
                 [&] { meter.add_rows(row, field.view(), codes.view(), 1); });
  }
  expect_error(ErrorCode::invalid_argument, "scale", [&] { meter.add_rows(0, field.view(), codes.view(), NAN); });
  const Array<std::uint8_t, 2> few({4, 31});
  expect_error(ErrorCode::invalid_argument, "codes", [&] { meter.add_rows(0, field.view(), few.view(), 1); });
}

// The memory of a complete square is that of the thread which measures it.
TEST(WindowMeter, RefusesRowsThatWereAdded) {
  const FieldGrid small{32, 16, 8e-6, 532e-9};
  WindowMeter meter({}, small, {10e-3, 5e-3, 0.6, 0, 0});
  const Array<Complex, 2> field({4, 32});
  const Array<std::uint8_t, 2> codes({4, 32});
  meter.add_rows(4, field.view(), codes.view(), 1);
  const auto refused = [&](std::int64_t row, std::string_view named) {
    expect_error(
        ErrorCode::invalid_argument,
        "WindowMeter::add_rows: first_row: expected rows that were not added before, got row " + std::string(named),
        [&] { meter.add_rows(row, field.view(), codes.view(), 1); });
  };
  refused(2, "4");
  refused(7, "7");
  for (const std::int64_t row : {0, 8, 12}) meter.add_rows(row, field.view(), codes.view(), 1);
  refused(0, "0");
  EXPECT_EQ(meter.measured().squares, 1);
}

TEST(HogelWeights, CountThoseOfFloydAndSteinberg) {
  const auto counted = counted_weights(floyd_steinberg_weights());
  EXPECT_EQ(counted.min_used, 4);
  EXPECT_EQ(counted.max_used, 4);
  EXPECT_EQ(counted.min_sum, 1);
  EXPECT_EQ(counted.max_sum, 1);
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
