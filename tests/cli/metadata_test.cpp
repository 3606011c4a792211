// Metadata of hologram files, and output of the subcommands that only print.
#include <cmath>
#include <holotone/core/device.hpp>
#include <numbers>
#include <tests/support/program.hpp>

namespace holotone::test {
namespace {

using nlohmann::json;

class MetadataTest : public ProgramTest {
 protected:
  MetadataTest() { write_cloud("two.csv", {{1e-4, 0, -0.12, 1}, {-1e-4, 2e-4, -0.14, 0.5}}); }

  [[nodiscard]] json read_metadata(const std::string& output, std::vector<std::string> more) const {
    more.insert(more.begin(),
                {"hologram", path("two.csv"), "-o", path(output), "--keep-coordinates", "--device", "cpu"});
    (void)run_json(more);
    return run_json({"info", path(output)})["metadata"];
  }
};

TEST_F(MetadataTest, EveryFormatCarriesIt) {
  for (const char* name : {"a.png", "a.tif", "a.h5"}) {
    if (!can_write(name)) continue;
    const auto metadata = read_metadata(
        name, {"--resolution", "65x47", "--pitch", "6.4um", "--wavelength", "633nm", "--tolerance", "1e-4", "--method",
               "direct", "--wave", "spherical", "--no-band-limit", "--random-phase", "--seed", "7"});
    EXPECT_EQ(metadata["pitch_m"].get<double>(), 6.4e-6) << name;
    EXPECT_EQ(metadata["wavelength_m"].get<double>(), 633e-9) << name;
    EXPECT_NEAR(metadata["distance_m"].get<double>(), 0.13, 1e-8) << name;
    EXPECT_NEAR(metadata["distance_min_m"].get<double>(), 0.12, 1e-8) << name;
    EXPECT_NEAR(metadata["distance_max_m"].get<double>(), 0.14, 1e-8) << name;
    EXPECT_EQ(metadata["tolerance"].get<double>(), 1e-4) << name;
    EXPECT_EQ(metadata["method"], "direct") << name;
    EXPECT_EQ(metadata["wave"], "spherical") << name;
    EXPECT_EQ(metadata["band_limit"], 0) << name;
    EXPECT_EQ(metadata["random_phase"], 1) << name;
    EXPECT_EQ(metadata["seed"], 7) << name;
    EXPECT_EQ(metadata["points"], 2) << name;
    EXPECT_EQ(metadata["panel"], "custom") << name;
    EXPECT_EQ(metadata["encoding"], std::string(name) == "a.h5" ? "complex" : "phase") << name;
    EXPECT_NEAR(metadata["object_energy"].get<double>(), 1.25, 1e-6) << name;
    EXPECT_GT(metadata["fresnel_deviation_rad"].get<double>(), 0) << name;
    EXPECT_EQ(metadata["software"].get<std::string>().rfind("holotone ", 0), 0u) << name;
  }
}

TEST_F(MetadataTest, EncodingsSayHowToUndoThem) {
  const std::vector<std::string> panel{"--resolution", "64x48", "--pitch", "8um"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), panel.begin(), panel.end());
    return more;
  };
  constexpr double degree = std::numbers::pi / 180;
  auto metadata =
      read_metadata("a.png", with({"--encode", "amplitude", "--reference-angle", "1deg,0.5deg", "--bits", "10"}));
  EXPECT_EQ(metadata["encoding"], "amplitude");
  EXPECT_EQ(metadata["bits"], 10);
  EXPECT_NEAR(metadata["reference_angle_x_rad"].get<double>(), degree, 1e-15);
  EXPECT_NEAR(metadata["reference_angle_y_rad"].get<double>(), 0.5 * degree, 1e-15);
  EXPECT_LT(metadata["amplitude_min"].get<double>(), 0);
  EXPECT_GT(metadata["amplitude_max"].get<double>(), 0);
  metadata = read_metadata("a.png", with({"--phase-range", "1.6pi", "--carrier", "100um,0", "--bits", "6"}));
  EXPECT_NEAR(metadata["phase_range_rad"].get<double>(), 1.6 * std::numbers::pi, 1e-15);
  EXPECT_NEAR(metadata["carrier_x_rad"].get<double>(), std::asin(532e-9 / 100e-6), 1e-15);
  EXPECT_EQ(metadata["bits"], 6);
  write("table.txt", "0\n1\n2.5\n4\n");
  metadata = read_metadata("a.png", with({"--lut", path("table.txt")}));
  EXPECT_EQ(metadata["bits"], 2);
  EXPECT_EQ(metadata["level_phase_rad"], "0,1,2.5,4");
  metadata = read_metadata("a.png", with({"--packed16"}));
  EXPECT_EQ(metadata["packed16"], 1);
  EXPECT_EQ(metadata["bits"], 16);
  metadata = read_metadata("a.png", with({"--encode", "amplitude", "--amplitude-range", "-3,3"}));
  EXPECT_EQ(metadata["amplitude_min"], -3);
  EXPECT_EQ(metadata["amplitude_max"], 3);
}

