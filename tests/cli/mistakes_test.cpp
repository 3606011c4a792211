// Mistakes that users make, each answered before a wrong result is written.
#include <holotone/io/fields/field_file.hpp>
#include <tests/cli/small_panel.hpp>

namespace holotone::test {
namespace {

class MistakesTest : public SmallPanelTest {
 protected:
  /// Copies of the files of version 0.1.0.
  void copy_fixture(const std::string& name, const std::string& to) const {
    fs::copy_file(source_folder() + "/tests/fixtures/version_0_1_0/" + name, path(to));
  }
};

TEST_F(MistakesTest, AFrameWithoutItsRedFileIsNotSkipped) {
  for (const char* frame : {"0", "1"}) {
    for (const std::string colour : {"r", "g", "b"}) {
      copy_fixture("colour_" + colour + ".png", fmt::format("{}_{}.png", colour, frame));
    }
  }
  const std::vector<std::string> line{"reconstruct", path("%c_%d.png"), "-o", path("o%d.png")};
  ASSERT_EQ(run(line).exit_code, 0);
  fs::remove(path("r_1.png"));
  expect_refused(line, {"r_1.png: file not found"});
}

TEST_F(MistakesTest, ThreeColoursWithoutEnergyAreRefused) {
  for (const std::string colour : {"r", "g", "b"}) copy_fixture("colour_" + colour + ".png", colour + ".png");
  const auto with = [&](const char* energies) {
    return std::vector<std::string>{"reconstruct", path("%c.png"), "-o", path("o.png"), "--object-energy", energies};
  };
  expect_refused(with("0,0,0"), {"--object-energy: expected at least one energy above 0, got '0,0,0'"});
  EXPECT_EQ(run(with("0,1,0")).exit_code, 0);
}

TEST_F(MistakesTest, NamesInBracketsAreNames) {
  expect_refused({"reconstruct", "[none.png]", "-o", path("o.png")}, {"./[none.png]: file not found"});
}

TEST_F(MistakesTest, ErrorsOfOptionsUseTheirWords) {
  write_cloud("cloud.csv", {{0, 0, -0.1, 1}});
  copy_fixture("phase.png", "phase.png");
  expect_refused(hologram("cloud.csv", "o.png", {"--light"}), {"--light: expected a value, got none"});
  expect_refused({"reconstruct", path("phase.png"), "-o", path("o.png"), "--focus=-1mm", "--sweep", "1mm:2mm:2"},
                 {"--focus excludes --sweep"});
  write("bad.lut", "0\n1\nx\n");
  const auto result = run({"reconstruct", path("phase.png"), "-o", path("o.png"), "--lut", path("bad.lut")});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.error.find("bad.lut: line 3: expected"), std::string::npos) << result.error;
}

TEST_F(MistakesTest, QuantizeRefusesAnotherPanel) {
  FieldFile field{Array<std::complex<float>, 2>({540, 960}), {}};
  for (auto& value : field.values.host()) value = 1;
  field.metadata = {{"wavelength_m", "532e-9"}, {"pitch_m", "10.8e-6"}, {"distance_m", "0.2"}};
  write_field(path("plm.npy"), field);
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"quantize", path("plm.npy"), "-o", path("q.png"), "--wavelength", "532nm", "--distance",
                               "20cm", "--method", "truncate"});
    return more;
  };
  EXPECT_EQ(run(with({"--panel", "ti-plm-047"})).exit_code, 0);
  expect_refused(with({"--panel", "holoeye-pluto-2"}),
                 {"--panel: expected a panel of 960 x 540 pixels", "1920 x 1080"});
}

TEST_F(MistakesTest, QuantizeRefusesAnotherPitch) {
  FieldFile field{Array<std::complex<float>, 2>({540, 960}), {}};
  for (auto& value : field.values.host()) value = 1;
  field.metadata = {{"wavelength_m", "532e-9"}, {"pitch_m", "8e-6"}};
  write_field(path("fine.ohc"), field);
  expect_refused({"quantize", path("fine.ohc"), "-o", path("q.png"), "--distance", "20cm", "--method", "truncate",
                  "--panel", "ti-plm-047"},
                 {"--panel: expected a panel of 960 x 540 pixels of 8 um", "of 10.8 um"});
}

TEST_F(MistakesTest, QuantizeNamesHogelsAndWindowsThatFit) {
  FieldFile field{Array<std::complex<float>, 2>({60, 90}), {}};
  for (auto& value : field.values.host()) value = 1;
  write_field(path("f.npy"), field);
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"quantize", path("f.npy"), "-o", path("q.png"), "--wavelength", "532nm", "--distance",
                               "20cm", "--pitch", "8um"});
    return run(more).error;
  };
  const auto hogels = with({"--viewer", "36mm:1mm", "--hogel", "32"});
  EXPECT_NE(hogels.find("hogels of 32 pixels do not divide 90 x 60 pixels"), std::string::npos) << hogels;
  EXPECT_NE(hogels.find("; --hogel 30 divides both"), std::string::npos) << hogels;
  const auto wide = with({"--viewer", "36mm:30mm"});
  EXPECT_NE(wide.find("the viewing window covers all diffraction angles"), std::string::npos) << wide;
}

TEST_F(MistakesTest, InksAreNumberedAsMeasureTakesThem) {
  Image image{Array<std::uint8_t, 3>({24, 24, 3}), {}};
  for (auto& code : std::get<Array<std::uint8_t, 3>>(image.pixels).host()) code = 120;
  write_image(path("grey.png"), image);
  const auto result = run({"halftone", path("grey.png"), "-o", path("inks.svg"), "--colour", "cmyk", "--dots", "60",
                           "--iterations", "3", "--black", "0.5", "--device", "cpu"});
  ASSERT_EQ(result.exit_code, 0) << result.error;
  EXPECT_NE(result.output.find("class 0, cyan: "), std::string::npos) << result.output;
  EXPECT_EQ(run({"measure", path("inks.svg"), "--class", "0"}).exit_code, 0);
}

TEST_F(MistakesTest, VerticesAndMillimetresAreNoted) {
  write("cube.obj", "v 0 0 -200\nv 8 0 -200\nv 8 8 -201\nf 1 2 3\n");
  const auto vertices = run(hologram("cube.obj", "o.png"));
  EXPECT_EQ(vertices.exit_code, 0) << vertices.error;
  EXPECT_NE(vertices.error.find("the points are the vertices of 1 triangle; --points 100k"), std::string::npos)
      << vertices.error;
  const auto sampled = run(hologram("cube.obj", "o.png", {"--points", "50"}));
  EXPECT_EQ(sampled.error.find("vertices"), std::string::npos) << sampled.error;
  const auto far = run(hologram("cube.obj", "o.png", {"--keep-coordinates"}));
  EXPECT_NE(far.error.find("lies 200 m from the panel: --keep-coordinates takes coordinates as metres"),
            std::string::npos)
      << far.error;
}

}  // namespace
}  // namespace holotone::test
