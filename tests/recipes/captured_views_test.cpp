// Views of a light field from files: numbering, directions, what is refused; fits and comparisons of what was read.
#include <cmath>
#include <gtest/gtest.h>
#include <holotone/core/error.hpp>
#include <holotone/io/images/image.hpp>
#include <holotone/recipes/mixtures.hpp>
#include <tests/support/io_support.hpp>

namespace holotone {
namespace {

constexpr std::int64_t side = 40;

/// Soft blobs in 8-bit codes, which move by 2 pixels for 1 in u and v.
Image picture(double u, double v, std::int64_t width = side) {
  Array<std::uint8_t, 3> codes({side, width, 1});
  for (std::int64_t row = 0; row < side; ++row) {
    for (std::int64_t column = 0; column < width; ++column) {
      const double x = static_cast<double>(column) - 2 * u;
      const double y = static_cast<double>(row) - 2 * v;
      const double wave = 0.25 * std::sin(0.5 * x) * std::cos(0.4 * y);
      codes(row, column, 0) = static_cast<std::uint8_t>(std::lround(255 * (0.5 + wave)));
    }
  }
  return {std::move(codes), {}};
}

class CapturedViewsTest : public testing::Test {
 protected:
  /// 3 rows of 2 views "v_<v>_<u>.png", numbered from 4 and 7; with `up` the first row is the lowest.
  [[nodiscard]] std::string write_views(bool up = false) const {
    for (int v = 0; v < 3; ++v) {
      for (int u = 0; u < 2; ++u) write_image(name(v, u), picture(2 * u - 1, up ? 1 - v : v - 1));
    }
    return folder_.file("v_%v_%u.png");
  }
  [[nodiscard]] std::string name(int v, int u) const {
    return folder_.file("v_" + std::to_string(4 + v) + "_" + std::to_string(7 + u) + ".png");
  }
  void refuses_file(const std::string& pattern, const std::string& words) const {
    try {
      (void)read_views(folder_.file(pattern));
      ADD_FAILURE() << pattern;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::io);
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
  }

