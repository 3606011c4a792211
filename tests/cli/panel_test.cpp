// holotone panel: the codes of its patterns, sums with holograms, and what is refused.
#include <cmath>
#include <holotone/optics/test_chart.hpp>
#include <holotone/recipes/hologram_file.hpp>
#include <tests/cli/picture.hpp>
#include <tests/cli/small_panel.hpp>

namespace holotone::test {
namespace {

class PanelTest : public SmallPanelTest {
 protected:
  /// A command on a panel of 64 x 48 pixels of 8 um.
  [[nodiscard]] std::vector<std::string> panel(const std::vector<std::string>& words, const std::string& output) const {
    std::vector<std::string> all{"panel"};
    all.insert(all.end(), words.begin(), words.end());
    all.insert(all.end(), {"-o", path(output), "--resolution", "64x48", "--pitch", "8um"});
    return all;
  }

  /// The same with the panel of the holograms in --add.
  [[nodiscard]] std::vector<std::string> sum(const std::vector<std::string>& words, const std::string& output) const {
    auto all = panel(words, output);
    all.resize(all.size() - 4);
    return all;
  }

  [[nodiscard]] std::vector<int> codes(const std::string& name) const {
    const Image image = read_image(path(name));
    std::vector<int> all;
    std::visit([&](const auto& pixels) { all.assign(pixels.host().begin(), pixels.host().end()); }, image.pixels);
    return all;
  }

  [[nodiscard]] Metadata metadata(const std::string& name) const { return read_image(path(name)).metadata; }

  static double x_of(std::size_t i) { return (static_cast<double>(i % 64) - 31.5) * 8e-6; }
  static double y_of(std::size_t i) { return (23.5 - static_cast<double>(i / 64)) * 8e-6; }

  /// Expects the codes of these turns; a phase within 1e-5 of a code of the middle between two codes may have either.
  static void expect_codes(const std::vector<int>& got, int bits, const std::function<double(double, double)>& turns) {
    const int levels = 1 << bits;
    ASSERT_EQ(got.size(), 64u * 48u);
    int wrong = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
      const double t = turns(x_of(i), y_of(i)) * levels;
      wrong += std::abs(std::remainder(t - got[i], levels)) > 0.5 + 1e-2 ? 1 : 0;
    }
    EXPECT_EQ(wrong, 0);
  }
};

TEST_F(PanelTest, EveryPatternIsItsFormula) {
  const auto made = [&](const std::vector<std::string>& words) {
    (void)run_json(panel(words, "out.png"));
    return codes("out.png");
  };
  const double pi = M_PI;
  expect_codes(made({"grating", "--period", "7", "--angle", "30deg"}), 8,
               [&](double x, double y) { return (x * std::cos(pi / 6) + y * std::sin(pi / 6)) / 56e-6; });
  expect_codes(made({"grating", "--period", "56um", "--binary", "--bits", "4"}), 4,
               [](double x, double) { return x / 56e-6 - std::floor(x / 56e-6) < 0.5 ? 0 : 0.5; });
  expect_codes(
      made({"lens", "--focal-length", "25cm", "--wavelength", "633nm", "--centre", "40um,-3"}), 8,
      [](double x, double y) { return -(std::pow(x - 40e-6, 2) + std::pow(y + 24e-6, 2)) / (2 * 633e-9 * 0.25); });
  expect_codes(made({"axicon", "--period", "12px"}), 8, [](double x, double y) { return -std::hypot(x, y) / 96e-6; });
  expect_codes(made({"vortex", "--charge", "-3"}), 8,
               [&](double x, double y) { return -3 * std::atan2(y, x) / (2 * pi); });
  // Astigmatism and Noll's defocus in the inscribed disc of 24 pixels.
  expect_codes(made({"zernike", "--term", "2,2:0.5", "--term", "4:-1rad"}), 8, [&](double x, double y) {
    const double u = x / 192e-6;
    const double v = y / 192e-6;
    if (u * u + v * v > 1) return 0.0;
    return 0.5 * std::sqrt(6) * (u * u - v * v) - std::sqrt(3) * (2 * (u * u + v * v) - 1) / (2 * pi);
  });
  expect_codes(made({"checkerboard", "--cell", "5", "--depth", "0.5pi"}), 8, [](double x, double y) {
    const auto column = std::lround(x / 8e-6 + 31.5) / 5;
    const auto row = std::lround(23.5 - y / 8e-6) / 5;
    return (column + row) % 2 == 0 ? 0 : 0.25;
  });
}

TEST_F(PanelTest, ASumAddsCodesModuloTheirNumber) {
  ASSERT_EQ(run(hologram("good.csv", "hologram.png")).exit_code, 0);
  (void)run_json(panel({"checkerboard", "--cell", "3", "--depth", "0.5pi"}, "board.png"));
  (void)run_json(panel({"vortex"}, "vortex.png"));
  const auto json = run_json(sum({"vortex", "--add", path("hologram.png"), "--add", path("board.png")}, "sum.png"));
  EXPECT_EQ(json["added"], (std::vector<std::string>{path("hologram.png"), path("board.png")}));
  const auto hologram = codes("hologram.png");
  const auto board = codes("board.png");
  const auto vortex = codes("vortex.png");
  const auto got = codes("sum.png");
  int worst = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    worst = std::max(worst, std::abs(got[i] - (hologram[i] + board[i] + vortex[i]) % 256));
  }
  EXPECT_EQ(worst, 0);
  // The hologram's metadata, with the name of the pattern.
  auto expected = metadata("hologram.png");
  auto kept = metadata("sum.png");
  EXPECT_EQ(kept["pattern"], "checkerboard --cell 3 --depth 0.5pi + hologram + vortex --charge 1 --centre 0,0");
  kept.erase("pattern");
  EXPECT_EQ(kept, expected);
}

