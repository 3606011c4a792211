// Pixel values to ink: closed forms.
#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <holotone/core/error.hpp>
#include <holotone/halftone/ink.hpp>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

namespace holotone {
namespace {

Array<float, 3> picture(std::int64_t ny, std::int64_t nx, const std::vector<float>& values) {
  const auto channels = static_cast<std::int64_t>(values.size()) / (ny * nx);
  Array<float, 3> pixels({ny, nx, channels});
  std::copy(values.begin(), values.end(), pixels.data());
  return pixels;
}

Array<float, 2> plane(std::int64_t ny, std::int64_t nx, const std::vector<float>& values) {
  Array<float, 2> ink({ny, nx});
  std::copy(values.begin(), values.end(), ink.data());
  return ink;
}

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

TEST(Ink, IsOneMinusLinearLight) {
  // sRGB code 188 is 0.50289 of the light; 255 is all of it and 0 none.
  const auto ink = ink_from_pixels(picture(1, 3, {0, 188.0F / 255, 1}).view());
  EXPECT_EQ(ink(0, 0), 1);
  EXPECT_NEAR(ink(0, 1), 1 - 0.50288646, 1e-6);
  EXPECT_EQ(ink(0, 2), 0);
  InkOptions options;
  options.tone = PixelTone::linear;
  EXPECT_FLOAT_EQ(ink_from_pixels(picture(1, 1, {0.75F}).view(), options)(0, 0), 0.25F);
}

// The table of codes and the formula agree at codes of 8 and 16 bits and between them.
TEST(Ink, CodesAndNumbersBetweenThemAreDecodedAlike) {
  std::vector<float> values;
  for (int k = 0; k <= 255; ++k) values.push_back(static_cast<float>(k) / 255.0F);
  for (int k = 0; k <= 65535; k += 13) values.push_back(static_cast<float>(k) / 65535.0F);
  for (int k = 1; k < 999; ++k) values.push_back(static_cast<float>(k) / 999.0F);
  const auto ink = ink_from_pixels(picture(1, static_cast<std::int64_t>(values.size()), values).view());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double code = static_cast<double>(values[i]);
    const double light = code <= 0.04045 ? code / 12.92 : std::pow((code + 0.055) / 1.055, 2.4);
    EXPECT_NEAR(static_cast<double>(ink.data()[i]), 1 - light, 2e-7) << code;
  }
}

TEST(Ink, ColourIsWeightedByLuminance) {
  const auto ink = ink_from_pixels(picture(1, 4, {1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1}).view());
  EXPECT_NEAR(ink(0, 0), 1 - 0.2126, 1e-6);
  EXPECT_NEAR(ink(0, 1), 1 - 0.7152, 1e-6);
  EXPECT_NEAR(ink(0, 2), 1 - 0.0722, 1e-6);
  EXPECT_EQ(ink(0, 3), 0) << "white has none at all";
}

TEST(Ink, AlphaIsOverWhite) {
  const auto grey = ink_from_pixels(picture(1, 3, {0, 1, 0, 0.25F, 0, 0}).view());
  EXPECT_FLOAT_EQ(grey(0, 0), 1);
  EXPECT_FLOAT_EQ(grey(0, 1), 0.25F);
  EXPECT_EQ(grey(0, 2), 0);
  const auto colour = ink_from_pixels(picture(1, 2, {0, 0, 0, 0.5F, 1, 1, 1, 0.5F}).view());
  EXPECT_FLOAT_EQ(colour(0, 0), 0.5F);
  EXPECT_EQ(colour(0, 1), 0);
}

TEST(Ink, GammaInvertAndMask) {
  InkOptions options;
  options.tone = PixelTone::linear;
  options.gamma = 2;
  const auto pixels = picture(1, 2, {0.25F, 0.81F});
  EXPECT_NEAR(ink_from_pixels(pixels.view(), options)(0, 0), 0.5, 1e-7);
  EXPECT_NEAR(ink_from_pixels(pixels.view(), options)(0, 1), 0.1, 1e-7);
  options.invert = true;
  EXPECT_NEAR(ink_from_pixels(pixels.view(), options)(0, 0), 0.5, 1e-7);
  EXPECT_NEAR(ink_from_pixels(pixels.view(), options)(0, 1), 0.9, 1e-7);
  const auto mask = plane(1, 2, {0.5F, 0});
  options.mask = mask.view();
  EXPECT_NEAR(ink_from_pixels(pixels.view(), options)(0, 0), 0.25, 1e-7);
  EXPECT_EQ(ink_from_pixels(pixels.view(), options)(0, 1), 0);
}

TEST(Ink, RefusesWhatItCannotUse) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinite = std::numeric_limits<float>::infinity();
  const auto bad = [&](float value) {
    return message_of([&] { (void)ink_from_pixels(picture(2, 2, {0, 0, 0, value}).view()); });
  };
  EXPECT_NE(bad(nan).find("pixel in row 1, column 1: expected a finite number, got nan"), std::string::npos);
  EXPECT_NE(bad(infinite).find("got inf"), std::string::npos);
  EXPECT_NE(bad(1.5F).find("row 1, column 1: expected from 0 to 1, got 1.5"), std::string::npos);
  EXPECT_NE(bad(-0.5F).find("got -0.5"), std::string::npos);
  InkOptions clip;
  clip.out_of_range = OutOfRange::clip;
  const auto clipped = ink_from_pixels(picture(1, 2, {-3, 7}).view(), clip);
  EXPECT_EQ(clipped(0, 0), 1);
  EXPECT_EQ(clipped(0, 1), 0);
  EXPECT_NE(message_of([&] { (void)ink_from_pixels(picture(1, 1, {nan}).view(), clip); }).find("finite"),
            std::string::npos);
  const auto mask = plane(2, 3, std::vector<float>(6, 1));
  InkOptions masked;
  masked.mask = mask.view();
  EXPECT_NE(message_of([&] {
              (void)ink_from_pixels(picture(2, 2, {0, 0, 0, 0}).view(), masked);
            }).find("mask: expected the picture's 2 x 2 pixels, got 3 x 2"),
            std::string::npos);
  InkOptions gamma;
  gamma.gamma = 0;
  EXPECT_NE(message_of([&] { (void)ink_from_pixels(picture(1, 1, {0}).view(), gamma); }).find("gamma"),
            std::string::npos);
  (void)message_of([] { (void)ink_from_pixels({}); });
  (void)message_of([] { (void)ink_from_pixels(picture(1, 1, {0, 0, 0, 0, 0}).view()); });
}

