// holotone optimize: phases whose light is a picture.
#include <tests/cli/optimize_program.hpp>

namespace holotone::test {
namespace {

/// Correlation of a reconstructed intensity with that of a picture.
double correlation(const std::vector<double>& a, const std::vector<double>& b) {
  double ma = 0;
  double mb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ma += a[i] / static_cast<double>(a.size());
    mb += b[i] / static_cast<double>(b.size());
  }
  double ab = 0;
  double aa = 0;
  double bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - ma) * (b[i] - mb);
    aa += (a[i] - ma) * (a[i] - ma);
    bb += (b[i] - mb) * (b[i] - mb);
  }
  return ab / std::sqrt(aa * bb);
}

TEST_F(OptimizeTest, ThePictureIsInFocusAtItsDistance) {
  write_picture("photo.png", 48, 72);
  const auto report = run_json(optimize("photo.png", "slm.png"));
  EXPECT_EQ(report["signal_region"], nlohmann::json({12, 8, 72, 48}));
  const auto& hologram = report["holograms"][0];
  EXPECT_GT(hologram["psnr_worst_db"], 25);
  EXPECT_LE(hologram["psnr_worst_db"], hologram["psnr_db"]);
  EXPECT_LE(hologram["gradients"], 2 * hologram["iterations"].get<int>() + 2);
  // The distance is read from the file.
  EXPECT_EQ(run({"reconstruct", path("slm.png"), "-o", path("seen.png")}).exit_code, 0);
  const auto seen = to_float(read_image(path("seen.png")));
  const auto picture = to_float(read_image(path("photo.png")));
  std::vector<double> light;
  std::vector<double> wanted;
  constexpr double luminance[] = {0.2126, 0.7152, 0.0722};
  for (std::int64_t row = 0; row < 48; ++row) {
    for (std::int64_t col = 0; col < 72; ++col) {
      light.push_back(std::pow(static_cast<double>(seen(row + 8, col + 12, 0)), 2.2));
      double sum = 0;
      for (std::int64_t c = 0; c < 3; ++c) {
        sum += luminance[c] * std::pow(static_cast<double>(picture(row, col, c)), 2.2);
      }
      wanted.push_back(sum);
    }
  }
  EXPECT_GT(correlation(light, wanted), 0.98);
}

TEST_F(OptimizeTest, ThreeColoursAndTheSameBitsForASeed) {
  write_picture("photo.png", 32, 48);
  auto colours = optimize("photo.png", "a_%c.png");
  colours.insert(colours.end(), {"--rgb", "638nm,520nm,450nm"});
  const auto report = run_json(colours);
  EXPECT_EQ(report["outputs"].size(), 3u);
  for (const auto* name : {"r", "g", "b"}) EXPECT_TRUE(fs::exists(path(std::string("a_") + name + ".png")));
  EXPECT_EQ(run(optimize("photo.png", "one.png")).exit_code, 0);
  EXPECT_EQ(run(optimize("photo.png", "two.png")).exit_code, 0);
  EXPECT_EQ(content_of(path("one.png")), content_of(path("two.png")));
  auto seeded = optimize("photo.png", "three.png");
  seeded.insert(seeded.end(), {"--seed", "7", "--phase", "random"});
  EXPECT_EQ(run(seeded).exit_code, 0);
  EXPECT_NE(content_of(path("one.png")), content_of(path("three.png")));
}

