// `holotone halftone`: pictures to dots.
#include <algorithm>
#include <cmath>
#include <holotone/core/colour.hpp>
#include <holotone/halftone/floyd_steinberg.hpp>
#include <holotone/halftone/ink.hpp>
#include <limits>
#include <tests/cli/halftone_program.hpp>

namespace holotone::test {
namespace {

constexpr const char* methods[] = {"electrostatic", "direct", "floyd-steinberg", "lloyd", "ccvt"};

TEST_F(HalftoneTest, EveryMethodMakesTheDotsAskedFor) {
  ramp();
  for (const char* method : methods) {
    for (const char* output : {"out.csv", "out.svg", "out.npy", "out.txt"}) {
      const auto json = run_json(halftone({"--dots", "300", "--method", method}, "ramp.png", output));
      EXPECT_EQ(json["dots"], 300) << method;
      EXPECT_EQ(json["method"], method);
      const Dots dots = read_dots(path(output));
      ASSERT_EQ(dots.count(), 300) << method << " " << output;
      for (std::size_t i = 0; i < dots.position.size(); i += 2) {
        EXPECT_TRUE(dots.position[i] >= 0 && dots.position[i] <= 56) << method;
        EXPECT_TRUE(dots.position[i + 1] >= 0 && dots.position[i + 1] <= 40) << method;
      }
      // The ink is on the left, with a known centre.
      const auto ink = ink_from_pixels(to_float(read_image(path("ramp.png"))).view());
      double centre = 0;
      for (std::int64_t col = 0; col < 56; ++col) {
        centre += (static_cast<double>(col) + 0.5) * 40 * static_cast<double>(ink(0, col)) / total_ink(ink.view());
      }
      EXPECT_NEAR(mean_x(dots), centre, std::string(method) == "lloyd" ? 1.2 : 0.5) << method;
    }
    for (const char* output : {"out.png", "out.pdf"}) {
      EXPECT_EQ(run(halftone({"--dots", "300", "--method", method}, "ramp.png", output)).exit_code, 0);
      EXPECT_GT(fs::file_size(path(output)), 300u);
    }
  }
}

// Default number of dots: the ink in pixel areas; with a radius, the number that prints the ink.
TEST_F(HalftoneTest, TheNumberOfDotsFollowsFromTheInk) {
  ramp();
  const auto ink = ink_from_pixels(to_float(read_image(path("ramp.png"))).view());
  const double total = total_ink(ink.view());
  EXPECT_EQ(dots_of({}).count(), std::llround(total));
  EXPECT_EQ(dots_of({"--radius", "1.5"}).count(), std::llround(total / (M_PI * 2.25)));
  const auto json = run_json(halftone({"--dots", "200"}));
  EXPECT_NEAR(json["radius_px"][0].get<double>(), std::sqrt(total / (200 * M_PI)), 1e-9);
  // 56 pixels are 112 mm: 2 mm per pixel.
  EXPECT_EQ(dots_of({"--radius", "3mm", "--size", "112mm"}).count(), std::llround(total / (M_PI * 2.25)));
}

TEST_F(HalftoneTest, FloydSteinbergIsTheBitmapOfThePicture) {
  ramp();
  const auto json = run_json(halftone({"--method", "floyd-steinberg"}, "ramp.png", "out.png"));
  const auto bitmap = floyd_steinberg(ink_from_pixels(to_float(read_image(path("ramp.png"))).view()).view());
  const Pixels pixels = pixels_of(path("out.png"));
  ASSERT_EQ(pixels.nx, 56);
  ASSERT_EQ(pixels.ny, 40);
  std::int64_t ones = 0;
  for (std::int64_t row = 0; row < 40; ++row) {
    for (std::int64_t col = 0; col < 56; ++col) {
      ASSERT_EQ(pixels.at(row, col), bitmap(row, col) != 0 ? 0 : 1) << row << " " << col;
      ones += bitmap(row, col);
    }
  }
  EXPECT_EQ(json["dots"], ones);
}

TEST_F(HalftoneTest, SameSeedSameFile) {
  ramp();
  for (const char* method : methods) {
    std::vector<std::string> contents;
    if (std::string(method) == "floyd-steinberg") continue;  // uses no random numbers
    for (const char* seed : {"5", "5", "6"}) {
      std::vector<std::string> more{"--dots", "150", "--method", method, "--seed", seed, "--device", "cpu"};
      more.insert(more.end(), {"--iterations", "30"});
      ASSERT_EQ(run(halftone(more)).exit_code, 0);
      contents.push_back(content_of(path("out.csv")));
    }
    EXPECT_EQ(contents[0], contents[1]) << method;
    EXPECT_NE(contents[0], contents[2]) << method;
  }
}

TEST_F(HalftoneTest, InvertMaskGammaAndTone) {
  ramp();
  EXPECT_LT(mean_x(dots_of({"--dots", "300"})), 26);
  EXPECT_GT(mean_x(dots_of({"--dots", "300", "--invert"})), 36);
  write_picture("mask.png", 40, 56, 1, [](auto row, auto, auto) { return row < 20 ? 0 : 255; });
  for (const char* method : methods) {
    const Dots masked = dots_of({"--dots", "300", "--mask", path("mask.png"), "--method", method});
    for (std::size_t i = 1; i < masked.position.size(); i += 2) EXPECT_GE(masked.position[i], 20) << method;
  }
  const auto measure_ink = [&](std::vector<std::string> more) {
    return run_json(halftone(std::move(more)))["classes"][0]["ink_px2"].get<double>();
  };
  const double plain = measure_ink({"--dots", "9"});
  EXPECT_LT(measure_ink({"--dots", "9", "--gamma", "2"}), 0.8 * plain);
  EXPECT_LT(measure_ink({"--dots", "9", "--tone", "linear"}), 0.8 * plain)
      << "codes as they are are brighter than their light";
  EXPECT_NEAR(measure_ink({"--dots", "9", "--tone", "linear"}), 40 * 56 * 0.5, 40);
}

TEST_F(HalftoneTest, NoDotStandsOnBarePaper) {
  const auto within = [](std::int64_t i) { return i >= 30 && i < 90; };
  write_picture("square.png", 120, 120, 1,
                [&](auto row, auto col, auto) { return within(row) && within(col) ? 0 : 255; });
  for (const char* seed : {"0", "1", "2", "3"}) {
    const Dots dots = dots_of({"--dots", "600", "--seed", seed}, "square.png");
    ASSERT_EQ(dots.count(), 600);
    const auto [least, largest] = std::minmax_element(dots.position.begin(), dots.position.end());
    EXPECT_GE(*least, 30);
    EXPECT_LE(*largest, 90);
  }
}

// Half the ink: half as many dots, or smaller ones if sizes vary.
TEST_F(HalftoneTest, RadiiFollowTheInk) {
  write_picture("halves.png", 40, 80, 1, [](auto, auto col, auto) { return col < 40 ? 0 : 204; });
  const Dots dots = dots_of({"--radius", "0.5:1.5", "--tone", "linear", "--method", "ccvt"}, "halves.png");
  ASSERT_EQ(dots.radius.size(), static_cast<std::size_t>(dots.count()));
  double left = 0;
  double right = 0;
  for (std::size_t j = 0; j < dots.radius.size(); ++j) {
    const double area = M_PI * static_cast<double>(dots.radius[j]) * static_cast<double>(dots.radius[j]);
    (dots.position[2 * j] < 40 ? left : right) += area;
    if (dots.position[2 * j] < 38) {
      EXPECT_NEAR(dots.radius[j], 1.5, 1e-3);
    }
    if (dots.position[2 * j] > 42) {
      EXPECT_NEAR(dots.radius[j], std::sqrt(0.25 + 0.2 * 2), 1e-3);
    }
  }
  EXPECT_NEAR(left, 1600, 40);
  EXPECT_NEAR(right, 1600 * 0.2, 40);
}

TEST_F(HalftoneTest, PhysicalSizes) {
  ramp();
  ASSERT_EQ(run(halftone({"--dots", "30", "--size", "112mm", "--method", "lloyd"}, "ramp.png", "out.svg")).exit_code,
            0);
  EXPECT_NE(content_of(path("out.svg")).find("width=\"112mm\""), std::string::npos)
      << content_of(path("out.svg")).substr(0, 300);
  ASSERT_EQ(
      run(halftone({"--dots", "30", "--size", "25.4mm", "--dpi", "560", "--method", "lloyd"}, "ramp.png", "out.png"))
          .exit_code,
      0);
  EXPECT_EQ(shape_of(read_image(path("out.png"))), (Shape<3>{400, 560, 1}));
}

TEST_F(HalftoneTest, ToursAreShorterAndHaveTheSameDots) {
  ramp();
  const auto length = [](const Dots& dots) {
    double sum = 0;
    for (std::size_t i = 2; i < dots.position.size(); i += 2) {
      sum += std::hypot(static_cast<double>(dots.position[i] - dots.position[i - 2]),
                        static_cast<double>(dots.position[i + 1] - dots.position[i - 1]));
    }
    return sum;
  };
  const auto sorted = [](const Dots& dots) {
    std::vector<std::pair<float, float>> places;
    for (std::size_t i = 0; i < dots.position.size(); i += 2)
      places.emplace_back(dots.position[i], dots.position[i + 1]);
    std::sort(places.begin(), places.end());
    return places;
  };
  const Dots plain = dots_of({"--dots", "400", "--method", "lloyd"});
  const auto json = run_json(halftone({"--dots", "400", "--method", "lloyd", "--order", "tour"}));
  const Dots tour = read_dots(path("out.csv"));
  EXPECT_EQ(sorted(plain), sorted(tour));
  EXPECT_LT(length(tour), 0.2 * length(plain));
  EXPECT_NEAR(json["tour_px"]["length"].get<double>(), length(tour), 1e-3 * length(tour));
  EXPECT_LE(json["tour_px"]["length"].get<double>(), json["tour_px"]["start"].get<double>());
}

TEST_F(HalftoneTest, FourColours) {
  // Left cyan, right black.
  write_picture("colour.png", 24, 40, 3, [](auto, auto col, auto c) { return col < 20 && c > 0 ? 255 : 0; });
  for (const char* method : {"electrostatic", "floyd-steinberg"}) {
    const auto json = run_json(halftone({"--colour", "cmyk", "--dots", "240", "--method", method}, "colour.png"));
    ASSERT_EQ(json["classes"].size(), 4u);
    // Cyan ink transmits a third of the light that it should absorb, and absorbs some green: slightly less cyan is
    // nearer.
    const int cyan = json["classes"][0]["dots"];
    EXPECT_NEAR(cyan, 115, 5) << method;
    EXPECT_EQ(json["classes"][1]["dots"], 0);
    EXPECT_EQ(json["classes"][3]["dots"], 240 - cyan);
    const Dots dots = read_dots(path("out.csv"));
    ASSERT_EQ(dots.colour_class.size(), 240u);
    for (std::size_t j = 0; j < 240; ++j) {
      // Repulsion moves dots slightly over the edge.
      if (dots.colour_class[j] == 0) {
        EXPECT_LT(dots.position[2 * j], 22) << method;
      }
      if (dots.colour_class[j] == 3) {
        EXPECT_GT(dots.position[2 * j], 18) << method;
      }
    }
  }
  // Without black ink all three colours replace it.
  const auto json = run_json(halftone({"--colour", "cmyk", "--black", "0", "--dots", "240"}, "colour.png"));
  EXPECT_EQ(json["classes"][3]["dots"], 0);
  EXPECT_GT(json["classes"][1]["dots"], 30);
  EXPECT_GT(json["classes"][2]["dots"], 30);
}

// The mean of the print is the picture's colour, both for dots that repel each other and for random overlap.
TEST_F(HalftoneTest, FourColoursPrintTheColour) {
  const std::array<int, 3> code = {150, 180, 200};
  write_picture("flat.png", 30, 30, 3, [&](auto, auto, auto c) { return code[static_cast<std::size_t>(c)]; });
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{}, {"--across", "0"}, {"--method", "lloyd"}, {"--black", "0"}}) {
    auto arguments = halftone({"--colour", "cmyk", "--size", "30mm", "--dpi", "203.2", "--iterations", "60"},
                              "flat.png", "print.png");
    arguments.insert(arguments.end(), more.begin(), more.end());
    ASSERT_EQ(run(arguments).exit_code, 0);
    const auto print = to_float(read_image(path("print.png")));
    const std::int64_t side = print.shape()[0];
    ASSERT_EQ(side, 240);
    for (std::int64_t c = 0; c < 3; ++c) {
      double light = 0;
      for (std::int64_t i = 24 * side; i < (side - 24) * side; ++i) {
        if (i % side < 24 || i % side >= side - 24) continue;
        light += srgb_to_linear(static_cast<double>(print.data()[3 * i + c])) / std::pow(side - 48, 2);
      }
      EXPECT_NEAR(light, srgb_to_linear(code[static_cast<std::size_t>(c)] / 255.0), 0.04)
          << c << (more.empty() ? "" : more[0] + more[1]);
    }
  }
}

