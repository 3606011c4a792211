// Limits of a panel's pixels, worked out by hand.
#include <gtest/gtest.h>
#include <holotone/recipes/panel_limits.hpp>
#include <tests/support/on_each_device.hpp>

namespace holotone {
namespace {

constexpr FieldGrid grid{1920, 1080, 8e-6, 500e-9};

TEST(PanelLimits, HogelsSuitTheNearestPoint) {
  // lambda d / (4 pitch^2) is 195 pixels at 10 cm.
  EXPECT_EQ(suited_hogel_px(grid, 0.1), 128);
  EXPECT_EQ(suited_hogel_px(grid, -0.1), 128) << "in front of the panel";
  EXPECT_EQ(suited_hogel_px(grid, 0.132), 256);
  EXPECT_EQ(suited_hogel_px(grid, 1e-3), 16) << "at least";
  EXPECT_EQ(suited_hogel_px(grid, 100), 256) << "four across 1920 pixels";
  EXPECT_EQ(suited_hogel_px({20'000, 20'000, 8e-6, 500e-9}, 100), 1024) << "at most";
}

TEST(PanelLimits, WhiteIsTintedWhereThePanelCutsOffLight) {
  const std::vector<double> colours{640e-9, 520e-9, 450e-9};
  // At 2 cm red spreads 0.8 mm: a picture within the panel less that is white.
  EXPECT_LT(white_tint(grid, colours, {13.7e-3, 7e-3}, 0.02), 1e-12);
  EXPECT_GT(white_tint(grid, colours, {15.36e-3, 8.64e-3}, 0.02), 0.01);
  EXPECT_EQ(white_tint(grid, {520e-9, 520e-9}, {15.36e-3, 8.64e-3}, 0.02), 0) << "one wavelength";
  EXPECT_EQ(white_tint(grid, colours, {15.36e-3, 8.64e-3}, 0), 0) << "in the panel's plane";
  // Far away the middle gets as much of each colour's cone as the edge: no contrast.
  EXPECT_LT(white_tint(grid, colours, {15.36e-3, 8.64e-3}, 10), 1e-6);
  support::expect_error(ErrorCode::invalid_argument, "wavelengths_m", [] {
    (void)white_tint(grid, {}, {1e-3, 1e-3}, 1);
  });
}

TEST(PanelLimits, EncodingsOfFewFrequenciesDisturbNearObjects) {
  // Width 15.36 mm + 4.64 mm = 20 mm: 20 mm * 8 um / (2 * 500 nm / 4) = 0.64 m.
  EXPECT_NEAR(nearest_undisturbed_m(grid, Encoding::double_phase, {4.64e-3, 0}).value(), 0.64, 1e-9);
  EXPECT_NEAR(nearest_undisturbed_m(grid, Encoding::double_phase, {0, 16.36e-3}).value(), 0.8, 1e-9) << "25 mm in y";
  EXPECT_NEAR(nearest_undisturbed_m(grid, Encoding::burckhardt, {4.64e-3, 16.36e-3}).value(), 0.96, 1e-9) << "x alone";
  EXPECT_FALSE(nearest_undisturbed_m(grid, Encoding::phase, {1e-3, 1e-3}));
}

}  // namespace
}  // namespace holotone
