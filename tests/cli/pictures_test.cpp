// Points to hologram file to picture, by the program as a user runs it.
#include <cmath>
#include <holotone/core/device.hpp>
#include <holotone/hologram/encode.hpp>
#include <holotone/io/fields/field_file.hpp>
#include <tests/cli/picture.hpp>
#include <tests/support/program.hpp>

namespace holotone::test {
namespace {

constexpr double pitch_m = 8e-6;

class PicturesTest : public ProgramTest {
 protected:
  /// Hologram of one point, and its picture in linear light at the distance that the file states.
  Pixels look_at_point(double x_m, double y_m, double distance_m, const std::string& hologram,
                       const std::vector<std::string>& options, const std::string& device = "cpu") const {
    write_cloud("point.csv", {{x_m, y_m, -distance_m, 1}});
    std::vector<std::string> arguments{"hologram",          path("point.csv"), "-o",  path(hologram), "--resolution",
                                       "321x243",           "--pitch",         "8um", "--device",     device,
                                       "--keep-coordinates"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    (void)run_json(arguments);
    (void)run_json({"reconstruct", path(hologram), "-o", path("focus.npy"), "--linear", "--device", device});
    return pixels_of(path("focus.npy"));
  }
};

void expect_spot(const Pixels& picture, double x_m, double y_m, const std::string& what, int within = 1) {
  ASSERT_EQ(picture.nx, 321);
  ASSERT_EQ(picture.ny, 243);
  const Spot expected = pixel_of(x_m, y_m, 321, 243, pitch_m);
  const Spot got = brightest(picture);
  EXPECT_LE(std::abs(got.row - expected.row), within) << what << ": row " << got.row << ", expected " << expected.row;
  EXPECT_LE(std::abs(got.col - expected.col), within)
      << what << ": column " << got.col << ", expected " << expected.col;
}

// Right and up in the scene is right and up in the picture, for every hologram file format and encoding.
TEST_F(PicturesTest, APointAppearsWhereItIs) {
  struct Case {
    const char* name;
    const char* file;
    std::vector<std::string> options;
    int within = 1;  ///< pixels
  };
  const std::vector<Case> cases = {
      {"phase", "a.png", {}},
      {"phase, 16 bits", "a.png", {"--bits", "16"}},
      {"phase, TIFF", "a.tif", {"--bits", "3"}},
      {"phase, packed", "a.png", {"--packed16"}},
      {"phase, 1.5 pi stroke", "a.png", {"--phase-range", "1.5pi"}},
      {"complex, HDF5", "a.h5", {}},
      {"double-phase", "a.png", {"--encode", "double-phase"}},
      {"amplitude", "a.png", {"--encode", "amplitude"}},
      {"amplitude, tilted reference", "a.png", {"--encoding", "amplitude", "--reference-angle", "0.8deg,0.5deg"}},
      {"single-sideband", "a.png", {"--encode", "single-sideband"}},
      // A third of the resolution in x: the spot is three pixels wide.
      {"burckhardt", "a.png", {"--encode", "burckhardt"}, 3},
  };
  for (const auto& [encoding, name] : enum_names<Encoding>) {
    const auto of_it = [name = name](const Case& test) { return std::string_view(test.name).starts_with(name); };
    EXPECT_TRUE(std::ranges::any_of(cases, of_it)) << "no case of " << name;
  }
  constexpr double x_m = 60.4 * pitch_m;
  constexpr double y_m = 41.2 * pitch_m;
  for (const auto& test : cases) {
    if (!can_write(test.file)) continue;
    for (const Device device : devices()) {
      expect_spot(look_at_point(x_m, y_m, 0.1, test.file, test.options, to_string(device)), x_m, y_m,
                  test.name + (" on " + to_string(device)), test.within);
    }
  }
}

TEST_F(PicturesTest, APointInFrontOfThePanelAppearsWhereItIs) {
  expect_spot(look_at_point(-50 * pitch_m, 30 * pitch_m, -0.08, "a.png", {}), -50 * pitch_m, 30 * pitch_m, "in front");
}

TEST_F(PicturesTest, EveryMethodAndTheSphericalWaveShowThePoint) {
  const std::vector<std::vector<std::string>> choices = {
      {"--method", "auto"},      {"--method", "direct"},  {"--method", "recurrence"},
      {"--method", "separable"}, {"--wave", "spherical"}, {"--wave", "spherical", "--method", "direct"},
      {"--no-band-limit"},       {"--tolerance", "1e-5"}};
  for (const Device device : devices()) {
    for (const auto& options : choices) {
      if (device.backend == Backend::opencl && options.back() == "separable") continue;  // OpenCL lacks it
      expect_spot(look_at_point(20 * pitch_m, -70 * pitch_m, 0.12, "a.png", options, to_string(device)), 20 * pitch_m,
                  -70 * pitch_m, options.back() + " on " + to_string(device));
    }
  }
}

// A grating that steers by an angle shifts the picture focused at distance d by -d tan(angle), the apparent origin of
// the light.
TEST_F(PicturesTest, ACarrierMovesThePicture) {
  constexpr double angle_rad = 0.25 * 3.14159265358979 / 180;
  const double shift_m = 0.1 * std::tan(angle_rad);
  expect_spot(look_at_point(0, 0, 0.1, "a.png", {"--carrier", "0.25deg"}), -shift_m, 0, "toward +x");
  expect_spot(look_at_point(0, 0, 0.1, "a.png", {"--carrier", "0,0.25deg"}), 0, -shift_m, "toward +y");
}

// A correction in the codes compensates the panel's error: removed again, the picture equals the one without.
TEST_F(PicturesTest, ACorrectionTakenOutLeavesThePicture) {
  Image image{Array<std::uint8_t, 3>({243, 321, 1}), {}};
  auto& codes = std::get<Array<std::uint8_t, 3>>(image.pixels);
  for (std::int64_t row = 0; row < 243; ++row) {
    for (std::int64_t col = 0; col < 321; ++col) {
      codes(row, col, std::int64_t{0}) = static_cast<std::uint8_t>((row * row / 40 + col * 3) % 256);
    }
  }
  write_image(path("map.png"), image);
  write_cloud("point.csv", {{0, 1e-4, -0.1, 1}});
  const std::vector<std::string> common{"hologram", path("point.csv"), "--resolution", "321x243",           "--pitch",
                                        "8um",      "--device",        "cpu",          "--keep-coordinates"};
  auto plain = common;
  plain.insert(plain.end(), {"-o", path("plain.png")});
  auto corrected = common;
  corrected.insert(corrected.end(), {"-o", path("corrected.png"), "--correction", path("map.png")});
  (void)run_json(plain);
  (void)run_json(corrected);
  (void)run_json({"reconstruct", path("plain.png"), "-o", path("plain.npy"), "--linear"});
  (void)run_json(
      {"reconstruct", path("corrected.png"), "-o", path("corrected.npy"), "--linear", "--correction", path("map.png")});
  (void)run_json({"reconstruct", path("corrected.png"), "-o", path("as_it_is.npy"), "--linear"});
  const auto expected = pixels_of(path("plain.npy"));
  const auto got = pixels_of(path("corrected.npy"));
  const auto broken = pixels_of(path("as_it_is.npy"));
  const Spot spot = brightest(expected);
  // Two roundings to 8-bit phase (each 2 pi / 256 / sqrt(12) rms) change a focused spot by far less than 1 %.
  EXPECT_NEAR(got.at(spot.row, spot.col) / expected.at(spot.row, spot.col), 1, 0.01);
  EXPECT_LT(broken.at(spot.row, spot.col), 0.1 * expected.at(spot.row, spot.col));
}

TEST_F(PicturesTest, ABitmapNeedsAndTakesWhatItCannotCarry) {
  write_cloud("point.csv", {{1e-4, 2e-4, -0.1, 1}});
  (void)run_json({"hologram", path("point.csv"), "-o", path("a.bmp"), "--resolution", "161x121", "--pitch", "8um",
                  "--keep-coordinates"});
  expect_refused({"reconstruct", path("a.bmp"), "-o", path("focus.png")},
                 {"--pitch", "a.bmp", "--wavelength", "--distance"});
  (void)run_json({"reconstruct", path("a.bmp"), "-o", path("focus.npy"), "--linear", "--pitch", "8um", "--wavelength",
                  "532nm", "--distance", "10cm"});
  const Spot got = brightest(pixels_of(path("focus.npy")));
  const Spot expected = pixel_of(1e-4, 2e-4, 161, 121, pitch_m);
  EXPECT_LE(std::abs(got.row - expected.row), 1);
  EXPECT_LE(std::abs(got.col - expected.col), 1);
}

TEST_F(PicturesTest, TheSampleGoesThroughTheWholeChain) {
  const auto sample = run_json({"sample", "teapot", "-o", path("teapot.ply"), "--points", "2000"});
  EXPECT_EQ(sample["points"], 2000);
  const auto hologram = run_json({"hologram", path("teapot.ply"), "-o", path("teapot.png"), "--resolution", "384x256",
                                  "--pitch", "8um", "--distance", "10cm", "--size", "2mm", "--random-phase"});
  EXPECT_EQ(hologram["points"], 2000);
  EXPECT_EQ(hologram["outputs"], nlohmann::json::array({path("teapot.png")}));
  EXPECT_NE(hologram["method"], "auto");
  EXPECT_LE(hologram["expected_error"].get<double>(), 1e-3);
  EXPECT_GT(hologram["fresnel_deviation_rad"].get<double>(), 0);
  const auto picture = run_json({"reconstruct", path("teapot.png"), "-o", path("focus.png")});
  EXPECT_DOUBLE_EQ(picture["distances_m"][0].get<double>(), 0.1);
  const auto pixels = pixels_of(path("focus.png"));
  ASSERT_EQ(pixels.nx, 384);
  ASSERT_EQ(pixels.ny, 256);
  // The teapot is 2 mm wide, 250 pixels, and half as high: most light falls on its box, most of the rest is dark.
  double inside = 0;
  double outside = 0;
  for (std::int64_t row = 0; row < 256; ++row) {
    for (std::int64_t col = 0; col < 384; ++col) {
      const bool in = std::abs(col - 192) < 125 && std::abs(row - 128) < 62;
      (in ? inside : outside) += pixels.at(row, col);
    }
  }
  inside /= 249 * 123;
  outside /= 384 * 256 - 249 * 123;
  EXPECT_GT(inside, 2.5 * outside);
}

TEST_F(PicturesTest, ASweepIsOneSheetAndFrames) {
  write_cloud("point.csv", {{1e-4, 2e-4, -0.1, 1}});
  (void)run_json({"hologram", path("point.csv"), "-o", path("a.png"), "--resolution", "161x121", "--pitch", "8um",
                  "--keep-coordinates"});
  const auto sheet = run_json(
      {"reconstruct", path("a.png"), "-o", path("sweep.png"), "--sweep", "9cm:11cm:5", "--frames", path("f_%02d.png")});
  EXPECT_EQ(sheet["distances_m"].size(), 5u);
  EXPECT_EQ(sheet["outputs"].size(), 6u);
  const auto pixels = pixels_of(path("sweep.png"));
  EXPECT_GE(pixels.nx, 2 * 161);
  EXPECT_GE(pixels.ny, 2 * 121);
  for (int i = 0; i < 5; ++i) {
    const auto frame = pixels_of(path(fmt::format("f_{:02d}.png", i)));
    EXPECT_EQ(frame.nx, 161);
    EXPECT_EQ(frame.ny, 121);
  }
  (void)run_json({"reconstruct", path("a.png"), "-o", path("g_%d.npy"), "--sweep", "9cm:11cm:5", "--linear"});
  std::vector<double> peak;
  for (int i = 0; i < 5; ++i) {
    const auto frame = pixels_of(path(fmt::format("g_{}.npy", i)));
    const Spot spot = brightest(frame);
    peak.push_back(frame.at(spot.row, spot.col));
  }
  EXPECT_EQ(std::max_element(peak.begin(), peak.end()) - peak.begin(), 2);
}

TEST_F(PicturesTest, ThreeColoursComeTogetherAgain) {
  // A red point on the left, a white one in the middle, a blue one on the right.
  write("colours.csv", "x,y,z,r,g,b\n-0.0003,0,-0.1,255,0,0\n0,0,-0.1,255,255,255\n0.0002,0,-0.1,0,0,255\n");
  const auto holograms = run_json({"hologram", path("colours.csv"), "-o", path("c.png"), "--resolution", "201x101",
                                   "--pitch", "8um", "--keep-coordinates", "--rgb", "638nm,520nm,450nm"});
  EXPECT_EQ(holograms["outputs"], (nlohmann::json{path("c_r.png"), path("c_g.png"), path("c_b.png")}));
  EXPECT_DOUBLE_EQ(holograms["holograms"][2]["wavelength_m"].get<double>(), 450e-9);
  // Inputs in the wrong order: the files state their channels.
  (void)run_json(
      {"reconstruct", path("c_b.png"), path("c_r.png"), path("c_g.png"), "-o", path("colour.npy"), "--linear"});
  const auto picture = pixels_of(path("colour.npy"));
  ASSERT_EQ(picture.channels, 3);
  const auto brightness = [&](double x_m, std::int64_t channel) {
    const Spot spot = pixel_of(x_m, 0, 201, 101, pitch_m);
    double most = 0;
    for (int dx = -1; dx <= 1; ++dx) most = std::max(most, picture.at(spot.row, spot.col + dx, channel));
    return most;
  };
  EXPECT_GT(brightness(-0.0003, 0), 5 * brightness(-0.0003, 2));
  EXPECT_GT(brightness(0.0002, 2), 5 * brightness(0.0002, 0));
  EXPECT_GT(brightness(0, 1), 5 * brightness(-0.0003, 1));
  EXPECT_GT(brightness(0, 1), 5 * brightness(0.0002, 1));
  (void)run_json({"reconstruct", path("c_%c.png"), "-o", path("colour.png")});
  EXPECT_EQ(pixels_of(path("colour.png")).channels, 3);
}

// A pupil at the right shows a nearer point further to the left than a pupil at the left.
TEST_F(PicturesTest, AnApertureShowsPerspective) {
  write_cloud("point.csv", {{0, 0, -0.06, 1}});
  (void)run_json({"hologram", path("point.csv"), "-o", path("a.ohc"), "--resolution", "401x301", "--pitch", "8um",
                  "--keep-coordinates"});
  const auto column = [&](const std::string& aperture) {
    (void)run_json({"reconstruct", path("a.ohc"), "-o", path("seen.npy"), "--linear", "--distance", "8cm", "--aperture",
                    aperture, "--viewer", "30cm"});
    const auto picture = pixels_of(path("seen.npy"));
    double sum = 0;
    double moment = 0;
    for (std::int64_t row = 0; row < picture.ny; ++row) {
      for (std::int64_t col = 0; col < picture.nx; ++col) {
        sum += picture.at(row, col);
        moment += picture.at(row, col) * static_cast<double>(col);
      }
    }
    return moment / sum;
  };
  const double left = column("-3mm,0mm:2mm");
  const double right = column("3mm,0mm:2mm");
  // The line of sight from (x_e, 30 cm) through the point 6 cm behind the panel meets the plane at 8 cm at
  // -x_e 2 cm / 36 cm: 6 mm between the pupils give 0.333 mm or 42 pixels.
  EXPECT_NEAR(left - right, 6e-3 * 0.02 / 0.36 / pitch_m, 6);
}

TEST_F(PicturesTest, TurnAndTiltMoveTheObject) {
  write_cloud("two.csv", {{4e-4, 3e-4, -0.08, 1}, {-4e-4, -3e-4, -0.08, 0.2}});  // the upper right one is the brighter
  const auto look = [&](const std::vector<std::string>& options) {
    std::vector<std::string> arguments{"hologram", path("two.csv"), "-o",  path("a.png"),       "--resolution",
                                       "321x243",  "--pitch",       "8um", "--keep-coordinates"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    (void)run_json(arguments);
    return run_json({"info", path("a.png")})["metadata"];
  };
  const auto turned = look({"--turn", "180deg"});
  EXPECT_NEAR(turned["distance_max_m"].get<double>() - turned["distance_min_m"].get<double>(), 0, 1e-9);
  (void)run_json({"reconstruct", path("a.png"), "-o", path("focus.npy"), "--linear"});
  expect_spot(pixels_of(path("focus.npy")), -4e-4, 3e-4, "turned by half");

  const auto tilted = look({"--tilt", "90deg"});  // the upper point comes to the front
  EXPECT_NEAR(tilted["distance_min_m"].get<double>(), 0.08 - 3e-4, 1e-8);
  EXPECT_NEAR(tilted["distance_max_m"].get<double>(), 0.08 + 3e-4, 1e-8);
  (void)run_json({"reconstruct", path("a.png"), "-o", path("focus.npy"), "--linear", "--distance", "7.97cm"});
  expect_spot(pixels_of(path("focus.npy")), 4e-4, 0, "tilted by a quarter");
}

TEST_F(PicturesTest, FieldsGoThroughEveryFormat) {
  write_cloud("point.csv", {{1e-4, 2e-4, -0.1, 1}});
  std::vector<std::complex<float>> first;
  for (const char* name : {"a.h5", "a.npy", "a.ohc"}) {
    if (!can_write(name)) continue;
    (void)run_json({"hologram", path("point.csv"), "-o", path(name), "--resolution", "65x43", "--pitch", "8um",
                    "--keep-coordinates"});
    const auto file = read_field(path(name));
    ASSERT_EQ(file.values.shape(), (Shape<2>{43, 65})) << name;
    const auto values = file.values.host();
    if (first.empty()) first.assign(values.begin(), values.end());
    EXPECT_TRUE(std::equal(values.begin(), values.end(), first.begin())) << name;
  }
}

}  // namespace
}  // namespace holotone::test
