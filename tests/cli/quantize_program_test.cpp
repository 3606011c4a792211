// `holotone quantize`: fields to codes, metadata of the files, rejected input.
#include <cmath>
#include <complex>
#include <holotone/core/random.hpp>
#include <holotone/fft/fft.hpp>
#include <holotone/quantize/error_diffusion.hpp>
#include <tests/cli/quantize_program.hpp>

namespace holotone::test {
namespace {

using Complex64 = std::complex<double>;

/// Noise power of codes in each hogel's window over all light power; the window follows from the hogel's centre by
/// geometry.
double noise_of(const Image& image, const FieldFile& field, std::int64_t hogel, double distance_m, double size_m,
                double pitch_m, double wavelength_m) {
  const auto& codes = std::get<Array<std::uint8_t, 3>>(image.pixels);
  const double scale = std::stod(image.metadata.at("scale"));
  const auto [ny, nx] = field.values.shape();
  double noise = 0;
  for (std::int64_t top = 0; top < ny; top += hogel) {
    for (std::int64_t left = 0; left < nx; left += hogel) {
      Array<std::complex<float>, 2> plane({hogel, hogel});
      for (std::int64_t row = 0; row < hogel; ++row) {
        for (std::int64_t column = 0; column < hogel; ++column) {
          Complex64 h = Complex64(field.values(top + row, left + column)) / scale;
          h /= std::max(1.0, std::abs(h));
          plane(row, column) =
              std::complex<float>(std::polar(1.0, 2 * M_PI * codes(top + row, left + column, 0) / 256.0) - h);
        }
      }
      FftPlan({hogel, hogel}).execute(plane.view(), FftDirection::forward);
      const double x = (static_cast<double>(left) + static_cast<double>(hogel - nx) / 2) * pitch_m;
      const double y = -(static_cast<double>(top) + static_cast<double>(hogel - ny) / 2) * pitch_m;
      const auto inside = [&](std::int64_t i, double from, double across, double sign) {
        const double frequency = sign * static_cast<double>(i < hogel / 2 ? i : i - hogel) / static_cast<double>(hogel);
        const auto to = [&](double place) {
          return pitch_m / wavelength_m * (place - from) / std::hypot(place - from, across, distance_m);
        };
        return frequency >= to(-size_m / 2) && frequency <= to(size_m / 2);
      };
      for (std::int64_t row = 0; row < hogel; ++row) {
        for (std::int64_t column = 0; column < hogel; ++column) {
          if (!inside(column, x, y, 1) || !inside(row, y, x, -1)) continue;
          noise += std::norm(Complex64(plane(row, column))) / std::pow(static_cast<double>(hogel), 4);
        }
      }
    }
  }
  return noise / static_cast<double>(ny / hogel * (nx / hogel));
}

TEST_F(QuantizeTest, KeepsNoiseOutOfTheView) {
  make_scene();
  const std::vector<std::string> view{"--viewer", "36mm:6mm", "--distance", "2mm"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), view.begin(), view.end());
    return more;
  };
  const auto truncated = run_json(line("scene.npy", "truncated.png", with({"--method", "truncate"})));
  const auto vded = run_json(line("scene.npy", "vded.png", with({"--hogel", "128", "--p", "3"})));
  const auto eq1 = run_json(line("scene.npy", "eq1.png", with({"--hogel", "128", "--rule", "eq1"})));
  EXPECT_EQ(vded["method"], "vded");
  const auto field = read_field(path("scene.npy"));
  const auto noise = [&](const char* name) {
    return noise_of(image(name), field, 128, 36e-3, 6e-3, pitch_m, wavelength_m);
  };
  const double of_truncated = noise("truncated.png");
  const double db = 10 * std::log10(noise("vded.png") / of_truncated);
  const double eq1_db = 10 * std::log10(noise("eq1.png") / of_truncated);
  std::printf("noise in the window, dB of truncation's: least squares %.2f, eq1 %.2f\n", db, eq1_db);
  EXPECT_LT(db, -15);
  EXPECT_LT(eq1_db, -4);
  // The report measures the panel as a whole.
  EXPECT_NEAR(vded["holograms"][0]["window"]["noise_db"].get<double>(), db, 0.3);
  EXPECT_NEAR(truncated["holograms"][0]["window"]["noise_db"].get<double>(), 0, 1e-9);
  EXPECT_EQ(vded["holograms"][0]["window"]["squares"], 1);
  EXPECT_LE(eq1["holograms"][0]["weights_sum"][1].get<double>(), 0.9801);

