// Pictures with depth: position and layer of their pixels on a panel; disparities and holes.
#include <holotone/hologram/depth_map.hpp>
#include <holotone/hologram/layers.hpp>
#include <limits>
#include <tests/support/on_each_device.hpp>

namespace {

using holotone::Array;
using holotone::ErrorCode;
using holotone::FieldGrid;
using holotone::LayerSpacing;
using holotone::RgbdPicture;
using holotone::slice_picture;
using holotone::SlicedPicture;
using Image = Array<float, 2>;

constexpr float none = std::numeric_limits<float>::quiet_NaN();
constexpr float infinite = std::numeric_limits<float>::infinity();

Image image(std::int64_t ny, std::int64_t nx, const std::vector<float>& values) {
  Image result({ny, nx});
  for (std::size_t i = 0; i < static_cast<std::size_t>(ny * nx); ++i) result.data()[i] = values[i % values.size()];
  return result;
}

std::vector<float> to_values(const Image& image) { return {image.host().begin(), image.host().end()}; }

TEST(SlicePicture, PixelForPixelWhereThePitchesAgree) {
  const FieldGrid grid{4, 3, 1e-5, 5e-7};
  const Image light = image(3, 4, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  const Image depth = image(3, 4, {0.2F});
  const auto sliced = slice_picture({light.view(), depth.view(), 4e-5}, grid);
  EXPECT_EQ(to_values(sliced.intensity), to_values(light));
  EXPECT_EQ(sliced.distance_m, std::vector<double>{static_cast<double>(0.2F)});
  EXPECT_NEAR(sliced.beyond, 0, 1e-12);
}

// Shift by one pixel to the right and one up.
TEST(SlicePicture, GoesWhereItsCentreIsPut) {
  const FieldGrid grid{5, 5, 1e-5, 5e-7};
  const Image light = image(3, 3, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  const Image depth = image(3, 3, {0.2F});
  RgbdPicture picture{light.view(), depth.view(), 3e-5, 1e-5, 1e-5};
  const auto sliced = slice_picture(picture, grid);
  const std::vector<float> expected{0, 0, 1, 2, 3, 0, 0, 4, 5, 6, 0, 0, 7, 8, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  for (std::size_t i = 0; i < 25; ++i) {
    EXPECT_NEAR(sliced.intensity.data()[i], expected[i], 1e-5F) << i;
    EXPECT_EQ(sliced.layer.data()[i], expected[i] > 0 ? 0 : SlicedPicture::nothing) << i;
  }
  picture.x_m = 2.5e-5;  // 2.5 panel pixels to the right: 1.5 of the picture's 3 columns remain on the panel
  picture.y_m = 0;
  EXPECT_NEAR(slice_picture(picture, grid).beyond, 1.5 / 3, 1e-9);
}

TEST(SlicePicture, MagnifiesByStraightLinesAndReducesByMeans) {
  const Image depth = image(1, 4, {0.1F, 0.1F, 0.3F, 0.3F});
  const Image steps = image(1, 4, {0, 4, 8, 12});
  // Four panel pixels per picture pixel.
  const auto larger = slice_picture({steps.view(), depth.view(), 16e-6}, {16, 1, 1e-6, 5e-7});
  for (std::int64_t x = 0; x < 16; ++x) {
    const double at = std::clamp((static_cast<double>(x) + 0.5) / 4 - 0.5, 0.0, 3.0);
    EXPECT_NEAR(static_cast<double>(larger.intensity(std::int64_t{0}, x)), 4 * at, 1e-5) << x;
    EXPECT_EQ(larger.layer(std::int64_t{0}, x), x < 8 ? 1 : 0) << x;  // that of the nearest pixel, without a ramp
  }
  EXPECT_EQ(larger.distance_m, (std::vector<double>{static_cast<double>(0.3F), static_cast<double>(0.1F)}));
  // A chequer of 0 and 2 on pixels three times as coarse.
  const Image chequer = image(1, 63, {0, 2});
  const Image flat = image(1, 63, {0.2F});
  const auto smaller = slice_picture({chequer.view(), flat.view(), 63e-6}, {21, 1, 3e-6, 5e-7});
  for (std::int64_t x = 1; x < 20; ++x) EXPECT_NEAR(smaller.intensity(std::int64_t{0}, x), 1, 0.12F) << x;
}

// Rounding at the foot of the tent: the amplitude would be the square root of a light below 0.
TEST(SlicePicture, OneBrightPixelNeverMakesNegativeLight) {
  const Image flat = image(1, 70, {0.2F});
  for (std::int64_t bright = 0; bright < 70; ++bright) {
    Image light = image(1, 70, {0});
    light(std::int64_t{0}, bright) = 1;
    for (const double width_m : {33e-6, 47e-6, 66e-6, 75e-6, 90e-6}) {
      const auto sliced = slice_picture({light.view(), flat.view(), width_m}, {96, 1, 1e-6, 5e-7});
      for (const float value : sliced.intensity.host()) EXPECT_GE(value, 0) << width_m << ", pixel " << bright;
    }
  }
}

// A dark pixel beside a bright one is transparent in a stack, whatever rounding leaves at the foot of the tent.
TEST(SlicePicture, APictureOfThePanelsOwnPixelsDoesNotSpread) {
  for (const double pitch_m : {8e-6, 3.74e-6, 1e-6, 6.4e-6}) {
    Image light = image(1, 70, {0});
    for (std::int64_t x = 20; x < 40; ++x) light(std::int64_t{0}, x) = 1;
    RgbdPicture picture{light.view(), {}, 70 * pitch_m};
    picture.distance_offset_m = 0.12;
    const auto sliced = slice_picture(picture, {90, 1, pitch_m, 5e-7});
    EXPECT_EQ(sliced.distance_m, std::vector<double>{0.12});
    for (std::int64_t x = 0; x < 90; ++x) {
      EXPECT_EQ(sliced.intensity(std::int64_t{0}, x), x >= 30 && x < 50 ? 1.0F : 0.0F) << pitch_m << ", " << x;
    }
  }
}

// Codes are exact in float32, their distances in metres are not: 6e-8 of 1 m are 0.7 rad.
TEST(SlicePicture, CodesKeepTheirDistanceInFloat64) {
  const Image light = image(1, 4, {1});
  const Image codes = image(1, 4, {0, 51, 51, 255});
  RgbdPicture picture{light.view(), codes.view(), 4e-6};
  picture.layers = 256;
  picture.spacing = LayerSpacing::distance;
  picture.distance_offset_m = 0.9;
  picture.distance_scale = 0.1 / 255;
  const auto sliced = slice_picture(picture, {4, 1, 1e-6, 5e-7});
  ASSERT_EQ(sliced.distance_m.size(), 3u);
  EXPECT_NEAR(sliced.distance_m[0], 1.0, 1e-15);
  EXPECT_NEAR(sliced.distance_m[1], 0.92, 1e-15);
  EXPECT_NEAR(sliced.distance_m[2], 0.9, 1e-15);
}

// Layers are equal intervals of 1/d or of d, each at the mean of its pixels.
TEST(SlicePicture, SpacingCutsTheRangeEvenly) {
  constexpr int count = 1000;
  Image depth({1, count});
  for (int i = 0; i < count; ++i) depth.data()[i] = 0.1F + 0.3F * static_cast<float>(i) / (count - 1);
  const Image light = image(1, count, {1});
  for (const auto spacing : {LayerSpacing::inverse_distance, LayerSpacing::distance}) {
    for (const double sign : {1.0, -1.0}) {
      Image placed({1, count});
      for (int i = 0; i < count; ++i) placed.data()[i] = static_cast<float>(sign) * depth.data()[i];
      RgbdPicture picture{light.view(), placed.view(), count * 1e-6, 0, 0, 6, spacing};
      const auto sliced = slice_picture(picture, {count, 1, 1e-6, 5e-7});
      ASSERT_EQ(sliced.distance_m.size(), 6u);
      const auto t = [&](double d) { return spacing == LayerSpacing::inverse_distance ? 1 / d : -d; };
      const double far = t(sign > 0 ? 0.4 : -0.1);
      const double near = t(sign > 0 ? 0.1 : -0.4);
      for (int i = 0; i < count; ++i) {
        const double d = static_cast<double>(placed.data()[i]);
        const double place = (t(d) - far) / (near - far) * 6;
        const int number = sliced.layer.data()[i];
        EXPECT_GE(place, number - 1e-3);
        EXPECT_LE(place, number + 1 + 1e-3);
      }
      for (std::size_t k = 0; k < 6; ++k) {
        double sum = 0;
        int members = 0;
        for (int i = 0; i < count; ++i) {
          if (sliced.layer.data()[i] != k) continue;
          sum += t(static_cast<double>(placed.data()[i]));
          ++members;
        }
        EXPECT_NEAR(t(sliced.distance_m[k]), sum / members, 1e-9 * std::abs(far));
        if (k > 0) {
          EXPECT_LT(sliced.distance_m[k], sliced.distance_m[k - 1]);  // far to near
        }
      }
    }
  }
}

TEST(SlicePicture, WhatIsWrongIsRefused) {
  const FieldGrid grid{4, 3, 1e-5, 5e-7};
  const Image light = image(3, 4, {1});
  const Image depth = image(3, 4, {0.2F});
  const auto expect = [&](const std::string& text, const RgbdPicture& picture) {
    support::expect_error(ErrorCode::invalid_argument, text, [&] { (void)slice_picture(picture, grid); });
  };
  const Image other = image(4, 3, {0.2F});
  const Image holes = image(3, 4, {0.2F, none});
  const Image negative = image(3, 4, {1, 1, 1, 1, 1, 1, -1, 1});
  const Image across = image(3, 4, {0.2F, -0.2F});
  expect("distance_m: expected shape {3, 4}, got {4, 3}", {light.view(), other.view(), 4e-5});
  expect("distance_m: row 0, column 1: expected a finite number, got nan", {light.view(), holes.view(), 4e-5});
  expect("intensity: row 1, column 2: expected a finite number >= 0, got -1", {negative.view(), depth.view(), 4e-5});
  expect("width_m: expected", {light.view(), depth.view(), 0});
  expect("layers: expected", {light.view(), depth.view(), 4e-5, 0, 0, 0});
  expect("picture: expected one that covers a pixel", {light.view(), depth.view(), 4e-5, 1});
  expect("spacing: expected distance for a scene that touches or crosses", {light.view(), across.view(), 4e-5});
}

TEST(DepthMap, DisparitiesOfAStereoPair) {
  Image map = image(1, 6, {10, 30, 0, infinite, none, -40});
  depth_of_disparity(map.view(), {1000, 0.2, 30});
  EXPECT_FLOAT_EQ(map.data()[0], 5);
  EXPECT_FLOAT_EQ(map.data()[1], 200.0F / 60);
  for (int i = 2; i < 6; ++i) EXPECT_TRUE(std::isnan(map.data()[i])) << i;
  support::expect_error(ErrorCode::invalid_argument, "focal_px", [&] { depth_of_disparity(map.view(), {0, 0.2, 0}); });
  support::expect_error(ErrorCode::invalid_argument, "baseline_m", [&] {
    depth_of_disparity(map.view(), {1000, -1, 0});
  });
  support::expect_error(ErrorCode::invalid_argument, "offset_px", [&] {
    depth_of_disparity(map.view(), {1000, 1, NAN});
  });
}

TEST(DepthMap, HolesTakeTheFartherNeighbour) {
  Image map = image(5, 4, {none, 1,    2,        0,     //
                           none, none, none,     none,  //
                           3,    none, infinite, 5,     //
                           none, none, none,     none,  //
                           0,    0,    0,        0});
  EXPECT_EQ(fill_depth_holes(map.view()), 16);
  EXPECT_EQ(to_values(map), (std::vector<float>{1, 1, 2, 2, 3, 5, 5, 5, 3, 5, 5, 5, 3, 5, 5, 5, 3, 5, 5, 5}));
  Image kept = image(1, 3, {0, none, -1});
  EXPECT_EQ(fill_depth_holes(kept.view(), false), 1);
  EXPECT_EQ(to_values(kept), (std::vector<float>{0, 0, -1}));
  Image whole = image(1, 2, {1, 2});
  EXPECT_EQ(fill_depth_holes(whole.view()), 0);
  Image empty = image(2, 2, {0});
  support::expect_error(ErrorCode::invalid_argument, "at least one pixel with a depth, got none of 4",
                        [&] { fill_depth_holes(empty.view()); });
}

}  // namespace