TEST_F(MetadataTest, APanelWithUnequalStepsIsUsedAsItIs) {
  const auto panels = run_json({"panels"});
  for (const auto& panel : panels["panels"]) {
    const auto levels = panel["level_phase_rad"].size();
    if (levels == 0) continue;
    const auto metadata =
        read_metadata("plm.png", {"--panel", panel["name"].get<std::string>(), "--method", "separable"});
    EXPECT_EQ(metadata["bits"], panel["bits"]);
    const auto table = metadata["level_phase_rad"].get<std::string>();
    EXPECT_EQ(static_cast<std::size_t>(std::count(table.begin(), table.end(), ',')) + 1, levels);
    return;
  }
  FAIL() << "no panel with unequal steps among the presets";
}

TEST_F(MetadataTest, TheDefaultsAreTheStatedOnes) {
  write_cloud("unplaced.csv", {{-1, -0.5, 3, 1}, {1, 0.5, 5, 1}});
  const auto hologram = run_json({"hologram", path("unplaced.csv"), "-o", path("d.png")});
  EXPECT_EQ(hologram["resolution"], (json{1920, 1080}));
  EXPECT_EQ(hologram["pitch_m"].get<double>(), 8e-6);
  EXPECT_EQ(hologram["wave"], "spherical") << "1.1 rad from Fresnel's";
  EXPECT_EQ(hologram["tolerance"].get<double>(), 1e-3);
  const auto metadata = run_json({"info", path("d.png")})["metadata"];
  EXPECT_EQ(metadata["wavelength_m"].get<double>(), 532e-9);
  EXPECT_EQ(metadata["distance_m"].get<double>(), 0.2);
  // 2 units in width become 8 mm, so 2 units in depth do too: 4 mm to either side of 20 cm.
  EXPECT_NEAR(metadata["distance_min_m"].get<double>(), 0.196, 1e-7);
  EXPECT_NEAR(metadata["distance_max_m"].get<double>(), 0.204, 1e-7);
}

// 0.08 rad of red, 0.12 rad of blue: each alone would take another wave, whose light ends elsewhere.
TEST_F(MetadataTest, ColoursAndFramesShareAWave) {
  write_cloud("one.csv", {{0, 0, -0.444F, 1}});
  const std::vector<std::string> start{"hologram", path("one.csv"), "--keep-coordinates", "--device", "cpu"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), start.begin(), start.end());
    return run_json(more);
  };
  EXPECT_EQ(with({"-o", path("red.h5"), "--wavelength", "638nm"})["wave"], "fresnel");
  const auto colours = with({"-o", path("c.png"), "--rgb", "638nm,520nm,450nm"});
  EXPECT_EQ(colours["holograms"].size(), 3u);
  for (const auto& one : colours["holograms"]) EXPECT_EQ(one["wave"], "spherical") << one;
}