  // The file can be reconstructed without flags.
  const auto seen = run({"reconstruct", path("vded.png"), "-o", path("seen.png"), "--device", "cpu"});
  EXPECT_EQ(seen.exit_code, 0) << seen.error;
  EXPECT_NE(seen.output.find("focus at 2 mm"), std::string::npos) << seen.output;
}

TEST_F(QuantizeTest, FilesSayWhatTheyAre) {
  speckle("in.npy", 60, 90);
  const std::vector<std::string> more{"--viewer",   "36mm:6x4mm@1,-0.5mm",
                                      "--hogel",    "30",
                                      "--p",        "2",
                                      "--weights",  "20",
                                      "--kept",     "12",
                                      "--bits",     "3",
                                      "--clip",     "0.99",
                                      "--distance", "1cm",
                                      "--kappa",    "0.8"};
  for (const std::string name : {"out.png", "out.tif"}) {
    if (!can_write(name)) continue;
    const auto json = run_json(line("in.npy", name, more));
    EXPECT_EQ(json["holograms"][0]["weights_used"], (nlohmann::json{12, 12}));
    EXPECT_EQ(json["warnings"], nlohmann::json::array());
    const auto info = run_json({"info", path(name)})["metadata"];
    const nlohmann::json expected{{"wavelength_m", 532e-9},
                                  {"pitch_m", 1e-6},
                                  {"distance_m", 1e-2},
                                  {"encoding", "phase"},
                                  {"bits", 3},
                                  {"clip", 0.99},
                                  {"quantize_method", "vded"},
                                  {"hogel_px", 30},
                                  {"weights", 20},
                                  {"weights_kept", 12},
                                  {"weights_rule", "least-squares"},
                                  {"weights_p", 2},
                                  {"kappa", 0.8},
                                  {"kappa_x", 0.8},
                                  {"kappa_y", 0.8},
                                  {"viewer", "3.6cm:6mmx4mm@1mm,-500um"},
                                  {"serpentine", 0}};
    for (const auto& [key, value] : expected.items()) EXPECT_EQ(info[key], value) << key;
    EXPECT_EQ(info["scale"].get<double>(), json["holograms"][0]["scale"].get<double>());
    EXPECT_EQ(shape_of(image(name)), (Shape<3>{60, 90, 1}));
    const auto codes = decode_codes(name);
    EXPECT_LE(*std::max_element(codes.begin(), codes.end()), 7);
  }
}

TEST_F(QuantizeTest, FactorsOfEq1HaveNames) {
  speckle("in.npy", 60, 90);
  const auto with = [&](const std::vector<std::string>& more) {
    std::vector<std::string> all{"--viewer", "36mm:6x4mm", "--hogel", "30", "--rule", "eq1"};
    all.insert(all.end(), more.begin(), more.end());
    return run_json(line("in.npy", "out.png", all));
  };
  const auto sum = [](const nlohmann::json& json) { return json["holograms"][0]["weights_sum"][1].get<double>(); };
  const auto usual = with({});
  EXPECT_EQ(usual["normalization"], "modulus");
  EXPECT_EQ(usual["kappa"], 1);
  EXPECT_NEAR(sum(usual), 0.98, 1e-5);
  const auto none = with({"--normalize", "none"});
  EXPECT_EQ(none["normalization"], "none");
  EXPECT_GT(sum(none), 1);
  EXPECT_LT(sum(none), 2);
  EXPECT_NEAR(sum(with({"--normalize", "origin"})), 2.2, 1e-5);
  const auto origin = with({"--normalize", "origin", "--kappa", "0.8,0.9", "--max-sum", "4"});
  EXPECT_GT(sum(origin), 2.2);
  EXPECT_EQ(origin.count("kappa"), 0U);
  const auto info = run_json({"info", path("out.png")})["metadata"];
  const nlohmann::json expected{
      {"weights_rule", "eq1"}, {"weights_normalization", "origin"}, {"kappa_x", 0.8}, {"kappa_y", 0.9}};
  for (const auto& [key, value] : expected.items()) {
    EXPECT_EQ(info[key], value) << key;
  }
  EXPECT_EQ(info.count("kappa"), 0U);
}