// Files of three colours state their energies: seen together they have the colours of the picture, behind a lens at one
// size, too.
TEST_F(OptimizeTest, ThreeColoursTogetherHaveThePicturesColours) {
  if (!can_write("a.tif")) GTEST_SKIP() << "without TIFF";
  Array<std::uint8_t, 3> pixels({48, 48, 3});
  for (std::int64_t i = 0; i < 48 * 48; ++i) {
    const bool inside = std::hypot(static_cast<double>(i / 48) - 23.5, static_cast<double>(i % 48) - 23.5) < 18;
    for (std::int64_t c = 0; c < 3; ++c) {
      pixels.data()[3 * i + c] = static_cast<std::uint8_t>(inside ? 240 - 70 * c : 30);
    }
  }
  write_image(path("disc.png"), Image{std::move(pixels), {}});
  for (const bool lens : {false, true}) {
    std::vector<std::string> arguments{"optimize",
                                       path("disc.png"),
                                       "-o",
                                       path("c_%c.png"),
                                       "--resolution",
                                       "96x96",
                                       "--pitch",
                                       "8um",
                                       "--rgb",
                                       "638nm,520nm,450nm",
                                       "--signal-region",
                                       "60%"};
    arguments.insert(arguments.end(), {lens ? "--focal-length" : "--distance", lens ? "20cm" : "1cm"});
    ASSERT_EQ(run(arguments).exit_code, 0);
    ASSERT_EQ(run({"reconstruct", path("c_%c.png"), "-o", path("seen.tif"), "--linear"}).exit_code, 0);
    const auto seen = to_float(read_image(path("seen.tif")));
    const auto [ny, nx, channels] = seen.shape();
    ASSERT_EQ(channels, 3);
    std::array<double, 3> middle{};
    std::array<double, 3> beside{};  // within the picture at every wavelength, outside the disc
    for (std::int64_t row = 0; row < ny; ++row) {
      for (std::int64_t col = 0; col < nx; ++col) {
        const double y = static_cast<double>(row) - static_cast<double>(ny - 1) / 2;
        const double x = static_cast<double>(col) - static_cast<double>(nx - 1) / 2;
        const double r = std::hypot(x, y) / static_cast<double>(nx);
        const double edge = std::max(std::abs(x), std::abs(y)) / static_cast<double>(nx);
        for (std::int64_t c = 0; c < 3; ++c) {
          const auto value = static_cast<double>(seen(row, col, c));
          if (r < 0.18) middle[static_cast<std::size_t>(c)] += value;
          if (r > 0.26 && edge < 0.28) beside[static_cast<std::size_t>(c)] += value;
        }
      }
    }
    const auto light = [](double code) { return std::pow((code / 255 + 0.055) / 1.055, 2.4); };
    for (std::size_t c = 1; c < 3; ++c) {
      const double wanted = light(240 - 70 * static_cast<double>(c)) / light(240);
      EXPECT_NEAR(middle[c] / middle[0], wanted, 0.08 * wanted) << c << " lens " << lens;
      EXPECT_LT(beside[c], 0.2 * middle[c]) << c << " lens " << lens;
    }
  }
}

// Steps of at most 20 * 0.2 mrad leave the phase near its start; the default is 50 mrad.
TEST_F(OptimizeTest, TheRateOfAdamLimitsItsSteps) {
  write_picture("photo.png", 48, 72);
  const auto with = [&](const std::string& output, const std::vector<std::string>& more) {
    auto arguments = optimize("photo.png", output);
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  };
  const auto quality = [&](const std::string& output, std::vector<std::string> more) {
    more.insert(more.end(), {"--solver", "adam"});
    return run_json(with(output, more))["holograms"][0]["psnr_worst_db"].get<double>();
  };
  const double usual = quality("usual.png", {});
  const double slow = quality("slow.png", {"--rate", "0.2mrad"});
  std::printf("worst PSNR %.1f dB, by small steps %.1f dB\n", usual, slow);
  EXPECT_GT(usual, slow + 3);
  (void)quality("stated.png", {"--rate", "0.05rad"});
  EXPECT_EQ(content_of(path("stated.png")), content_of(path("usual.png")));
  expect_refused(with("slm.png", {"--rate", "0.1rad"}), {"--rate: expected --solver adam, got --solver lbfgs"});
  expect_refused(with("slm.png", {"--rate", "0rad", "--solver", "adam"}),
                 {"--rate: expected 0.001 mrad to pi rad, got '0rad'"});
  // With a camera the solver is adam: the option applies, and the camera is what fails.
  expect_refused(with("slm.png", {"--rate", "10mrad", "--camera", "exit 4 # %s"}),
                 {"--camera: expected a command that ends with 0, got exit code 4"});
}

TEST_F(OptimizeTest, ThePictureGetsTheShareOfTheLightThatIsAskedFor) {
  write_picture("photo.png", 64, 96);
  for (const double wanted : {0.3, 0.7}) {
    const std::vector<std::string> arguments{"optimize",
                                             path("photo.png"),
                                             "-o",
                                             path("slm.png"),
                                             "--resolution",
                                             "96x64",
                                             "--pitch",
                                             "8um",
                                             "--distance",
                                             "2cm",
                                             "--iterations",
                                             "60",
                                             "--efficiency",
                                             fmt::format("{}", wanted),
                                             "--signal-region",
                                             "75%"};
    const auto made = run_json(arguments)["holograms"][0];
    EXPECT_NEAR(made["efficiency"], wanted, 0.05);
    EXPECT_TRUE(made["vortices"].is_number_integer());
  }
  const auto with = [&](const std::vector<std::string>& more) {
    auto arguments = optimize("photo.png", "slm.png");
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  };
  expect_refused(with({"--efficiency", "0.5", "--loss", "intensity"}),
                 {"--efficiency: expected the loss amplitude, got intensity"});
  expect_refused(with({"--efficiency", "0.5", "--camera", "cat %s"}), {"--efficiency: expected 0 with a camera"});
  expect_refused(with({"--efficiency", "2"}), {"--efficiency: expected 0.01 to 1, got '2'"});
}