TEST_F(HalftoneTest, OnePictureForEachInk) {
  ramp("a.png");
  even("b.png", 40, 56, 128);
  auto arguments = halftone({"--dots", "200"}, "a.png");
  arguments.insert(arguments.begin() + 2, path("b.png"));
  const auto json = run_json(arguments);
  EXPECT_EQ(json["classes"].size(), 2u);
  EXPECT_EQ(json["classes"][0]["dots"].get<int>() + json["classes"][1]["dots"].get<int>(), 200);
  even("c.png", 40, 55, 128);
  arguments.insert(arguments.begin() + 2, path("c.png"));
  expect_refused(arguments, {"56 x 40", "55 x 40"});
}

TEST_F(HalftoneTest, FramesAreNumbered) {
  ramp();
  fs::create_directory(path("film"));
  const auto json = run_json(halftone(
      {"--dots", "100", "--iterations", "20", "--frame-interval", "5", "--device", "cpu", "--frames", path("film")}));
  const auto count = json["frames"].size();
  EXPECT_GE(count, 2u);
  EXPECT_LE(count, 6u);
  for (std::size_t i = 0; i < count; ++i) EXPECT_TRUE(fs::exists(path(fmt::format("film/{:04}.png", i)))) << i;
  ASSERT_EQ(
      run(halftone({"--dots", "100", "--iterations", "4", "--frames", path("f_%d.csv"), "--device", "cpu"})).exit_code,
      0);
  EXPECT_EQ(read_dots(path(fmt::format("f_{}.csv", 1))).position, read_dots(path("out.csv")).position)
      << "the last frame is the result";
}