TEST_F(QuantizeTest, CodesAreThePlansWhateverTheFileAndItsBlocks) {
  // More pixels than are read at once.
  constexpr std::int64_t ny = 2110;
  constexpr std::int64_t nx = 2050;
  speckle("in.npy", ny, nx);
  const auto field = read_field(path("in.npy"));
  ErrorDiffusionOptions options;
  options.hogel_px = 300;
  std::vector<SignalWindow> windows;
  for (std::int64_t i = 0; i < 8 * 7; ++i) {
    const auto middle = [](std::int64_t first, std::int64_t all) {
      return static_cast<double>(first + std::min(first + 300, all) - all) / 2 * pitch_m;
    };
    windows.push_back(signal_window({nx, ny, pitch_m, wavelength_m}, {6e-3, 6e-3, 36e-3, 1e-3, 0},
                                    middle(i % 7 * 300, nx), -middle(i / 7 * 300, ny)));
  }
  WeightOptions weights;
  weights.rule = WeightRule::least_squares;
  weights.taps = 6;
  weights.parallelism = 1;
  ErrorDiffusionPlan plan(options, diffusion_weights(windows, weights), {ny, nx});
  Array<std::uint8_t, 2> expected({ny, nx});
  plan.execute(field.values.view(), expected.view());
  const std::vector<std::string> more{"--viewer", "36mm:6mm@1,0mm", "--hogel", "300", "--weights", "6", "--p", "1"};
  for (const std::string name : {"out.png", "out.bmp"}) {
    const auto json = run_json(line("in.npy", name, more));
    EXPECT_EQ(static_cast<float>(json["holograms"][0]["scale"].get<double>()), plan.report().scale);
    ASSERT_EQ(json["warnings"].size(), 1u);
    EXPECT_NE(json["warnings"][0].get<std::string>().find("do not divide 2050 x 2110"), std::string::npos);
    EXPECT_TRUE(decode_codes(name) == std::vector<std::uint8_t>(expected.host().begin(), expected.host().end()))
        << name;
  }
}

// Frames of one scale keep their brightness.
TEST_F(QuantizeTest, AGivenScaleIsKept) {
  speckle("a.npy", 60, 50);
  const double found = run_json(line("a.npy", "found.png"))["holograms"][0]["scale"];
  const auto given = run_json(line("a.npy", "given.png", {"--scale", fmt::format("{}", found)}));
  EXPECT_EQ(decode_codes("given.png"), decode_codes("found.png"));
  EXPECT_EQ(image("given.png").metadata.count("clip"), 0u);
  EXPECT_EQ(image("given.png").metadata.at("field_energy"), image("found.png").metadata.at("field_energy"));
  const auto twice = run_json(line("a.npy", "twice.png", {"--scale", fmt::format("{}", 2 * found)}));
  EXPECT_EQ(twice["holograms"][0]["scale"], 2 * found);
  EXPECT_NE(decode_codes("twice.png"), decode_codes("found.png"));
  expect_refused(line("a.npy", "b.png", {"--scale", "-1"}), {"--scale", "'-1'"});
  expect_refused(line("a.npy", "b.png", {"--scale", "1", "--clip", "0.9"}), {"--scale", "--clip"});
}

TEST_F(QuantizeTest, WhatAFileHoldsNoneOfIsToldAsFlags) {
  speckle("in.npy", 30, 40);
  const auto json = run_json(line("in.npy", "out.bmp", {"--bits", "2", "--distance", "3mm"}));
  EXPECT_EQ(json["method"], "floyd-steinberg");
  EXPECT_EQ(json["holograms"][0]["reconstruct_flags"], "--pitch 1um --wavelength 532nm --distance 3mm --bits 2");
  (void)run_json(line("in.npy", "codes.npy", {"--bits", "2"}));
  const auto bytes = content_of(path("codes.npy"));
  ASSERT_EQ(bytes.substr(1, 5), "NUMPY");
  EXPECT_NE(bytes.find("'|u1'"), std::string::npos);
  const auto codes = decode_codes("out.bmp");
  EXPECT_EQ(bytes.substr(bytes.size() - 1200), std::string(codes.begin(), codes.end()));
}

