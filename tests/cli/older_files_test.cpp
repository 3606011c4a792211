// Files written by version 0.1.0 (commit 9697049) and its reconstructions of them: newer versions must reproduce these.
#include <cmath>
#include <tests/cli/picture.hpp>
#include <tests/support/program.hpp>

namespace holotone::test {
namespace {

class OlderFilesTest : public ProgramTest {
 protected:
  OlderFilesTest() { fs::copy(source_folder() + "/tests/fixtures/version_0_1_0", folder_); }

  /// 8-bit codes of a picture.
  [[nodiscard]] std::vector<int> codes(const std::string& name) const {
    const Image image = read_image(path(name));
    const auto* const pixels = std::get_if<Array<std::uint8_t, 3>>(&image.pixels);
    if (pixels == nullptr) return {};
    return {pixels->host().begin(), pixels->host().end()};
  }

  /// Compares a picture with its fixture: all codes but 0.1 % are equal within `most`, because processors round
  /// differently.
  void expect_same(const std::string& made, const std::string& kept, int most) const {
    const auto a = codes(made);
    const auto b = codes(kept);
    ASSERT_EQ(a.size(), b.size()) << kept;
    ASSERT_FALSE(b.empty()) << kept;
    std::size_t other = 0;
    for (std::size_t i = 0; i < a.size(); ++i) other += std::abs(a[i] - b[i]) > most ? 1 : 0;
    std::printf("%s: %zu of %zu codes differ by more than %d\n", kept.c_str(), other, a.size(), most);
    EXPECT_LE(other, a.size() / 1000) << kept;
  }

  void expect_seen(const std::string& name, const std::string& kept, std::vector<std::string> more) const {
    if (!can_write(name)) GTEST_SKIP() << "a build that cannot write " << name;
    more.insert(more.begin(), {"reconstruct", path(name), "-o", path("made.png"), "--device", "cpu"});
    const auto result = run(more);
    ASSERT_EQ(result.exit_code, 0) << name << ": " << result.error;
    expect_same("made.png", kept, 1);
  }
};

TEST_F(OlderFilesTest, HologramsReconstruct) {
  const std::vector<std::string> focus{"--focus", "0.5mm"};
  for (const char* name : {"phase.png", "double_phase.png", "burckhardt.png", "single_sideband.png", "amplitude.png",
                           "packed.png", "quantized.png", "phase.tif", "field.h5", "field.ohc"}) {
    std::string kept = std::string("seen_").append(name).append(".png");
    kept[kept.find('.')] = '_';
    expect_seen(name, kept, focus);
  }
  expect_seen("field.npy", "seen_field_npy.png", {"--focus", "0.5mm", "--wavelength", "532nm", "--pitch", "2um"});
  expect_seen("stereogram.h5", "seen_stereogram_h5.png", {});
  expect_seen("colour_%c.png", "seen_colour.png", focus);
}

TEST_F(OlderFilesTest, FieldsQuantize) {
  if (!can_write("field.h5")) GTEST_SKIP() << "this build has no HDF5";
  auto result = run({"quantize", path("field.h5"), "-o", path("made.png"), "--bits", "4", "--viewer", "10mm:1mm",
                     "--hogel", "16", "--device", "cpu"});
  ASSERT_EQ(result.exit_code, 0) << result.error;
  expect_same("made.png", "quantized.png", 0);
  result = run({"quantize", path("stereogram.h5"), "-o", path("made.png"), "--bits", "2", "--method", "floyd-steinberg",
                "--device", "cpu"});
  ASSERT_EQ(result.exit_code, 0) << result.error;
  expect_same("made.png", "quantized_stereogram.png", 0);
}

// Two versions may round differently, and a file names one: its metadata, with the version, identify unfinished rows.
TEST_F(OlderFilesTest, UnfinishedRowsAreMadeAnew) {
  if (!can_write("bands.h5")) GTEST_SKIP() << "this build has no HDF5";
  const auto hologram = [&](const std::string& name) {
    return run({"hologram", path("many.csv"), "--keep-coordinates", "--resolution", "83x141", "--pitch", "2um",
                "--encode", "complex", "--wave", "spherical", "--rows-at-once", "4", "--device", "cpu", "-o",
                path(name)});
  };
  fs::rename(path("bands.h5.part"), path(".bands.h5.part"));
  fs::rename(path("bands.h5.part.rows"), path(".bands.h5.part.rows"));
  const auto resumed = hologram("bands.h5");
  ASSERT_EQ(resumed.exit_code, 0) << resumed.error;
  EXPECT_NE(resumed.error.find("are discarded: options, files or holotone's version"), std::string::npos)
      << resumed.error;
  EXPECT_EQ(hologram("whole.h5").exit_code, 0);
  const auto one = read_field(path("bands.h5"));
  const auto other = read_field(path("whole.h5"));
  ASSERT_EQ(one.values.shape(), other.values.shape());
  double error = 0;
  double norm = 0;
  for (std::size_t i = 0; i < other.values.host().size(); ++i) {
    error += static_cast<double>(std::norm(one.values.host()[i] - other.values.host()[i]));
    norm += static_cast<double>(std::norm(other.values.host()[i]));
  }
  EXPECT_GT(norm, 0);
  EXPECT_LE(std::sqrt(error / norm), 1e-5);
}

TEST_F(OlderFilesTest, MixturesRender) {
  const auto result = run({"smoe", "render", path("mixture.smoe"), "-o", path("made.png"), "--device", "cpu"});
  ASSERT_EQ(result.exit_code, 0) << result.error;
  expect_same("made.png", "seen_mixture_smoe.png", 1);
}

TEST_F(OlderFilesTest, DotsAreMeasured) {
  EXPECT_EQ(run_json({"measure", path("dots.svg")})["dots"], run_json({"measure", path("dots.csv")})["dots"]);
}

}  // namespace
}  // namespace holotone::test