TEST_F(MetadataTest, AFlagTakesNoValue) {
  for (const char* flag : {"--falloff=0", "--no-band-limit=false", "--deterministic=1", "--hide=0"}) {
    const auto result = run({"hologram", path("two.csv"), "-o", path("flag.h5"), flag});
    EXPECT_EQ(result.exit_code, 2) << result.error;
    EXPECT_NE(result.error.find(": expected no value, got '"), std::string::npos) << result.error;
  }
}

TEST_F(MetadataTest, FalloffIsStated) {
  const auto metadata =
      read_metadata("f.png", {"--resolution", "65x47", "--pitch", "8um", "--falloff", "--method", "direct"});
  EXPECT_EQ(metadata["falloff"], 1);
  EXPECT_EQ(metadata["wave"], "spherical");
  EXPECT_NEAR(metadata["object_energy"].get<double>(), 1 / 0.0144 + 0.25 / 0.0196, 1e-4);
  expect_refused({"hologram", path("two.csv"), "-o", path("g.png"), "--falloff", "--wave", "fresnel"},
                 {"--falloff", "wave auto or spherical"});
}

TEST_F(MetadataTest, InfoTellsPointsAndMeshes) {
  const auto points = run_json({"info", path("two.csv")});
  EXPECT_EQ(points["kind"], "points");
  EXPECT_EQ(points["vertices"], 2);
  EXPECT_NEAR(points["high"][1].get<double>(), 2e-4, 1e-9);
  EXPECT_NEAR(points["low"][2].get<double>(), -0.14, 1e-8);
  EXPECT_GT(points["fresnel_deviation_rad"].get<double>(), 0);
  write("triangle.ply",
        "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
        "element face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n");
  const auto mesh = run_json({"info", path("triangle.ply")});
  EXPECT_EQ(mesh["kind"], "mesh");
  EXPECT_EQ(mesh["triangles"], 1);
  write_cloud("one.csv", {{0, 0, -0.2, 1}});
  EXPECT_NE(run({"info", path("one.csv")}).output.find("1 vertex, 0 triangles"), std::string::npos);
  const auto text = run({"info", path("two.csv")});
  EXPECT_EQ(text.exit_code, 0);
  EXPECT_NE(text.output.find("2 vertices"), std::string::npos) << text.output;
  (void)run_json({"sample", "knot", "-o", path("knot.ply"), "--points", "100"});
  const auto knot = run_json({"info", path("knot.ply")});
  EXPECT_EQ(knot["vertices"], 100);
  EXPECT_EQ(std::count(knot["carries"].begin(), knot["carries"].end(), "colour"), 1);
}

// At 10 cm from 64 x 48 pixels of 8 um, light reaches 3.3 mm beyond the panel's edge: 7.16 x 7.03 mm in all.
TEST_F(MetadataTest, PointsThatLightNoPixelAreSaid) {
  std::vector<std::array<double, 4>> cross;
  for (int i = -50; i <= 50; ++i) cross.push_back({i * 1e-4, 0, 0, 1});
  write_cloud("bar.csv", cross);
  const auto line = [&](const std::string& size) {
    return std::vector<std::string>{"hologram", path("bar.csv"), "-o",         path("bar.png"), "--resolution", "64x48",
                                    "--pitch",  "8um",           "--distance", "10cm",          "--size",       size};
  };
  const auto wide = run_json(line("10mm"));
  EXPECT_EQ(wide["unlit_points"], 2 * 15) << "those beyond 3.58 mm - half a pixel, one every 0.1 mm up to 5 mm";
  ASSERT_EQ(wide["warnings"].size(), 1u);
  const auto warning = wide["warnings"][0].get<std::string>();
  for (const char* word : {"29 %", "30 of 101", "1 cm wide", "7.16 mm x 7.03 mm", "--size 7.1mm fits"}) {
    EXPECT_NE(warning.find(word), std::string::npos) << warning;
  }
  const auto outcome = run(line("10mm"));
  EXPECT_EQ(outcome.error.rfind("holotone: warning: ", 0), 0u) << outcome.error;
  EXPECT_EQ(run(line("7.1mm")).error, "");
  EXPECT_EQ(run_json(line("7.1mm"))["warnings"].size(), 0u);
}