TEST_F(QuantizeTest, TablesOfLevels) {
  speckle("in.npy", 48, 64);
  const std::vector<std::string> seen{"--distance", "2mm", "--encode", "amplitude"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), seen.begin(), seen.end());
    return more;
  };
  // A table of equal steps is stored as no table.
  write("equal.txt", "0\n0.3333333333333333\n0.6666666666666666\n1\n");
  (void)run_json(line("in.npy", "table.png", with({"--levels", path("equal.txt")})));
  (void)run_json(line("in.npy", "equal.png", with({"--bits", "2"})));
  EXPECT_EQ(image("table.png").metadata.at("bits"), "2");
  EXPECT_EQ(decode_codes("table.png"), decode_codes("equal.png"));
  for (const std::string name : {"table", "equal"}) {
    (void)run_json({"reconstruct", path(name + ".png"), "-o", path(name + ".npy"), "--linear", "--device", "cpu"});
  }
  EXPECT_EQ(content_of(path("table.npy")), content_of(path("equal.npy")));
  // Unequal levels are decoded as such: the picture differs from that of equal steps.
  write("steep.txt", "0\n0.1\n0.2\n1\n");
  (void)run_json(line("in.npy", "steep.png", with({"--levels", path("steep.txt")})));
  EXPECT_EQ(image("steep.png").metadata.at("level_amplitude").substr(0, 2), "0,");
  write("phases.txt", "0\n1.4\n3.3\n4.9\n5.5\n");
  const auto json = run_json(line("in.npy", "phases.png", {"--lut", path("phases.txt"), "--distance", "2mm"}));
  EXPECT_EQ(json["bits"], 3);
  const auto phases = run({"reconstruct", path("phases.png"), "-o", path("phases_seen.png"), "--device", "cpu"});
  EXPECT_EQ(phases.exit_code, 0) << phases.error;
}

TEST_F(QuantizeTest, ColoursAndFrames) {
  for (const char* name : {"f0_r.npy", "f0_g.npy", "f0_b.npy", "f1_r.npy", "f1_g.npy", "f1_b.npy"})
    speckle(name, 20, 24);
  const auto colours = run_json({"quantize", path("f0_%c.npy"), "-o", path("out.png"), "--device", "cpu", "--pitch",
                                 "1um", "--wavelength", "638nm,520nm,450nm", "--distance", "2mm"});
  EXPECT_EQ(colours["outputs"], (nlohmann::json{path("out_r.png"), path("out_g.png"), path("out_b.png")}));
  EXPECT_EQ(image("out_b.png").metadata.at("channel"), "b");
  EXPECT_EQ(std::stod(image("out_g.png").metadata.at("wavelength_m")), 520e-9);
  const auto seen = run({"reconstruct", path("out_%c.png"), "-o", path("seen.png"), "--device", "cpu"});
  EXPECT_EQ(seen.exit_code, 0) << seen.error;
  const auto frames = run_json({"quantize", path("f%d_%c.npy"), "-o", path("m_%02d_%c.png"), "--device", "cpu",
                                "--pitch", "1um", "--wavelength", "638nm,520nm,450nm"});
  EXPECT_EQ(frames["outputs"].size(), 6u);
  EXPECT_EQ(frames["outputs"][5], path("m_01_b.png"));
}

// White stays white: three quantized fields keep the fields' colour balance.
TEST_F(QuantizeTest, ColoursKeepTheirBalance) {
  Image white{Array<std::uint8_t, 3>({32, 32, 3}), {}};
  for (auto& code : std::get<Array<std::uint8_t, 3>>(white.pixels).host()) code = 255;
  write_image(path("white.png"), white);
  ASSERT_EQ(run({"hologram", "--image", path("white.png"), "-o", path("w_%c.h5"), "--rgb", "638nm,520nm,450nm",
                 "--size", "0.6mm", "--resolution", "128x128", "--pitch", "6um", "--distance", "1cm"})
                .exit_code,
            0);
  ASSERT_EQ(run({"quantize", path("w_%c.h5"), "-o", path("q_%c.png"), "--method", "truncate"}).exit_code, 0);
  const auto shares = [&](const std::string& name) {
    EXPECT_EQ(run({"reconstruct", path(name), "-o", path("seen.tiff"), "--linear"}).exit_code, 0);
    const Image seen = read_image(path("seen.tiff"));
    const auto& pixels = std::get<Array<float, 3>>(seen.pixels);
    std::array<double, 3> sum{};
    for (std::int64_t i = 0; i < pixels.size(); ++i)
      sum[static_cast<std::size_t>(i % 3)] += static_cast<double>(pixels.data()[i]);
    return std::array<double, 2>{sum[0] / sum[1], sum[2] / sum[1]};
  };
  const auto field = shares("w_%c.h5");
  const auto codes = shares("q_%c.png");
  for (std::size_t i = 0; i < 2; ++i) {
    std::printf("red and blue beside green: field %.3f, codes %.3f\n", field[i], codes[i]);
    EXPECT_NEAR(field[i], 1, 0.05);
    EXPECT_NEAR(codes[i], field[i], 0.1);
  }
}

