// Views of a light field from files: numbering, directions, what is refused; fits and comparisons of what was read.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <holotone/core/error.hpp>
#include <holotone/io/images/image.hpp>
#include <holotone/recipes/mixtures.hpp>
#include <tests/io/float_pictures.hpp>
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

TEST_F(CapturedViewsTest, NumbersMayCountFromACentre) {
  const auto named = [&](int v, int u) { return folder_.file(fmt::format("c_{}_{}.png", v, u)); };
  for (int v = -1; v <= 1; ++v) {
    for (int u = -1; u <= 1; ++u) write_image(named(v, u), picture(u, v));
  }
  const auto views = read_views(folder_.file("c_%v_%u.png"));
  EXPECT_EQ(views.rows, 3);
  EXPECT_EQ(views.columns, 3);
  for (std::size_t i = 0; i < 9; ++i) {
    EXPECT_EQ(views.paths[i], named(static_cast<int>(i) / 3 - 1, static_cast<int>(i) % 3 - 1));
  }
  EXPECT_EQ(views.numbers[3], (ViewNumbers{-1, 0}));
  for (int u = 1; u <= 2; ++u) write_image(folder_.file(fmt::format("h-{}.png", u)), picture(u, 0));
  refuses_file("h%u.png", "views of which some have numbers of at least 0, got ");
}

TEST_F(CapturedViewsTest, TheParallaxTellsRowsThatCountUpward) {
  const auto pattern = write_views(true);
  const auto views = read_views(pattern);
  EXPECT_TRUE(views.up);
  EXPECT_EQ(views.at.front(), (std::vector<double>{-1, 1}));
  EXPECT_FALSE(read_views(pattern, {.rows = ViewRows::down}).up);
  EXPECT_EQ(read_views(pattern, {.rows = ViewRows::down}).at.front(), (std::vector<double>{-1, -1}));
}

