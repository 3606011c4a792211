// `holotone measure`: dots with known measures, reports, and rejected input.
#include <cmath>
#include <holotone/core/random.hpp>
#include <holotone/io/dots/dots.hpp>
#include <tests/support/program.hpp>

namespace holotone::test {
namespace {

class MeasureTest : public ProgramTest {
 protected:
  /// `count` random dots on a page of 100 x 80, in any format.
  std::string write_random(const std::string& name, int count, double scale = 1) const {
    Dots dots;
    dots.width = 100 * scale;
    dots.height = 80 * scale;
    for (int i = 0; i < count; ++i) {
      const auto at = static_cast<std::uint64_t>(2 * i);
      dots.position.push_back(static_cast<float>(100 * scale * random_uniform64(5, at)));
      dots.position.push_back(static_cast<float>(80 * scale * random_uniform64(5, at + 1)));
    }
    write_dots(path(name), dots);
    return path(name);
  }

  /// A constant grey picture.
  std::string write_grey(const std::string& name, Shape<2> shape, std::uint8_t code) const {
    Image image{Array<std::uint8_t, 3>({shape[0], shape[1], 1}), {}};
    auto pixels = std::get<Array<std::uint8_t, 3>>(image.pixels).host();
    std::fill(pixels.begin(), pixels.end(), code);
    write_image(path(name), image);
    return path(name);
  }
};

TEST_F(MeasureTest, RandomDotsAreRandom) {
  const auto json = run_json({"measure", write_random("dots.csv", 8000)});
  EXPECT_EQ(json["dots"], 8000);
  EXPECT_EQ(json["inside"], 8000);
  EXPECT_TRUE(json["page_stated"]);
  EXPECT_NEAR(json["density"], 1.0, 1e-6);
  EXPECT_NEAR(json["principal_frequency"], 1.0, 1e-6);
  const auto& spectrum = json["spectrum"];
  EXPECT_EQ(spectrum["periodograms"], 10);
  EXPECT_NEAR(spectrum["summary"]["mean_anisotropy_db"], -10, 0.5);
  EXPECT_NEAR(spectrum["summary"]["low_power"], 1, 0.1);
  EXPECT_EQ(spectrum["raps"].size(), spectrum["frequency"].size());
  // Mean nearest-neighbour distance of random dots: 1 / (2 sqrt(density)) (Clark and Evans 1954).
  EXPECT_NEAR(json["nearest"]["mean"], 0.5, 0.02);
  EXPECT_EQ(json["pair_correlation"]["value"].size(), 250u);
  EXPECT_EQ(json.count("against"), 0u);
}

TEST_F(MeasureTest, FormatsAgree) {
  const auto expected = run_json({"measure", write_random("dots.csv", 2000)});
  for (const char* name : {"dots.txt", "dots.svg"}) {
    const auto json = run_json({"measure", write_random(name, 2000)});
    EXPECT_EQ(json["spectrum"], expected["spectrum"]) << name;
    EXPECT_EQ(json["nearest"], expected["nearest"]) << name;
  }
  const auto npy = run_json({"measure", write_random("dots.npy", 2000), "--page", "100x80"});
  EXPECT_EQ(npy["spectrum"], expected["spectrum"]);
  write_dots(path("up.csv"), [&] {
    Dots dots = read_dots(path("dots.csv"));
    for (std::size_t i = 1; i < dots.position.size(); i += 2) dots.position[i] = 80 - dots.position[i];
    return dots;
  }());
  EXPECT_NEAR(run_json({"measure", path("up.csv"), "--y-up"})["nearest"]["mean"].get<double>(),
              expected["nearest"]["mean"].get<double>(), 1e-5);
}

TEST_F(MeasureTest, AgainstAnImage) {
  // One dot on each pixel of a picture whose ink is 1 / 2 in linear light: code 188.
  Dots dots;
  dots.width = dots.height = 40;
  for (int row = 0; row < 40; ++row) {
    for (int column = 0; column < 40; ++column) {
      dots.position.insert(dots.position.end(), {static_cast<float>(column) + 0.5F, static_cast<float>(row) + 0.5F});
    }
  }
  write_dots(path("grid.csv"), dots);
  const auto grey = write_grey("grey.png", {40, 40}, 188);
  const auto json = run_json({"measure", path("grid.csv"), "--against", grey, "--sigma", "2,1"});
  const auto& against = json["against"];
  EXPECT_NEAR(against["ink"], 1600 * 0.4970, 1);  // 1 - linear light of code 188
  EXPECT_NEAR(against["charge"].get<double>() * 1600, against["ink"], 1e-3);
  ASSERT_EQ(against["blurred"].size(), 2u);
  EXPECT_EQ(against["blurred"][1]["sigma"], 1);
  for (const auto& row : against["blurred"]) {
    EXPECT_GT(row["psnr_db"], 90);
    EXPECT_NEAR(row["ssim"], 1, 1e-5);
  }
  // Half the charge leaves half the ink, far from the edges.
  const auto half = run_json(
      {"measure", path("grid.csv"), "--against", grey, "--sigma", "2", "--margin", "14", "--charge", "0.2485"});
  EXPECT_NEAR(half["against"]["blurred"][0]["psnr_db"], -20 * std::log10(0.4970 - 0.2485), 0.05);
  // --invert makes ink white.
  const auto inverted = run_json({"measure", path("grid.csv"), "--against", grey, "--invert"});
  EXPECT_NEAR(inverted["against"]["ink"].get<double>() + against["ink"].get<double>(), 1600, 1e-2);
}

TEST_F(MeasureTest, PagesAreScaledToTheImage) {
  const auto grey = write_grey("grey.png", {80, 100}, 128);
  const auto same = run_json({"measure", write_random("same.csv", 3000), "--against", grey});
  const auto large = run_json({"measure", write_random("large.csv", 3000, 8), "--against", grey});
  EXPECT_NEAR(large["against"]["scale"][0], 0.125, 1e-12);
  EXPECT_NEAR(large["against"]["blurred"][0]["psnr_db"], same["against"]["blurred"][0]["psnr_db"], 1e-2);
  const auto outcome = run({"measure", path("large.csv"), "--against", grey});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_NE(outcome.error.find("800 x 640 is scaled by 0.125 x 0.125 to the image's 100 x 80"), std::string::npos)
      << outcome.error;
  // A list without a page: the unit square is assumed first, then the image's page.
  write("unit.txt", "0.1 0.2\n0.5 0.7\n0.9 0.4\n");
  const auto unit = run_json({"measure", path("unit.txt"), "--against", grey});
  EXPECT_EQ(unit["page"], nlohmann::json({1.0, 1.0}));
  EXPECT_FALSE(unit["page_stated"]);
  EXPECT_EQ(unit["warnings"].size(), 1u);  // different aspect ratio
  write("list.txt", "10 20\n50 70\n90 40\n");
  EXPECT_EQ(run_json({"measure", path("list.txt"), "--against", grey})["page"], nlohmann::json({100.0, 80.0}));
  EXPECT_EQ(run_json({"measure", path("list.txt")})["page"], nlohmann::json({90.0, 70.0}));
  write("low.txt", "-10 20\n50 70\n");
  EXPECT_EQ(run_json({"measure", path("low.txt")})["page"], nlohmann::json({60.0, 70.0}));
}

TEST_F(MeasureTest, PicturesAreDots) {
  Dots dots;
  dots.width = 64;
  dots.height = 48;
  for (int i = 0; i < 48; ++i) {
    dots.position.insert(dots.position.end(),
                         {static_cast<float>(8 * (i % 8)) + 0.5F, static_cast<float>(8 * (i / 8)) + 0.5F});
  }
  write_dots(path("grid.png"), dots, {.radius = 0.5, .one_bit = true});
  const auto json = run_json({"measure", path("grid.png")});
  EXPECT_EQ(json["dots"], 48);
  EXPECT_EQ(json["page"], nlohmann::json({64.0, 48.0}));
  EXPECT_EQ(json["nearest"]["smallest"], 8);
  EXPECT_EQ(json["spectrum"]["periodograms"], 1);
}

TEST_F(MeasureTest, DiscsAndEnlargedPixelsAreTold) {
  // Every third pixel of every third row, 3 x 3 of every 9 x 9 pixels, and both inverses, with 8/9 of all pixels dark.
  const auto write_cells = [&](const std::string& name, std::int64_t cell, std::int64_t side, bool inverse) {
    Image image{Array<std::uint8_t, 3>({90, 90, 1}), {}};
    auto& pixels = std::get<Array<std::uint8_t, 3>>(image.pixels);
    for (std::int64_t row = 0; row < 90; ++row) {
      for (std::int64_t col = 0; col < 90; ++col) {
        const bool inside = row % cell < side && col % cell < side;
        pixels(row, col, 0) = inside != inverse ? 0 : 255;
      }
    }
    write_image(path(name), image);
    return run({"measure", path(name)});
  };
  const auto pixels = write_cells("pixels.png", 3, 1, false);
  EXPECT_EQ(pixels.exit_code, 0);
  EXPECT_NE(pixels.error.find("pixels.png: each pixel of the darker of two levels is a dot"), std::string::npos);
  EXPECT_EQ(pixels.error.find("warning"), std::string::npos) << pixels.error;
  EXPECT_EQ(write_cells("dark.png", 3, 1, true).error.find("warning"), std::string::npos);
  const auto large = write_cells("large.png", 9, 3, false);
  EXPECT_NE(large.error.find("warning: 900 dots are 100 clumps of 9 touching pixels in the median: "),
            std::string::npos)
      << large.error;
  EXPECT_NE(large.error.find("--threshold"), std::string::npos);
  EXPECT_NE(write_cells("gaps.png", 9, 3, true).error.find("7200 dots leave 100 white gaps of 9 touching"),
            std::string::npos);
  const auto outcome = run({"measure", path("large.png"), "--threshold", "0.25"});
  EXPECT_NE(outcome.error.find("darker than 0.25 (--threshold)"), std::string::npos) << outcome.error;
}

TEST_F(MeasureTest, BlursFollowSparseDots) {
  const auto lattice = [&](int side, double spacing) {
    Dots dots;
    dots.width = dots.height = side * spacing;
    for (int i = 0; i < side * side; ++i) {
      dots.position.push_back(static_cast<float>(spacing * (i % side + 0.5)));
      dots.position.push_back(static_cast<float>(spacing * (i / side + 0.5)));
    }
    write_dots(path("dots.csv"), dots);
    const auto pixels = static_cast<std::int64_t>(side * spacing);
    const auto grey = write_grey("grey.png", {pixels, pixels}, 128);
    return run_json({"measure", path("dots.csv"), "--against", grey});
  };
  const auto sigmas = [](const nlohmann::json& json) {
    std::vector<double> values;
    for (const auto& row : json["against"]["blurred"]) {
      values.push_back(row["sigma"]);
      EXPECT_DOUBLE_EQ(row["sigma_spacings"].get<double>() * json["against"]["spacing"].get<double>(), row["sigma"]);
    }
    return values;
  };
  const std::vector<double> paper{1, 1.5, 2, 3, 4, 6, 8};
  EXPECT_EQ(sigmas(lattice(60, 1)), paper);
  EXPECT_EQ(sigmas(lattice(12, 5)), paper);
  const auto sparse = lattice(24, 10);
  EXPECT_NEAR(sparse["against"]["spacing"], 10, 1e-9);
  EXPECT_EQ(sigmas(sparse), (std::vector<double>{5, 7.5, 10, 15, 20, 30, 40}));
  EXPECT_EQ(sparse["remarks"].size(), 1u);
  // Four dots: blurs are limited to a quarter of the image.
  EXPECT_EQ(sigmas(lattice(2, 100)).back(), 50);
}

TEST_F(MeasureTest, InksAreComparedWithInks) {
  // Half cyan on the left, half magenta on the right.
  Image image{Array<std::uint8_t, 3>({40, 40, 3}), {}};
  auto& pixels = std::get<Array<std::uint8_t, 3>>(image.pixels);
  std::string dots = "# width_px 40, height_px 40\nx,y,r,class\n";
  for (std::int64_t row = 0; row < 40; ++row) {
    for (std::int64_t col = 0; col < 40; ++col) {
      const std::int64_t ink = col < 20 ? 0 : 1;
      for (std::int64_t c = 0; c < 3; ++c) pixels(row, col, c) = c == ink ? 188 : 255;
      dots += fmt::format("{},{},0.5,{}\n", static_cast<double>(col) + 0.5, static_cast<double>(row) + 0.5, ink);
    }
  }
  write_image(path("photo.png"), image);
  const std::vector<std::string> base{"measure", write("dots.csv", dots), "--against", path("photo.png")};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), base.begin(), base.end());
    return more;
  };
  const auto cyan = run_json(with({"--class", "0", "--colour", "cmyk"}));
  EXPECT_EQ(cyan["warnings"].size(), 0u);
  // Printed cyan is darker than ideal cyan: its ink is less, and the magenta contains a little of it.
  EXPECT_GT(cyan["against"]["ink"], 250);
  EXPECT_LT(cyan["against"]["ink"], 800 * 0.4970);
  EXPECT_GT(cyan["against"]["blurred"][4]["psnr_db"], 25);
  EXPECT_LT(run_json(with({"--class", "0"}))["against"]["blurred"][4]["psnr_db"], 20);
  const auto against_luminance = run(with({"--class", "0"}));
  EXPECT_NE(against_luminance.error.find("dots of class 0 are compared with the luminance of "), std::string::npos);
  const auto all = run(base);
  EXPECT_EQ(all.exit_code, 0);
  EXPECT_NE(all.error.find("warning: dots of 2 classes are measured as one set"), std::string::npos) << all.error;
  EXPECT_NE(all.error.find("--class N"), std::string::npos);
  const auto alone = run({"measure", path("dots.csv")});
  EXPECT_NE(alone.error.find("dots of 2 classes are measured as one set; --class N"), std::string::npos) << alone.error;
  expect_refused(with({"--class", "2", "--colour", "cmyk"}), {"photo.png", "yellow ink"});
  expect_refused(with({"--colour", "cmyk"}), {"--colour", "--class"});
  expect_refused(with({"--class", "0", "--black", "1"}), {"--black", "--colour cmyk"});
  const auto grey = write_grey("grey.png", {40, 40}, 128);
  expect_refused({"measure", path("dots.csv"), "--against", grey, "--class", "0", "--colour", "cmyk"},
                 {"grey.png", "cyan ink"});
}