TEST_F(OptimizeTest, ABeamBecomesAnEvenRectangle) {
  const auto with = [&](const std::string& target) {
    return std::vector<std::string>{
        "optimize", "--target", target, "-o",       path("slm.png"),  "--focal-length", "20cm", "--resolution",
        "160x160",  "--pitch",  "8um",  "--source", "gaussian:0.6mm", "--wavelength",   "532nm"};
  };
  const auto report = run_json(with("flat-top:4x3mm@1,0mm"));
  EXPECT_EQ(report["input"], "flat-top:4x3mm@1,0mm");
  EXPECT_EQ(report["phase"], "transport");
  const auto made = report["holograms"][0];
  EXPECT_LT(made["unevenness"], 0.02);
  EXPECT_GT(made["efficiency"], 0.9);
  EXPECT_EQ(made["iterations"], 200);
  expect_refused(with("flat-top:4mm"), {"--target: expected flat-top:WIDTHxHEIGHT", "got 'flat-top:4mm'"});
  expect_refused(with("ring:1x2mm"), {"--target: expected an outer diameter above the inner, got 'ring:1x2mm'"});
  expect_refused(with("disc:1mm@9m,0m"), {"--target: expected a beam within the picture of 1.33 cm x 1.33 cm"});
  expect_refused(with("disc:10um"), {"--target: expected at least 4 pixels of the picture"});
  auto both = with("disc:3mm");
  both.insert(both.end(), {"--signal-region", "50%"});
  expect_refused(both, {"--signal-region", "--target"});
  write_picture("photo.png", 16, 16);
  both = with("disc:3mm");
  both.push_back(path("photo.png"));
  expect_refused(both, {"IN excludes --target"});
}

TEST_F(OptimizeTest, CodesOfFewBitsAreMeasuredAsShown) {
  write_picture("photo.png", 32, 48);
  const auto quality = [&](const std::string& bits) {
    auto arguments = optimize("photo.png", "b" + bits + ".png");
    arguments.insert(arguments.end(), {"--bits", bits});
    return run_json(arguments)["holograms"][0]["psnr_worst_db"].get<double>();
  };
  EXPECT_GT(quality("8"), quality("2") + 3);
}

TEST_F(OptimizeTest, SubframesOfFewBitsAddUp) {
  write_picture("photo.png", 48, 72);
  const auto reached = [&](const std::string& count, const std::string& output) {
    auto arguments = optimize("photo.png", output);
    arguments.insert(arguments.end(), {"--subframes", count, "--bits", "4", "--phase", "random"});
    return run_json(arguments);
  };
  const auto one = reached("1", "one.png");
  const auto four = reached("4", "f_%t.png");
  EXPECT_EQ(four["subframes"], 4);
  EXPECT_EQ(four["rounding"], "stages");
  for (int t = 0; t < 4; ++t) EXPECT_EQ(four["outputs"][static_cast<std::size_t>(t)], path(fmt::format("f_{}.png", t)));
  EXPECT_NE(content_of(path("f_0.png")), content_of(path("f_1.png")));
  EXPECT_GT(four["holograms"][0]["psnr_worst_db"].get<double>(),
            one["holograms"][0]["psnr_worst_db"].get<double>() + 4);
  // Their mean light, as reconstruct adds it.
  if (!can_write("a.tif")) GTEST_SKIP() << "a build without libtiff";
  const auto measure_light = [&](const std::string& input) {
    EXPECT_EQ(run({"reconstruct", path(input), "-o", path("light.tif"), "--linear"}).exit_code, 0);
    return to_float(read_image(path("light.tif")));
  };
  const auto together = measure_light("f_%t.png");
  std::vector<double> sum(static_cast<std::size_t>(together.size()));
  for (int t = 0; t < 4; ++t) {
    const auto light = measure_light(fmt::format("f_{}.png", t));
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += static_cast<double>(light.data()[i]) / 4;
  }
  for (std::size_t i = 0; i < sum.size(); ++i) EXPECT_NEAR(static_cast<double>(together.data()[i]), sum[i], 1e-5);
  EXPECT_EQ(run_json({"reconstruct", path("f_%t.png"), "-o", path("seen.png")})["inputs"].size(), 4u);
  expect_refused({"reconstruct", path("none_%t.png"), "-o", path("seen.png")}, {"none_0.png: file not found"});
  Image code{Array<std::uint8_t, 3>({2, 2, 1}),
             {{"encoding", "phase"}, {"pitch_m", "8e-6"}, {"wavelength_m", "5e-7"}, {"distance_m", "0.1"}}};
  std::fill_n(std::get<Array<std::uint8_t, 3>>(code.pixels).data(), 4, std::uint8_t{0});
  std::vector<std::string> one_by_one{"reconstruct", "-o", path("seen.png")};
  for (const char* name : {"of_0.png", "of_1.png", "of_2.png"}) {
    write_image(path(name), code);
    one_by_one.push_back(path(name));
  }
  expect_refused(one_by_one, {"another wavelength than that of", "one name with %t"});
  expect_refused({"reconstruct", path("of_%t.png"), "-o", path("seen.png"), "--against", path("of_0.png")},
                 {"--against: expected one hologram", "optimize prints"});
}

