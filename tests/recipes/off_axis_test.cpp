// The reference beam that separates a viewing window from its mirror image: from the geometry, and by the light of
// codes of one bit.
#include <cmath>
#include <gtest/gtest.h>
#include <holotone/core/random.hpp>
#include <holotone/fft/fft.hpp>
#include <holotone/recipes/hogel_weights.hpp>
#include <holotone/recipes/off_axis.hpp>
#include <holotone/recipes/window_meter.hpp>
#include <tests/support/on_each_device.hpp>

namespace holotone {
namespace {

using support::expect_error;

constexpr FieldGrid grid{512, 256, 2e-6, 532e-9};

/// Least and largest frequency of the window's sides over places on the panel, along y (rows down) or x, less the
/// beam's.
std::array<double, 2> extremes(const Viewer& viewer, const ReferenceBeam& beam, bool along_y) {
  std::array<double, 2> found{1, -1};
  for (int i = 0; i <= 20; ++i) {
    for (int j = 0; j <= 20; ++j) {
      const double x = (i / 20.0 - 0.5) * static_cast<double>(grid.nx) * grid.pitch_m;
      const double y = (j / 20.0 - 0.5) * static_cast<double>(grid.ny) * grid.pitch_m;
      for (const double side : {-0.5, 0.5}) {
        const double dx = viewer.x_m - x + (along_y ? 0 : side * viewer.width_m);
        const double dy = viewer.y_m - y + (along_y ? side * viewer.height_m : 0);
        const double sine = (along_y ? -dy : dx) / std::hypot(dx, dy, viewer.distance_m);
        const double of_beam = along_y ? -std::sin(beam.angle_y_rad) : std::sin(beam.angle_x_rad);
        const double frequency = (sine - of_beam) * grid.pitch_m / grid.wavelength_m;
        found = {std::min(found[0], frequency), std::max(found[1], frequency)};
      }
    }
  }
  return found;
}

TEST(OffAxis, TheWindowClearsItsMirrorImageFromEverywhere) {
  constexpr double margin = 1.0 / 64;
  struct Case {
    Viewer viewer;
    bool along_y;
    double sign;  ///< of the window's frequencies
  };
  // In the middle the beam comes from above; a window aside needs less tilt that way.
  for (const auto& [viewer, along_y, sign] :
       {Case{{2.4e-3, 2.4e-3, 36e-3, 0, 0}, true, -1}, Case{{2.4e-3, 2.4e-3, 36e-3, 0, -0.5e-3}, true, 1},
        Case{{2.4e-3, 2.4e-3, 36e-3, 1e-3, 0}, false, 1}, Case{{1.2e-3, 3.0e-3, 36e-3, 0, 0}, false, -1}}) {
    const auto beam = off_axis_beam(grid, viewer, margin);
    ASSERT_TRUE(beam.has_value());
    EXPECT_TRUE(is_off_axis(grid, viewer, *beam));
    EXPECT_FALSE(is_off_axis(grid, viewer));
    EXPECT_EQ(along_y ? beam->angle_x_rad : beam->angle_y_rad, 0);
    const auto [low, high] = extremes(viewer, *beam, along_y);
    EXPECT_LE(std::max(std::abs(low), std::abs(high)), 0.5);
    EXPECT_NEAR(sign > 0 ? low : -high, margin, 1e-9);  // no more tilt than that
  }
}

TEST(OffAxis, AWindowAsideNeedsNoBeam) {
  const Viewer aside{2e-3, 2e-3, 36e-3, 0, 2.5e-3};
  EXPECT_TRUE(is_off_axis(grid, aside));
  EXPECT_EQ(off_axis_beam(grid, aside, 1.0 / 64), ReferenceBeam{});
}

TEST(OffAxis, ThereIsNoBeamForAWindowOfHalfOfAllDirections) {
  const Viewer wide{5e-3, 5e-3, 36e-3, 0, 0};
  const auto all = window_over_panel(grid, wide);
  EXPECT_GT(std::min(all.width, all.height), 0.5);
  EXPECT_FALSE(off_axis_beam(grid, wide, 0).has_value());
  const auto narrow = off_axis_beam(grid, {2e-3, 5e-3, 36e-3, 0, 0}, 0);
  ASSERT_TRUE(narrow.has_value());
  EXPECT_NE(narrow->angle_x_rad, 0);
  expect_error(ErrorCode::invalid_argument, "margin", [&] { (void)off_axis_beam(grid, wide, 0.6); });
}

/// Speckle that sends light to the viewing window alone.
Array<Complex, 2> light_to(const FieldGrid& panel_grid, const Viewer& viewer) {
  Array<Complex, 2> field(panel_grid.shape());
  std::fill_n(field.data(), field.size(), Complex(0));
  const auto window = signal_window(panel_grid, viewer, 0, 0);
  const auto frequency = [](std::int64_t k, std::int64_t n) {
    return static_cast<double>(2 * k < n ? k : k - n) / static_cast<double>(n);
  };
  for (std::int64_t row = 0; row < panel_grid.ny; ++row) {
    for (std::int64_t column = 0; column < panel_grid.nx; ++column) {
      if (std::abs(frequency(column, panel_grid.nx) - window.xi) > window.width / 2) continue;
      if (std::abs(frequency(row, panel_grid.ny) - window.eta) > window.height / 2) continue;
      const auto at = static_cast<std::uint64_t>(row * panel_grid.nx + column);
      field(row, column) = Complex(std::polar(std::sqrt(-std::log(1 - random_uniform64(7, 2 * at))),
                                              2 * M_PI * random_uniform64(7, 2 * at + 1)));
    }
  }
  FftPlan(panel_grid.shape()).execute(field.view(), FftDirection::inverse);
  return field;
}

/// Signal-to-noise ratio in the viewing window, dB, and the twin image.
std::array<double, 2> measured(const ErrorDiffusionOptions& options, const Viewer& viewer, const ReferenceBeam& beam) {
  const FieldGrid panel_grid{192, 160, 2e-6, 532e-9};
  auto field = light_to(panel_grid, viewer);
  remove_beam(beam, panel_grid, 0, field.view());
  WindowWeightOptions weights{.hogel_px = 0, .beam = beam};
  weights.weights.rule = WeightRule::least_squares;
  ErrorDiffusionPlan plan(options, window_weights(panel_grid, viewer, weights).weights, panel_grid.shape());
  Array<std::uint8_t, 2> codes(panel_grid.shape());
  plan.execute(field.view(), codes.view());
  WindowMeter meter(options, panel_grid, viewer, beam);
  meter.add_rows(0, field.view(), codes.view(), static_cast<double>(plan.report().scale));
  const auto got = meter.measured();
  return {10 * std::log10(got.seen.signal / got.seen.noise), got.twin};
}

// On the axis the twin image has the light of the picture, which bounds the ratio by 0 dB.
TEST(OffAxis, OneBitShowsThePictureWithoutItsTwin) {
  const FieldGrid panel_grid{192, 160, 2e-6, 532e-9};
  const Viewer viewer{2e-3, 2e-3, 36e-3, 0, 0};
  for (const auto modulation : {Modulation::phase, Modulation::amplitude}) {
    ErrorDiffusionOptions options;
    options.modulation = modulation;
    options.bits = 1;
    const auto [on_db, on_twin] = measured(options, viewer, {});
    const auto beam = off_axis_beam(panel_grid, viewer, 1.0 / 160);
    ASSERT_TRUE(beam.has_value());
    const auto [off_db, off_twin] = measured(options, viewer, *beam);
    std::printf("one bit: signal to noise %.1f dB on the axis (twin %.2f), %.1f dB off (twin %.1e)\n", on_db, on_twin,
                off_db, off_twin);
    EXPECT_LT(on_db, 0.5);
    EXPECT_NEAR(on_twin, 1, 0.05);
    EXPECT_GT(off_db, 10);
    EXPECT_LT(off_twin, 0.01);
  }
}

}  // namespace
}  // namespace holotone