TEST_F(QuantizeTest, SerpentineIsAnotherOrder) {
  speckle("in.npy", 40, 50);
  (void)run_json(line("in.npy", "raster.png"));
  EXPECT_EQ(run_json(line("in.npy", "cut.png"))["borders"], "separate");
  EXPECT_EQ(run_json(line("in.npy", "carried.png", {"--borders", "carry"}))["borders"], "carry");
  const auto json = run_json(line("in.npy", "back.png", {"--order", "serpentine"}));
  EXPECT_EQ(json["order"], "serpentine");
  EXPECT_EQ(image("back.png").metadata.at("serpentine"), "1");
  EXPECT_NE(decode_codes("raster.png"), decode_codes("back.png"));
}

TEST_F(QuantizeTest, WindowsBeyondTheDiffractionAngle) {
  // 15.4 deg of 1 um pixels; from the panel's centre, 36 mm away, that is 9.9 mm off axis.
  speckle("in.npy", 256, 256);
  const auto json = run_json(line("in.npy", "out.png", {"--viewer", "36mm:4mm@10,0mm", "--hogel", "64"}));
  EXPECT_EQ(json["holograms"][0]["hogels_clipped"], 16);
  EXPECT_NE(json["warnings"][0].get<std::string>().find(
                "part of the viewing window is beyond the diffraction angle of 16 of 16 hogels"),
            std::string::npos);
  expect_refused(line("in.npy", "none.png", {"--viewer", "36mm:4mm@20,0mm", "--hogel", "64"}),
                 {"--viewer", "15.4 deg", "11 deg beyond"});
}