TEST_F(CapturedViewsTest, OnePictureHasNoPosition) {
  const auto path = folder_.file("one.png");
  write_image(path, picture(0, 0));
  const auto views = read_views(path, {.linear = true});
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

TEST_F(CapturedViewsTest, OneCounterAndAGridAreTheViewsOfTwoCounters) {
  // 4 columns and 3 rows from the upper left; in the serpentine every second row runs back.
  for (int v = 0; v < 3; ++v) {
    for (int u = 0; u < 4; ++u) {
      write_image(folder_.file("g_" + std::to_string(v) + "_" + std::to_string(u) + ".png"), picture(u - 1.5, v - 1));
      write_image(folder_.file("n" + std::to_string(10 + 4 * v + u) + ".png"), picture(u - 1.5, v - 1));
      write_image(folder_.file("s" + std::to_string(4 * v + (v == 1 ? 3 - u : u)) + ".png"), picture(u - 1.5, v - 1));
    }
  }
  const auto grid = read_views(folder_.file("g_%v_%u.png"));
  const auto numbered = read_views(folder_.file("n%u.png"), {.grid = ViewsGrid{4, 3}});
  const auto turning = read_views(folder_.file("s%u.png"), {.grid = ViewsGrid{4, 3, true}});
  for (const auto* views : {&numbered, &turning}) {
    EXPECT_EQ(views->rows, 3);
    EXPECT_EQ(views->columns, 4);
    EXPECT_EQ(views->at, grid.at);
    EXPECT_FALSE(views->up);
    for (std::size_t i = 0; i < grid.images.size(); ++i) {
      EXPECT_TRUE(std::ranges::equal(views->images[i].host(), grid.images[i].host())) << i;
    }
  }
  EXPECT_EQ(numbered.numbers[5], (ViewNumbers{15}));
  EXPECT_EQ(turning.numbers[5], (ViewNumbers{6}));
  const auto refused = [&](const std::string& name, const std::optional<ViewsGrid>& given, const std::string& words) {
    try {
      (void)read_views(folder_.file(name), {.grid = given});
      ADD_FAILURE() << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.argument(), "grid");
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
  };
  // The parallax shows that they are no row.
  refused("n%u.png", std::nullopt, "expected 4x3 for 12 views whose parallax jumps after every 4, or 12x1 for a row");
  refused("s%u.png", std::nullopt, "expected 4x3s for 12 views whose parallax turns after every 4");
  refused("n%u.png", ViewsGrid{5, 2}, "expected COLUMNSxROWS of the 12 views, got '5x2'");
  refused("g_%v_%u.png", ViewsGrid{4, 3}, "expected a name with %u alone, or one picture");
  const auto row = read_views(folder_.file("n%u.png"), {.grid = ViewsGrid{12, 1}});
  EXPECT_EQ(row.rows, 1);
  EXPECT_EQ(row.at.back(), std::vector<double>{1});
}

TEST_F(CapturedViewsTest, ARowOfViewsIsTakenAsOne) {
  for (int u = 0; u < 12; ++u) write_image(folder_.file("r" + std::to_string(u) + ".png"), picture(0.3 * u, 0));
  const auto views = read_views(folder_.file("r%u.png"));
  EXPECT_EQ(views.rows, 1);
  EXPECT_EQ(views.columns, 12);
}

/// A picture of tiles whose pixels are 10 row + column of the tile in 8 columns, 4 pixels wide and 3 high.
Image sheet(std::int64_t columns, std::int64_t rows, std::int64_t more = 0) {
  Array<std::uint8_t, 3> codes({3 * rows + more, 4 * columns + more, 1});
  for (std::int64_t y = 0; y < codes.shape()[0]; ++y) {
    for (std::int64_t x = 0; x < codes.shape()[1]; ++x) {
      codes(y, x, 0) = static_cast<std::uint8_t>(10 * (y / 3) + x / 4);
    }
  }
  return {std::move(codes), {}};
}

int tile_code(const CapturedViews& views, std::size_t i) {
  return static_cast<int>(std::lround(255 * static_cast<double>(views.images[i](2, 3, 0))));
}

TEST_F(CapturedViewsTest, AContactSheetIsCutFromTheUpperLeft) {
  const auto path = folder_.file("sheet.png");
  write_image(path, sheet(4, 2));
  const auto views = read_views(path, {.rows = ViewRows::down, .grid = ViewsGrid{4, 2}});
  ASSERT_EQ(views.images.size(), 8U);
  EXPECT_EQ(views.images.front().shape(), (Shape<3>{3, 4, 1}));
  EXPECT_EQ(tile_code(views, 0), 0);
  EXPECT_EQ(tile_code(views, 3), 3);
  EXPECT_EQ(tile_code(views, 4), 10);
  EXPECT_EQ(views.numbers[6], (ViewNumbers{2, 1}));
  EXPECT_EQ(views.at[4], (std::vector<double>{-1, 1}));
  const auto back = read_views(path, {.rows = ViewRows::down, .grid = ViewsGrid{4, 2, true}});
  EXPECT_EQ(tile_code(back, 4), 13);
  try {
    (void)read_views(path, {.grid = ViewsGrid{3, 2}});
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_NE(
        std::string(error.what()).find("expected a picture that 3 x 2 views divide into whole pixels, got 16 x 6"),
        std::string::npos)
        << error.what();
  }
  EXPECT_TRUE(read_views(path).numbers.empty());
  EXPECT_TRUE(holds_views(path, ViewsGrid{4, 2}));
  EXPECT_FALSE(holds_views(path));
}

// Looking Glass: the lowest left tile is the leftmost view, the upper right one the rightmost.
TEST_F(CapturedViewsTest, AQuiltIsARowFromItsLowestTile) {
  const auto path = folder_.file("cat_qs4x2a1.333.png");
  write_image(path, sheet(4, 2));
  EXPECT_TRUE(holds_views(path));
  const auto views = read_views(path);
  EXPECT_EQ(views.rows, 1);
  EXPECT_EQ(views.columns, 8);
  const int expected[] = {10, 11, 12, 13, 0, 1, 2, 3};
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(tile_code(views, i), expected[i]) << i;
  EXPECT_EQ(views.numbers[5], (ViewNumbers{5}));
  EXPECT_EQ(views.at.back(), std::vector<double>{1});
  EXPECT_EQ(views.pixel_aspect, 1);
  ASSERT_EQ(views.notes.size(), 1U);
  EXPECT_NE(views.notes.front().find("a quilt of 8 views from left to right, 4 x 3 pixels each"), std::string::npos);
  // A tile of 4 x 3 pixels that is shown 5.333 wide and 1 high: pixels are a quarter as high as wide.
  const auto wide = folder_.file("cat_qs4x2a5.3333.png");
  write_image(wide, sheet(4, 2));
  EXPECT_NEAR(read_views(wide).pixel_aspect, 0.25, 1e-4);
  // 17 x 7 pixels: the remainder is at the right and at the top.
  const auto odd = folder_.file("cat_qs4x2a1.33.png");
  write_image(odd, sheet(4, 2, 1));
  const auto cut = read_views(odd);
  EXPECT_EQ(cut.images.front().shape(), (Shape<3>{3, 4, 1}));
  EXPECT_EQ(tile_code(cut, 0), 20);  // its lowest row is the seventh
  // A grid that is given comes first; 1x1 is the picture.
  const auto given = read_views(path, {.rows = ViewRows::down, .grid = ViewsGrid{4, 2}});
  EXPECT_EQ(given.rows, 2);
  EXPECT_EQ(given.notes,
            (std::vector{path + ": read as 4 x 2 views, the upper left first, as the grid says; by its name "
                                "it is a quilt of 4 x 2, one row of 8 views from the lower left"}));
  EXPECT_TRUE(read_views(path, {.grid = ViewsGrid{1, 1}}).numbers.empty());
  for (const char* other : {"cat_qs4x2.png", "cat_qs0x2a1.png", "qs4x2a1.5b.png", "area.png", "cat_qs1x1a1.png"}) {
    EXPECT_FALSE(holds_views(other)) << other;
  }
}

// sRGB codes and light are different numbers: a model of codes made of light would be shown wrongly.
TEST_F(CapturedViewsTest, PicturesOfLightAreReadAsLight) {
  const auto path = folder_.file("x.pfm");
  io_support::write_raw(path, io_fixtures::pfm_of(2, 1, 1, {0.25F, 3}));
  const auto views = read_views(path, {.linear = true});
  EXPECT_EQ(views.bits, 0);
  EXPECT_EQ(views.images.front()(0, 1, 0), 3);
  try {
    (void)read_views(path);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.argument(), "linear");
    EXPECT_NE(std::string(error.what()).find("x.pfm, whose values are light"), std::string::npos) << error.what();
  }
  EXPECT_EQ(read_views(path, {.as_depth = true}).images.front()(0, 0, 0), 0.25F);
}

TEST_F(CapturedViewsTest, ProgressCancelsBetweenFiles) {
  struct Cancelling final : Progress {
    bool update(std::string_view stage, std::int64_t /*done*/, std::int64_t total) override {
      EXPECT_EQ(stage, "reading");
      EXPECT_EQ(total, 6);
      return false;
    }
  } progress;
  EXPECT_THROW((void)read_views(write_views(), {.rows = ViewRows::down}, progress), Error);
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