TEST_F(PanelTest, ASumShowsTheProductOfTheModulations) {
  write("table.txt", [] {
    std::string table;
    for (int code = 0; code < 200; ++code) table += fmt::format("{:.6f}\n", 0.04 * code - 0.00004 * code * code);
    return table;
  }());
  ASSERT_EQ(run(hologram("good.csv", "hologram.png", {"--lut", path("table.txt"), "--bits", "8"})).exit_code, 0);
  (void)run_json(sum({"grating", "--period", "9", "--add", path("hologram.png")}, "sum.png"));
  const auto before = holotone::read_hologram(path("hologram.png")).field;
  const auto after = holotone::read_hologram(path("sum.png")).field;
  double worst = 0;
  for (std::int64_t i = 0; i < before.size(); ++i) {
    const auto grating = std::polar(1.0, 2 * M_PI * x_of(static_cast<std::size_t>(i)) / 72e-6);
    const auto product = std::complex<double>(before.data()[i]) * grating;
    worst = std::max(worst, std::abs(std::arg(std::complex<double>(after.data()[i]) * std::conj(product))));
  }
  EXPECT_LT(worst, 0.04 / 2 + 0.01) << "half of a step of the table, which reaches all but 0.01 of a turn";
}

TEST_F(PanelTest, ALensIsInFocusWhereItsFileSays) {
  ASSERT_EQ(run({"panel", "lens", "--focal-length", "5cm", "-o", path("lens.png"), "--resolution", "129x97", "--pitch",
                 "8um", "--centre", "10,-20"})
                .exit_code,
            0);
  (void)run_json({"reconstruct", path("lens.png"), "-o", path("spot.npy"), "--linear", "--device", "cpu"});
  const auto spot = brightest(pixels_of(path("spot.npy")));
  EXPECT_EQ(spot.col, 64 + 10);
  EXPECT_EQ(spot.row, 48 + 20);
}

TEST_F(PanelTest, StrongLensesAndPolynomialsAreWarnedOf) {
  const auto strong = run(panel({"lens", "--focal-length", "5mm"}, "out.png"));
  EXPECT_EQ(strong.exit_code, 0);
  EXPECT_NE(strong.error.find("aliasing"), std::string::npos) << strong.error;
  EXPECT_NE(strong.error.find("at least 7.58 mm"), std::string::npos) << strong.error;
  EXPECT_EQ(run_json(panel({"lens", "--focal-length", "5mm"}, "out.png"))["aliased"], true);
  EXPECT_EQ(run(panel({"lens", "--focal-length", "7.6mm"}, "out.png")).error, "");
  EXPECT_NE(run(panel({"zernike", "--term", "4,0:9"}, "out.png")).error.find("aliasing"), std::string::npos);
  EXPECT_NE(run(panel({"vortex", "--charge", "40"}, "out.png")).error.find("aliasing"), std::string::npos);
}

TEST_F(PanelTest, StepsAreNumberedByTheirCodes) {
  const auto json = run_json(panel({"steps", "--layout", "halves", "--reference", "9", "--levels", "4"}, "set"));
  EXPECT_EQ(json["codes"], (std::vector<int>{0, 85, 170, 255}));
  EXPECT_EQ(json["outputs"][1], path("set") + "/level_085.png");
  const auto one = codes("set/level_170.png");
  EXPECT_EQ(one[31], 9);
  EXPECT_EQ(one[32], 170);
  const auto all = run_json(panel({"steps", "--bits", "3"}, "l%02d.png"));
  EXPECT_EQ(all["outputs"].size(), 8u);
  EXPECT_EQ(codes("l05.png"), std::vector<int>(64 * 48, 5));
  (void)run_json(panel({"steps", "--layout", "stripes", "--period", "4", "--levels", "2"}, "s_%d.png"));
  EXPECT_EQ(codes("s_255.png")[2], 255);
  EXPECT_EQ(codes("s_255.png")[4], 0);
}

