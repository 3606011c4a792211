// Measures of dots against the measures' own functions and closed forms; pages, classes and clumps by hand.
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <holotone/core/error.hpp>
#include <holotone/core/random.hpp>
#include <holotone/metrics/region.hpp>
#include <holotone/recipes/measure.hpp>

namespace holotone {
namespace {

/// A square lattice of dots `step` apart on a page of `side`.
Dots lattice(int side, int step) {
  Dots dots;
  dots.width = dots.height = side;
  for (int y = 0; y < side; y += step) {
    for (int x = 0; x < side; x += step) {
      dots.position.push_back(static_cast<float>(x) + 0.5F * static_cast<float>(step));
      dots.position.push_back(static_cast<float>(y) + 0.5F * static_cast<float>(step));
    }
  }
  return dots;
}

Array<float, 2> flat_ink(std::int64_t ny, std::int64_t nx, float value) {
  Array<float, 2> ink({ny, nx});
  std::fill_n(ink.data(), ink.size(), value);
  return ink;
}

TEST(DotMeasures, ALatticeHasItsSpacingAndDensity) {
  const auto measured = measure_dots(lattice(64, 4));
  EXPECT_EQ(measured.inside, 256);
  EXPECT_NEAR(measured.density, 1.0 / 16, 1e-6);
  EXPECT_NEAR(measured.nearest.mean, 4, 1e-6);
  EXPECT_NEAR(measured.nearest.smallest, 4, 1e-6);
  EXPECT_EQ(measured.pieces, (Shape<2>{1, 1}));  // fewer than 1000 dots
  EXPECT_EQ(measured.spectrum.periodograms, 1);
  ASSERT_TRUE(measured.radial);
  EXPECT_TRUE(measured.pairs);
  EXPECT_TRUE(measured.blurred.empty());
  const auto half = measure_dots(lattice(64, 4), {}, {.interior = 0.5});
  EXPECT_EQ(half.inside, 64);
  EXPECT_EQ(element_count(measure_dots(lattice(256, 4)).pieces), 10);
}

TEST(DotMeasures, DotsThatHoldTheInkReproduceTheImage) {
  // 1/16 of ink a pixel, in dots of one pixel each: far blurs see the image's grey.
  const auto ink = flat_ink(64, 64, 1.0F / 16);
  const auto measured = measure_dots(lattice(64, 4), ink.view(), {.sigma = {6}, .margin = 24});
  ASSERT_EQ(measured.blurred.size(), 1U);
  EXPECT_NEAR(measured.ink, 256, 1e-9);
  EXPECT_NEAR(measured.charge, 1, 1e-9);
  EXPECT_NEAR(measured.spacing, 4, 1e-9);
  EXPECT_GT(measured.blurred[0].psnr_db, 70);
  EXPECT_FALSE(measured.wider_blurs);
  // Half the ink in each dot leaves a difference of 1/32.
  const auto faint = measure_dots(lattice(64, 4), ink.view(), {.sigma = {6}, .margin = 24, .charge = 0.5});
  EXPECT_NEAR(faint.blurred[0].psnr_db, 20 * std::log10(32.0), 0.05);
}

TEST(DotMeasures, ThePageIsScaledToTheImage) {
  const auto ink = flat_ink(128, 64, 0.1F);
  const auto measured = measure_dots(lattice(32, 4), ink.view());
  EXPECT_EQ(measured.scale_x, 2);
  EXPECT_EQ(measured.scale_y, 4);
  EXPECT_EQ(measured.image, (Shape<2>{128, 64}));
  EXPECT_TRUE(measured.wider_blurs);             // sqrt(128 64 / 64) = 11.3 pixels apart
  EXPECT_EQ(measured.blurred.back().sigma, 32);  // at most a quarter of the longer side
}

TEST(DotMeasures, ChargesFollowTheAreasOfTheDots) {
  Dots dots = lattice(8, 4);
  dots.radius = {2, 1, 1, 1};
  const auto ink = flat_ink(8, 8, 7.0F / 64);
  const auto measured = measure_dots(dots, ink.view(), {.sigma = {1}});
  EXPECT_NEAR(measured.charge * 4, 7, 1e-5);
  // The comparison with charges 4, 1, 1, 1.
  const std::vector<float> charge{4, 1, 1, 1};
  const auto separate = compare_blurred(positions_of(dots), ink.view(), {.sigma = {1}}, view_of(std::span(charge)));
  EXPECT_NEAR(measured.blurred[0].mean_square_error, separate[0].mean_square_error, 1e-7);
}

TEST(DotMeasures, OptionsOutOfRangeAndEmptyInteriorsAreNamed) {
  const auto refused = [](const Dots& dots, const DotMeasureOptions& options, std::string_view argument) {
    try {
      (void)measure_dots(dots, {}, options);
      ADD_FAILURE() << argument;
    } catch (const Error& error) {
      EXPECT_EQ(error.function(), "measure_dots");
      EXPECT_EQ(error.argument(), argument);
    }
  };
  refused(lattice(8, 4), {.interior = 0}, "interior");
  refused(lattice(8, 4), {.segments = -1}, "segments");
  refused(lattice(8, 4), {.frequency = 9}, "frequency");
  refused(lattice(8, 4), {.margin = -1}, "margin");
  refused(lattice(8, 4), {.charge = std::nan("")}, "charge");
  refused(lattice(8, 4), {.interior = 0.1}, "interior");  // between the dots
  DotMeasureOptions stopping;
  stopping.on_spectrum = [](const SpectrumSize& size) {
    EXPECT_GT(size.bytes, 0);
    throw Error(ErrorCode::out_of_memory, "no");
  };
  EXPECT_THROW((void)measure_dots(lattice(64, 4), {}, stopping), Error);
}

TEST(DotMeasures, SpectrumCodesAreDecibels) {
  Spectrum spectrum;
  spectrum.power = Array<float, 2>({3, 3});
  std::fill_n(spectrum.power.data(), 9, 1.0F);
  spectrum.power(1, 1) = 1e-9F;
  spectrum.step_x = spectrum.step_y = 0.1;
  const auto codes = spectrum_codes(spectrum);
  EXPECT_EQ(codes.shape(), (Shape<3>{512, 512, 1}));
  EXPECT_EQ(codes(0, 0, 0), 170);  // 0 dB of -20 to 10
  EXPECT_EQ(codes(256, 256, 0), 0);
}

TEST(DotClumps, AreSetsThatTouchAlongASide) {
  Dots dots;
  dots.width = 8;
  dots.height = 3;
  // ##....#.
  // .#....#.
  // ...#....
  for (const auto& [x, y] : {std::pair{0, 0}, {1, 0}, {6, 0}, {1, 1}, {6, 1}, {3, 2}}) {
    dots.position.push_back(static_cast<float>(x) + 0.5F);
    dots.position.push_back(static_cast<float>(y) + 0.5F);
  }
  const auto clumps = find_clumps(dots);
  EXPECT_FALSE(clumps.gaps);
  EXPECT_EQ(clumps.count, 3);
  EXPECT_EQ(clumps.median, 2);
  EXPECT_FALSE(clumps.found());
}

TEST(DotPages, AreAssumedWhereNoneIsStated) {
  Dots small;
  small.position = {0.2F, 0.9F};
  EXPECT_EQ(assume_page(small).source, PageSource::unit_square);
  EXPECT_EQ(small.width, 1);
  Dots dots;
  dots.position = {-1.5F, 2, 3.2F, 7};
  Dots on_image = dots;
  const auto page = assume_page(on_image, {8, 9});
  EXPECT_EQ(page.source, PageSource::image);
  EXPECT_FALSE(page.holds);  // x = -1.5
  EXPECT_EQ(page.box, (std::array<double, 4>{-1.5, 2, 3.2F, 7}));
  EXPECT_EQ(on_image.width, 9);
  EXPECT_EQ(assume_page(dots).source, PageSource::box);
  EXPECT_EQ(dots.width, 6);
  EXPECT_EQ(dots.height, 7);
  EXPECT_EQ(dots.position[0], 0.5F);
}

TEST(DotClasses, AreCountedAndSelected) {
  Dots dots = lattice(8, 4);
  EXPECT_EQ(count_classes(dots), 0);
  EXPECT_TRUE(select_class(dots, 0).position.empty());
  dots.colour_class = {3, 0, 3, 3};
  dots.radius = {1, 2, 3, 4};
  EXPECT_EQ(count_classes(dots), 2);
  const auto kept = select_class(dots, 3);
  EXPECT_EQ(kept.radius, (std::vector<float>{1, 3, 4}));
  EXPECT_EQ(kept.position[2], dots.position[4]);
  EXPECT_EQ(kept.width, 8);
}

}  // namespace
}  // namespace holotone