TEST_F(QuantizeTest, BadInputIsNamed) {
  speckle("in.npy", 30, 40);
  write("picture.png", "no picture");
  write("short.txt", "0\n");
  write("gap.txt", "3,1\n5,2\n");
  write("falling.txt", "0\n0.5\n0.4\n");
  const std::vector<std::string> viewer{"--viewer", "36mm:9.2mm"};
  const auto expect = [&](const std::vector<std::string>& more, std::initializer_list<const char*> words) {
    expect_refused(line("in.npy", "out.png", more), words);
  };
  (void)speckle("many.npy", 520, 520);
  expect_refused(line("many.npy", "out.png", {"--viewer", "36mm:9.2mm", "--hogel", "1"}), {"--hogel", "270400"});
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), viewer.begin(), viewer.end());
    return more;
  };
  expect({"--bits", "0"}, {"--bits: expected a whole number from 1 to 8, got '0'"});
  expect({"--bits", "9"}, {"--bits: expected a whole number from 1 to 8, got '9'"});
  expect(with({"--p", "0"}), {"--p: expected a whole number from 1 to 24, got '0'"});
  expect(with({"--p", "-3"}), {"--p: expected a whole number from 1 to 24, got '-3'"});
  expect(with({"--weights", "600", "--p", "1"}), {"--weights: expected at most", "for p = 1, got 600"});
  expect(with({"--weights", "0"}), {"--weights"});
  expect(with({"--kept", "28"}), {"--kept: expected a whole number from 1 to 27, got '28'"});
  expect(with({"--kappa", "0"}), {"--kappa"});
  expect(with({"--kappa", "0.5,0.6,0.7"}), {"--kappa", "KX,KY"});
  expect(with({"--normalize", "origin"}), {"--normalize", "--rule eq1"});
  expect(with({"--rule", "eq1", "--normalize", "sum"}), {"--normalize", "none"});
  expect(with({"--max-sum", "5"}), {"--max-sum"});
  expect(with({"--rule", "eq2"}), {"--rule: expected eq1 or least-squares", "did you mean 'eq1'"});
  expect(with({"--order", "serpentine", "--p", "3"}), {"--order: expected raster with --p"});
  expect({"--order", "spiral"}, {"--order: expected raster or serpentine"});
  expect({"--method", "vdde"}, {"--method", "did you mean 'vded'"});
  expect({"--method", "vded"}, {"--viewer: expected a viewing window"});
  expect({"--method", "swed"}, {"--viewer: expected a viewing window"});
  expect({"--p", "3"}, {"--p: expected --method swed or vded, got floyd-steinberg, the default without --viewer"});
  expect({"--viewer", "36mm"}, {"--viewer: expected DISTANCE:SIZE"});
  expect({"--hogel", "0"}, {"--hogel: expected a whole number from 1 to 65536"});
  expect({"--clip", "0"}, {"--clip"});
  expect({"--encode", "double-phase"}, {"--encode: expected phase or amplitude"});
  expect({"--levels", path("short.txt")}, {"short.txt", "expected at least two codes"});
  expect({"--levels", path("gap.txt")}, {"gap.txt: expected a phase for every code from 0 on, got none for code 0"});
  expect({"--levels", path("falling.txt"), "--encode", "amplitude"},
         {"falling.txt: expected rising amplitudes from 0 to 1"});
  expect({"--levels", path("missing.txt")}, {"missing.txt"});
  expect({"--device", "cuda:99"}, {"--device"});
  expect_refused(line("in.npy", "out.h5"), {"--output: expected a name ending in"});
  expect_refused(line("in.npy", "in.npy"), {"--output: expected another file than the input"});
  expect_refused(line("missing.npy", "out.png"), {"missing.npy"});
  expect_refused(line("picture.png", "out.png"), {"picture.png", "quantized already"});
  write("picture.tif", "II*");
  expect_refused(line("picture.tif", "out.png"), {"picture.tif", "quantized already"});
  expect_refused({"quantize", path("in.npy"), "-o", path("out.png")}, {"--pitch and --wavelength"});
  FieldFile broken{Array<std::complex<float>, 2>({3, 4}), {}};
  std::fill_n(broken.values.data(), 12, std::complex<float>(1));
  broken.values(2, 1) = {0, NAN};
  write_field(path("broken.npy"), broken);
  expect_refused(line("broken.npy", "out.png"),
                 {"broken.npy: expected finite values, got one that is not at row 2, column 1"});
}

