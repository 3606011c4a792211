// Holograms of pictures with depth, computed and reconstructed by the program.
#include <holotone/io/atomic_file.hpp>
#include <holotone/io/npy_detail.hpp>
#include <holotone/recipes/metadata_keys.hpp>
#include <tests/cli/journal.hpp>
#include <tests/cli/picture.hpp>
#include <tests/io/float_pictures.hpp>
#include <tests/support/program.hpp>

namespace holotone::test {
namespace {

class LayersTest : public ProgramTest {
 protected:
  static constexpr std::int64_t nx = 8;
  static constexpr std::int64_t ny = 6;

  /// A far white pixel at the upper left, and a near one at the lower right.
  LayersTest() {
    Image two = grey8(
        [](std::int64_t row, std::int64_t col) { return (row == 1 && col == 2) || (row == 4 && col == 6) ? 255 : 0; });
    write_image(path("two.png"), two);
    write_image(path("codes.png"), grey8([](std::int64_t row, std::int64_t) { return row < 3 ? 255 : 51; }));
  }

  template <class Value>
  static Image grey8(const Value& value) {
    Image image{Array<std::uint8_t, 3>({ny, nx, 1}), {}};
    auto& pixels = std::get<Array<std::uint8_t, 3>>(image.pixels);
    for (std::int64_t row = 0; row < ny; ++row) {
      for (std::int64_t col = 0; col < nx; ++col)
        pixels.data()[row * nx + col] = static_cast<std::uint8_t>(value(row, col));
    }
    return image;
  }

  /// Rows 0 to 2 and 3 to 5 of a float32 array.
  std::string write_array(const std::string& name, float upper, float lower) const {
    std::string bytes = io::npy_header("<f4", {ny, nx});
    for (std::int64_t i = 0; i < ny * nx; ++i) {
      const float value = i < ny * nx / 2 ? upper : lower;
      bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
    }
    return write(name, bytes);
  }