TEST_F(MeasureTest, FilesSayHowTheirInksWereMade) {
  const auto grey = write_grey("grey.png", {20, 20}, 128);
  const auto black_ink = [&](const std::string& comment, const std::vector<std::string>& more) {
    write("dots.csv", "# Holotone dots, width_px 20, height_px 20\n" + comment + "x,y,r,class\n5,5,1,3\n15,15,1,3\n");
    std::vector<std::string> all{"measure", path("dots.csv"), "--against", grey, "--class", "3", "--colour", "cmyk"};
    all.insert(all.end(), more.begin(), more.end());
    return run_json(all)["against"]["ink"].get<double>();
  };
  const double full = black_ink("", {});
  const double half = black_ink("", {"--black", "0.5"});
  EXPECT_LT(half, 0.9 * full);
  EXPECT_EQ(black_ink("# black: 0.5\n", {}), half);
  EXPECT_EQ(black_ink("# black: 0.5\n", {"--black", "1"}), full);
  write("bad.csv", "# Holotone dots, width_px 20, height_px 20\n# black: 7\nx,y,r,class\n5,5,1,3\n15,15,1,3\n");
  expect_refused({"measure", path("bad.csv"), "--against", grey, "--class", "3", "--colour", "cmyk"},
                 {"bad.csv: black: expected a number from 0 to 1"});
}

