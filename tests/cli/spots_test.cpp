// holotone spots: codes whose spots stand where they are asked for, seen by reconstruct; refusals. Spots by optimize.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/io/images/image.hpp>
#include <holotone/recipes/operations.hpp>
#include <tests/support/program.hpp>

namespace holotone::test {
namespace {

class SpotsTest : public ProgramTest {
 protected:
  [[nodiscard]] std::vector<std::string> spots(const std::vector<std::string>& more) const {
    std::vector<std::string> arguments{"spots", "-o",           path("slm.png"), "--resolution",   "128x128", "--pitch",
                                       "8um",   "--wavelength", "1064nm",        "--focal-length", "10cm"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
};

TEST_F(SpotsTest, SpotsStandWhereTheyAreAskedFor) {
  // Pixels of reconstruct's picture: lambda f / (n pitch) = 103.9 um.
  const double pixel_m = 1064e-9 * 0.1 / (128 * 8e-6);
  std::string list = "x_m,y_m,intensity\n";
  constexpr std::array<std::array<int, 3>, 3> places{{{30, 44, 4}, {-21, 10, 1}, {12, -33, 2}}};
  for (const auto& [x, y, intensity] : places) {
    // Half a pixel aside of the middle: centres of an even number of pixels.
    list += std::to_string((x + 0.5) * pixel_m) + "," + std::to_string((y + 0.5) * pixel_m) + "," +
            std::to_string(intensity) + "\n";
  }
  const auto report = run_json(spots({write("spots.csv", list), "--table", path("light.csv")}));
  EXPECT_EQ(report["spots"], 3);
  EXPECT_TRUE(report["reached"]);
  EXPECT_GT(report["efficiency"], 0.75);
  EXPECT_LT(report["deviation"], 2e-3);
  EXPECT_TRUE(fs::exists(path("light.csv")));
  const auto picture = run_json(spots({path("spots.csv"), "--picture", path("seen.png")}));
  EXPECT_EQ(picture["picture"], path("seen.png"));
  EXPECT_LE(shape_of(read_image(path("seen.png")))[1], 680);
  ASSERT_EQ(run({"reconstruct", path("slm.png"), "-o", path("seen.tif"), "--linear"}).exit_code, 0);
  const auto seen = to_float(read_image(path("seen.tif")));
  ASSERT_EQ(seen.shape()[0], 128);
  const auto light = [&](int x, int y) { return static_cast<double>(seen(63 - y, 64 + x, 0)); };
  double sum = 0;
  for (std::int64_t i = 0; i < seen.size(); ++i) sum += static_cast<double>(seen.data()[i]);
  double in_spots = 0;
  for (const auto& [x, y, intensity] : places) {
    in_spots += light(x, y);
    EXPECT_NEAR(light(x, y) / light(places[1][0], places[1][1]), intensity, 0.02 * intensity);
  }
  EXPECT_NEAR(in_spots / sum, report["efficiency"].get<double>(), 0.02);
}

TEST_F(SpotsTest, ALatticeAndItsRemarks) {
  const auto report =
      run_json(spots({"--array", "4x3", "--spacing", "1.2mm", "--centre", "0.5mm,0.3mm", "--bits", "4"}));
  EXPECT_EQ(report["spots"], 12);
  EXPECT_EQ(report["warnings"].size(), 0u);
  const auto merged = run({"spots", "-o", path("b.png"), "--array", "4x3", "--spacing", "50um", "--centre", "2mm,1mm",
                           "--resolution", "128x128", "--pitch", "8um", "--focal-length", "10cm"});
  EXPECT_EQ(merged.exit_code, 0);
  EXPECT_NE(merged.error.find("merge"), std::string::npos) << merged.error;
}

TEST_F(SpotsTest, EveryDeviceThatHasThemFindsThem) {
  const auto& operation = operations()[static_cast<std::size_t>(OperationId::spots)];
  ASSERT_EQ(operation.id, OperationId::spots);
  for (const auto device : devices()) {
    if (!has_operation(operation, device.backend)) continue;
    SCOPED_TRACE(to_string(device));
    const auto report = run_json(spots({"--array", "5x4", "--spacing", "1.1mm", "--centre", "0.5mm,0.3mm,2mm",
                                        "--device", to_string(device), "--zero-order", "0.05"}));
    EXPECT_EQ(report["device"], to_string(device));
    EXPECT_TRUE(report["reached"]);
    EXPECT_LT(report["deviation"], 1e-3);
    EXPECT_GT(report["efficiency"], 0.85);
  }
}

TEST_F(SpotsTest, ATelescopeScalesThePanel) {
  const auto plain = run_json(spots({"--array", "2x2", "--spacing", "1mm", "--centre", "2mm,1mm"}));
  const auto scaled = run_json(spots({"--array", "2x2", "--spacing", "1mm", "--centre", "2mm,1mm", "--magnification",
                                      "0.5", "--pupil", "1mm", "--source", "gaussian:0.4mm"}));
  const auto info = run_json({"info", path("slm.png")});
  EXPECT_NE(info.dump().find("\"focal_length_m\":0.2,"), std::string::npos) << info.dump();
  const auto width_m = [](const nlohmann::json& said) { return said["spot_width_m"][0].get<double>(); };
  // The Gaussian beam in the pupil is narrower than the panel's image of 0.512 mm.
  EXPECT_GT(width_m(scaled), 2.2 * width_m(plain));
  const auto image =
      run_json(spots({"--array", "2x2", "--spacing", "1mm", "--centre", "2mm,1mm", "--magnification", "0.5"}));
  EXPECT_NEAR(width_m(image), 2 * width_m(plain), 1e-12);
  // A round pupil counts as an even square of sqrt(3) / 2 of its diameter.
  const auto pupil = run_json(spots({"--array", "2x2", "--spacing", "1mm", "--centre", "2mm,1mm", "--pupil", "0.5mm"}));
  EXPECT_NEAR(width_m(pupil), 1064e-9 * 0.1 / (0.5e-3 * std::sqrt(0.75)), 0.02 * width_m(pupil));
}

// One spot is a grating: its codes rise by 256 kx a pixel to the right, whatever the lens.
TEST_F(SpotsTest, FrequenciesNeedNoLens) {
  const auto list = write("k.csv", "kx_per_px,ky_per_px\n0.125,0.0625\n");
  const auto result = run({"spots", list, "-o", path("slm.png"), "--resolution", "64x48", "--pitch", "8um"});
  ASSERT_EQ(result.exit_code, 0) << result.error;
  EXPECT_NE(result.error.find("1 mm is 1 mrad"), std::string::npos) << result.error;
  const auto codes = to_float(read_image(path("slm.png")));
  const auto step = [&](std::int64_t down, std::int64_t right) {
    const double change = 255 * static_cast<double>(codes(10 + down, 10 + right, 0) - codes(10, 10, 0));
    return std::remainder(
        change - (256 * 0.125 * static_cast<double>(right) - 256 * 0.0625 * static_cast<double>(down)), 256.0);
  };
  EXPECT_LE(std::abs(step(0, 5)), 1.01);
  EXPECT_LE(std::abs(step(7, 0)), 1.01);
  EXPECT_LE(std::abs(step(9, 13)), 1.01);
  expect_refused({"spots", write("z.csv", "kx_per_px,ky_per_px,z_um\n0.1,0.1,3\n"), "-o", path("b.png")},
                 {"--focal-length", "lengths"});
  expect_refused({"spots", "--array", "2x2", "--spacing", "1um", "-o", path("b.png")}, {"--focal-length"});
}

TEST_F(SpotsTest, PixelsOfACameraAreMapped) {
  const auto map = write("map.csv", "x_um,20,0,-2000\ny_um,0,-20,2000\n");
  const auto list = write("pixels.csv", "x_px,y_px\n160,70\n90,120\n");
  const auto report = run_json(spots({list, "--camera-map", map, "--table", path("light.csv")}));
  EXPECT_EQ(report["spots"], 2);
  EXPECT_NE(content_of(path("light.csv")).find("\n0.00120000006,0.00060000"), std::string::npos)
      << content_of(path("light.csv"));
  expect_refused(spots({list}), {"pixels.csv", "camera map"});
  expect_refused(spots({list, "--camera-map", path("none.csv")}), {"none.csv"});
  expect_refused(spots({list, "--camera-map", list}), {"pixels.csv", "line 1"});
  expect_refused({"spots", list, "--camera-map", map, "-o", map, "--focal-length", "10cm"}, {"map.csv"});
}

TEST_F(SpotsTest, DotsOfAPictureBecomeSpots) {
  Array<std::uint8_t, 3> pixels({40, 60, 1});
  std::fill_n(pixels.data(), pixels.size(), std::uint8_t{0});
  pixels(10, 40, 0) = 255;
  pixels(11, 41, 0) = 255;  // joined at a corner
  pixels(30, 5, 0) = 255;
  pixels(20, 20, 0) = 100;  // sRGB: 0.127 of the light
  write_image(path("dots.png"), Image{std::move(pixels), {}});
  const std::vector<std::string> from{"--from", path("dots.png"), "--pixel", "50um"};
  auto all = from;
  all.insert(all.end(), {"--threshold", "0.1", "--centre", "0.1mm,0um", "--table", path("light.csv")});
  const auto report = run_json(spots(all));
  EXPECT_EQ(report["spots"], 3);
  EXPECT_EQ(report["warnings"].size(), 0U);
  EXPECT_NE(run(spots(all)).error.find("codes became light as sRGB has them"), std::string::npos);
  // (40.5 - 29.5) 50 um + 100 um, (19.5 - 10.5) 50 um.
  EXPECT_NE(content_of(path("light.csv")).find("\n0.000650000002,0.000449999992,0,2,"), std::string::npos)
      << content_of(path("light.csv"));
  const auto fewer = run_json(spots(from));
  EXPECT_EQ(fewer["spots"], 2);
  EXPECT_NE(fewer["warnings"].dump().find("--threshold"), std::string::npos) << fewer["warnings"];
  expect_refused(spots({"--from", path("dots.png")}), {"--pixel"});
  expect_refused(spots({"--pixel", "1um", "--array", "2x2", "--spacing", "1mm"}), {"--pixel", "--from"});
  expect_refused(spots({"--array", "2x2", "--spacing", "1mm", "--from", path("dots.png"), "--pixel", "1um"}),
                 {"SPOTS", "--array and --from"});
}

// A camera that sees a panel of another stroke than the codes are for: its zero order and ghosts make spots uneven.
class SpotsBenchTest : public SpotsTest {
 protected:
  [[nodiscard]] std::string camera(const std::string& output) const {
    return fmt::format("'{}' reconstruct %s -o '{}' --linear --quiet --phase-range 1.7pi && cat '{}'", program_path(),
                       path(output), path(output));
  }
  /// Pixels of reconstruct's picture to places; spots on a lattice at its pixels.
  [[nodiscard]] std::vector<std::string> bench(const std::vector<std::string>& more) const {
    const double pixel_m = 1064e-9 * 0.1 / (128 * 8e-6);
    const auto map =
        fmt::format("x_m,{0:.9g},0,{1:.9g}\ny_m,0,-{0:.9g},{2:.9g}\n", pixel_m, -63.5 * pixel_m, 63.5 * pixel_m);
    std::string list = "x_px,y_px\n";
    // Opposite each other about the axis, where the mirrored order of a wrong stroke lies.
    constexpr std::array<int, 4> columns{50, 59, 68, 77};
    constexpr std::array<int, 4> rows{40, 55, 72, 87};
    for (const int row : rows) {
      for (const int column : columns) list += fmt::format("{},{}\n", column, row);
    }
    std::vector<std::string> all{write("list.csv", list), "--camera-map", write("map.csv", map), "--bits", "8"};
    all.insert(all.end(), more.begin(), more.end());
    return spots(all);
  }
};

TEST_F(SpotsBenchTest, ACameraClosesTheLoop) {
  if (!can_write("a.tif")) GTEST_SKIP() << "without TIFF";
  const auto report = run_json(
      bench({"--camera", camera("seen.tif"), "--feedback", "6", "--window", "3", "--table", path("light.csv")}));
  const auto& measured = report["measured"];
  std::printf("measured deviation %.4f, at first %.4f\n", measured["deviation"].get<double>(),
              measured["first_deviation"].get<double>());
  EXPECT_GT(measured["first_deviation"], 0.02);
  EXPECT_LT(measured["deviation"], 0.01);
  EXPECT_NE(content_of(path("light.csv")).find(",ratio,measured\n"), std::string::npos);
  // One round of stored codes, by a picture and by the table that it makes.
  ASSERT_EQ(run(bench({})).exit_code, 0);
  fs::rename(path("slm.png"), path("first.png"));
  (void)run_json({"reconstruct", path("first.png"), "-o", path("first.tif"), "--linear", "--phase-range", "1.7pi"});
  const auto first = run_json(
      bench({"--start", path("first.png"), "--camera-picture", path("first.tif"), "--window", "3", "--gain", "1"}));
  EXPECT_NEAR(first["measured"]["deviation"].get<double>(), measured["first_deviation"].get<double>(), 5e-3);
  fs::rename(path("slm.png"), path("second.png"));
  (void)run_json({"reconstruct", path("second.png"), "-o", path("second.tif"), "--linear", "--phase-range", "1.7pi"});
  const auto second =
      run_json(bench({"--start", path("second.png"), "--camera-picture", path("second.tif"), "--window", "3"}));
  EXPECT_LT(second["measured"]["deviation"].get<double>(), 0.6 * first["measured"]["deviation"].get<double>());
}

TEST_F(SpotsBenchTest, ADarkCameraIsAskedAbout) {
  if (!can_write("a.tif")) GTEST_SKIP() << "without TIFF";
  ASSERT_EQ(run(bench({})).exit_code, 0);
  fs::rename(path("slm.png"), path("first.png"));
  (void)run_json({"reconstruct", path("first.png"), "-o", path("first.tif"), "--linear"});
  const std::vector<std::string> start{"--start",         path("first.png"), "--camera-picture",
                                       path("first.tif"), "--window",        "3"};
  EXPECT_EQ(run_json(bench(start))["warnings"].size(), 0U);
  // Light in the left half alone: that of columns 50 and 59 of 50, 59, 68, 77.
  auto picture = to_float(read_image(path("first.tif")));
  for (std::int64_t row = 0; row < 128; ++row) {
    for (std::int64_t column = 64; column < 128; ++column) picture(row, column, 0) = 0;
  }
  write_image(path("first.tif"), Image{std::move(picture), {}});
  const auto report = run_json(bench(start));
  ASSERT_EQ(report["warnings"].size(), 1U) << report["warnings"];
  const auto text = report["warnings"][0].get<std::string>();
  for (const char* words : {"first.tif", "8 spots, the first spot 2 at x = ", "mirrored", "--camera-map"}) {
    EXPECT_NE(text.find(words), std::string::npos) << text;
  }
  EXPECT_FALSE(report["measured"]["reached"]);
  // A camera that shows one picture, whatever the codes.
  const auto still =
      run_json(bench({"--camera", "cat '" + path("first.tif") + "' # %s", "--feedback", "2", "--window", "3"}));
  ASSERT_EQ(still["warnings"].size(), 2U) << still["warnings"];
  EXPECT_NE(still["warnings"][0].get<std::string>().find("--camera: less than a twentieth"), std::string::npos);
  EXPECT_NE(still["warnings"][1].get<std::string>().find("no round is better"), std::string::npos);
  // A table.
  std::string table = "measured\n";
  for (int m = 0; m < 16; ++m) table += m == 3 || m == 7 ? "0\n" : "1\n";
  const auto zeros = run_json(bench({"--start", path("first.png"), "--measured", write("m.csv", table)}));
  ASSERT_EQ(zeros["warnings"].size(), 1U) << zeros["warnings"];
  EXPECT_NE(zeros["warnings"][0].get<std::string>().find("m.csv: measured 0 of 2 spots, the first spot 3"),
            std::string::npos);
}

TEST_F(SpotsTest, WhatSpotsCannotHaveIsRefused) {
  const auto list = write("s.csv", "x_um,y_um,z_um\n100,50,0\n-200,80,1e12\n");
  expect_refused(spots({list}), {"spot 1", "turns of its wave at the panel's corner"});
  expect_refused(spots({"--array", "2x1", "--spacing", "0.2mm", "--carrier", "64um"}), {"--carrier"});
  expect_refused(spots({"--array", "2x1", "--spacing", "0.2mm", "--table=", "--json"}),
                 {"--table", "a value behind =", "none"});
  expect_refused(spots({"--array", "2x1", "--spacing", "0.2mm", "--table", "--json"}),
                 {"--table", "a value", "--json"});
  EXPECT_FALSE(fs::exists("--json"));
  expect_refused(spots({write("dim.csv", "x_um,y_um,intensity\n100,50,1e-50\n")}),
                 {"dim.csv", "line 2", "1e-30 to 1e30", "1e-50"});
  expect_refused(spots({write("far.csv", "x_um,y_um\n1e300,50\n")}), {"far.csv", "line 2", "1e+294 m"});
}

// A million pairs and more are not counted one by one.
TEST_F(SpotsTest, ManySpotsInOnePlaceTakeNoLongerThanOthers) {
  const auto report = run_json(spots({"--ring", "60000", "--radius", "1nm", "--free-steps", "1", "--kept-steps", "0"}));
  EXPECT_NE(report["warnings"][0].get<std::string>().find("at least 1000000 pairs"), std::string::npos)
      << report["warnings"][0];
}

TEST_F(SpotsBenchTest, WhatIsMeasuredBecomesLightByItsLaw) {
  ASSERT_EQ(run(bench({})).exit_code, 0);
  fs::rename(path("slm.png"), path("first.png"));
  std::string light = "measured\n";
  std::string signal = light;
  for (int spot = 0; spot < 16; ++spot) {
    const double value = 1 + 0.1 * spot;
    light += fmt::format("{}\n", value);
    signal += fmt::format("{:.9g}\n", value * value / (1 + value * value / 20));
  }
  const auto measured = [&](std::vector<std::string> more) {
    std::vector<std::string> all{"--start", path("first.png"), "--measured"};
    all.insert(all.end(), more.begin(), more.end());
    return bench(all);
  };
  const double asked = run_json(measured({write("light.csv", light)}))["measured"]["deviation"];
  const std::vector<std::string> law{write("signal.csv", signal), "--signal-exponent", "2", "--signal-saturation"};
  auto right = law;
  right.emplace_back("20");
  EXPECT_NEAR(run_json(measured(right))["measured"]["deviation"], asked, 1e-6);
  EXPECT_GT(std::abs(run_json(measured({path("signal.csv")}))["measured"]["deviation"].get<double>() - asked), 0.01);
  auto low = law;
  low.emplace_back("3");
  expect_refused(measured(low), {"--signal-saturation", "more than the signal 3.0", "spot 9", "got 3"});
  expect_refused(bench({"--signal-exponent", "2"}), {"--signal-exponent", "--camera or --start"});
  std::string zeros = "measured\n";
  for (int spot = 0; spot < 16; ++spot) zeros += "0\n";
  expect_refused(measured({write("zeros.csv", zeros)}), {"--measured", "some light"});
}

TEST_F(SpotsBenchTest, StoredCodesAreThoseOfTheList) {
  ASSERT_EQ(run(bench({"--table", path("light.csv")})).exit_code, 0);
  fs::rename(path("slm.png"), path("first.png"));
  // The table of places, in another order: its shares as measured.
  std::string table = "y_m,x_m,measured\n";
  const auto lines = content_of(path("light.csv"));
  std::vector<std::string> rows;
  for (auto at = lines.find('\n'); at + 1 < lines.size(); at = lines.find('\n', at + 1)) {
    const auto line = lines.substr(at + 1, lines.find('\n', at + 1) - at - 1);
    const auto x = line.substr(0, line.find(','));
    const auto y = line.substr(x.size() + 1, line.find(',', x.size() + 1) - x.size() - 1);
    rows.push_back(fmt::format("{},{},{}\n", y, x, rows.size() == 5 ? 2 : 1));
  }
  ASSERT_EQ(rows.size(), 16U);
  std::ranges::reverse(rows);
  for (const auto& row : rows) table += row;
  const std::vector<std::string> start{"--start", path("first.png"), "--measured",     write("m.csv", table), "--gain",
                                       "1",       "--table",         path("after.csv")};
  const auto report = run_json(bench(start));
  EXPECT_EQ(report["warnings"].size(), 0U) << report["warnings"];
  // Spot 5 was measured twice as bright: its light is to be half of the others'.
  const auto after = content_of(path("after.csv"));
  std::size_t at = 0;
  for (int line = 0; line < 6; ++line) at = after.find('\n', at) + 1;
  const auto row = after.substr(at, after.find('\n', at) - at);
  EXPECT_NEAR(std::stod(row.substr(row.rfind(',') + 1)), 16 * 0.5 / 15.5, 0.02) << row;
  // Other places have little of its light.
  const auto others = run_json(spots({"--array", "3x2", "--spacing", "0.9mm", "--centre", "-2.5mm,-2mm", "--start",
                                      path("first.png"), "--measured", write("six.csv", "1\n1\n1\n1\n1\n1\n")}));
  ASSERT_EQ(others["warnings"].size(), 1U) << others["warnings"];
  EXPECT_NE(others["warnings"][0].get<std::string>().find("first.png: "), std::string::npos);
  EXPECT_NE(others["warnings"][0].get<std::string>().find("another list"), std::string::npos);
  // Other optics.
  const auto refused = [&](std::size_t at_argument, const char* value, std::initializer_list<const char*> words) {
    auto all = bench(start);
    all[at_argument] = value;
    expect_refused(all, words);
  };
  ASSERT_EQ(bench(start)[8], "1064nm");
  refused(8, "532nm", {"first.png", "a wavelength of 532 nm", "got 1.064 um"});
  refused(6, "9um", {"first.png", "pixel pitch of 9 um", "got 8 um"});
  refused(10, "20cm", {"first.png", "focal length of 20 cm", "got 10 cm"});
}

TEST_F(SpotsBenchTest, WhatABenchLacksIsNamed) {
  expect_refused(bench({"--camera", "cat list.csv"}), {"--camera", "%s"});
  expect_refused(bench({"--camera", "exit 3 # %s"}), {"--camera: expected a command that ends with 0"});
  expect_refused(bench({"--camera", "echo none %s"}), {"--camera: standard output"});
  expect_refused(bench({"--feedback", "3"}), {"--feedback"});
  expect_refused(bench({"--measured", path("list.csv")}), {"--start"});
  ASSERT_EQ(run(bench({})).exit_code, 0);
  fs::rename(path("slm.png"), path("first.png"));
  const std::vector<std::string> start{"--start", path("first.png")};
  const auto from = [&](const std::vector<std::string>& more) {
    auto all = start;
    all.insert(all.end(), more.begin(), more.end());
    return bench(all);
  };
  expect_refused(from({}), {"--start", "--measured"});
  expect_refused(from({"--measured", write("m.csv", "1\n2\n")}), {"m.csv", "16 measured"});
  expect_refused(from({"--measured", path("m.csv"), "--camera-picture", path("m.csv")}), {"--measured", "both"});
  expect_refused(from({"--camera", "cat %s"}), {"--start", "both"});
  expect_refused(from({"--camera-picture", path("first.png"), "--window", "300"}), {"spot 0", "within the picture"});
  expect_refused(spots({"--array", "2x2", "--spacing", "1mm", "--camera", "cat %s"}), {"--camera-map"});
  EXPECT_FALSE(fs::exists(path("slm.png")));
}

TEST_F(SpotsTest, ARingStandsInPlaceOfAFile) {
  const auto result =
      run(spots({"--ring", "6", "--radius", "1mm", "--centre", "2mm,1mm", "--table", path("light.csv")}));
  EXPECT_EQ(result.exit_code, 0) << result.error;
  EXPECT_NE(result.output.find("6 spots at 1.064 um on 128 x 128 pixels"), std::string::npos) << result.output;
  EXPECT_NE(content_of(path("light.csv")).find("\n0.00300000003,0.00100000005,0,1,"), std::string::npos);
  expect_refused(spots({"--ring", "6"}), {"--radius"});
  expect_refused(spots({"--radius", "1mm", "--array", "2x2", "--spacing", "1mm"}), {"--radius", "--ring"});
  expect_refused(spots({"--ring", "6", "--radius", "1mm", "--array", "2x2", "--spacing", "1mm"}),
                 {"--array and --ring"});
}

TEST_F(SpotsTest, TheResultNamesThePanel) {
  const auto result = run({"spots", "--array", "2x2", "--spacing", "1mm", "--centre", "2mm,1mm", "--focal-length",
                           "10cm", "--panel", "holoeye-pluto-2", "-o", path("slm.png")});
  EXPECT_EQ(result.exit_code, 0) << result.error;
  EXPECT_NE(result.output.find("4 spots at 532 nm on holoeye-pluto-2 in "), std::string::npos) << result.output;
}

TEST_F(SpotsTest, WhatCannotBeIsRefusedByName) {
  expect_refused(spots({}), {"SPOTS", "neither"});
  expect_refused(spots({"--array", "4x4", "--spacing", "1mm", "--rgb", "638nm,520nm,450nm"}), {"--rgb"});
  expect_refused(spots({"--array", "4x4", "--spacing", "1mm", "--field-sequence"}), {"--field-sequence"});
  expect_refused(spots({write("um.csv", "x_um,y_um\n1,2\n"), "--unit", "um"}), {"--unit", "um.csv"});
  expect_refused(spots({write("far.csv", "x_um,y_um\n1,2\n1e7,2\n")}), {"far.csv", "line 3", "unit right?"});
  expect_refused(spots({"--array", "4x4"}), {"--spacing"});
  expect_refused(spots({"--array", "4", "--spacing", "1mm"}), {"--array"});
  expect_refused(spots({"--array", "4x4", "--spacing", "1m"}), {"spot 0", "diffraction order"});
  expect_refused(spots({"--array", "4x4", "--spacing", "1mm", "--centre", "1mm"}), {"--centre"});
  const auto list = write("plain.csv", "1,2\n");
  expect_refused(spots({list}), {"plain.csv", "unit"});
  expect_refused(spots({list, "--array", "4x4", "--spacing", "1mm"}), {"SPOTS", "--array"});
  expect_refused(spots({list, "--unit", "px"}), {"--unit"});
  expect_refused(spots({list, "--unit", "um", "--pupil", "2um"}), {"--pupil"});
  expect_refused(spots({list, "--unit", "um", "--picture", list}), {"--picture", "plain.csv"});
  expect_refused(spots({path("none.csv")}), {"none.csv"});
  expect_refused({"spots", list, "--unit", "um", "-o", list, "--focal-length", "10cm"}, {"plain.csv"});
  expect_refused({"spots", list, "--unit", "um", "-o", path("slm.h5"), "--focal-length", "10cm"}, {"slm.h5"});
  const auto deep = write("deep.csv", "x_um,y_um,z_um\n1,2,3\n");
  expect_refused({"spots", deep, "-o", path("a.png"), "--focal-length", "2mm"}, {"--focal-length", "n f"});
}

// optimize of pictures of spots: where the light is, and which command is theirs.
constexpr std::int64_t side = 64;
constexpr std::array<std::array<std::int64_t, 2>, 4> places{{{20, 9}, {13, 44}, {50, 17}, {41, 52}}};

class OptimizeSpotsTest : public ProgramTest {
 protected:
  OptimizeSpotsTest() {
    Array<std::uint8_t, 3> pixels({side, side, 1});
    std::fill_n(pixels.data(), pixels.size(), std::uint8_t{0});
    for (const auto& [row, column] : places) pixels(row, column, 0) = 255;
    write_image(path("spots.png"), Image{std::move(pixels), {}});
  }
  [[nodiscard]] std::vector<std::string> optimize(const std::vector<std::string>& more) const {
    std::vector<std::string> arguments{"optimize", path("spots.png"), "-o",  path("slm.png"), "--resolution",
                                       "64x64",    "--pitch",         "8um", "--iterations",  "40"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
};

TEST_F(OptimizeSpotsTest, TheLightOfTheSpotsIsNamed) {
  const auto result = run(optimize({"--focal-length", "20cm", "--solver", "wgs"}));
  EXPECT_EQ(result.exit_code, 0) << result.error;
  EXPECT_NE(result.error.find("4 pixels lit: holotone spots"), std::string::npos) << result.error;
  EXPECT_NE(result.output.find("efficiency 1.00 (0."), std::string::npos) << result.output;
  const auto report = run_json(optimize({"--focal-length", "20cm", "--solver", "wgs"}));
  EXPECT_EQ(report["warnings"].size(), 1U);
  const double lit = report["holograms"][0]["lit_efficiency"];
  // As reconstruct sees the codes.
  (void)run_json({"reconstruct", path("slm.png"), "-o", path("seen.tif"), "--linear"});
  const auto light = to_float(read_image(path("seen.tif")));
  double all = 0;
  double in_spots = 0;
  for (std::int64_t i = 0; i < light.size(); ++i) all += static_cast<double>(light.data()[i]);
  for (const auto& [row, column] : places) in_spots += static_cast<double>(light(row, column, 0));
  EXPECT_NEAR(lit, in_spots / all, 0.01);
  EXPECT_LT(lit, 0.9);
}

TEST_F(OptimizeSpotsTest, LightBesideThePictureIsWarnedOf) {
  const auto corner = [this](const std::string& solver) {
    auto arguments =
        optimize({"--focal-length", "20cm", "--solver", solver, "--signal-region", "64x64+4+4", "--phase", "random"});
    std::ranges::replace(arguments, std::string("64x64"), std::string("192x192"));
    return run_json(arguments);
  };
  const auto lost = corner("wgs");
  ASSERT_LT(lost["holograms"][0]["efficiency"], 0.05);
  EXPECT_NE(lost["warnings"].dump().find("of the light falls into the picture"), std::string::npos);
  const auto kept = corner("gs");
  ASSERT_GT(kept["holograms"][0]["efficiency"], 0.05);
  EXPECT_EQ(kept["warnings"].size(), 0U);
}

}  // namespace
}  // namespace holotone::test