TEST_F(QuantizeTest, AnInterruptedRunLeavesNothing) {
  speckle("in.npy", 700, 700);
  for (int i = 0; i < 600; ++i) fs::create_hard_link(path("in.npy"), path(fmt::format("frame_{:03d}.npy", i)));
  const auto before = files();
  RunningProgram program(line("frame_%03d.npy", "out_%03d.png"), captured_);
  const auto started = [&] { return fs::exists(path("out_001.png")); };
  for (int i = 0; i < 3000 && program.running() && !started(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ASSERT_TRUE(started());
  ASSERT_TRUE(program.running()) << "the run was too short to be cancelled";
  program.send(SIGINT);
  const auto result = program.wait(60);
  EXPECT_EQ(result.exit_code, 130) << result.error;
  EXPECT_EQ(result.output, "");
  EXPECT_EQ(files(), before);
}

/// Codes of few bits: as they are, from black to white, and read back.
class ScaleCodesTest : public QuantizeTest {
 protected:
  /// Light of the codes in a plane, as the bytes of an array.
  std::string make_picture(const std::string& name, const std::vector<std::string>& more = {}) {
    std::vector<std::string> look{"reconstruct", path(name), "-o", path("seen.npy"), "--linear", "--distance", "1mm"};
    look.insert(look.end(), more.begin(), more.end());
    const auto made = run(look);
    EXPECT_EQ(made.exit_code, 0) << made.error;
    error_ = made.error;
    return content_of(path("seen.npy"));
  }

  std::string error_;
};

TEST_F(ScaleCodesTest, BinaryCodesAreReadBack) {
  speckle("s.npy", 48, 40);
  for (const std::string name : {"raw.png", "raw.tif", "raw.bmp"}) {
    ASSERT_EQ(run(line("s.npy", name, {"--bits", "1"})).exit_code, 0);
  }
  const auto plain = decode_codes("raw.png");
  EXPECT_EQ(std::ranges::max(plain), 1);
  const std::vector<std::string> stated{"--pitch", "1um", "--wavelength", "532nm"};
  const auto expected = make_picture("raw.png");
  for (const std::string name : {"x.png", "x.tif", "x.bmp"}) {
    SCOPED_TRACE(name);
    const auto made = run(line("s.npy", name, {"--bits", "1", "--scale-codes"}));
    ASSERT_EQ(made.exit_code, 0) << made.error;
    EXPECT_EQ(made.error.find("look black"), std::string::npos);
    const auto scaled = decode_codes(name);
    ASSERT_EQ(scaled.size(), plain.size());
    for (std::size_t i = 0; i < plain.size(); ++i) ASSERT_EQ(scaled[i], 255 * plain[i]);
    if (name != "x.bmp") {
      EXPECT_EQ(make_picture(name), expected);
      EXPECT_EQ(error_.find("are read as"), std::string::npos);
      continue;
    }
    auto flags = stated;
    expect_refused(
        {"reconstruct", path(name), "-o", path("f.png"), "--distance", "1mm", "--pitch", "1um", "--wavelength",
         "532nm"},
        {"x.bmp: expected bits, 1 or 8, of codes that are all 0 or 255, got none stated; --bits states them"});
    flags.insert(flags.end(), {"--bits", "1"});
    EXPECT_EQ(make_picture(name, flags), expected);
    EXPECT_NE(error_.find("x.bmp: codes 0 to 255 are read as 0 to 1 of 1 bit"), std::string::npos);
  }
}

TEST_F(ScaleCodesTest, FewBitsAloneAreScaled) {
  speckle("s.npy", 48, 40);
  expect_refused(line("s.npy", "x.png", {"--scale-codes"}),
                 {"--scale-codes: expected codes of at most 7 bits, got '8'"});
  expect_refused(line("s.npy", "x.npy", {"--bits", "1", "--scale-codes"}),
                 {"--scale-codes: expected an output ending in .png, .tif or .bmp"});
  make_scene();
  const std::vector<std::string> codes{"hologram",      path("points.csv"), "-o",  path("h.png"),       "--resolution",
                                       "32x32",         "--pitch",          "1um", "--encode",          "amplitude",
                                       "--scale-codes", "--bits",           "1",   "--keep-coordinates"};
  const auto made = run(codes);
  ASSERT_EQ(made.exit_code, 0) << made.error;
  for (const auto code : decode_codes("h.png")) EXPECT_TRUE(code == 0 || code == 255);
  EXPECT_EQ(image("h.png").metadata.at("bits"), "1");
}

TEST_F(ScaleCodesTest, SumsOfPanelPatterns) {
  const auto pattern = [&](const std::string& name, const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"panel", "grating", "--period", "8px", "-o", path(name)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto made = run(arguments);
    EXPECT_EQ(made.exit_code, 0) << made.error;
  };
  const std::vector<std::string> panel{"--resolution", "32x16", "--pitch", "8um", "--bits", "2"};
  auto scaled = panel;
  scaled.emplace_back("--scale-codes");
  pattern("raw.png", panel);
  pattern("x.png", scaled);
  EXPECT_EQ(std::ranges::max(decode_codes("x.png")), 255);
  pattern("sum.png", {"--add", path("raw.png")});
  pattern("same.png", {"--add", path("x.png")});
  EXPECT_EQ(decode_codes("same.png"), decode_codes("sum.png"));
  EXPECT_FALSE(image("same.png").metadata.contains("scaled_codes"));
}

TEST_F(ScaleCodesTest, InfoNamesTheBits) {
  Array<std::uint8_t, 3> pixels({2, 3, 1});
  std::ranges::fill(pixels.host(), std::uint8_t{1});
  write_image(path("x.png"), {std::move(pixels), {}, {}, 1});
  const auto info = run({"info", path("x.png")});
  EXPECT_NE(info.output.find("picture, 3 x 2 pixels, 1 channel, 1-bit"), std::string::npos) << info.output;
  EXPECT_NE(run({"info", path("x.png"), "--json"}).output.find("\"pixel_type\": \"1-bit\""), std::string::npos);
}

}  // namespace
}  // namespace holotone::test
