// holotone hologram --views: files, messages and rejected input.
#include <cmath>
#include <complex>
#include <cstring>
#include <holotone/optics/reconstruction.hpp>
#include <tests/cli/journal.hpp>
#include <tests/cli/smoe_pictures.hpp>

namespace holotone::test {
namespace {

class StereogramTest : public SmoeFitTest {
 protected:
  using ProgramTest::expect_refused;
  StereogramTest() { put_views(false); }

  [[nodiscard]] std::vector<std::string> hologram(const std::string& output, std::vector<std::string> more = {}) const {
    std::vector<std::string> all{"hologram", "--views", path("view_%v_%u.png"), "-o", path(output)};
    all.insert(all.end(), {"--device", "cpu", "--pitch", "2um"});
    all.insert(all.end(), more.begin(), more.end());
    const auto given = [&](const char* option) { return std::find(more.begin(), more.end(), option) != more.end(); };
    if (!given("--hogel")) all.insert(all.end(), {"--hogel", "16"});
    if (!given("--panel-size") && !given("--resolution")) all.insert(all.end(), {"--resolution", "96x64"});
    return all;
  }

  [[nodiscard]] std::vector<std::complex<float>> values(const std::string& name) const {
    const auto field = read_field(path(name));
    return {field.values.host().begin(), field.values.host().end()};
  }
};

TEST_F(StereogramTest, AFieldAndWhatItSaysOfItself) {
  const auto json = run_json(hologram("a.npy", {"--seed", "3", "--distance", "5mm"}));
  EXPECT_EQ(json["hogels"], (std::vector<int>{6, 4}));
  EXPECT_EQ(json["padding_px"], (std::vector<int>{0, 0}));
  EXPECT_EQ(json["cameras"], (std::vector<int>{3, 3}));
  EXPECT_EQ(json["method"], "layered");
  EXPECT_EQ(json["holograms"][0]["computed_share"], 1.0);
  EXPECT_GT(json["holograms"][0]["lit_share"].get<double>(), 0.05);
  EXPECT_TRUE(json["warnings"].empty()) << json["warnings"];
  // Default camera pitch: the cameras span half the panel. Default distance: every hogel's light (7.64 degrees) reaches
  // every camera. Default size: the panel's width seen from the middle camera.
  EXPECT_NEAR(json["camera_pitch_m"].get<double>(), 96 * 2e-6 / 4, 1e-12);
  const double distance = 1.5 * 96 * 2e-6 / (2 * std::tan(std::asin(532e-9 / 4e-6)));
  EXPECT_NEAR(json["view_distance_m"].get<double>(), distance, 1e-9);
  EXPECT_NEAR(json["size_m"].get<double>(), 96 * 2e-6 * (distance + 5e-3) / distance, 1e-9);
  EXPECT_EQ(read_field(path("a.npy")).values.shape(), (Shape<2>{64, 96}));

  if (!can_write("a.h5")) GTEST_SKIP() << "a build without HDF5";
  (void)run_json(hologram("a.h5", {"--seed", "3", "--distance", "5mm"}));
  const auto field = read_field(path("a.h5"));
  EXPECT_EQ(field.metadata.at("method"), "stereogram, layered");
  EXPECT_EQ(field.metadata.at("hogel_px"), "16");
  EXPECT_EQ(std::stod(field.metadata.at("distance_m")), 5e-3);
  EXPECT_EQ(values("a.h5"), values("a.npy"));
  EXPECT_EQ(run({"reconstruct", path("a.h5"), "-o", path("a.png"), "--device", "cpu"}).exit_code, 0);
}

TEST_F(StereogramTest, FewHogelsAreWorthAWord) {
  const auto said = [&](const std::vector<std::string>& more) {
    const auto result = run(hologram("a.npy", more));
    EXPECT_EQ(result.exit_code, 0) << result.error;
    return result.error;
  };
  // 532 nm x 5 mm / (32 x 2 um) and / (8 x 2 um)
  const auto words = said({"--hogel", "32", "--distance", "5mm"});
  EXPECT_NE(words.find("3 x 2 hogels"), std::string::npos) << words;
  EXPECT_NE(words.find("--hogel 8 joins"), std::string::npos) << words;
  EXPECT_NE(words.find("170 um wide instead of 42 um"), std::string::npos) << words;
  EXPECT_EQ(said({"--hogel", "8", "--distance", "5mm"}).find("hogels give"), std::string::npos);
}

TEST_F(StereogramTest, TheWindowItWasMadeForGoesOn) {
  if (!can_write("a.h5")) GTEST_SKIP() << "a build without HDF5";
  (void)run_json(hologram("a.h5", {"--distance", "5mm", "--viewer", "20mm:2mm"}));
  const auto codes = run({"quantize", path("a.h5"), "-o", path("codes.png"), "--device", "cpu"});
  ASSERT_EQ(codes.exit_code, 0) << codes.error;
  EXPECT_NE(codes.error.find("a.h5: --viewer 2cm:2mm"), std::string::npos) << codes.error;
  EXPECT_NE(codes.output.find("vded"), std::string::npos) << codes.output;
  EXPECT_EQ(read_image(path("codes.png")).metadata.at("viewer"), "2cm:2mm");
  for (const char* colour : {"r", "g", "b"}) fs::copy_file(path("a.h5"), path(fmt::format("c_{}.h5", colour)));
  const auto three = run({"quantize", path("c_%c.h5"), "-o", path("c_%c.png"), "--device", "cpu"});
  EXPECT_EQ(three.exit_code, 0) << three.error;
  EXPECT_NE(three.error.find("c_r.h5: --viewer 2cm:2mm"), std::string::npos) << three.error;
  const auto seen = [&](const std::string& eye) {
    const auto result = run({"reconstruct", path("codes.png"), "-o", path("seen.png"), "--device", "cpu", "--focus",
                             "5mm", "--viewer", eye});
    EXPECT_EQ(result.exit_code, 0) << result.error;
    return result.error.find("outside that window there is little light") != std::string::npos;
  };
  EXPECT_FALSE(seen("20mm:1mm@0.5,-0.5mm"));
  EXPECT_TRUE(seen("20mm:1mm@0.6,0mm"));
  EXPECT_TRUE(seen("20mm:3mm"));
}

TEST_F(StereogramTest, AGridOfOneCounterIsThatOfTwo) {
  (void)run_json(hologram("two.npy", {"--rows", "down"}));
  for (int v = 0; v < 3; ++v) {
    for (int u = 0; u < 3; ++u) {
      fs::copy_file(path(fmt::format("view_{}_{}.png", v, u)), path(fmt::format("n_{:02}.png", 3 * v + u)));
      fs::copy_file(path(fmt::format("view_{}_{}.png", v, u)),
                    path(fmt::format("s_{}.png", 3 * v + (v == 1 ? 2 - u : u))));
    }
  }
  const auto numbered = [&](const char* names, const std::vector<std::string>& more) {
    auto arguments = hologram("one.npy", {"--rows", "down"});
    arguments[2] = path(names);
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  };
  EXPECT_EQ(run_json(numbered("n_%u.png", {"--grid", "3x3"}))["cameras"], (std::vector<int>{3, 3}));
  EXPECT_EQ(values("one.npy"), values("two.npy"));
  (void)run_json(numbered("s_%u.png", {"--grid", "3x3s"}));
  EXPECT_EQ(values("one.npy"), values("two.npy"));
  fs::remove(path("one.npy"));
  expect_refused(numbered("n_%u.png", {}),
                 {"--grid: expected 3x3 for 9 views whose parallax jumps after every 3, or 9x1 for a row, got none"});
  expect_refused(numbered("n_%u.png", {"--grid", "4x2"}), {"--grid: expected COLUMNSxROWS of the 9 views, got '4x2'"});
  expect_refused(numbered("n_%u.png", {"--grid", "4"}), {"--grid: expected", "got '4'"});
  EXPECT_FALSE(fs::exists(path("one.npy")));
  expect_refused(numbered("view_0_0.png", {}), {"--views: expected a name with %u", "a quilt or --grid"});
}

TEST_F(StereogramTest, AQuiltIsReadAndSaysSo) {
  fs::copy_file(path("view_1_1.png"), path("cat_qs4x2a1.4.png"));
  auto arguments = hologram("q.npy");
  arguments[2] = path("cat_qs4x2a1.4.png");
  const auto result = run(arguments);
  EXPECT_EQ(result.exit_code, 0) << result.error;
  EXPECT_NE(result.error.find("by its name a quilt of 8 views from left to right, 14 x 20 pixels each, 0.5 times as "
                              "high as wide"),
            std::string::npos)
      << result.error;
}

TEST_F(StereogramTest, TheSeedDecidesTheBits) {
  (void)run_json(hologram("a.npy", {"--seed", "3"}));
  (void)run_json(hologram("b.npy", {"--seed", "3"}));
  (void)run_json(hologram("c.npy", {"--seed", "4"}));
  EXPECT_EQ(content_of(path("a.npy")), content_of(path("b.npy")));
  EXPECT_NE(content_of(path("a.npy")), content_of(path("c.npy")));
}

TEST_F(StereogramTest, AWindowSavesRays) {
  const auto json = run_json(hologram("a.npy", {"--viewer", "3mm:0.1mm@0.05,0mm", "--hogel", "32"}));
  EXPECT_LT(json["holograms"][0]["computed_share"].get<double>(), 0.3);
  EXPECT_EQ(json["holograms"][0]["outside_share"], 0.0);
  EXPECT_NEAR(json["view_distance_m"].get<double>(), 3e-3, 1e-12);
  EXPECT_NEAR(json["camera_pitch_m"].get<double>(), 0.1e-3, 1e-12);
  const auto half = run_json(hologram("b.npy", {"--viewer", "3mm:0.2mm@0.4,0mm", "--distance", "0mm"}));
  ASSERT_EQ(half["warnings"].size(), 1u) << half["warnings"];
  EXPECT_NE(
      half["warnings"][0].get<std::string>().find("of the window lies beyond the diffraction angle of 7.64 degrees"),
      std::string::npos);
}

TEST_F(StereogramTest, ColoursTakeThreeWavelengths) {
  const auto json = run_json(hologram("a.npy", {"--rgb", "638nm,520nm,450nm"}));
  EXPECT_EQ(json["outputs"].size(), 3u);
  EXPECT_EQ(json["holograms"][2]["channel"], "b");
  EXPECT_NE(content_of(path("a_r.npy")), content_of(path("a_g.npy")));
}

TEST_F(StereogramTest, APanelIsPaddedAndToldSo) {
  const auto result = run(hologram("a.npy", {"--panel-size", "0.1x0.09mm"}));
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_NE(result.error.find("hogels of 16 pixels do not divide the panel of 50 x 45: the last column and row extend "
                              "14 and 3 pixels beyond "
                              "it"),
            std::string::npos)
      << result.error;
  EXPECT_EQ(read_field(path("a.npy")).values.shape(), (Shape<2>{45, 50}));
}

TEST_F(StereogramTest, DepthsOfViewsMakeLayers) {
  if (!can_write("a.tif")) GTEST_SKIP() << "a build without libtiff";
  for (int v = 0; v < 3; ++v) {
    for (int u = 0; u < 3; ++u) {
      Array<float, 3> depth({40, 56, 1});
      for (std::int64_t i = 0; i < depth.size(); ++i) depth.data()[i] = i % 56 < 28 ? 3e-3F : 8e-3F;
      write_image(path(fmt::format("depth_{}_{}.tif", v, u)), {std::move(depth), {}});
    }
  }
  const std::vector<std::string> far{"--hogel", "64", "--distance", "5mm", "--resolution", "128x64"};
  auto with = far;
  with.insert(with.end(), {"--view-depths", path("depth_%v_%u.tif")});
  const auto flat = run_json(hologram("a.npy", far));
  const auto deep = run_json(hologram("b.npy", with));
  EXPECT_EQ(flat["holograms"][0]["layers_per_hogel"], 1.0);
  EXPECT_GT(deep["holograms"][0]["layers_per_hogel"].get<double>(), 1.5);
  write_image(path("depth_1_1.tif"), {Array<float, 3>({40, 55, 1}), {}});
  expect_refused(hologram("c.npy", with), {"depth_1_1.tif", "56 x 40"});
}

TEST_F(StereogramTest, AModelIsLookedAtDirectly) {
  ASSERT_EQ(run(fit("view_%v_%u.png", "m.smoe", {"--components", "20"})).exit_code, 0);
  auto line = hologram("a.npy", {"--distance", "2mm"});
  line[2] = path("m.smoe");
  const auto json = run_json(line);
  EXPECT_GT(json["holograms"][0]["lit_share"].get<double>(), 0.02);
  EXPECT_FALSE(json.contains("cameras"));
  line.insert(line.end(), {"--camera-pitch", "1mm"});
  expect_refused(line, {"--camera-pitch", "--camera-span for a model"});
  line = hologram("a.npy");
  line[2] = path("flat.smoe");
  put_picture<std::uint8_t>("flat.png", 20, 30, 1);
  ASSERT_EQ(run(fit("flat.png", "flat.smoe", {"--components", "5"})).exit_code, 0);
  expect_refused(line, {"flat.smoe", "a light field's model", "2 dimensions"});
}

TEST_F(StereogramTest, WhatIsStoppedGoesOn) {
  const std::vector<std::string> large{"--resolution", "1280x1280", "--hogel",  "128",
                                       "--distance",   "5mm",       "--layers", "4"};
  ASSERT_EQ(run(hologram("whole.npy", large)).exit_code, 0);
  RunningProgram program(hologram("a.npy", large), captured_);
  // Four MiB, three rows of hogels, are written at once; the journal grows with each.
  const auto journal = folder_ / ".a.npy.part.rows";
  const auto stopped = stopped_when_it_grows(program, journal);
  if (stopped.exit_code == 0) GTEST_SKIP() << "the run was over before it could be stopped";
  EXPECT_EQ(stopped.exit_code, 130) << stopped.error;
  EXPECT_NE(stopped.error.find("of 1280 rows are kept"), std::string::npos) << stopped.error;
  EXPECT_FALSE(fs::exists(path("a.npy")));
  const auto json = run_json(hologram("a.npy", large));
  std::printf("went on after %d of 1280 rows\n", json["holograms"][0]["resumed_rows"].get<int>());
  EXPECT_GT(json["holograms"][0]["resumed_rows"].get<int>(), 0);
  EXPECT_TRUE(json["holograms"][0]["computed_share"].is_null());
  EXPECT_EQ(content_of(path("a.npy")), content_of(path("whole.npy")));
  EXPECT_FALSE(fs::exists(journal));
}

// Codes in one pass are those of the field's file, and so is what they say of themselves.
TEST_F(StereogramTest, CodesInOnePassAreThoseOfTwoSteps) {
  if (!can_write("a.h5")) GTEST_SKIP() << "a build without HDF5";
  const std::vector<std::string> view{"--distance",   "5mm",      "--viewer", "20mm:2mm@0.3,0mm",
                                      "--resolution", "1100x700", "--hogel",  "128"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), view.begin(), view.end());
    return more;
  };
  (void)run_json(hologram("a.h5", with({})));
  for (const std::vector<std::string>& levels : {std::vector<std::string>{"--bits", "2"}, {"--encode", "amplitude"}}) {
    std::vector<std::string> two{"quantize", path("a.h5"), "-o", path("two.png"), "--device", "cpu"};
    two.insert(two.end(), levels.begin(), levels.end());
    const double scale = run_json(two)["holograms"][0]["scale"];
    two.insert(two.end(), {"--scale", fmt::format("{}", scale)});
    EXPECT_FALSE(run_json(two).contains("clip"));
    auto one = levels;
    one.insert(one.end(), {"--scale", fmt::format("{}", scale)});
    const auto json = run_json(hologram("one.png", with(one)));
    EXPECT_EQ(json["holograms"][0]["scale"], scale);
    EXPECT_EQ(json["encoding"], levels[0] == "--bits" ? "phase" : "amplitude");
    EXPECT_EQ(json["bits"], levels[0] == "--bits" ? 2 : 8);
    const Image by_one = read_image(path("one.png"));
    Image by_two = read_image(path("two.png"));
    const auto& codes = std::get<Array<std::uint8_t, 3>>(by_one.pixels);
    const auto& expected = std::get<Array<std::uint8_t, 3>>(by_two.pixels);
    ASSERT_EQ(codes.shape(), expected.shape());
    EXPECT_TRUE(std::equal(codes.data(), codes.data() + codes.size(), expected.data()));
    for (const char* key : {"source", "field_energy"}) EXPECT_EQ(by_two.metadata.erase(key), 1u) << key;
    EXPECT_EQ(by_one.metadata.size(), by_two.metadata.size());
    for (const auto& [key, value] : by_two.metadata) {
      const auto entry = by_one.metadata.find(key);
      ASSERT_NE(entry, by_one.metadata.end()) << key;
      const bool number = std::isdigit(static_cast<unsigned char>(value[0])) != 0;
      EXPECT_TRUE(entry->second == value || (number && std::stod(entry->second) == std::stod(value)))
          << key << " " << entry->second << " " << value;
    }
  }
  EXPECT_EQ(run({"reconstruct", path("one.png"), "-o", path("seen.png"), "--device", "cpu"}).exit_code, 0);
  expect_refused(hologram("one.png", with({})), {"--output", "--scale and --viewer do so in one pass"});
  expect_refused(hologram("one.h5", with({"--scale", "2"})), {"--scale", ".png"});
  expect_refused(hologram("one.png", {"--scale", "2"}), {"--viewer", "for codes"});
  expect_refused(hologram("one.png", with({"--scale", "0"})), {"--scale", "'0'"});
  expect_refused(hologram("one.png", with({"--scale", "2", "--encode", "complex"})),
                 {"--encode", "phase or amplitude"});
  expect_refused(hologram("one.png", with({"--scale", "2", "--bits", "9"})), {"--bits", "1 to 8"});
  expect_refused(hologram("one.h5", with({"--bits", "8"})), {"--bits", "an encoding for a modulator"});
  expect_refused({"hologram", path("view_1_1.png"), "-o", path("a.png"), "--scale", "2"},
                 {"--scale", "views with --views"});
}