  io_support::TemporaryFolder folder_;
};

TEST_F(CapturedViewsTest, NumbersPositionsAndCodesAreThoseOfTheFiles) {
  const auto views = read_views(write_views());
  EXPECT_EQ(views.rows, 3);
  EXPECT_EQ(views.columns, 2);
  EXPECT_FALSE(views.up);
  EXPECT_FALSE(views.swapped);
  EXPECT_EQ(views.bits, 8);
  ASSERT_EQ(views.images.size(), 6U);
  EXPECT_EQ(views.numbers[3], (ViewNumbers{8, 5}));
  EXPECT_EQ(views.at[3], (std::vector<double>{1, 0}));
  EXPECT_EQ(views.paths[3], name(1, 1));
  const Image expected = picture(1, 0);
  const auto& codes = std::get<Array<std::uint8_t, 3>>(expected.pixels);
  EXPECT_FLOAT_EQ(views.images[3](5, 7, 0), static_cast<float>(codes(5, 7, 0)) / 255.0F);
}

TEST_F(CapturedViewsTest, TheParallaxTellsRowsThatCountUpward) {
  const auto pattern = write_views(true);
  const auto views = read_views(pattern);
  EXPECT_TRUE(views.up);
  EXPECT_EQ(views.at.front(), (std::vector<double>{-1, 1}));
  EXPECT_FALSE(read_views(pattern, ViewRows::down).up);
  EXPECT_EQ(read_views(pattern, ViewRows::down).at.front(), (std::vector<double>{-1, -1}));
}

TEST_F(CapturedViewsTest, OnePictureHasNoPosition) {
  const auto path = folder_.file("one.png");
  write_image(path, picture(0, 0));
  const auto views = read_views(path, ViewRows::by_parallax, true);
  ASSERT_EQ(views.at, std::vector<std::vector<double>>{{}});
  EXPECT_TRUE(views.numbers.empty());
  EXPECT_LT(views.images.front()(0, 0, 0), 0.3F);  // linear light of codes near 0.5
}

TEST_F(CapturedViewsTest, GapsOtherSizesAndBadCountersAreNamed) {
  const auto pattern = write_views();
  std::filesystem::remove(name(1, 0));
  refuses_file("v_%v_%u.png", "6 views in 2 x 3 without gaps, got none for v = 5, u = 7");
  write_image(name(1, 0), picture(0, 0, side + 1));
  refuses_file("v_%v_%u.png", "40 x 40 pixels of 1 channel");
  refuses_file("none_%u.png", "files with numbers");
  EXPECT_FALSE(names_views("v_%03d.png"));
  for (const auto* bad : {"%v.png", "%u%v.png", "%u_%u.png"}) {
    try {
      (void)names_views(bad);
      ADD_FAILURE() << bad;
    } catch (const Error& error) {
      EXPECT_EQ(error.argument(), "path") << bad;
    }
  }
}

TEST_F(CapturedViewsTest, ProgressCancelsBetweenFiles) {
  struct Cancelling final : Progress {
    bool update(std::string_view stage, std::int64_t /*done*/, std::int64_t total) override {
      EXPECT_EQ(stage, "reading");
      EXPECT_EQ(total, 6);
      return false;
    }
  } progress;
  EXPECT_THROW((void)read_views(write_views(), ViewRows::down, false, progress), Error);
}

TEST_F(CapturedViewsTest, ViewsAreHeldOutByTheirNumbers) {
  auto views = read_views(write_views());
  const std::vector<ViewNumbers> numbers{{7, 6}};
  const auto held_out = hold_out(views, numbers);
  EXPECT_EQ(held_out.paths, std::vector<std::string>{name(2, 0)});
  EXPECT_EQ(held_out.at, (std::vector<std::vector<double>>{{-1, 1}}));
  EXPECT_EQ(views.images.size(), 5U);
  EXPECT_THROW((void)hold_out(views, numbers), Error);
  const std::vector<ViewNumbers> rest(views.numbers.begin(), views.numbers.end() - 1);
  EXPECT_THROW((void)hold_out(views, rest), Error);
}

TEST_F(CapturedViewsTest, FitAndComparisonUseTheScaleOfTheCodes) {
  const auto views = read_views(write_views());
  const auto fit = fit_mixture(views, {.components = 30, .iterations = 40});
  const auto compared = compare_mixture(fit.model, views, true);
  EXPECT_NEAR(fit.psnr_db, compared.psnr_db, 1e-9);
  EXPECT_EQ(compared.each.size(), 6U);
  EXPECT_LE(compared.each[static_cast<std::size_t>(compared.worst())], compared.mean_psnr_db());
  EXPECT_NEAR(compared.mean_colours().psnr_y_db, compared.mean_psnr_db(), 0.5);  // grey codes

  const auto start = check_mixture_start(fit.model, views);
  EXPECT_EQ(start.path, name(1, 1));
  EXPECT_GT(start.psnr_db, start.mean_colour_psnr_db + 3);
  // The pattern's amplitude is 0.25: a variance of 0.25^2 / 4 of its mean.
  EXPECT_NEAR(start.mean_colour_psnr_db, -10 * std::log10(0.25 * 0.25 / 4), 1);
}

TEST_F(CapturedViewsTest, PicturesOfAnotherAspectOrNumberOfViewsAreRefused) {
  const auto views = read_views(write_views());
  const auto model = fit_mixture(views, {.components = 4, .iterations = 0}).model;
  const auto path = folder_.file("wide.png");
  write_image(path, picture(0, 0, 2 * side));
  EXPECT_THROW((void)compare_mixture(model, read_views(path)), Error);
  // A single picture is that of the middle view.
  const auto middle = folder_.file("middle.png");
  write_image(middle, picture(0, 0));
  const auto one = read_views(middle);
  const std::vector<SmoeFitView> at{{one.images.front().view(), {0, 0}}};
  EXPECT_EQ(compare_mixture(model, one).psnr_db, compare_mixture(model, at).psnr_db);
  const auto flat = fit_mixture(one, {.components = 4, .iterations = 0}).model;
  EXPECT_THROW((void)compare_mixture(flat, views), Error);
  EXPECT_THROW((void)check_mixture_start(flat, views), Error);
}

}  // namespace
}  // namespace holotone