TEST_F(HalftoneTest, EdgesAreCorrectedAsMuchAsTold) {
  (void)write_picture("edge.png", 48, 64, 1,
                      [](std::int64_t, std::int64_t col, std::int64_t) { return col < 32 ? 60 : 200; });
  // Dots in the two columns on the dark side of the edge, which dots at rest overfill.
  const auto beside_edge = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words{"--dots", "900"};
    words.insert(words.end(), more.begin(), more.end());
    const auto dots = dots_of(words, "edge.png");
    std::int64_t count = 0;
    for (std::size_t i = 0; i < dots.position.size(); i += 2) count += dots.position[i] > 30 && dots.position[i] < 32;
    return count;
  };
  const auto plain = beside_edge({"--edge-correction", "0"});
  EXPECT_GT(plain, beside_edge({"--edge-correction", "1"}));
  EXPECT_EQ(beside_edge({}), beside_edge({"--edge-correction", "0.2"}));
  const auto result = run(halftone({"--descent", "plain", "--edge-correction", "0.1"}, "edge.png"));
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.error.find("--edge-correction: expected forces with --descent momentum, got --descent plain"),
            std::string::npos)
      << result.error;
}

TEST_F(HalftoneTest, OptionsOfThePaper) {
  ramp();
  const auto json = run_json(halftone({"--dots",       "200", "--split", "taylor", "--m",       "4",
                                       "--degree",     "4",   "--near",  "map",    "--descent", "plain",
                                       "--iterations", "20",  "--shake", "0.2",    "--start",   "error-diffusion",
                                       "--device",     "cpu"}));
  EXPECT_EQ(json["iterations"], 20);
  EXPECT_EQ(json["start"], "error-diffusion");
  EXPECT_TRUE(json.contains("missed_neighbours"));
}