TEST_F(MeasureTest, ClassesAreMeasuredApart) {
  write("classes.csv",
        "# Holotone dots, width_px 10, height_px 10, pixel_m 0\nx,y,r,class\n1,1,1,0\n4,1,1,0\n1,2,1,1\n9,9,1,2\n");
  const auto json = run_json({"measure", path("classes.csv"), "--class", "0"});
  EXPECT_EQ(json["dots"], 2);
  EXPECT_EQ(json["nearest"]["smallest"], 3);
  expect_refused({"measure", path("classes.csv"), "--class", "3"}, {"classes.csv", "dots of class 3"});
  write("plain.csv", "1,1\n2,2\n");
  expect_refused({"measure", path("plain.csv"), "--class", "0"}, {"dots without classes"});
}

TEST_F(MeasureTest, ReportsHoldEverything) {
  const auto dots = write_random("a<b.csv", 3000);
  const auto grey = write_grey("grey.png", {80, 100}, 128);
  for (const char* name : {"report.html", "report.json", "report.csv"}) {
    const auto made = run({"measure", dots, "--against", grey, "--sigma", "1.5,3", "-o", path(name)});
    ASSERT_EQ(made.exit_code, 0) << made.error;
    EXPECT_NE(made.output.find("sigma 1.5"), std::string::npos);
    EXPECT_NE(made.output.find(name), std::string::npos);
  }
  const std::string html = content_of(path("report.html"));
  EXPECT_EQ(html.find("a<b.csv"), std::string::npos);
  EXPECT_NE(html.find("a&lt;b.csv"), std::string::npos);
  EXPECT_NE(html.find("data:image/png;base64,iVBORw0KGgo"), std::string::npos);
  for (const char* reference : {"src=\"http", "href=\"http", "<script", "<link"})
    EXPECT_EQ(html.find(reference), std::string::npos);
  const auto count = [&](const std::string& word) {
    int found = 0;
    for (auto at = html.find(word); at != std::string::npos; at = html.find(word, at + 1)) ++found;
    return found;
  };
  EXPECT_EQ(count("<svg class=\"plot\""), 5);
  // 2000 of 3000 dots on 100 x 80 lie in a square of 73 pixels.
  EXPECT_EQ(count(">10 pixels</text>"), 1);
  EXPECT_EQ(count("<svg"), count("</svg>"));
  EXPECT_EQ(count("<figure>"), count("</figure>"));
  EXPECT_EQ(html.find("nan"), std::string::npos);
  const auto json = nlohmann::json::parse(content_of(path("report.json")));
  auto printed = run_json({"measure", dots, "--against", grey, "--sigma", "1.5,3"});
  EXPECT_EQ(json["spectrum"], printed["spectrum"]);
  EXPECT_EQ(json["against"], printed["against"]);
  const std::string csv = content_of(path("report.csv"));
  EXPECT_EQ(csv.rfind("series,x,value\ndots,,3000\n", 0), 0u) << csv.substr(0, 80);
  EXPECT_NE(csv.find("\nblurred_psnr_db,1.5,"), std::string::npos);
  EXPECT_NE(csv.find("\nraps,"), std::string::npos);
}

