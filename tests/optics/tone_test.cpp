// Closed forms of the tone curve, the percentile, the area average and the contact sheet.
#include <algorithm>
#include <cmath>
#include <holotone/core/random.hpp>
#include <holotone/optics/contact_sheet.hpp>
#include <tests/support/on_each_device.hpp>

namespace {

using holotone::Array;
using holotone::ErrorCode;
using holotone::Shape;
using holotone::View;
using support::expect_error;

Array<float, 2> image(Shape<2> shape, const std::vector<float>& values) {
  Array<float, 2> result(shape);
  std::copy(values.begin(), values.end(), result.data());
  return result;
}

View<const float, 2> view(const Array<float, 2>& array) { return array.view(); }

TEST(Percentile, CountsTheShareOfPixels) {
  const auto ten = image({2, 5}, {7, 1, 9, 3, 5, 2, 10, 4, 8, 6});
  EXPECT_EQ(holotone::percentile(view(ten), 0), 1);
  EXPECT_EQ(holotone::percentile(view(ten), 0.1), 1);
  EXPECT_EQ(holotone::percentile(view(ten), 0.5), 5);
  EXPECT_EQ(holotone::percentile(view(ten), 0.51), 6);
  EXPECT_EQ(holotone::percentile(view(ten), 1), 10);
}

TEST(Percentile, IsOneForAWholeSweepAndLeavesOutWhatIsNotFinite) {
  const auto dim = image({1, 4}, {1, 2, 3, NAN});
  const auto bright = image({1, 4}, {10, 20, INFINITY, 30});
  const std::vector<View<const float, 2>> both = {dim.view(), bright.view()};
  EXPECT_EQ(holotone::percentile(both, 0.5), 3);
  EXPECT_EQ(holotone::percentile(both, 1), 30);
  const auto none = image({1, 1}, {NAN});
  expect_error(ErrorCode::invalid_argument, "percentile: images: expected at least one finite pixel",
               [&] { holotone::percentile(none.view(), 0.5); });
  expect_error(ErrorCode::invalid_argument, "percentile: fraction: expected",
               [&] { holotone::percentile(dim.view(), 1.1); });
}

TEST(DefaultReference, FallsBackToTheBrightestAndToOne) {
  Array<float, 2> picture({100, 100});
  std::fill_n(picture.data(), picture.size(), 1.0F);
  std::fill_n(picture.data(), 10, 50.0F);  // a thousandth may saturate
  const auto views = [&] { return std::vector<View<const float, 2>>{picture.view()}; };
  EXPECT_EQ(holotone::default_reference(views()), 1);
  picture.data()[10] = 50;
  EXPECT_EQ(holotone::default_reference(views()), 50);
  std::fill_n(picture.data(), picture.size(), 0.0F);
  EXPECT_EQ(holotone::default_reference(views()), 1);
  picture.data()[77] = 3;
  EXPECT_EQ(holotone::default_reference(views()), 3);
}

TEST(MeanPlusDeviation, IsOverAllPixelsOfAllPictures) {
  const auto first = image({1, 4}, {1, 2, 3, NAN});
  const auto second = image({1, 2}, {4, 10});
  const std::vector<View<const float, 2>> both = {first.view(), second.view()};
  EXPECT_NEAR(holotone::mean_plus_deviation(both), 4 + std::sqrt((9 + 4 + 1 + 0 + 36) / 5.0), 1e-6);
  const auto dark = image({1, 2}, {0, 0});
  EXPECT_EQ(holotone::mean_plus_deviation(std::vector<View<const float, 2>>{dark.view()}), 1);
}

TEST(ToneMap, FollowsTheSrgbCurve) {
  // Code values of linear light from IEC 61966-2-1.
  const auto light = image({1, 9}, {0, 0.001F, 0.0031308F, 0.01F, 0.18F, 0.5F, 1, 2, -1});
  const auto codes = holotone::tone_map(light.view(), {.reference = 1});
  const int expected[] = {0, 3, 10, 25, 118, 188, 255, 255, 0};
  for (int i = 0; i < 9; ++i) EXPECT_EQ(codes(0, i), expected[i]) << light(0, i);
}

// A display's curve inverts the code: its emission is proportional to the intensity.
TEST(ToneMap, ADisplayShowsLightProportionalToTheIntensity) {
  Array<float, 2> ramp({1, 1000});
  for (int i = 0; i < 1000; ++i) ramp(0, i) = static_cast<float>(i);
  const auto codes = holotone::tone_map(ramp.view(), {.reference = 999});
  for (int i = 0; i < 1000; ++i) {
    const double c = codes(0, i) / 255.0;
    const double emitted = c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
    EXPECT_NEAR(emitted, i / 999.0, 0.0046) << i;  // half a code at the curve's steepest point
  }
}

TEST(ToneMap, GammaLiftsTheShadowsAndTheReferenceIsTheImagesOwn) {
  const auto light = image({1, 3}, {0.25F, 4, NAN});
  const auto plain = holotone::tone_map(light.view());
  EXPECT_EQ(plain(0, 1), 255);
  EXPECT_EQ(plain(0, 2), 0);
  const auto lifted = holotone::tone_map(light.view(), {.gamma = 2});
  EXPECT_EQ(lifted(0, 1), 255);
  const auto quarter = image({1, 2}, {1, 4});
  EXPECT_EQ(lifted(0, 0), holotone::tone_map(quarter.view())(0, 0));  // (1/16)^(1/2) = 1/4
  expect_error(ErrorCode::invalid_argument, "tone_map: gamma: expected",
               [&] { holotone::tone_map(light.view(), {.gamma = 0}); });
  expect_error(ErrorCode::invalid_argument, "tone_map: reference: expected a finite number >= 0, got -1",
               [&] { holotone::tone_map(light.view(), {.reference = -1}); });
}

TEST(ToneMap, DecadesAreEquallyFarApart) {
  const auto light = image({1, 7}, {5, 0.5F, 0.05F, 0.005F, 50, 0, NAN});
  const auto codes = holotone::tone_map(light.view(), {.reference = 5, .decades = 3});
  const int expected[] = {255, 170, 85, 0, 255, 0, 0};
  for (int i = 0; i < 7; ++i) EXPECT_EQ(codes(0, i), expected[i]) << light(0, i);
  expect_error(ErrorCode::invalid_argument, "tone_map: decades: expected a number from 0 to 100, got -1",
               [&] { holotone::tone_map(light.view(), {.decades = -1}); });
}

// The table of least intensities gives the codes of the formula, whatever the curve.
TEST(ToneMap, TheTableIsTheFormula) {
  constexpr int count = 20000;
  Array<float, 2> light({1, count});
  for (int i = 0; i < count; ++i) light(0, i) = static_cast<float>(std::exp2(-24 + 26.0 * i / count));
  for (const double gamma : {0.4, 1.0, 2.2}) {
    const float reference = 1.7F;
    const auto codes = holotone::tone_map(light.view(), {.reference = reference, .gamma = gamma});
    for (int i = 0; i < count; ++i) {
      const double ratio = static_cast<double>(light(0, i)) / static_cast<double>(reference);
      const double v = std::pow(std::min(1.0, ratio), 1 / gamma);
      const double code = 255 * (v <= 0.0031308 ? 12.92 * v : 1.055 * std::pow(v, 1 / 2.4) - 0.055);
      ASSERT_NEAR(codes(0, i), code, 0.5 + 1e-9) << light(0, i) << " " << gamma;
    }
  }
}

TEST(Percentile, OfManyValuesOfBothSigns) {
  constexpr int count = 200'001;
  Array<float, 2> values({3, count / 3});
  std::vector<float> sorted;
  for (std::int64_t i = 0; i < values.size(); ++i) {
    values.data()[i] =
        static_cast<float>(std::sin(1e3 * static_cast<double>(i)) * std::exp(1e-4 * static_cast<double>(i)));
    sorted.push_back(values.data()[i]);
  }
  std::sort(sorted.begin(), sorted.end());
  for (const double fraction : {0.0, 0.001, 0.37, 0.5, 0.999, 1.0}) {
    const double rank = std::max(0.0, std::ceil(fraction * count) - 1);
    EXPECT_EQ(holotone::percentile(values.view(), fraction), sorted[static_cast<std::size_t>(rank)]) << fraction;
  }
}

TEST(AreaAverage, KeepsTheMeanAndSplitsPixels) {
  const auto six = image({1, 6}, {1, 2, 3, 4, 5, 6});
  const auto two = holotone::area_average(six.view(), {1, 2});
  EXPECT_FLOAT_EQ(two(0, 0), 2);
  EXPECT_FLOAT_EQ(two(0, 1), 5);
  const auto four = holotone::area_average(six.view(), {1, 4});  // 1.5 pixels each
  EXPECT_FLOAT_EQ(four(0, 0), (1 + 0.5F * 2) / 1.5F);
  EXPECT_FLOAT_EQ(four(0, 1), (0.5F * 2 + 3) / 1.5F);
  EXPECT_FLOAT_EQ(four(0, 3), (0.5F * 5 + 6) / 1.5F);
  Array<float, 2> noise({97, 61});
  double mean = 0;
  for (std::int64_t i = 0; i < noise.size(); ++i) {
    noise.data()[i] = holotone::random_uniform(1, static_cast<std::uint64_t>(i));
    mean += static_cast<double>(noise.data()[i]) / static_cast<double>(noise.size());
  }
  for (const auto shape : {Shape<2>{97, 61}, Shape<2>{40, 60}, Shape<2>{7, 13}, Shape<2>{1, 1}}) {
    const auto small = holotone::area_average(noise.view(), shape);
    double sum = 0;
    for (const float v : small.host()) sum += static_cast<double>(v);
    EXPECT_NEAR(sum / static_cast<double>(small.size()), mean, 1e-6);
  }
  EXPECT_EQ(holotone::area_average(noise.view(), {97, 61})(50, 20), noise(50, 20));
  expect_error(ErrorCode::invalid_argument, "area_average: shape: expected extents from 1 to {97, 61}, got {98, 61}",
               [&] {
                 holotone::area_average(noise.view(), {98, 61});
               });
}

TEST(CaptionGlyph, EveryPrintableCharacterHasAShapeOfItsOwn) {
  std::vector<std::array<std::uint8_t, 7>> seen;
  for (char c = ' '; c <= '~'; ++c) {
    const auto glyph = holotone::caption_glyph(c);
    EXPECT_EQ(std::count(seen.begin(), seen.end(), glyph), 0) << c;
    for (const auto row : glyph) EXPECT_LT(row, 32);
    seen.push_back(glyph);
  }
  EXPECT_EQ(holotone::caption_glyph('\xb5'), holotone::caption_glyph('?'));
  EXPECT_EQ(holotone::caption_glyph('\n'), holotone::caption_glyph('?'));
}

TEST(ContactSheet, LaysTilesOutUnderOneToneCurve) {
  Array<float, 2> dim({20, 30});
  Array<float, 2> bright({20, 30});
  std::fill_n(dim.data(), dim.size(), 1.0F);
  std::fill_n(bright.data(), bright.size(), 4.0F);
  const std::vector<View<const float, 2>> three = {dim.view(), bright.view(), dim.view()};
  const auto sheet = holotone::contact_sheet(three, {.columns = 2});
  ASSERT_EQ(sheet.shape(), (Shape<2>{6 + 2 * 26, 6 + 2 * 36}));
  EXPECT_EQ(sheet(0, 0), 24);   // the rim
  EXPECT_EQ(sheet(6, 6), 137);  // a quarter of the reference
  EXPECT_EQ(sheet(6 + 19, 6 + 29), 137);
  EXPECT_EQ(sheet(6 + 20, 6), 24);
  EXPECT_EQ(sheet(6, 6 + 36), 255);      // the second tile
  EXPECT_EQ(sheet(6 + 26, 6), 137);      // the third, in the second row
  EXPECT_EQ(sheet(6 + 26, 6 + 36), 24);  // no fourth
}

TEST(ContactSheet, AveragesDownAndNeverEnlarges) {
  Array<float, 2> picture({40, 60});
  std::fill_n(picture.data(), picture.size(), 1.0F);
  const std::vector<View<const float, 2>> one = {picture.view()};
  EXPECT_EQ(holotone::contact_sheet(one, {.tile_width = 30}).shape(), (Shape<2>{20 + 12, 30 + 12}));
  EXPECT_EQ(holotone::contact_sheet(one).shape(), (Shape<2>{40 + 12, 60 + 12}));
  const std::vector<View<const float, 2>> nine(9, picture.view());
  EXPECT_EQ(holotone::contact_sheet(nine).shape(), (Shape<2>{3 * 46 + 6, 3 * 66 + 6}));
}

TEST(ContactSheet, WritesCaptionsUnderTheirTilesAndCutsThem) {
  Array<float, 2> picture({10, 40});
  std::fill_n(picture.data(), picture.size(), 0.0F);
  const std::vector<View<const float, 2>> two(2, picture.view());
  const auto sheet = holotone::contact_sheet(two, {.columns = 2, .captions = {"L", "a caption that is much too long"}});
  ASSERT_EQ(sheet.shape(), (Shape<2>{6 + 10 + 11 + 6, 6 + 2 * 46}));
  // "L": a stem of seven dots and a foot of five.
  for (int y = 0; y < 7; ++y) EXPECT_EQ(sheet(18 + y, 6), 224) << y;
  for (int x = 0; x < 5; ++x) EXPECT_EQ(sheet(18 + 6, 6 + x), 224) << x;
  EXPECT_EQ(sheet(18, 7), 24);
  int beyond = 0;
  for (std::int64_t y = 0; y < sheet.shape()[0]; ++y) {
    for (std::int64_t x = 6 + 46 + 40; x < sheet.shape()[1]; ++x) beyond += sheet(y, x) == 224;
  }
  EXPECT_EQ(beyond, 0);
}

TEST(ContactSheet, NamesWhatIsWrong) {
  Array<float, 2> a({4, 5});
  Array<float, 2> b({5, 4});
  std::fill_n(a.data(), a.size(), 1.0F);
  std::fill_n(b.data(), b.size(), 1.0F);
  const std::vector<View<const float, 2>> none;
  const std::vector<View<const float, 2>> unequal = {a.view(), b.view()};
  const std::vector<View<const float, 2>> one = {a.view()};
  expect_error(ErrorCode::invalid_argument, "contact_sheet: intensities: expected at least one picture, got none",
               [&] { holotone::contact_sheet(none); });
  expect_error(ErrorCode::invalid_argument, "intensities: expected pictures of one shape {4, 5}, got {5, 4}",
               [&] { holotone::contact_sheet(unequal); });
  expect_error(ErrorCode::invalid_argument, "captions: expected 1, got 2", [&] {
    holotone::contact_sheet(one, {.captions = {"a", "b"}});
  });
  expect_error(ErrorCode::invalid_argument, "tile_width: expected >= 1, got 0",
               [&] { holotone::contact_sheet(one, {.tile_width = 0}); });
  expect_error(ErrorCode::invalid_argument, "columns: expected >= 0, got -1",
               [&] { holotone::contact_sheet(one, {.columns = -1}); });
}

}  // namespace