// At such faint ink each of the 500 dots requires thousands of pixels.
TEST_F(HalftoneTest, FaintInkTakesNoMoreMemory) {
  write_picture<float>("faint.tif", 48, 64, 1, [](auto, auto, auto) { return 1 - 6e-8; });
  EXPECT_EQ(run_json(halftone({"--dots", "500", "--method", "floyd-steinberg"}, "faint.tif"))["dots"], 500);
  EXPECT_EQ(
      run_json(halftone({"--dots", "500", "--start", "error-diffusion", "--iterations", "3"}, "faint.tif"))["dots"],
      500);
}

TEST_F(HalftoneTest, SmallAndPlainPictures) {
  for (const char* method : methods) {
    for (const auto& [ny, nx] : {std::pair{1, 1}, {1, 9}, {9, 1}, {2, 3}}) {
      for (const char* dots : {"1", "7"}) {
        even("small.png", ny, nx, 0);  // all black
        const auto json = run_json(halftone({"--dots", dots, "--method", method}, "small.png"));
        EXPECT_EQ(json["dots"], std::stoi(dots)) << method << " " << nx << " x " << ny;
        const Dots read = read_dots(path("out.csv"));
        for (std::size_t i = 0; i < read.position.size(); ++i) {
          EXPECT_TRUE(read.position[i] >= 0 && read.position[i] <= static_cast<float>(i % 2 == 0 ? nx : ny)) << method;
          // Two dots at one place must be separated.
          for (std::size_t k = 0; i % 2 == 0 && k < i; k += 2) {
            EXPECT_TRUE(read.position[i] != read.position[k] || read.position[i + 1] != read.position[k + 1]) << method;
          }
        }
      }
    }
    even("black.png", 20, 30, 0);
    EXPECT_EQ(run_json(halftone({"--method", method}, "black.png"))["dots"], 600) << method;
  }
}

