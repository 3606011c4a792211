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

TEST(PanelLimits, APhaseMakesAPictureNeitherTooNearNorTooFar) {
  // 500 nm * 0.512 mm / (8 um)^2 = 4 pixels of spread; the shorter side is 1080 pixels.
  const auto limit = find_plane_sharpness(grid, 0.5121e-3);
  EXPECT_NEAR(limit.spread_px, 4.0008, 1e-3);
  EXPECT_NEAR(limit.detail_px, 4.0008 / 2160, 1e-5);
  EXPECT_FALSE(limit.is_too_near || limit.is_too_far);
  EXPECT_TRUE(find_plane_sharpness(grid, -0.5119e-3).is_too_near) << "on either side of the panel";
  // 500 nm * d / (2 * 8.64 mm * 8 um) = 16 pixels at d = 4.42368 m.
  EXPECT_FALSE(find_plane_sharpness(grid, 4.423).is_too_far);
  EXPECT_TRUE(find_plane_sharpness(grid, 4.424).is_too_far);
  EXPECT_NEAR(find_plane_sharpness(grid, 4.42368).detail_px, 16, 1e-9);
  // One pixel: near and far at once is too near.
  const auto tiny = find_plane_sharpness({1, 1, 8e-6, 500e-9}, 0.4e-3);
  EXPECT_TRUE(tiny.is_too_near);
  EXPECT_FALSE(tiny.is_too_far);
}

}  // namespace
}  // namespace holotone