// The print by Demichel's model equals the picture for any share of black.
TEST(Ink, FourColoursPrintThePicture) {
  InkOptions options;
  options.tone = PixelTone::linear;
  const std::vector<float> colours = {0.875F, 0.5F, 0.1875F, 0.25F, 0.25F, 0.25F, 0, 0, 0, 1, 1, 1, 0, 1, 0.5F};
  const auto pixels = picture(1, 5, colours);
  for (const double black : {0.0, 0.5, 1.0}) {
    const auto inks = cmyk_inks(pixels.view(), Separation(black), options);
    for (std::size_t i = 0; i < 5; ++i) {
      const auto at = static_cast<std::int64_t>(i);
      for (std::size_t c = 0; c < 3; ++c) {
        const double printed = (1 - static_cast<double>(inks[c](0, at))) * (1 - static_cast<double>(inks[3](0, at)));
        EXPECT_NEAR(printed, static_cast<double>(colours[3 * i + c]), 2e-5) << black;
      }
      const float least = std::min({inks[0](0, at), inks[1](0, at), inks[2](0, at)});
      EXPECT_LE(least, black == 1 ? 0 : 1);
      EXPECT_LE(inks[3](0, at), static_cast<float>(black));
    }
  }
  EXPECT_EQ(cmyk_inks(pixels.view(), Separation(1), options)[3](0, 2), 1) << "black is black alone";
  EXPECT_EQ(cmyk_inks(pixels.view(), Separation(1), options)[0](0, 2), 0);
  const auto grey = cmyk_inks(picture(1, 1, {0.25F}).view(), Separation(0), options);
  for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(grey[c](0, 0), 0.75F, 1e-5);
  const auto mask = plane(1, 5, {0.5F, 0, 0, 0, 1});
  const auto whole = cmyk_inks(pixels.view(), Separation(1), options);
  options.mask = mask.view();
  const auto masked = cmyk_inks(pixels.view(), Separation(1), options);
  for (std::size_t c = 0; c < 4; ++c) {
    EXPECT_FLOAT_EQ(masked[c](0, 0), 0.5F * whole[c](0, 0));
    EXPECT_EQ(masked[c](0, 1), 0);
  }
}

TEST(Ink, DotsOfVaryingSizePrintTheInk) {
  const auto ink = plane(1, 4, {0, 0.1F, 0.5F, 1});
  const DotSizes sizes{0.5, 2};
  const auto density = dot_density(ink.view(), sizes);
  Dots dots;
  dots.width = 8;  // twice as many pixels as the ink
  dots.height = 2;
  dots.position = {1, 1, 3, 1, 5, 1, 7, 1, 8, 0, 4, 2};
  const auto radii = dot_radii(dots, ink.view(), sizes);
  for (std::size_t i = 0; i < 4; ++i) {
    const auto r = static_cast<double>(radii[i]);
    EXPECT_NEAR(static_cast<double>(density.data()[i]) * std::numbers::pi * r * r, static_cast<double>(ink.data()[i]),
                1e-6);
  }
  EXPECT_FLOAT_EQ(radii[0], 0.5F);
  EXPECT_FLOAT_EQ(radii[3], 2);
  EXPECT_FLOAT_EQ(radii[4], 2);
  EXPECT_NEAR(static_cast<double>(radii[5]), std::sqrt(0.25 + 3.75 * 0.3), 1e-6) << "half-way between 0.1 and 0.5";
  EXPECT_THROW((void)dot_density(ink.view(), {0, 1}), Error);
  EXPECT_THROW((void)dot_radii(dots, ink.view(), {2, 1}), Error);
}