TEST_F(HalftoneTest, BadPictures) {
  ramp();
  expect_refused(halftone({}, "missing.png"), {"missing.png", "file not found"});
  write("empty.png", "");
  expect_refused(halftone({}, "empty.png"), {"empty.png"});
  write("text.png", "not a picture at all");
  expect_refused(halftone({}, "text.png"), {"text.png"});
  fs::create_directory(path("folder"));
  expect_refused(halftone({}, "folder"), {"folder"});
  // A BMP header that names 2,000,000 x 2,000,000 pixels.
  std::string huge = "BM";
  const auto put = [&](std::uint32_t value) {
    for (int i = 0; i < 4; ++i) huge += static_cast<char>(value >> (8 * i));
  };
  for (const std::uint32_t value : {1000U, 0U, 54U, 40U, 2'000'000U, 2'000'000U, 0x00180001U, 0U, 0U, 0U, 0U, 0U, 0U}) {
    put(value);
  }
  write("huge.bmp", huge + std::string(1000, 'a'));
  expect_refused(halftone({}, "huge.bmp"), {"huge.bmp"});
  even("white.png", 8, 8, 255);
  for (const char* method : methods) expect_refused(halftone({"--method", method}, "white.png"), {"white.png", "ink"});
  even("black.png", 8, 8, 0);
  expect_refused(halftone({"--invert"}, "black.png"), {"black.png", "ink", "--invert"});
  if (can_write("x.tif")) {
    write_picture<float>("bright.tif", 3, 4, 1, [&](auto row, auto, auto) { return row == 2 ? 1.5 : 0.5; });
    expect_refused(halftone({}, "bright.tif"), {"bright.tif", "row 2, column 0", "1.5"});
    EXPECT_EQ(run(halftone({"--clip"}, "bright.tif")).exit_code, 0);
    write_picture<float>("good.tif", 3, 4, 1, [&](auto, auto, auto) { return 0.25; });
    EXPECT_NEAR(run_json(halftone({}, "good.tif"))["classes"][0]["ink_px2"].get<double>(), 9, 1e-9)
        << "floats are linear";
  }
}