TEST_F(PanelTest, AChartHasItsFieldsForEveryKindOfPanel) {
  const auto json = run_json(panel({"chart", "--fields", "3x4"}, "chart.png"));
  ASSERT_EQ(json["fields"].size(), 12u);
  const auto drawn = test_chart({.columns = 3, .fields_down = 4}, {48, 64});
  EXPECT_EQ(codes("chart.png"), std::vector<int>(drawn.host().begin(), drawn.host().end()));
  for (const auto& field : json["fields"]) {
    EXPECT_EQ(codes("chart.png")[field["row"].get<std::size_t>() * 64 + field["column"].get<std::size_t>()],
              field["code"]);
  }
  ASSERT_EQ(run({"panel", "chart", "-o", path("mirrors.png"), "--panel", "ti-dlp7000"}).exit_code, 0);
  const auto mirrors = codes("mirrors.png");
  EXPECT_EQ(*std::ranges::max_element(mirrors), 1) << "mirrors are on or off";
}

// An amplitude panel shows the cosine of the phase.
TEST_F(PanelTest, AmplitudePanelsShowTheCosine) {
  (void)run_json(panel({"grating", "--period", "16", "--encode", "amplitude"}, "out.png"));
  const auto got = codes("out.png");
  for (std::size_t i = 0; i < 64; ++i) {
    EXPECT_NEAR(got[i], 127.5 * (1 + std::cos(2 * M_PI * x_of(i) / 128e-6)), 0.51);
  }
  EXPECT_EQ(metadata("out.png").at("encoding"), "amplitude");
}

TEST_F(PanelTest, FormatsAndDepthsHoldTheSameCodes) {
  for (const char* name : {"out.tif", "out.bmp"}) {
    if (!can_write(name)) continue;
    (void)run_json(panel({"vortex"}, name));
    (void)run_json(panel({"vortex"}, "out.png"));
    EXPECT_EQ(codes(name), codes("out.png")) << name;
  }
  (void)run_json(panel({"vortex", "--bits", "12"}, "deep.png"));
  expect_codes(codes("deep.png"), 12, [](double x, double y) { return std::atan2(y, x) / (2 * M_PI); });
  (void)run_json(panel({"vortex", "--packed16"}, "packed.png"));
  const auto packed = codes("packed.png");
  std::vector<int> words;
  for (std::size_t i = 0; i < packed.size(); i += 3) words.push_back(256 * packed[i] + packed[i + 1]);
  for (std::size_t i = 0; i < words.size(); ++i) {
    ASSERT_NEAR(std::remainder(words[i] - 65536 * std::atan2(y_of(i), x_of(i)) / (2 * M_PI), 65536), 0, 0.52);
  }
  // Sums keep the layout of the first hologram.
  (void)run_json(sum({"checkerboard", "--cell", "1", "--add", path("packed.png")}, "sum.png"));
  EXPECT_EQ(metadata("sum.png").at("packed16"), "1");
  EXPECT_EQ((256 * codes("sum.png")[3] + codes("sum.png")[4] - words[1] + 65536) % 65536, 32768);
}

TEST_F(PanelTest, AFileWithoutMetadataIsReadByTheOptions) {
  (void)run_json(panel({"vortex"}, "plain.bmp"));
  (void)run_json(panel({"checkerboard", "--add", path("plain.bmp")}, "sum.png"));
  const auto plain = codes("plain.bmp");
  const auto got = codes("sum.png");
  EXPECT_EQ(got[0], plain[0]);
  EXPECT_EQ(got[8], (plain[8] + 128) % 256);
  expect_refused(sum({"checkerboard", "--add", path("plain.bmp")}, "no.png"), {"--add", "--pitch", "plain.bmp"});
}