TEST_F(MeasureTest, SmallSetsAreMeasuredAsFarAsTheyGo) {
  write("one.csv", "0.5,0.5\n");
  const auto one = run_json({"measure", path("one.csv"), "-o", path("one.html")});
  EXPECT_TRUE(one["nearest"]["smallest"].is_null());
  EXPECT_EQ(one.count("pair_correlation"), 0u);
  write("same.csv", "3,3\n3,3\n");
  const auto same = run_json({"measure", path("same.csv"), "--page", "10x10"});
  EXPECT_EQ(same["nearest"]["coincident"], 2);
  write("line.csv", "0,0\n100,0.5\n200,0\n900,0\n");
  const auto line = run_json({"measure", path("line.csv"), "--page", "1000x0.5", "-o", path("line.html")});
  EXPECT_EQ(line["warnings"].size(), 1u);
  const auto grey = write_grey("grey.png", {1, 9}, 128);
  const auto thin = run_json({"measure", path("one.csv"), "--against", grey, "--page", "9x1", "-o", path("thin.html")});
  EXPECT_TRUE(thin["against"]["blurred"][0]["ssim"].is_null());
}

TEST_F(MeasureTest, StripsHaveNoSpectrumAndTakeNoTime) {
  std::string dots;
  for (int i = 0; i < 300; ++i)
    dots += fmt::format("{:.6e},{:.6e}\n", 1e-3 * random_uniform64(1, 2 * i), 1e9 * random_uniform64(1, 2 * i + 1));
  const std::vector<std::string> strip{"measure", write("dots.csv", dots), "--page", "1e-3x1e9",
                                       "-o",      path("strip.html")};
  const auto outcome = RunningProgram(strip, captured_).wait(10);  // 10^8 frequencies take minutes
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_NE(outcome.error.find("too narrow for a spectrum; use a larger --frequency"), std::string::npos);
  EXPECT_EQ(content_of(path("strip.html")).find("data:image/png"), std::string::npos);
}