TEST_F(MetadataTest, InfoTellsAnArray) {
  (void)run_json({"hologram", path("two.csv"), "-o", path("a.png"), "--keep-coordinates", "--resolution", "65x47",
                  "--pitch", "8um"});
  (void)run_json({"reconstruct", path("a.png"), "-o", path("seen.npy"), "--linear"});
  const auto info = run_json({"info", path("seen.npy")});
  EXPECT_EQ(info["kind"], "array");
  EXPECT_EQ(info["shape"], (json{47, 65}));
  EXPECT_EQ(info["dtype"], "float32");
  EXPECT_GE(info["low"].get<double>(), 0);
  EXPECT_GT(info["high"].get<double>(), info["low"].get<double>());
  const auto text = run({"info", path("seen.npy")});
  EXPECT_NE(text.output.find("{47, 65}, float32"), std::string::npos) << text.output;
}

TEST_F(MetadataTest, CountsAreWholeNumbersInJson) {
  (void)read_metadata("a.png", {"--resolution", "65x47", "--pitch", "8um"});
  const auto metadata = run_json({"info", path("a.png")})["metadata"];
  for (const char* key : {"points", "bits", "seed", "band_limit"}) {
    EXPECT_TRUE(metadata[key].is_number_integer()) << key << ": " << metadata[key];
  }
  EXPECT_TRUE(metadata["wavelength_m"].is_number_float());
}

// 20 cm from a PLUTO at 532 nm the Fresnel phase deviates by 1.1 rad in the corner.
TEST_F(MetadataTest, TheFresnelDeviationIsThePapers) {
  write_cloud("one.csv", {{0, 0, -0.2, 1}});
  const auto info = run_json({"info", path("one.csv"), "--keep-coordinates", "--no-band-limit"});
  const double rho2 = std::pow(959.5 * 8e-6, 2) + std::pow(539.5 * 8e-6, 2);
  const double exact = 2 * std::numbers::pi / 532e-9 * (rho2 / 0.4 - (std::sqrt(rho2 + 0.04) - 0.2));
  EXPECT_NEAR(info["fresnel_deviation_rad"].get<double>(), exact, 1e-3 * exact);
  EXPECT_NEAR(exact, 1.1, 0.05);
}

TEST_F(MetadataTest, DevicesAndPanels) {
  const auto listed = run_json({"devices"})["devices"];
  ASSERT_EQ(listed.size(), devices().size());
  EXPECT_EQ(listed[0]["device"], "cpu");
  EXPECT_GT(listed[0]["units"].get<int>(), 0);
  const auto panels = run_json({"panels"})["panels"];
  EXPECT_GE(panels.size(), 5u);
  EXPECT_EQ(panels[0]["name"], "holoeye-pluto-2");
  EXPECT_NE(run({"panels"}).output.find("holoeye-pluto-2"), std::string::npos);
  EXPECT_NE(run({"devices"}).output.find("cpu"), std::string::npos);
  EXPECT_EQ(run({"devices", "--quiet"}).output, "");
}

TEST_F(MetadataTest, FormatsAreListed) {
  const auto formats = run_json({"formats"})["formats"];
  ASSERT_GT(formats.size(), 20u);
  EXPECT_EQ(formats[0]["name"], "PNG");
  EXPECT_EQ(formats[0]["content"], "picture");
  EXPECT_EQ(formats[0]["extensions"][0], ".png");
  EXPECT_EQ(formats[0]["is_built"], true);
  const std::string text = run({"formats"}).output;
  EXPECT_NE(text.find("OBJ: scene (.obj)\n  read          vertices, normals, polygons"), std::string::npos) << text;
}