TEST_F(HalftoneTest, BadOptions) {
  ramp();
  for (const char* dots : {"0", "-3", "2.5", "many", "2000000000"}) {
    expect_refused(halftone({"--dots", dots}), {"--dots", dots});
  }
  // 56 x 40 pixels hold 713 dots of radius 1.
  expect_refused(halftone({"--dots", "5000", "--radius", "1"}), {"--dots", "at most", "radius 1"});
  expect_refused(halftone({"--dots", "900000000"}), {"--dots", "memory"});
  // Rejected before the picture is read: this file is not a picture.
  write("text.png", "not a picture at all");
  expect_refused(halftone({"--dots", "900000000"}, "text.png"), {"--dots", "memory"});
  expect_refused(halftone({"--dots", "2000M"}), {"--dots", "from 1 to 1000000000", "2000M"});
  expect_refused(halftone({"--dots", "0.5k5"}), {"--dots: expected a whole number"});
  expect_refused(halftone({"--radius", "1e9"}), {"--radius", "< 1e6"});
  expect_refused(halftone({"--method", "floyd-steinberg", "--seed", "1"}), {"--seed", "floyd-steinberg"});
  expect_refused(halftone({"--dots", "5", "--dots", "6"}), {"--dots", "expected once", "2 times"});
  expect_refused(halftone({"--radius", "1e-5"}), {"--radius", "dots"});
  for (const char* radius : {"0", "-1", "nan", "3:1", "1:2mm", "1:", ":", "1kg"}) {
    expect_refused(halftone({"--radius", radius}), {"--radius"});
  }
  expect_refused(halftone({"--method", "directt"}), {"--method", "did you mean 'direct'?"});
  expect_refused(halftone({"--gamma", "0"}), {"--gamma"});
  expect_refused(halftone({"--size", "100"}), {"--size", "unit"});
  expect_refused(halftone({"--dpi", "300"}), {"--dpi", ".png"});
  expect_refused(halftone({"--tolerance", "1e-9"}), {"--tolerance"});
  expect_refused(halftone({"--m", "4"}), {"--m", "--split taylor"});
  expect_refused(halftone({"--degree", "4", "--split", "ewald"}), {"--degree", "--split taylor"});
  expect_refused(halftone({"--m", "40", "--split", "taylor"}), {"--m", "40"});
  expect_refused(halftone({"--split", "taylor", "--tolerance", "1e-3"}), {"--tolerance", "ewald"});
  expect_refused(halftone({"--method", "lloyd", "--shake", "1"}), {"--shake", "lloyd"});
  expect_refused(halftone({"--method", "lloyd", "--device", "cuda:0"}), {"--device", "lloyd"});
  expect_refused(halftone({"--method", "ccvt", "--start", "importance"}), {"--start", "ccvt"});
  expect_refused(halftone({"--within", "2"}), {"--within", "several inks"});
  expect_refused(halftone({"--black", "0.5"}), {"--black", "--colour cmyk"});
  expect_refused(halftone({"--colour", "rgb"}), {"--colour", "cmyk"});
  expect_refused(halftone({"--frame-interval", "5"}), {"--frame-interval", "--frames"});
  expect_refused(halftone({"--frames", path("frame.png")}), {"--frames", "counter"});
  expect_refused(halftone({"--frames", path("f_%d.obj")}), {"--frames", ".png"});
  expect_refused(halftone({"--order", "tsp"}), {"--order"});
  expect_refused(halftone({}, "ramp.png", "out.obj"), {"--output", ".svg"});
  expect_refused(halftone({}, "ramp.png", "out_%d.svg"), {"--output", "counter"});
  expect_refused(halftone({}, "ramp.png", "none/out.svg"), {"--output", "folder"});
  expect_refused(halftone({}, "ramp.png", "ramp.png"), {"--output", "input"});
  expect_refused({"halftone", path("ramp.png")}, {"--output"});
  const auto before = content_of(path("ramp.png"));
  fs::create_symlink(path("ramp.png"), path("link.png"));
  expect_refused(halftone({}, "ramp.png", "link.png"), {"--output", "input"});
  EXPECT_EQ(content_of(path("ramp.png")), before);
}

}  // namespace
}  // namespace holotone::test