TEST_F(PanelTest, WhatIsRefused) {
  const auto refused = [&](const std::vector<std::string>& words, std::initializer_list<const char*> named) {
    expect_refused(panel(words, "no.png"), named);
  };
  refused({"grating", "--period", "1.9"}, {"--period", "two pixels", "16 um", "15.2 um"});
  refused({"grating", "--period", "nan"}, {"--period", "nan"});
  refused({"grating", "--period", "-8"}, {"--period", "two pixels"});
  refused({"grating", "--period", "8", "--angle", "inf"}, {"--angle"});
  refused({"grating", "--period", "8", "--depth", "3pi"}, {"--depth", "2pi"});
  refused({"lens", "--focal-length", "0mm"}, {"--focal-length", "0mm"});
  refused({"lens", "--focal-length", "nanm"}, {"--focal-length"});
  refused({"lens", "--focal-length", "1m", "--centre", "1mm"}, {"--centre", "X,Y"});
  refused({"lens"}, {"--focal-length", "required"});
  refused({"zernike", "--term", "2,1:0.5"}, {"--term", "even"});
  refused({"zernike", "--term", "2,2"}, {"--term", "N,M:TURNS"});
  refused({"zernike", "--term", "2,2:nan"}, {"--term"});
  refused({"zernike", "--term", "2.5,2:1"}, {"--term"});
  refused({"zernike", "--term", "4:1", "--radius", "0"}, {"--radius", "inscribed"});
  refused({"zernike", "--term", "4:1", "--norm", "rsm"}, {"--norm", "rms"});
  refused({"vortex", "--charge", "0"}, {"--charge", "not 0"});
  refused({"vortex", "--charge", "1.5"}, {"--charge"});
  refused({"axicon", "--period", "1px"}, {"--period"});
  refused({"checkerboard", "--cell", "0"}, {"--cell"});
  refused({"chart", "--fields", "30x2"}, {"--fields", "at least"});
  refused({"steps"}, {"--output", "%03d"});
  refused({"vortex", "--encode", "complex"}, {"--encode", "phase"});
  expect_refused(panel({"vortex"}, "no.h5"), {"--output", ".png"});
  expect_refused(panel({"vortex"}, "no_%d.png"), {"--output", "counter"});
  expect_refused(panel({"steps", "--levels", "1"}, "no_%d.png"), {"--levels"});
  expect_refused(panel({"steps", "--layout", "stripes", "--period", "3"}, "no_%d.png"), {"--period", "even"});
  expect_refused(panel({"steps", "--levels", "2"}, "missing/no_%d.png"), {"--output", "missing"});
}

TEST_F(PanelTest, WhatCannotBeAddedIsRefused) {
  ASSERT_EQ(run(hologram("good.csv", "hologram.png")).exit_code, 0);
  ASSERT_EQ(run(hologram("good.csv", "four.png", {"--bits", "4"})).exit_code, 0);
  ASSERT_EQ(run(hologram("good.csv", "amplitude.png", {"--encode", "amplitude"})).exit_code, 0);
  ASSERT_EQ(run(hologram("good.csv", "red.png", {"--wavelength", "633nm"})).exit_code, 0);
  ASSERT_EQ(run(hologram("good.csv", "field.npy")).exit_code, 0);
  ASSERT_EQ(run(panel({"chart"}, "chart.png")).exit_code, 0);
  ASSERT_EQ(run({"panel", "vortex", "-o", path("wide.png"), "--resolution", "65x48", "--pitch", "8um"}).exit_code, 0);
  for (const char* pattern : {"vortex", "chart"}) {
    expect_refused({"panel", pattern, "-o", path("wider.png"), "--resolution", "65537x4", "--pitch", "8um"},
                   {"--resolution", "65536", "65537x4"});
  }
  const auto refused = [&](std::vector<std::string> words, std::initializer_list<const char*> named) {
    words.insert(words.begin(), {"vortex", "--add", path("hologram.png")});
    expect_refused(sum(words, "no.png"), named);
  };
  refused({"--add", path("wide.png")}, {"--add", "64 x 48", "wide.png", "65 x 48"});
  refused({"--add", path("four.png")}, {"--add", "8 bits", "four.png", "4"});
  refused({"--bits", "6"}, {"--add", "6 bits", "hologram.png", "8"});
  refused({"--add", path("amplitude.png")}, {"--add", "phase codes", "amplitude.png", "amplitude"});
  refused({"--add", path("red.png")}, {"--add", "532 nm", "red.png", "633 nm"});
  refused({"--add", path("field.npy")}, {"--add", "field.npy", "complex field"});
  refused({"--add", path("missing.png")}, {"missing.png"});
  refused({"--add", path("good.csv")}, {"good.csv"});
  refused({"--encode", "amplitude"}, {"--add", "phase"});
  refused({"--resolution", "64x48", "--pitch", "4um"}, {"--add", "4 um", "8 um"});
  expect_refused({"panel", "vortex", "--add", path("hologram.png"), "-o", path("hologram.png")},
                 {"--output", "hologram.png"});
}

}  // namespace
}  // namespace holotone::test