TEST(Ink, ResamplingAveragesOrInterpolates) {
  const auto ink = plane(2, 4, {0, 1, 0.5F, 0.5F, 1, 0, 0.25F, 0.75F});
  const auto halved = resampled_ink(ink.view(), {1, 2});
  EXPECT_FLOAT_EQ(halved(0, 0), 0.5F);
  EXPECT_FLOAT_EQ(halved(0, 1), 0.5F);
  const auto thirds = resampled_ink(ink.view(), {2, 3});  // 4/3 source pixels each
  EXPECT_NEAR(thirds(0, 0), (0 + 1.0 / 3) / (4.0 / 3), 1e-6);
  EXPECT_NEAR(thirds(0, 1), (2.0 / 3 + 0.5 * 2 / 3) / (4.0 / 3), 1e-6);
  const auto line = plane(1, 2, {0, 1});
  const auto longer = resampled_ink(line.view(), {3, 4});
  for (std::int64_t row = 0; row < 3; ++row) {
    EXPECT_FLOAT_EQ(longer(row, 0), 0);
    EXPECT_FLOAT_EQ(longer(row, 1), 0.25F);
    EXPECT_FLOAT_EQ(longer(row, 2), 0.75F);
    EXPECT_FLOAT_EQ(longer(row, 3), 1);
  }
  EXPECT_EQ(resampled_ink(plane(1, 1, {0.5F}).view(), {7, 5})(6, 4), 0.5F);
  (void)message_of([&] { (void)resampled_ink(ink.view(), {0, 2}); });
}

// Reduction by any factor keeps the total ink.
TEST(Ink, ShrinkingKeepsTheInk) {
  Array<float, 2> ink({37, 53});
  for (std::int64_t i = 0; i < ink.size(); ++i) ink.data()[i] = static_cast<float>((i * 7919) % 1000) / 999.0F;
  const double total = total_ink(ink.view());
  for (const Shape<2> shape : {Shape<2>{36, 52}, Shape<2>{11, 53}, Shape<2>{1, 1}, Shape<2>{17, 3}}) {
    const double area = 37.0 * 53.0 / static_cast<double>(shape[0] * shape[1]);
    EXPECT_NEAR(total_ink(resampled_ink(ink.view(), shape).view()) * area, total, 1e-6 * total);
  }
}

TEST(Ink, NumberAndRadiusOfDotsBelongTogether) {
  const auto ink = plane(1, 4, {1, 0.5F, 0.5F, 0});
  EXPECT_EQ(total_ink(ink.view()), 2);
  EXPECT_NEAR(radius_for_ink(ink.view(), 8), std::sqrt(2 / (8 * std::numbers::pi)), 1e-12);
  EXPECT_EQ(dots_for_ink(ink.view(), radius_for_ink(ink.view(), 8)), 8);
  EXPECT_EQ(dots_for_ink(ink.view(), 100), 1) << "a little ink is a dot";
  require_dots_fit("f", "count", ink.view(), 8, std::sqrt(3 / (8 * std::numbers::pi)));  // three pixels have ink
  EXPECT_NE(message_of([&] { require_dots_fit("f", "count", ink.view(), 8, 0.4); }).find("at most 5 dots"),
            std::string::npos);
  const auto white = plane(1, 2, {0, 0});
  EXPECT_NE(message_of([&] { (void)radius_for_ink(white.view(), 8); }).find("white everywhere"), std::string::npos);
  (void)message_of([&] { (void)radius_for_ink(ink.view(), 0); });
  (void)message_of([&] { (void)dots_for_ink(ink.view(), 0); });
  (void)message_of([&] { (void)dots_for_ink(ink.view(), 1e-9); });
}

TEST(Ink, DotsBesideTheInkAreTakenToItsNearestPoint) {
  holotone::Array<float, 2> ink({8, 12});
  for (std::int64_t i = 0; i < ink.size(); ++i) ink.data()[i] = 0;
  ink(2, 3) = 1;
  ink(6, 9) = 0.5F;
  holotone::Dots dots;
  dots.width = 24;  // two units per pixel
  dots.height = 16;
  dots.position = {7, 5, 0, 5, 8.5F, 3.5F, 23, 15};
  EXPECT_EQ(holotone::take_to_ink(dots, ink.view()), 3);
  const float expected[] = {7, 5, 6, 5, 8, 4, 20, 14};
  for (std::size_t i = 0; i < 8; ++i) EXPECT_NEAR(dots.position[i], expected[i], 3e-3) << i;
}

}  // namespace
}  // namespace holotone
