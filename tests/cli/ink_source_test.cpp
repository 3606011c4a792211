// Pictures and masks as ink: errors of `halftone` and `measure --against` name the file and the pixel.
#include <cmath>
#include <limits>
#include <tests/support/program.hpp>

namespace holotone::test {
namespace {

class InkSourceTest : public ProgramTest {
 protected:
  InkSourceTest() {
    write("dots.csv", "# width_px 4, height_px 3\n1,1\n3,2\n2,1.5\n");
    floats("grey.png", [](auto, auto) { return 0.5; });
  }

  /// 4 x 3 pixels; PNG of 8 bits, TIFF of floats.
  template <class Value>
  std::string floats(const std::string& name, const Value& value, std::int64_t ny = 3, std::int64_t nx = 4) const {
    Array<float, 3> pixels({ny, nx, 1});
    Array<std::uint8_t, 3> codes({ny, nx, 1});
    for (std::int64_t row = 0; row < ny; ++row) {
      for (std::int64_t col = 0; col < nx; ++col) {
        const double number = value(row, col);
        pixels(row, col, 0) = static_cast<float>(number);
        codes(row, col, 0) = std::isfinite(number) ? static_cast<std::uint8_t>(std::lround(255 * number)) : 0;
      }
    }
    const bool tiff = name.ends_with(".tif");
    write_image(path(name), tiff ? Image{std::move(pixels), {}} : Image{std::move(codes), {}});
    return path(name);
  }

  /// Both commands on a picture, with additional options.
  [[nodiscard]] std::vector<std::vector<std::string>> commands(const std::string& picture,
                                                               const std::vector<std::string>& more) const {
    std::vector<std::vector<std::string>> all{{"halftone", path(picture), "-o", path("out.csv")},
                                              {"measure", path("dots.csv"), "--against", path(picture)}};
    for (auto& command : all) command.insert(command.end(), more.begin(), more.end());
    return all;
  }
  void expect_all_refused(const std::string& picture, const std::vector<std::string>& more,
                          std::initializer_list<const char*> words) const {
    for (const auto& command : commands(picture, more)) expect_refused(command, words);
  }
};

TEST_F(InkSourceTest, NoInkIsThePicturesOrTheMasks) {
  floats("black.png", [](auto, auto) { return 0; });
  floats("white.png", [](auto, auto) { return 1; });
  floats("left.png", [](auto, auto col) { return col < 2 ? 0 : 1; });
  floats("right.png", [](auto, auto col) { return col < 2 ? 0 : 1; });
  expect_all_refused("white.png", {}, {"white.png: expected a picture with ink", "white everywhere"});
  expect_all_refused("black.png", {"--invert"}, {"black.png: expected a picture with ink", "--invert"});
  expect_all_refused("grey.png", {"--mask", path("black.png")},
                     {"black.png: expected a mask that leaves some of the ink of ", "grey.png, got none left"});
  expect_all_refused("left.png", {"--mask", path("right.png")}, {"right.png: expected a mask that leaves some"});
  // With both at once the error names the picture.
  expect_all_refused("white.png", {"--mask", path("black.png")}, {"white.png: expected a picture with ink"});
  for (const auto& command : commands("grey.png", {"--mask", path("right.png")})) {
    EXPECT_EQ(run(command).exit_code, 0) << command.front();
  }
}

TEST_F(InkSourceTest, NoInkWhereAMaskIsTransparent) {
  floats("black.png", [](auto, auto) { return 0; });
  Array<std::uint8_t, 3> pixels({3, 4, 2});
  for (std::int64_t i = 0; i < 12; ++i) {
    pixels.data()[2 * i] = 255;
    pixels.data()[2 * i + 1] = i % 4 < 2 ? 255 : 0;
  }
  write_image(path("half.png"), {std::move(pixels), {}});
  const auto result = run(
      {"halftone", path("black.png"), "-o", path("o.csv"), "--method", "floyd-steinberg", "--mask", path("half.png")});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_NE(result.output.find("6 dots on 4 x 3 pixels"), std::string::npos) << result.output;
}

TEST_F(InkSourceTest, MasksHaveThePicturesSize) {
  floats(
      "mask.png", [](auto, auto) { return 1; }, 5, 7);
  expect_all_refused("grey.png", {"--mask", path("mask.png")},
                     {"mask.png: expected the 4 x 3 pixels of ", "grey.png, got 7 x 5 pixels"});
  expect_all_refused("grey.png", {"--mask", path("absent.png")}, {"absent.png", "file not found"});
}

TEST_F(InkSourceTest, BadNumbersNameFileAndPixel) {
  if (!can_write("x.tif")) GTEST_SKIP() << "no TIFF";
  const auto with = [](double bad) {
    return [bad](std::int64_t row, std::int64_t col) { return row == 2 && col == 1 ? bad : 0.5; };
  };
  floats("nan.tif", with(std::numeric_limits<double>::quiet_NaN()));
  floats("large.tif", with(1.5));
  expect_all_refused("nan.tif", {}, {"nan.tif: pixel in row 2, column 1: expected a finite number, got nan"});
  expect_all_refused("nan.tif", {"--clip"}, {"nan.tif: pixel in row 2, column 1"});
  expect_all_refused("large.tif", {}, {"large.tif: pixel in row 2, column 1: expected from 0 to 1, got 1.5"});
  expect_all_refused("grey.png", {"--mask", path("nan.tif")}, {"nan.tif: expected shares", "nan in row 2, column 1"});
  expect_all_refused("grey.png", {"--mask", path("nan.tif"), "--clip"}, {"nan.tif: expected shares", "column 1"});
  expect_all_refused("grey.png", {"--mask", path("large.tif")},
                     {"large.tif: expected shares of ink from 0 to 1, got 1.5 in row 2, column 1"});
  for (const auto& command : commands("grey.png", {"--mask", path("large.tif"), "--clip"})) {
    EXPECT_EQ(run(command).exit_code, 0) << command.front();
  }
}

}  // namespace
}  // namespace holotone::test