  [[nodiscard]] std::vector<std::string> line(const std::string& output, const std::vector<std::string>& more,
                                              const std::string& image = "two.png") const {
    std::vector<std::string> arguments{"hologram",     "--image", path(image), "-o",  path(output), "--device", "cpu",
                                       "--resolution", "96x80",   "--pitch",   "8um", "--size",     "0.64mm"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }

  [[nodiscard]] std::vector<double> field_of(const std::string& name) const {
    std::vector<double> values;
    const FieldFile file = read_field(path(name));
    for (const auto value : file.values.host()) {
      values.push_back(static_cast<double>(value.real()));
      values.push_back(static_cast<double>(value.imag()));
    }
    return values;
  }

  [[nodiscard]] std::vector<std::string> by_codes() const {
    return {"--depth", path("codes.png"), "--depth-range", "8mm,20mm"};
  }
};

// 0.64 mm over 8 pixels: 10 panel pixels each. Code 255 is 20 mm; code 51, a fifth of the range, is 10.4 mm.
TEST_F(LayersTest, EachPixelIsInFocusAtItsDistanceAndPlace) {
  auto arguments = by_codes();
  arguments.insert(arguments.end(), {"--phase", "smooth", "--layers", "5"});
  const auto made = run_json(line("h.npy", arguments));
  EXPECT_EQ(made["layers"], 2);
  EXPECT_EQ(made["layer_spacing"], "inverse");
  EXPECT_NEAR(made["distance_min_m"].get<double>(), 0.0104, 1e-8);
  EXPECT_NEAR(made["distance_max_m"].get<double>(), 0.02, 1e-8);
  EXPECT_EQ(made["depth"], path("codes.png"));
  const struct {
    const char* distance;
    std::int64_t row, col;
  } spots[] = {{"20mm", 1, 2}, {"10.4mm", 4, 6}};
  for (const auto& spot : spots) {
    ASSERT_EQ(run({"reconstruct", path("h.npy"), "-o", path("seen.npy"), "--linear", "--distance", spot.distance,
                   "--pitch", "8um", "--wavelength", "532nm", "--device", "cpu"})
                  .exit_code,
              0);
    const auto seen = pixels_of(path("seen.npy"));
    // The picture's 8 x 6 pixels are centred in 96 x 80. A magnified pixel's tent sums to 10 x 10 panel pixels in
    // amplitude squared.
    const Spot middle{10 * spot.row + 10 + 5, 10 * spot.col + 8 + 5};
    double inside = 0;
    double beside = 0;
    for (std::int64_t row = -14; row <= 14; ++row) {
      for (std::int64_t col = -14; col <= 14; ++col) {
        if (middle.col + col >= seen.nx) continue;
        const bool tent = std::max(std::abs(row), std::abs(col)) <= 10;
        (tent ? inside : beside) += seen.at(middle.row + row, middle.col + col);
      }
    }
    std::printf("focused at %s: %.1f of 100 in place, %.1f around\n", spot.distance, inside, beside);
    EXPECT_NEAR(inside, 100, 15);
    EXPECT_LT(beside, 5);
  }
}

TEST_F(LayersTest, EveryKindOfDepthIsTheSameScene) {
  const std::vector<std::string> smooth{"--phase", "smooth"};
  const auto made = [&](const std::string& name, const std::vector<std::string>& depth) {
    auto arguments = depth;
    arguments.insert(arguments.end(), smooth.begin(), smooth.end());
    const auto json = run_json(line(name, arguments));
    EXPECT_NEAR(json["distance_max_m"].get<double>(), 0.08, 1e-7) << name;
    EXPECT_NEAR(json["distance_min_m"].get<double>(), 0.05, 1e-7) << name;
    return field_of(name);
  };
  const std::string npy = write_array("depth.npy", 0.08F, 0.05F);
  const auto expected = made("npy.npy", {"--depth", npy});
  // Output of numpy.savez_compressed for the same array.
  const char packed[] =
      "504b0304140000000800000021009a9b6f585200000040010000090000006172725f302e6e70799bec17ea1b10c9c850c650"
      "ad9e925a9c5ca46ea5a06e9366a2aea3a09e965f54529498179f5f94920a12774bcc294e058a17672416a402f91a663a0a16"
      "9a3a0ab50a64032eaeeb8b6d6989cf9ef1a1290600504b01021403140000000800000021009a9b6f58520000004001000009"
      "00000000000000000000008001000000006172725f302e6e7079504b0506000000000100010037000000790000000000";
  std::string npz;
  for (std::size_t i = 0; i + 1 < sizeof(packed) - 1; i += 2) {
    npz += static_cast<char>(std::stoi(std::string(packed + i, 2), nullptr, 16));
  }
  EXPECT_EQ(made("npz.npy", {"--depth", write("depth.npz", npz)}), expected);
  npz[60] = static_cast<char>(npz[60] ^ 4);
  expect_refused(line("h.npy", {"--depth", write("damaged.npz", npz)}), {"damaged.npz", "arr_0.npy"});
  write_array("metres.npy", 4, 2.5F);
  // Metres of float32 are off by 2e-9 m, 0.02 rad; what --depth-range places is not.
  const auto ranged = made("range.npy", {"--depth", path("metres.npy"), "--depth-range", "5cm,8cm"});
  ASSERT_EQ(ranged.size(), expected.size());
  for (std::size_t i = 0; i < ranged.size(); ++i) EXPECT_NEAR(ranged[i], expected[i], 1e-2) << i;
  EXPECT_EQ(made("moved.npy", {"--depth", write_array("back.npy", 1.03F, 1), "--distance", "6.5cm"}).size(),
            expected.size());
  write_image(path("near.png"), grey8([](std::int64_t row, std::int64_t) { return row < 3 ? 0 : 255; }));
  EXPECT_EQ(made("white.npy", {"--depth", path("near.png"), "--depth-range", "8cm,5cm"}), ranged);  // white is near
  if (can_write("depth.tif")) {
    Image tiff{Array<float, 3>({ny, nx, 1}), {}};
    auto& pixels = std::get<Array<float, 3>>(tiff.pixels);
    for (std::int64_t i = 0; i < ny * nx; ++i) pixels.data()[i] = i < ny * nx / 2 ? 0.08F : 0.05F;
    write_image(path("depth.tif"), tiff);
    EXPECT_EQ(made("tif.npy", {"--depth", path("depth.tif")}), expected);
  }
}

// Z = b f / (d + doffs): 3 m and 2 m. At the mean, 2.5 m, the picture is 8 Z / f = 0.2 m wide, scaled to 0.64 mm.
TEST_F(LayersTest, DisparitiesKeepTheScenesProportions) {
  write_array("disparity.npy", 20 - 5, 30 - 5);
  const auto made =
      run_json(line("h.npy", {"--depth", path("disparity.npy"), "--disparity", "100,0.6m,5", "--distance", "4cm"}));
  EXPECT_NEAR(made["depth_scale"].get<double>(), 0.64e-3 / 0.2, 1e-9);
  EXPECT_NEAR(made["distance_max_m"].get<double>(), 0.04 + 0.5 * 0.64e-3 / 0.2, 1e-8);
  EXPECT_NEAR(made["distance_min_m"].get<double>(), 0.04 - 0.5 * 0.64e-3 / 0.2, 1e-8);
}

TEST_F(LayersTest, HolesAreFilledAndCounted) {
  // Code 0 in the upper rows is filled with the farther of the two codes below, here the only one.
  write_image(path("holes.png"), grey8([](std::int64_t row, std::int64_t) { return row < 2 ? 0 : 100; }));
  const std::vector<std::string> range{"--depth", path("holes.png"), "--depth-range", "2cm,4cm"};
  auto made = run_json(line("h.npy", range));
  EXPECT_EQ(made["holes"], 16);
  EXPECT_EQ(made["layers"], 1);
  auto taken = range;
  taken.insert(taken.end(), {"--depth-hole", "none"});
  made = run_json(line("h.npy", taken));
  EXPECT_EQ(made["holes"], 0);
  EXPECT_EQ(made["layers"], 2);
  EXPECT_NEAR(made["distance_min_m"].get<double>(), 0.02, 1e-8);
  taken.back() = "100";
  made = run_json(line("h.npy", taken));
  EXPECT_EQ(made["holes"], 32);
  EXPECT_EQ(made["layers"], 1);
  const auto outcome = run(line("h.npy", range));
  EXPECT_NE(outcome.error.find("16 pixels of " + path("holes.png") + " without a depth"), std::string::npos)
      << outcome.error;
}

TEST_F(LayersTest, UnitsAndKindsOfDepth) {
  // Codes 255 and 51, of 0.1 mm: 25.5 and 5.1 mm.
  auto made = run_json(line("h.npy", {"--depth", path("codes.png"), "--depth-unit", "0.1mm"}));
  EXPECT_NEAR(made["distance_min_m"].get<double>(), 5.1e-3, 1e-9);
  EXPECT_NEAR(made["distance_max_m"].get<double>(), 25.5e-3, 1e-9);
  // 1/d from 1/4cm (code 0) to 1/2cm (255): code 51 is a fifth of the way.
  made = run_json(line("h.npy", {"--depth", path("codes.png"), "--depth-kind", "inverse", "--depth-range", "4cm,2cm"}));
  EXPECT_NEAR(made["distance_min_m"].get<double>(), 0.02, 1e-8);
  EXPECT_NEAR(made["distance_max_m"].get<double>(), 1 / (25 + 0.2 * 25), 1e-8);
  expect_refused(line("h.npy", {"--depth", path("codes.png"), "--depth-unit", "3"}),
                 {"--depth-unit: expected a length, pixels or one over a length", "got '3'"});
  expect_refused(line("h.npy", {"--depth", path("codes.png"), "--depth-unit", "1/256 px"}),
                 {"--depth-unit: expected a length such as 1mm, or --disparity for pixels, got '1/256 px'"});
  expect_refused(line("h.npy", {"--depth", path("codes.png"), "--depth-unit", "1mm", "--disparity", "100,1cm"}),
                 {"--depth-unit: expected pixels"});
  expect_refused(line("h.npy", {"--depth", path("codes.png")}), {"--depth-range: expected NEAR,FAR for the codes of"});
}

TEST_F(LayersTest, APictureOfFloatsIsLight) {
  std::vector<float> light(static_cast<std::size_t>(nx * ny), 0.0F);
  light[1 * 8 + 2] = light[4 * 8 + 6] = 1;  // as the codes 255 of two.png
  write("two.pfm", io_fixtures::pfm_of(nx, ny, 1, light));
  EXPECT_EQ(run(line("codes.npy", {"--distance", "2cm"})).exit_code, 0);
  EXPECT_EQ(run(line("light.npy", {"--distance", "2cm"}, "two.pfm")).exit_code, 0);
  EXPECT_EQ(field_of("light.npy"), field_of("codes.npy"));
  const io_fixtures::Exr exr{{{"Y", 1}}, {0, 0, 7, 5}, {0, 0, 7, 5}, 2};
  write("two.exr", io_fixtures::exr_of(
                       exr, [&](std::size_t, int x, int y) { return light[static_cast<std::size_t>(8 * y + x)]; }));
  const auto result = run(line("light.npy", {"--distance", "2cm"}, "two.exr"));
  if (result.error.find("a build with OpenEXR") != std::string::npos) GTEST_SKIP() << "built without OpenEXR";
  EXPECT_EQ(result.exit_code, 0) << result.error;
  EXPECT_EQ(field_of("light.npy"), field_of("codes.npy"));
}

TEST_F(LayersTest, ATailAndNotesReachTheConsole) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < ny * nx; ++i) {
    values.push_back(i == 0 ? 90 : i == 1 ? -1 : 0.02F + 1e-4F * static_cast<float>(i));
  }
  const std::string bytes = io_fixtures::pfm_of(nx, ny, 1, values, "-3");
  const std::string map = write("depth.pfm", bytes);
  const std::vector<std::string> even{"--depth", map, "--layer-spacing", "distance"};
  const auto warned = run(line("h.npy", even));
  EXPECT_EQ(warned.exit_code, 0) << warned.error;
  for (const std::string words : {"depth.pfm: its scale 3 is not applied to the values",
                                  "depth.pfm: 2.13 % of the pixels, of value 90, squeeze all others, 0.0202 to 0.0247, "
                                  "into one layer; --depth-hole far leaves them out, --depth-hole none keeps them",
                                  "1 pixel of ", "without a depth (1 negative): filled"}) {
    EXPECT_NE(warned.error.find(words), std::string::npos) << words << "\n" << warned.error;
  }
  auto far = even;
  far.insert(far.end(), {"--depth-hole", "far"});
  const auto freed = run(line("h.npy", far));
  EXPECT_EQ(freed.error.find("squeeze"), std::string::npos) << freed.error;
  EXPECT_NE(freed.error.find("2 pixels of "), std::string::npos) << freed.error;
  EXPECT_NE(freed.error.find("(1 negative, 1 far)"), std::string::npos) << freed.error;
}

TEST_F(LayersTest, ASeedRepeats) {
  const auto with_seed = [&](const char* seed) {
    auto arguments = by_codes();
    arguments.insert(arguments.end(), {"--seed", seed});
    EXPECT_EQ(run(line("h.npy", arguments)).exit_code, 0);
    return field_of("h.npy");
  };
  const auto first = with_seed("1");
  EXPECT_EQ(with_seed("1"), first);
  EXPECT_NE(with_seed("2"), first);
}

// A scene through the panel's plane, a flat one without --depth, three colours, and codes of a modulator.
TEST_F(LayersTest, WorksWithWhatHologramHas) {
  auto made = run_json(line("h.npy", {"--depth", path("codes.png"), "--depth-range=-1cm,1cm"}));
  EXPECT_EQ(made["layer_spacing"], "distance");
  made = run_json(line("flat.npy", {"--distance=-2cm"}));
  EXPECT_EQ(made["layers"], 1);
  EXPECT_EQ(made["distance_min_m"], -0.02);
  EXPECT_EQ(made.count("depth"), 0u);
  Image colours{Array<std::uint8_t, 3>({ny, nx, 3}), {}};
  auto& pixels = std::get<Array<std::uint8_t, 3>>(colours.pixels);
  for (std::int64_t i = 0; i < pixels.size(); ++i)
    pixels.data()[i] = static_cast<std::uint8_t>(i % 3 == 0 ? 200 : i % 3 == 1 ? 90 : 0);
  write_image(path("colours.png"), colours);
  auto arguments = by_codes();
  arguments.insert(arguments.end(), {"--rgb", "638nm,520nm,450nm"});
  made = run_json(line("c_%c.png", arguments, "colours.png"));
  EXPECT_EQ(made["outputs"].size(), 3u);
  EXPECT_EQ(made["warnings"].size(), 1u) << made["warnings"];  // no blue
  EXPECT_EQ(run({"reconstruct", path("c_%c.png"), "-o", path("seen.png")}).exit_code, 0);
  const auto seen = pixels_of(path("seen.png"));
  EXPECT_EQ(seen.channels, 3);
  arguments = by_codes();
  arguments.insert(arguments.end(), {"--encode", "double-phase", "--carrier", "12px"});
  const auto outcome = run(line("h.bmp", arguments));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_NE(outcome.error.find("BMP holds no metadata; reconstruct it with: holotone reconstruct " + path("h.bmp")),
            std::string::npos)
      << outcome.error;
  const auto cut = run_json({"hologram", "--image", path("two.png"), "-o", path("cut.npy"), "--resolution", "48x30",
                             "--pitch", "8um", "--size", "0.64mm", "--device", "cpu"});
  EXPECT_NEAR(cut["beyond"].get<double>(), 1 - 0.6 * 0.5, 1e-9);
  EXPECT_NE(cut["warnings"].dump().find("70 % of"), std::string::npos) << cut["warnings"];
}

TEST_F(LayersTest, TheFileSaysWhatItIs) {
  if (!can_write("h.h5")) GTEST_SKIP();
  ASSERT_EQ(run(line("h.h5", by_codes())).exit_code, 0);
  const auto metadata = read_field(path("h.h5")).metadata;
  EXPECT_EQ(metadata.at("layers"), "2");
  EXPECT_EQ(metadata.at("layer_spacing"), "inverse");
  EXPECT_EQ(metadata.at("phase"), "random");
  EXPECT_EQ(metadata.at("seed"), "0");
  EXPECT_EQ(metadata.at("encoding"), "complex");
  EXPECT_NEAR(std::stod(metadata.at("distance_m")), 0.0152, 1e-8);
  EXPECT_EQ(run({"reconstruct", path("h.h5"), "-o", path("seen.png")}).exit_code, 0);  // requires no flags
}

// Two flat pictures: each is in focus at its distance, and the nearer hides the farther wherever it has light.
TEST_F(LayersTest, AStackIsTheSameSceneAsItsDepths) {
  const auto only = [&](const std::string& name, std::int64_t row, std::int64_t col) {
    write_image(path(name), grey8([=](std::int64_t y, std::int64_t x) { return y == row && x == col ? 255 : 0; }));
    return path(name);
  };
  const std::string far = only("far.png", 1, 2);
  const std::string near = only("near.png", 4, 6);
  const auto stacked = [&](const std::string& output, const std::vector<std::string>& pictures) {
    std::vector<std::string> arguments{"hologram", "--stack"};
    arguments.insert(arguments.end(), pictures.begin(), pictures.end());
    arguments.insert(arguments.end(), {"-o", path(output), "--device", "cpu", "--resolution", "96x80", "--pitch", "8um",
                                       "--size", "0.64mm", "--phase", "smooth"});
    return run_json(arguments);
  };
  const auto made = stacked("stack.npy", {near + "@10.4mm", far + "@20mm"});
  EXPECT_EQ(made["layers"], 2);
  EXPECT_EQ(made["inputs"], (std::vector<std::string>{near, far}));
  EXPECT_NEAR(made["distance_min_m"].get<double>(), 0.0104, 1e-8);
  EXPECT_NEAR(made["distance_max_m"].get<double>(), 0.02, 1e-8);
  // Black pixels of a picture with depth hide what is behind them; those of a stack do not. Here nothing is behind
  // them.
  auto arguments = by_codes();
  arguments.insert(arguments.end(), {"--phase", "smooth", "--layers", "5"});
  (void)run_json(line("depth.npy", arguments));
  const auto stack = field_of("stack.npy");
  const auto depth = field_of("depth.npy");
  double difference = 0;
  double all = 0;
  for (std::size_t i = 0; i < stack.size(); ++i) {
    difference += std::pow(stack[i] - depth[i], 2);
    all += depth[i] * depth[i];
  }
  std::printf("stack beside depth: %.3g\n", std::sqrt(difference / all));
  EXPECT_LT(std::sqrt(difference / all), 0.1);
  if (!can_write("stack.h5")) GTEST_SKIP() << "a build without HDF5";
  (void)stacked("stack.h5", {near + "@-10mm", far + "@20mm"});
  const auto metadata = read_field(path("stack.h5")).metadata;
  EXPECT_NEAR(std::stod(metadata.at("distance_m")), -1e-2, 1e-8);
  EXPECT_NEAR(std::stod(metadata.at("distance_min_m")), -1e-2, 1e-8);
  EXPECT_EQ(metadata.at("layers"), "2");
  ASSERT_EQ(run({"propagate", path("stack.h5"), "-o", path("moved.h5"), "--distance", "5mm"}).exit_code, 0);
  const auto planes_m = checked_numbers("moved.h5", read_field(path("moved.h5")).metadata, "distances_m");
  ASSERT_EQ(planes_m.size(), 2u);
  EXPECT_NEAR(planes_m[0], -5e-3, 1e-8);
  EXPECT_NEAR(planes_m[1], 25e-3, 1e-8);
}

TEST_F(LayersTest, AReconstructionFocusesOnTheFirstPictureAndNamesTheOthers) {
  write_image(path("near.png"), grey8([](std::int64_t y, std::int64_t) { return y == 4 ? 255 : 0; }));
  write_image(path("far.png"), grey8([](std::int64_t y, std::int64_t) { return y == 1 ? 255 : 0; }));
  for (const char* command : {"hologram", "optimize"}) {
    std::vector<std::string> made{command,
                                  "--stack",
                                  path("far.png") + "@20mm",
                                  path("near.png") + "@10mm",
                                  "-o",
                                  path("stack.png"),
                                  "--device",
                                  "cpu",
                                  "--resolution",
                                  "96x80",
                                  "--pitch",
                                  "8um"};
    if (std::string_view(command) == "optimize") made.insert(made.end(), {"--iterations", "1"});
    ASSERT_EQ(run(made).exit_code, 0);
    const std::vector<std::string> shown{"reconstruct", path("stack.png"), "-o", path("seen.png")};
    const auto seen = run(shown);
    EXPECT_NE(seen.output.find("focus at 2 cm"), std::string::npos) << seen.output;
    EXPECT_NE(seen.error.find("in focus at 1 cm: --distance"), std::string::npos) << seen.error;
    auto nearer = shown;
    nearer.insert(nearer.end(), {"--distance", "1cm"});
    EXPECT_EQ(run(nearer).error.find("in focus at"), std::string::npos);
  }
}

TEST_F(LayersTest, TheFileStatesThePixelsThatThePictureFills) {
  write_image(path("photo.png"), grey8([](std::int64_t y, std::int64_t x) { return 20 + 20 * y + 3 * x; }));
  const auto pixels = shape_of(read_image(path("photo.png")));
  // Half of a panel of the picture's proportions.
  const std::int64_t rows = 16 * pixels[0];
  const std::int64_t columns = 16 * pixels[1];
  const nlohmann::json region{columns / 4, rows / 4, columns / 2, rows / 2};
  const auto seen = [&](const std::string& name, std::vector<std::string> more) {
    more.insert(more.begin(), {"reconstruct", path(name), "-o", path("seen.png"), "--against", path("photo.png")});
    return run_json(more)["against"]["pictures"][0];
  };
  for (const auto& [name, width] : {std::pair{"slm.png", 8}, {"all.h5", 8}, {"beyond.png", 40}}) {
    if (std::string_view(name).ends_with(".h5") && !can_write(name)) continue;
    ASSERT_EQ(run({"hologram", "--image", path("photo.png"), "-o", path(name), "--device", "cpu", "--resolution",
                   fmt::format("{}x{}", columns, rows), "--pitch", "8um", "--distance", "5mm", "--phase", "smooth",
                   "--size", fmt::format("{}um", 8 * width * std::max(pixels[0], pixels[1]))})
                  .exit_code,
              0);
    const auto compared = seen(name, {});
    if (width > 16) {  // the whole panel shows a part of the picture
      EXPECT_EQ(compared["signal_region"], (nlohmann::json{0, 0, columns, rows}));
      continue;
    }
    EXPECT_EQ(compared["signal_region"], region);
    const auto stated = fmt::format("{}x{}+{}+{}", columns / 2, rows / 2, columns / 4, rows / 4);
    EXPECT_EQ(compared["psnr_db"], seen(name, {"--signal-region", stated})["psnr_db"]);
    if (std::string_view(name).ends_with(".h5")) {
      EXPECT_GT(compared["psnr_db"], 20);
    }
  }
}

TEST_F(LayersTest, StacksThatAreNoneAreRefused) {
  const auto refused = [&](const std::vector<std::string>& more, std::initializer_list<const char*> words) {
    std::vector<std::string> arguments{"hologram", "-o",      path("h.npy"), "--resolution",
                                       "96x80",    "--pitch", "8um",         "--stack"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    expect_refused(arguments, words);
  };
  const std::string two = path("two.png") + "@1cm";
  refused({path("two.png")}, {"--stack", "PICTURE@DISTANCE", "two.png"});
  refused({path("two.png") + "@1"}, {"--stack", "unit"});
  refused({"@1cm"}, {"--stack", "PICTURE@DISTANCE"});
  refused({path("none.png") + "@1cm"}, {"none.png"});
  refused({two, "--distance", "1cm"}, {"--distance", "--image", "--stack"});
  refused({two, "--depth", path("codes.png")}, {"--depth", "--image"});
  refused({two, "--hogel", "16"}, {"--hogel", "--image"});
  refused({two, "--hide"}, {"--hide", "points"});
  refused({two, "--image", path("two.png")}, {"--image", "--stack"});
  refused({two, "-o", path("two.png"), "--encode", "phase"}, {"--output"});
}

// The same scene by hogels, which emit its rays. Each picture pixel covers 10 x 10 panel pixels; a hogel's ray at 10.4
// mm is 4 panel pixels wide.
TEST_F(LayersTest, HogelsShowEachPixelAtItsDistanceAndPlace) {
  auto arguments = by_codes();
  arguments.insert(arguments.end(), {"--hogel", "40", "--layers", "5"});
  const auto made = run_json(line("h.npy", arguments));
  EXPECT_EQ(made["method"], "layered");
  EXPECT_EQ(made["hogels"], (std::vector<int>{3, 2}));
  EXPECT_EQ(made["layers"], 2);
  EXPECT_EQ(made["input"], path("two.png"));
  EXPECT_EQ(made["depth"], path("codes.png"));
  EXPECT_NEAR(made["distance_min_m"].get<double>(), 0.0104, 1e-8);
  for (const auto& [distance, row, col] : {std::tuple{"20mm", 1, 2}, std::tuple{"10.4mm", 4, 6}}) {
    ASSERT_EQ(run({"reconstruct", path("h.npy"), "-o", path("seen.npy"), "--linear", "--distance", distance, "--pitch",
                   "8um", "--wavelength", "532nm", "--device", "cpu"})
                  .exit_code,
              0);
    const auto seen = pixels_of(path("seen.npy"));
    double inside = 0;
    double all = 0;
    for (std::int64_t y = 0; y < seen.ny; ++y) {
      for (std::int64_t x = 0; x < seen.nx; ++x) {
        if ((y < 40) != (row < 3)) continue;  // half of the panel with the other pixel
        all += seen.at(y, x);
        if (std::abs(y - (10 * row + 15)) <= 9 && std::abs(x - (10 * col + 13)) <= 9) inside += seen.at(y, x);
      }
    }
    std::printf("by hogels, focused at %s: %.1f %% in place\n", distance, 100 * inside / all);
    EXPECT_GT(inside, 0.6 * all);
  }
  if (!can_write("h.h5")) GTEST_SKIP() << "a build without HDF5";
  (void)run_json(line("h.h5", arguments));
  const auto metadata = read_field(path("h.h5")).metadata;
  EXPECT_EQ(metadata.at("method"), "stereogram, layered");
  EXPECT_EQ(metadata.at("layers"), "2");
  EXPECT_EQ(metadata.at("layer_spacing"), "inverse");
  EXPECT_NEAR(std::stod(metadata.at("distance_m")), 0.0152, 1e-8);
}

// 64 um^2 pixels, 532 nm: 10.4 mm require hogels of 16 (the minimum), 20 cm require 256, and the panel allows at most
// 16: a quarter of 96 is 24.
TEST_F(LayersTest, HogelsFitTheNearestDistance) {
  auto arguments = by_codes();
  arguments.insert(arguments.end(), {"--fringe", "16um"});
  EXPECT_EQ(run_json(line("h.npy", arguments))["hogel_px"], 16);
  const auto large = [&](const std::string& distance) {
    return run_json({"hologram", "--image", path("two.png"), "-o", path("l.npy"), "--device", "cpu", "--resolution",
                     "4096x16", "--pitch", "8um", "--distance", distance, "--fringe", "16um"})["hogel_px"];
  };
  EXPECT_EQ(large("20cm"), 256);  // 415
  EXPECT_EQ(large("-20cm"), 256);
  EXPECT_EQ(large("10m"), 1024);
  const auto near = run(line("h.npy", {"--hogel", "96", "--distance", "5mm"}));
  EXPECT_EQ(near.exit_code, 0);
  EXPECT_NE(near.error.find("--hogel 16 fits"), std::string::npos) << near.error;
}

// Rows of other pixels, or of the same at another size, are not resumed.
TEST_F(LayersTest, StoppedHogelsGoOnOnlyForTheSameScene) {
  const auto arguments = [&](const std::string& size, const std::string& output) {
    return std::vector<std::string>{
        "hologram",     "--image",   path("two.png"), "-o",  path(output), "--device", "cpu",    "--distance", "20mm",
        "--resolution", "1024x2048", "--pitch",       "2um", "--hogel",    "64",       "--size", size};
  };
  const auto resumed_after = [&](const std::string& size) -> std::int64_t {
    RunningProgram program(arguments(size, "h.npy"), captured_);
    if (stopped_when_it_grows(program, folder_ / ".h.npy.part.rows").exit_code == 0) return -1;
    const auto result = run(arguments("1.5mm", "h.npy"));
    EXPECT_EQ(result.exit_code, 0);
    if (result.error.find("are discarded") != std::string::npos) return 0;
    return result.error.find("resumed after") != std::string::npos ? 1 : -1;  // else stopped before the first row
  };
  const auto expected = [&] {
    (void)run_json(arguments("1.5mm", "whole.npy"));
    return content_of(path("whole.npy"));
  }();
  const auto of_another = resumed_after("2mm");
  if (of_another < 0) GTEST_SKIP() << "the run was over, or had no row, when it was stopped";
  EXPECT_EQ(of_another, 0);
  EXPECT_TRUE(content_of(path("h.npy")) == expected);
  fs::remove(path("h.npy"));
  const auto of_the_same = resumed_after("1.5mm");
  if (of_the_same < 0) GTEST_SKIP() << "the run was over, or had no row, when it was stopped";
  EXPECT_EQ(of_the_same, 1);
  EXPECT_TRUE(content_of(path("h.npy")) == expected);
}

TEST_F(LayersTest, HogelsOfAPictureInTheirColours) {
  Image colours{Array<std::uint8_t, 3>({ny, nx, 3}), {}};
  auto& codes = std::get<Array<std::uint8_t, 3>>(colours.pixels);
  std::fill_n(codes.data(), codes.size(), std::uint8_t{0});
  codes(2, 3, 0) = 255;
  write_image(path("red.png"), colours);
  const auto made =
      run_json(line("c.npy", {"--hogel", "16", "--distance", "1cm", "--rgb", "638nm,520nm,450nm"}, "red.png"));
  EXPECT_EQ(made["warnings"].size(), 2U) << made["warnings"];  // one each for green and blue
  const auto energy = [&](const std::string& name) {
    double sum = 0;
    for (const double value : field_of(name)) sum += value * value;
    return sum;
  };
  EXPECT_GT(energy("c_r.npy"), 0);
  EXPECT_EQ(energy("c_g.npy"), 0);
  EXPECT_EQ(energy("c_b.npy"), 0);
}

TEST_F(LayersTest, WhatHogelsDoNotTakeIsRefused) {
  const auto refused = [&](const std::string& output, const std::vector<std::string>& more,
                           std::initializer_list<const char*> words) { expect_refused(line(output, more), words); };
  refused("h.png", {"--hogel", "16"}, {"--output", ".h5", "holotone quantize"});
  refused("h.npy", {"--hogel", "16", "--encode", "phase"}, {"--encode", "complex"});
  refused("h.npy", {"--hogel", "16", "--phase", "smooth"}, {"--phase", "hogel by hogel"});
  refused("h.npy", {"--hogel", "193"}, {"--hogel", "192"});
  refused("h.npy", {"--depth", path("codes.png"), "--depth-range", "1cm,2cm", "--depth-hole", "256"},
          {"--depth-hole", "255"});
  refused("h.npy", {"--hogel", "16", "--hide"}, {"--hide", "two.png"});
  refused("h.npy", {"--viewer", "20mm:2mm", "--camera-pitch", "1mm"}, {"--camera-pitch", "--views"});
  refused("h.npy", {"--view-distance", "1m"}, {"--view-distance", "--views"});
  refused("h.npy", {"--fringe", "3um"}, {"--fringe"});
  refused("two.png", {"--hogel", "16"}, {"--output"});
  refused("h.npy", {"--hogel", "16", "--layers", "3"}, {"--layers", "--depth"});
  refused("h.npy", {"--hogel", "1"}, {"--hogel"});
}

TEST_F(LayersTest, BadInputIsRefusedInOneLine) {
  const auto refused = [&](const std::vector<std::string>& more, std::initializer_list<const char*> words,
                           const std::string& image = "two.png") { expect_refused(line("h.npy", more, image), words); };
  write_image(path("small.png"), Image{Array<std::uint8_t, 3>({1, 1, 1}), {}});
  Image coloured{Array<std::uint8_t, 3>({ny, nx, 3}), {}};
  for (std::int64_t i = 0; i < ny * nx * 3; ++i)
    std::get<Array<std::uint8_t, 3>>(coloured.pixels).data()[i] = static_cast<std::uint8_t>(i);
  write_image(path("coloured.png"), coloured);
  write_image(path("black.png"), grey8([](std::int64_t, std::int64_t) { return 0; }));
  write("broken.npz", "PK no archive of ours, and long enough");
  write_array("metres.npy", 0.08F, 0.05F);
  refused({"--depth", path("small.png"), "--depth-range", "1cm,2cm"}, {"small.png", "8 x 6 pixels", "1 x 1"});
  refused({"--depth", path("codes.png")}, {"--depth-range", "NEAR,FAR", "codes.png"});
  refused({"--depth", path("coloured.png"), "--depth-range", "1cm,2cm"}, {"coloured.png", "grey"});
  refused({"--depth", path("black.png"), "--depth-range", "1cm,2cm"}, {"black.png", "at least one pixel with a depth"});
  refused({"--depth", path("nothing.png"), "--depth-range", "1cm,2cm"}, {"nothing.png"});
  refused({"--depth", path("broken.npz")}, {"broken.npz", "NPZ"});
  refused({"--depth", path("metres.npy"), "--depth-range", "2cm,1cm"}, {"--depth-range", "NEAR before FAR"});
  refused({"--depth", path("metres.npy"), "--depth-hole=-7"}, {"--depth-hole", "-7"});
  refused({"--depth", path("codes.png"), "--depth-range", "1cm"}, {"--depth-range", "NEAR,FAR"});
  refused({"--depth", path("codes.png"), "--depth-range", "1cm,1cm"}, {"--depth-range", "differ"});
  refused({"--depth", path("codes.png"), "--depth-range", "1,2"}, {"--depth-range", "unit"});
  refused({"--depth", path("codes.png"), "--disparity", "100"}, {"--disparity", "FOCAL_PX,BASELINE"});
  refused({"--depth", path("codes.png"), "--disparity", "0,1m"}, {"--disparity", "'0'"});
  refused({"--depth", path("codes.png"), "--disparity", "100,1"}, {"--disparity", "unit"});
  for (const char* count : {"0", "-3", "many", "5000"}) {
    refused({"--depth", path("metres.npy"), "--layers", count}, {"--layers", count});
  }
  refused({"--depth", path("codes.png"), "--depth-range=-1cm,1cm", "--layer-spacing", "inverse"},
          {"--layer-spacing", "crosses"});
  refused({"--depth", path("metres.npy"), "--layer-spacing", "equal"}, {"--layer-spacing", "inverse or distance"});
  refused({"--phase", "rough"}, {"--phase", "random or smooth"});
  refused({"--layers", "3"}, {"--layers", "--depth"});
  refused({"--hide"}, {"--hide", "points or a mesh"});
  refused({"--method", "fast"}, {"--method", "--image"});
  refused({"--spin", "360deg:3"}, {"--spin"});
  refused({path("cloud.ply")}, {"--image"});
  refused({}, {"missing.png"}, "missing.png");
  expect_refused(line("h.png", {}, "black.png"), {"black.png", "some light"});
  expect_refused(line("%04d.npy", {}), {"--output", "counter"});
  expect_refused(line("two.png", {"--encode", "phase"}), {"--output", "two.png"});
  expect_refused({"hologram", path("c.ply"), "-o", path("h.npy"), "--depth", path("codes.png")},
                 {"--depth", "--image"});
  expect_refused({"hologram", "-o", path("h.npy")}, {"IN is required"});
}

TEST_F(LayersTest, ASignalLeavesNoFile) {
  Image ramp{Array<std::uint16_t, 3>({300, 400, 1}), {}};
  auto& codes = std::get<Array<std::uint16_t, 3>>(ramp.pixels);
  for (std::int64_t i = 0; i < codes.size(); ++i) codes.data()[i] = static_cast<std::uint16_t>(1 + i % 65535);
  write_image(path("ramp.png"), ramp);
  const auto before = files();
  RunningProgram program({"hologram", "--image", path("ramp.png"), "--depth", path("ramp.png"), "--depth-range",
                          "10cm,20cm", "--layers", "4096", "-o", path("h.npy"), "--device", "cpu"},
                         captured_);
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  ASSERT_TRUE(program.running()) << "the run was too short to be cancelled";
  program.send(SIGINT);
  const auto result = program.wait(60);
  EXPECT_EQ(result.exit_code, 130) << result.error;
  EXPECT_EQ(files(), before);
}

}  // namespace
}  // namespace holotone::test
