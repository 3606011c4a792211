// Light against a wanted picture: the measures against float64, closed forms, and what is refused.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <holotone/core/random.hpp>
#include <holotone/metrics/light_comparison.hpp>
#include <limits>
#include <tests/reference/metrics.hpp>
#include <tests/support/on_each_device.hpp>

namespace holotone {
namespace {

using support::expect_error;
using support::expect_within;

using Picture = Array<float, 2>;

/// Bright stripes on a dark ground, some of it below 5 % of the largest.
Picture stripes(Shape<2> shape) {
  Picture picture(shape);
  for (std::int64_t i = 0; i < picture.size(); ++i) {
    const double wave = std::sin(0.3 * static_cast<double>(i % shape[1]) + 0.1 * static_cast<double>(i / shape[1]));
    picture.data()[i] = static_cast<float>(wave > 0 ? wave * wave : 0.01 * wave * wave);
  }
  return picture;
}

/// The picture times noise, three times as bright.
Picture speckled(const Picture& picture, double contrast) {
  Picture seen(picture.shape());
  for (std::int64_t i = 0; i < seen.size(); ++i) {
    const double noise = 1 + contrast * (2 * random_uniform64(5, static_cast<std::uint64_t>(i)) - 1);
    seen.data()[i] = static_cast<float>(3 * noise * static_cast<double>(picture.data()[i]) + 1e-3);
  }
  return seen;
}

std::vector<double> doubles(const Picture& picture) { return {picture.host().begin(), picture.host().end()}; }

TEST(LightComparison, AgreesWithItsDefinition) {
  for (const auto& [ny, nx] : {std::pair{11, 11}, {17, 40}, {300, 301}}) {
    for (const double peak : {0.0, 1.5}) {
      const auto wanted = stripes({ny, nx});
      const auto seen = speckled(wanted, 0.4);
      Array<std::uint8_t, 2> difference({ny, nx});
      const auto compared = compare_light(seen.view(), wanted.view(), peak, difference.view());
      const float largest = *std::ranges::max_element(wanted.host());
      const double used = peak > 0 ? peak : std::sqrt(static_cast<double>(largest));
      const auto expected = reference::metrics_light(doubles(seen), doubles(wanted), ny, nx, used);
      const auto what = fmt::format("{} x {}, peak {}: ", nx, ny, peak);
      expect_within(what + "scale", std::abs(compared.scale / expected.scale - 1), 1e-12);
      expect_within(what + "PSNR, dB", std::abs(compared.psnr_db - expected.psnr_db), 1e-9);
      expect_within(what + "SSIM", std::abs(compared.ssim - expected.ssim), 1e-6);  // of float32 values
      expect_within(what + "speckle contrast", std::abs(compared.speckle_contrast - expected.speckle_contrast), 1e-11);
      for (std::size_t i = 0; i < expected.error.size(); ++i) {
        const double grey = std::clamp(128 + 254 * expected.error[i], 1.0, 255.0);
        ASSERT_NEAR(difference.host()[i], grey, 0.5 + 1e-9) << i;
      }
      EXPECT_EQ(compare_light(seen.view(), wanted.view(), peak).psnr_db, compared.psnr_db);
    }
  }
}

TEST(LightComparison, KnownPictures) {
  const auto wanted = stripes({12, 15});
  auto seen = stripes({12, 15});
  const auto equal = compare_light(seen.view(), wanted.view());
  EXPECT_EQ(equal.scale, 1);
  EXPECT_TRUE(std::isinf(equal.psnr_db));
  EXPECT_NEAR(equal.ssim, 1, 1e-12);
  EXPECT_NEAR(equal.speckle_contrast, 0, 1e-12);
  // Four times the light is twice the amplitude.
  for (auto& value : seen.host()) value *= 4;
  EXPECT_NEAR(compare_light(seen.view(), wanted.view()).scale, 0.5, 1e-7);
  // Fully developed speckle: exponential intensity has a contrast of 1.
  Picture flat({400, 500});
  Picture speckle({400, 500});
  for (std::int64_t i = 0; i < flat.size(); ++i) {
    flat.data()[i] = 2;
    speckle.data()[i] = static_cast<float>(-std::log(1 - random_uniform64(3, static_cast<std::uint64_t>(i))));
  }
  const double contrast = compare_light(speckle.view(), flat.view()).speckle_contrast;
  expect_within("contrast of developed speckle", std::abs(contrast - 1), 5 * std::sqrt(2.0 / 200'000));
}

TEST(LightComparison, DarknessAndSmallPictures) {
  const auto wanted = stripes({10, 30});
  Picture dark({10, 30});
  std::fill_n(dark.data(), dark.size(), 0.0F);
  const auto nothing = compare_light(dark.view(), wanted.view());
  EXPECT_EQ(nothing.scale, 0);
  EXPECT_TRUE(std::isfinite(nothing.psnr_db));
  EXPECT_TRUE(std::isnan(nothing.speckle_contrast));
  EXPECT_TRUE(std::isnan(nothing.ssim));
  Array<std::uint8_t, 2> difference({10, 30});
  (void)compare_light(dark.view(), wanted.view(), 0, difference.view());
  EXPECT_EQ(*std::ranges::min_element(difference.host()), 1);
  EXPECT_EQ(*std::ranges::max_element(difference.host()), 128);
  Picture one({1, 1});
  one(0, 0) = 0.25F;
  EXPECT_TRUE(std::isinf(compare_light(one.view(), one.view()).psnr_db));
}

TEST(LightComparison, RefusesWhatItCannotCompare) {
  const auto good = stripes({11, 12});
  const auto other = stripes({12, 11});
  const auto code = ErrorCode::invalid_argument;
  const auto compare = [](const Picture& seen, const Picture& wanted, double peak = 0) {
    return [&seen, &wanted, peak] { (void)compare_light(seen.view(), wanted.view(), peak); };
  };
  expect_error(code, "compare_light: wanted: expected shape {11, 12}", compare(good, other));
  expect_error(code, "compare_light: seen: expected a picture, got none", compare(Picture(), Picture()));
  Array<std::uint8_t, 2> difference({12, 11});
  expect_error(code, "compare_light: difference: expected shape {11, 12}",
               [&] { (void)compare_light(good.view(), good.view(), 0, difference.view()); });
  for (const float value : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), -1.0F}) {
    auto bad = stripes({11, 12});
    bad(2, 3) = value;
    expect_error(code, "compare_light: seen: expected finite values >= 0", compare(bad, good));
    expect_error(code, "in column 3, row 2", compare(good, bad));
  }
  Picture black({11, 12});
  std::fill_n(black.data(), black.size(), 0.0F);
  expect_error(code, "compare_light: wanted: expected a picture with some light, got zeros", compare(good, black));
  expect_error(code, "compare_light: peak", compare(good, good, -1));
  expect_error(code, "compare_light: peak", compare(good, good, NAN));
}

}  // namespace
}  // namespace holotone