TEST_F(MeasureTest, AFullDiskIsNamed) {
  const auto dots = write_random("dots.csv", 3000);
  const auto full = RunningProgram({"measure", dots, "--json"}, captured_, [] {
                      dup2(open("/dev/full", O_WRONLY), STDOUT_FILENO);
                    }).wait(60);
  EXPECT_EQ(full.exit_code, 2);
  EXPECT_EQ(full.error,
            "holotone: standard output: expected to take what the program prints, got No space left on device\n");
}

TEST_F(MeasureTest, ASignalStopsIt) {
  const auto grey = write_grey("grey.png", {3000, 3000}, 128);
  write("few.csv", "# width_px 3000, height_px 3000\n1,2\n30,4\n");
  std::string sigmas = "1";
  for (int i = 1; i < 64; ++i) sigmas += fmt::format(",{}", 1 + 0.01 * i);
  const auto before = files();
  RunningProgram program({"measure", path("few.csv"), "--against", grey, "--sigma", sigmas, "-o", path("report.html")},
                         captured_);
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  ASSERT_TRUE(program.running()) << "the run was too short to be cancelled";
  program.send(SIGINT);
  const auto result = program.wait(60);
  EXPECT_EQ(result.exit_code, 130) << result.error;
  EXPECT_EQ(result.error, "holotone: cancelled\n");
  EXPECT_EQ(result.output, "");
  EXPECT_EQ(files(), before);
}