TEST_F(OptimizeTest, EachPictureOfAStackIsInFocusInItsPlane) {
  write_picture("near.png", 48, 72);
  write_picture("far.png", 48, 72, 0.5);
  auto arguments = optimize("near.png", "slm.png");
  arguments.erase(arguments.begin() + 1);  // IN
  const auto distance = std::find(arguments.begin(), arguments.end(), "--distance");
  arguments.erase(distance, distance + 2);
  arguments.insert(arguments.end(), {"--stack", path("near.png") + "@1cm", path("far.png") + "@3cm"});
  const auto report = run_json(arguments);
  const auto& planes = report["holograms"][0]["planes"];
  ASSERT_EQ(planes.size(), 2u);
  EXPECT_NEAR(planes[1]["distance_m"].get<double>(), 0.03, 1e-12);
  for (const auto& plane : planes) EXPECT_GT(plane["psnr_worst_db"], 18);
}

TEST_F(OptimizeTest, LayersOfDepthMakeAFocalStack) {
  write_picture("photo.png", 48, 72);
  Array<std::uint8_t, 3> depth({48, 72, 1});
  for (std::int64_t i = 0; i < depth.size(); ++i) depth.data()[i] = static_cast<std::uint8_t>(1 + (i % 72) * 3);
  write_image(path("depth.png"), Image{std::move(depth), {}});
  auto arguments = optimize("photo.png", "slm.png");
  arguments.erase(arguments.begin() + 1);
  const auto distance = std::find(arguments.begin(), arguments.end(), "--distance");
  arguments.erase(distance, distance + 2);
  arguments.insert(arguments.end(), {"--image", path("photo.png"), "--depth", path("depth.png"), "--depth-range",
                                     "1cm,2cm", "--layers", "3"});
  const auto planes = run_json(arguments)["holograms"][0]["planes"];
  ASSERT_EQ(planes.size(), 3u);
  EXPECT_GT(planes[0]["distance_m"], planes[2]["distance_m"]);
  for (const auto& plane : planes) EXPECT_GT(plane["psnr_worst_db"], 18);
}

// Two pupils beside each other see the picture; a random phase alone would show them speckle.
TEST_F(OptimizeTest, PupilsSeeThePicture) {
  write_picture("photo.png", 48, 72);
  auto arguments = optimize("photo.png", "slm.png");
  arguments.insert(arguments.end(),
                   {"--phase", "random", "--viewer-distance", "20cm", "--aperture", "-2mm,0mm:3mm", "2mm,0mm:3mm"});
  const auto planes = run_json(arguments)["holograms"][0]["planes"];
  ASSERT_EQ(planes.size(), 2u);
  for (const auto& plane : planes) {
    EXPECT_GT(plane["psnr_worst_db"], 15);
    EXPECT_LT(plane["efficiency"], 0.6);
  }
  const auto seen = run_json({"reconstruct", path("slm.png"), "-o", path("seen.png"), "--viewer", "20cm", "--aperture",
                              "-2mm,0mm:3mm", "--against", path("photo.png")})["against"]["pictures"][0];
  EXPECT_NEAR(seen["psnr_db"].get<double>(), planes[0]["psnr_db"].get<double>(), 2);
}