TEST_F(StereogramTest, BadInput) {
  const auto refused = [&](std::vector<std::string> more, std::initializer_list<const char*> words) {
    expect_refused(hologram("a.npy", std::move(more)), words);
  };
  refused({"--viewer", "3mm:0.1mm@2,0mm"},
          {"viewer: expected a window within the diffraction angle of 7.64 degrees", "too far aside"});
  refused({"--viewer", "3mm"}, {"--viewer", "DISTANCE:SIZE"});
  refused({"--hogel", "1"}, {"--hogel", "2 to 32768", "'1'"});
  refused({"--fringe", "3um"}, {"--fringe", "4 um"});
  refused({"--layers", "256"}, {"--layers"});
  refused({"--encode", "phase"}, {"--encode", "complex", "holotone quantize"});
  refused({"--camera-pitch", "0mm"}, {"--camera-pitch"});
  refused({"--camera-pitch", "1"}, {"--camera-pitch", "unit"});
  refused({"--distance", "-1m"}, {"--distance", "behind the cameras' plane"});
  refused({"--points", "10"}, {"--points", "views"});
  refused({"--rows", "left"}, {"--rows", "auto, down or up"});
  refused({"--panel-size", "1nm"}, {"--panel-size", "pixels of 2 um"});
  refused({"--panel-size", "1mmxx"}, {"--panel-size"});
  expect_refused(hologram("a.png"), {"--output", ".h5, .hdf5 or .npy", "holotone quantize"});
  expect_refused({"hologram", "--views", path("none_%v_%u.png"), "-o", path("a.npy")},
                 {"none_%v_%u.png", "expected files with numbers"});
  expect_refused({"hologram", "--views", path("view_1_1.png"), "-o", path("a.npy")}, {"--views", "a name with %u"});
  expect_refused({"hologram", path("view_1_1.png"), "-o", path("a.npy"), "--hogel", "64"},
                 {"--hogel", "views with --views"});
  expect_refused({"hologram", "x.ply", "--views", path("view_%v_%u.png"), "-o", path("a.npy")}, {"--views"});
  fs::remove(path("view_1_2.png"));
  refused({}, {"view_%v_%u.png: expected 9 views in 3 x 3 without gaps, got none for v = 1, u = 2"});
}

}  // namespace
}  // namespace holotone::test