TEST_F(MeasureTest, RefusesBadFiles) {
  expect_refused({"measure", path("absent.csv")}, {"absent.csv", "file not found"});
  write("dots.docx", "1 2\n");
  expect_refused({"measure", path("dots.docx")}, {"dots.docx", ".svg"});
  write("garbage.npy", std::string(600, '\x7f'));
  expect_refused({"measure", path("garbage.npy")}, {"garbage.npy"});
  write("nan.csv", "x,y\n1,2\nnan,3\n");
  expect_refused({"measure", path("nan.csv")}, {"nan.csv", "line 3", "nan"});
  write("words.csv", "these are words\nno dots\n");
  expect_refused({"measure", path("words.csv")}, {"words.csv", "line 1"});
  const auto grey = write_grey("grey.png", {20, 20}, 128);
  write("good.csv", "# width_px 20, height_px 20\n1,2\n3,4\n");
  expect_refused({"measure", path("good.csv"), "--against", path("good.csv")}, {"good.csv", "an image"});
  expect_refused({"measure", write_grey("blank.png", {9, 9}, 255)}, {"blank.png", "at least one dark pixel"});
  Image ramp{Array<std::uint8_t, 3>({1, 16, 1}), {}};
  for (int i = 0; i < 16; ++i)
    std::get<Array<std::uint8_t, 3>>(ramp.pixels)(0, i, 0) = static_cast<std::uint8_t>(16 * i);
  write_image(path("ramp.png"), ramp);
  expect_refused({"measure", path("ramp.png")}, {"ramp.png", "two levels", "threshold"});
  EXPECT_EQ(run_json({"measure", path("ramp.png"), "--threshold", "0.5"})["dots"], 8);
  write("far.csv", "5,5\n500,5\n");
  expect_refused({"measure", path("far.csv"), "--against", grey}, {"--page", "far.csv", "20 x 20"});
  expect_refused({"measure", path("far.csv"), "--page", "2x2"}, {"far.csv", "on its page of 2 x 2"});
}