TEST_F(OptimizeTest, AHologramIsTheStartOfTheNext) {
  write_picture("photo.png", 48, 72);
  const auto first = run_json(optimize("photo.png", "first.png"))["holograms"][0];
  auto arguments = optimize("photo.png", "second.png");
  *(std::find(arguments.begin(), arguments.end(), "--iterations") + 1) = "1";
  const auto cold = run_json(arguments)["holograms"][0];
  arguments.insert(arguments.end(), {"--start", path("first.png")});
  const auto warm = run_json(arguments)["holograms"][0];
  EXPECT_GT(warm["psnr_worst_db"].get<double>(), first["psnr_worst_db"].get<double>() - 0.5);
  EXPECT_GT(warm["psnr_worst_db"].get<double>(), cold["psnr_worst_db"].get<double>() + 3);
}

TEST_F(OptimizeTest, SequencesStartFromTheFrameBefore) {
  for (const int frame : {1, 2, 5}) write_picture(fmt::format("in_{:02}.png", frame), 32, 48, 1 - 0.05 * frame);
  auto arguments = optimize("in_%02d.png", "out_%03d.png");
  *(std::find(arguments.begin(), arguments.end(), "--iterations") + 1) = "3";
  const auto report = run_json(arguments);
  ASSERT_EQ(report["holograms"].size(), 3u);
  EXPECT_EQ(report["outputs"][2], path("out_005.png"));
  EXPECT_GT(report["holograms"][2]["psnr_worst_db"].get<double>(),
            report["holograms"][0]["psnr_worst_db"].get<double>() + 1);
  expect_refused(optimize("in_%02d.png", "out.png"), {"--output: expected a counter such as %04d, as in IN"});
  expect_refused(optimize("in_01.png", "out_%d.png"), {"--output: expected a name without a counter for one picture"});
}

// Correction and carrier are added to the codes; what the panel's light then makes is the same picture.
TEST_F(OptimizeTest, QualityIsThatWithoutWhatTheCodesAdd) {
  write_picture("photo.png", 48, 72);
  const auto plain = run_json(optimize("photo.png", "plain.png"))["holograms"][0]["psnr_worst_db"].get<double>();
  Array<std::uint8_t, 3> map({64, 96, 1});
  for (std::int64_t i = 0; i < map.size(); ++i) map.data()[i] = static_cast<std::uint8_t>(i * i / 700);
  write_image(path("map.png"), Image{std::move(map), {}});
  auto arguments = optimize("photo.png", "added.png");
  arguments.insert(arguments.end(), {"--correction", path("map.png"), "--carrier", "0.3deg,-0.2deg"});
  EXPECT_NEAR(run_json(arguments)["holograms"][0]["psnr_worst_db"].get<double>(), plain, 0.3);
  EXPECT_NE(content_of(path("plain.png")), content_of(path("added.png")));
  arguments.insert(arguments.end(), {"--rounding", "stages"});
  expect_refused(arguments, {"--rounding: expected last with carrier, correction"});
}

// A model with the beam's shape and the panel's zero order makes up for both.
TEST_F(OptimizeTest, BeamAndPanelAreOfTheModel) {
  write_picture("photo.png", 48, 72);
  write_picture("beam.png", 64, 96);
  auto arguments = optimize("photo.png", "slm.png");
  arguments.insert(arguments.end(), {"--source", path("beam.png"), "--fill-factor", "0.9", "--zero-order", "0.1"});
  EXPECT_GT(run_json(arguments)["holograms"][0]["psnr_worst_db"], 18);
  const auto with = [&](const std::string& beam) {
    auto words = optimize("photo.png", "slm.png");
    words.insert(words.end(), {"--source", beam});
    return words;
  };
  EXPECT_GT(run_json(with("gaussian:1mm"))["holograms"][0]["psnr_worst_db"], 18);
  expect_refused(with(path("photo.png")), {"--source: expected the panel's 96 x 64 pixels, got 72 x 48"});
  write_picture("dark.png", 64, 96, 0);
  expect_refused(with(path("dark.png")), {"--source: expected a beam with some light, got a black picture"});
  expect_refused(with("gaussian:wide"), {"--source"});
  expect_refused(with("gaussian:1um"), {"--source: expected a beam that lights a pixel of 8 um, got 1 um"});
  expect_refused(with("missing.png"), {"missing.png"});
}

}  // namespace
}  // namespace holotone::test