// Equal seeds give equal bits; other seeds give others.
TEST_F(MetadataTest, ASeedRepeats) {
  const auto codes = [&](const std::string& name, const std::string& seed) {
    (void)read_metadata(name, {"--resolution", "64x48", "--pitch", "8um", "--random-phase", "--seed", seed});
    return content_of(path(name));
  };
  const auto first = codes("a.png", "1");
  EXPECT_EQ(first, codes("b.png", "1"));
  EXPECT_NE(first, codes("c.png", "2"));
}

TEST_F(MetadataTest, QuietSaysNothing) {
  const auto result =
      run({"hologram", path("two.csv"), "-o", path("a.png"), "--resolution", "64x48", "--pitch", "8um", "--quiet"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.output + result.error, "");
  const auto loud = run({"hologram", path("two.csv"), "-o", path("a.png"), "--resolution", "64x48", "--pitch", "8um"});
  EXPECT_NE(loud.output.find("64 x 48"), std::string::npos) << loud.output;
  EXPECT_EQ(loud.error, "");
}

TEST_F(MetadataTest, InfoTellsDots) {
  Image image{Array<std::uint8_t, 3>({30, 40, 3}), {}};
  auto pixels = std::get<Array<std::uint8_t, 3>>(image.pixels).host();
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<std::uint8_t>(40 * (i % 6));
  write_image(path("photo.png"), image);
  for (const std::string name : {"d.csv", "d.txt", "d.svg", "d.png", "d.npy"}) {
    ASSERT_EQ(run({"halftone", path("photo.png"), "-o", path(name), "--colour", "cmyk", "--dots", "90", "--seed", "5",
                   "--size", "40mm", "--method", "lloyd", "--iterations", "2"})
                  .exit_code,
              0);
    const bool npy = name == "d.npy";
    const auto info = npy ? run_json({"info", path(name), "--dots"}) : run_json({"info", path(name)});
    if (!npy) {
      EXPECT_EQ(info["metadata"]["method"], "lloyd") << name;
      EXPECT_EQ(info["metadata"]["seed"], 5) << name;
      EXPECT_EQ(info["metadata"]["dots"], 90) << name;
      EXPECT_EQ(info["metadata"]["iterations"], 2) << name;
    }
    if (name == "d.png") continue;  // a picture
    EXPECT_EQ(info["kind"], "dots") << name;
    EXPECT_EQ(info["dots"], 90) << name;
    EXPECT_EQ(info["page"], npy ? nlohmann::json({0.0, 0.0}) : nlohmann::json({40.0, 30.0})) << name;
    EXPECT_NEAR(info.value("pixel_m", 1e-3), 1e-3, 1e-9) << name;
    EXPECT_EQ(info.count("pixel_m"), npy ? 0u : 1u) << name;
    std::int64_t sum = 0;
    for (const auto& one : info["classes"]) sum += one["dots"].get<std::int64_t>();
    EXPECT_EQ(sum, 90) << name;
    EXPECT_GT(info["radius"][0], 0) << name;
  }
  const auto text = run({"info", path("d.svg")}).output;
  EXPECT_NE(text.find("d.svg: 90 dots"), std::string::npos) << text;
  EXPECT_NE(text.find("40 x 30 pixels, 4 cm x 3 cm, 1 mm a pixel"), std::string::npos) << text;
  // Tables and arrays of x and y alone are dots; three columns are points by default.
  write("two.csv", "1,2\n3,5\n9,9\n");
  EXPECT_EQ(run_json({"info", path("two.csv")})["high"], nlohmann::json({9.0, 9.0}));
  write("three.csv", "1,2,1\n3,5,1\n");
  EXPECT_EQ(run_json({"info", path("three.csv")})["kind"], "points");
  EXPECT_EQ(run_json({"info", path("three.csv"), "--dots"})["radius"], nlohmann::json({1.0, 1.0}));
  write("bad.csv", "x,y\n1,2\nq,4\n");
  expect_refused({"info", path("bad.csv")}, {"bad.csv"});
  expect_refused({"info", path("bad.csv"), "--dots"}, {"bad.csv", "line 3"});
}

}  // namespace
}  // namespace holotone::test