TEST_F(MeasureTest, DiscsOfHalftoneAreNamed) {
  write_grey("grey.png", {40, 60}, 128);
  const auto made =
      run({"halftone", path("grey.png"), "-o", path("dots.png"), "--method", "floyd-steinberg", "--dots", "300"});
  ASSERT_EQ(made.exit_code, 0) << made.error;
  expect_refused({"measure", path("dots.png")}, {"dots.png", "--one-bit", "threshold"});
  const auto bits = run({"halftone", path("grey.png"), "-o", path("bits.png"), "--method", "floyd-steinberg", "--dots",
                         "300", "--one-bit"});
  ASSERT_EQ(bits.exit_code, 0) << bits.error;
  EXPECT_GE(run_json({"measure", path("bits.png")})["dots"].get<int>(), 300);
}

TEST_F(MeasureTest, RefusesBadOptions) {
  write("good.csv", "# width_px 20, height_px 20\n1,2\n3,4\n");
  const auto grey = write_grey("grey.png", {20, 20}, 128);
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"measure", path("good.csv")});
    return more;
  };
  const auto against = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"measure", path("good.csv"), "--against", grey});
    return more;
  };
  expect_refused({"measure"}, {"FILE is required"});
  expect_refused(with({"--interior", "0"}), {"--interior"});
  expect_refused(with({"--interior", "1.5"}), {"--interior"});
  expect_refused(with({"--interior", "0.02"}), {"--interior", "holds a dot"});
  expect_refused(with({"--page", "20"}), {"--page", "512x512"});
  expect_refused(with({"--page", "0x20"}), {"--page"});
  expect_refused(with({"--segments", "0"}), {"--segments"});
  expect_refused(with({"--window", "han"}), {"--window", "did you mean 'hann'"});
  expect_refused(with({"--frequency", "9"}), {"--frequency"});
  expect_refused(with({"--class", "256"}), {"--class"});
  expect_refused(with({"--threshold", "0.5"}), {"--threshold", "a picture"});
  expect_refused(with({"--sigma", "2"}), {"--sigma", "--against"});
  expect_refused(against({"--sigma", "0.1"}), {"--sigma", "0.3"});
  expect_refused(against({"--sigma", "1,,2"}), {"--sigma"});
  expect_refused(against({"--sigma", "nan"}), {"--sigma"});
  expect_refused(against({"--margin", "10"}), {"--margin", "half"});
  expect_refused(against({"--charge", "0"}), {"--charge"});
  expect_refused(against({"--gamma", "0"}), {"--gamma"});
  expect_refused(against({"--tone", "gamma"}), {"--tone"});
  expect_refused(with({"-o", path("report.pdf")}), {"--output", ".html"});
  expect_refused(with({"-o", path("none/report.html")}), {"--output", "folder"});
  expect_refused(with({"-o", path("r%d.json")}), {"--output", "counter"});
  expect_refused(with({"-o", path("good.csv")}), {"--output", "the input"});
  expect_refused(with({"--clas", "1"}), {"--class"});
}

}  // namespace
}  // namespace holotone::test
