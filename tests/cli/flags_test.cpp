// Files with incomplete metadata, and the flags that replace missing keys.
#include <fmt/format.h>
#include <holotone/hologram/encode.hpp>
#include <tests/cli/picture.hpp>
#include <tests/support/program.hpp>

namespace holotone::test {
namespace {

class FlagsTest : public ProgramTest {
 protected:
  FlagsTest() { write_cloud("two.csv", {{1e-4, 5e-5, -0.08, 1}, {-1e-4, 0, -0.09, 0.5}}); }

  [[nodiscard]] std::vector<std::string> hologram(const std::string& output, std::vector<std::string> more) const {
    std::vector<std::string> arguments{"hologram", path("two.csv"), "-o", path(output), "--keep-coordinates"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    if (std::find(more.begin(), more.end(), "--panel") == more.end()) {
      arguments.insert(arguments.end(), {"--resolution", "129x97", "--pitch", "8um"});
    }
    return arguments;
  }

  /// Words after "PICTURE.png" on the line with the reconstruct command.
  [[nodiscard]] static std::vector<std::string> flags_in(const std::string& line) {
    std::vector<std::string> words;
    const auto at = line.find("PICTURE.png");
    std::istringstream rest(at == std::string::npos ? "" : line.substr(at + 11, line.find('\n', at) - at - 11));
    for (std::string word; rest >> word;) words.push_back(word);
    return words;
  }
};

TEST_F(FlagsTest, ABmpIsReconstructedByTheFlagsThatHologramPrints) {
  write("table.txt", "phase_rad\n0\n0.5\n1.3\n2\n3.1\n4\n5.2\n6\n");
  std::vector<std::vector<std::string>> cases{{},
                                              {"--wavelength", "633.5nm", "--bits", "6"},
                                              {"--phase-range", "1.7pi"},
                                              {"--lut", path("table.txt")},
                                              {"--packed16", "--carrier", "10px,-12px"},
                                              {"--packed16", "--bits", "8"},
                                              {"--packed16", "--bits", "10"},
                                              {"--panel", "ti-plm-047"},
                                              {"--encode", "double-phase", "--carrier", "0.4deg"},
                                              {"--encode", "amplitude", "--reference-angle", "0.7deg,-0.2deg"},
                                              {"--encode", "single-sideband", "--bits", "4"}};
  for (const auto& [encoding, name] : enum_names<Encoding>) {
    auto& of_encoding = cases.emplace_back(std::vector<std::string>{"--encode", std::string(name)});
    if (encoding_traits(encoding).encodes_beam) of_encoding.insert(of_encoding.end(), {"--reference-angle", "0.5deg"});
  }
  for (const auto& options : cases) {
    std::string shown;
    for (const auto& option : options) shown += option + " ";
    SCOPED_TRACE(shown);
    const auto made = run(hologram("a.bmp", options));
    ASSERT_EQ(made.exit_code, 0) << made.error;
    EXPECT_NE(made.error.find("BMP holds no metadata"), std::string::npos) << made.error;
    const int lines = made.error.find("codes of few bits") == std::string::npos ? 1 : 2;
    EXPECT_EQ(std::count(made.error.begin(), made.error.end(), '\n'), lines) << made.error;
    ASSERT_EQ(run(hologram("a.png", options)).exit_code, 0);
    std::vector<std::string> look{"reconstruct", path("a.bmp"), "-o", path("bmp.npy"), "--linear"};
    const auto flags = flags_in(made.error);
    look.insert(look.end(), flags.begin(), flags.end());
    const auto seen = run(look);
    ASSERT_EQ(seen.exit_code, 0) << seen.error;
    ASSERT_EQ(run({"reconstruct", path("a.png"), "-o", path("png.npy"), "--linear"}).exit_code, 0);
    EXPECT_EQ(pixels_of(path("bmp.npy")).value, pixels_of(path("png.npy")).value) << made.error;
  }
}

TEST_F(FlagsTest, ThreeColoursOfFilesWithoutMetadata) {
  write("colours.csv", "x,y,z,r,g,b\n-0.0001,0,-0.08,255,0,0\n0.0001,0,-0.08,0,90,255\n");
  const auto made = run({"hologram", path("colours.csv"), "-o", path("c_%c.bmp"), "--resolution", "129x97", "--pitch",
                         "8um", "--keep-coordinates", "--rgb", "638nm,520nm,450nm"});
  ASSERT_EQ(made.exit_code, 0) << made.error;
  EXPECT_NE(made.error.find("--wavelength 638nm,520nm,450nm"), std::string::npos) << made.error;
  std::vector<std::string> look{"reconstruct", path("c_%c.bmp"), "-o", path("seen.png")};
  const auto flags = flags_in(made.error);
  look.insert(look.end(), flags.begin(), flags.end());
  const auto seen = run(look);
  EXPECT_EQ(seen.exit_code, 0) << seen.error;
  EXPECT_EQ(pixels_of(path("seen.png")).channels, 3);
}

// Blue is three times as bright as red, with and without metadata.
TEST_F(FlagsTest, ThePrintedLineGivesThePictureOfThePngInColourToo) {
  write("colours.csv", "x,y,z,r,g,b\n-0.0001,0,-0.08,120,0,0\n0.0001,0,-0.08,0,90,255\n0,1e-4,-0.08,0,0,255\n");
  const std::vector<std::string> common{"--resolution",       "129x97", "--pitch",          "8um",
                                        "--keep-coordinates", "--rgb",  "638nm,520nm,450nm"};
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{}, {"--encode", "amplitude"}, {"--carrier", "20px"}}) {
    const auto make = [&](const char* output) {
      std::vector<std::string> line{"hologram", path("colours.csv"), "-o", path(output)};
      line.insert(line.end(), common.begin(), common.end());
      line.insert(line.end(), more.begin(), more.end());
      return run(line);
    };
    const auto made = make("c_%c.bmp");
    ASSERT_EQ(made.exit_code, 0) << made.error;
    EXPECT_NE(made.error.find("--distance 8cm"), std::string::npos) << made.error;
    ASSERT_EQ(make("c_%c.png").exit_code, 0);
    std::vector<std::string> look{"reconstruct", path("c_%c.bmp"), "-o", path("bmp.png")};
    const auto flags = flags_in(made.error);
    look.insert(look.end(), flags.begin(), flags.end());
    const auto seen = run(look);
    ASSERT_EQ(seen.exit_code, 0) << seen.error;
    ASSERT_EQ(run({"reconstruct", path("c_%c.png"), "-o", path("png.png")}).exit_code, 0);
    EXPECT_EQ(pixels_of(path("bmp.png")).value, pixels_of(path("png.png")).value) << made.error;
  }
  expect_refused({"reconstruct", path("c_r.png"), "-o", path("f.png"), "--object-energy", "1,2,3"},
                 {"--object-energy", "three files"});
}

TEST_F(FlagsTest, FramesWithRangesOfTheirOwnAreSaid) {
  fs::create_directory(folder_ / "spin");
  const auto spin = [&](std::vector<std::string> more) {
    more.insert(more.end(), {"--encode", "amplitude", "--spin", "90deg:3", "--distance", "8cm", "--size", "0.3mm",
                             "--resolution", "65x49", "--pitch", "8um"});
    std::vector<std::string> line{"hologram", path("two.csv"), "-o", path("spin/%d.bmp")};
    line.insert(line.end(), more.begin(), more.end());
    return run(line).error;
  };
  const auto frames = spin({});
  EXPECT_NE(frames.find("warning: each frame has its own --amplitude-range"), std::string::npos) << frames;
  EXPECT_NE(frames.find("PNG"), std::string::npos) << frames;
  const auto shared = spin({"--amplitude-range", "-2,2"});
  EXPECT_EQ(shared.find("each frame"), std::string::npos) << shared;
}

TEST_F(FlagsTest, FlagsThatTheCodesDoNotUseAreRefused) {
  write("table.txt", "0\n3\n");
  const auto look = [&](const std::string& file, std::vector<std::string> more) {
    more.insert(more.begin(), {"reconstruct", path(file), "-o", path("seen.png")});
    return more;
  };
  for (const std::string encoding : {"phase", "amplitude", "double-phase"}) {
    ASSERT_EQ(run(hologram(encoding + ".png", {"--encode", encoding})).exit_code, 0);
  }
  expect_refused(look("phase.png", {"--carrier", "0.5deg"}),
                 {"--carrier: expected codes of double-phase, got", "phase.png, whose codes are of phase"});
  expect_refused(look("amplitude.png", {"--carrier", "20px"}), {"--carrier: expected codes of double-phase"});
  expect_refused(look("phase.png", {"--amplitude-range", "0,1"}),
                 {"--amplitude-range: expected codes of amplitude, single-sideband or burckhardt, got"});
  expect_refused(look("amplitude.png", {"--phase-range", "1pi"}),
                 {"--phase-range: expected codes of phase or double-phase, got", "amplitude.png, whose codes are of"});
  expect_refused(look("amplitude.png", {"--lut", path("table.txt")}), {"--lut: expected codes of phase or"});
  expect_refused(look("double-phase.png", {"--reference-angle", "1deg"}),
                 {"--reference-angle: expected codes of phase or amplitude, got"});
  EXPECT_EQ(run(look("double-phase.png", {"--carrier", "0.4deg"})).exit_code, 0);
  EXPECT_EQ(run(look("phase.png", {"--encode", "amplitude", "--amplitude-range", "0,1"})).exit_code, 0);
}

TEST_F(FlagsTest, ATableOfMorePhasesThanCodesIsBlamed) {
  std::string table = "phase_rad\n";
  for (int code = 0; code < 257; ++code) table += fmt::format("{}\n", 6.28 * code / 256);
  write("many.txt", table);
  ASSERT_EQ(run(hologram("a.png", {})).exit_code, 0);
  expect_refused({"reconstruct", path("a.png"), "-o", path("f.png"), "--lut", path("many.txt")},
                 {"many.txt: expected at most 256 phases for codes of 8 bits, got 257"});
}

TEST_F(FlagsTest, TablesInDegreesAndCodesOfFewBitsAreNoted) {
  write("degrees.txt", "0\n120\n240\n360\n");
  const auto noted = [](const ProgramResult& made, const std::string& text) {
    EXPECT_EQ(made.exit_code, 0) << made.error;
    return made.error.find(text) != std::string::npos;
  };
  const std::string degrees = "warning: " + path("degrees.txt") +
                              " states no unit: a stroke of 360 is read as deg (2 pi times 1); --lut-unit or a heading "
                              "such as phase_rad says otherwise";
  EXPECT_TRUE(noted(run(hologram("a.png", {"--lut", path("degrees.txt")})), degrees));
  EXPECT_TRUE(noted(run({"reconstruct", path("a.png"), "-o", path("f.png"), "--lut", path("degrees.txt")}), degrees));
  // The step back from the last code is a third of the stroke.
  EXPECT_FALSE(noted(run(hologram("a.png", {"--lut", path("degrees.txt"), "--lut-unit", "deg"})), "states no unit"));
  write("red.txt", "# measured at 633 nm\nphase_deg\n0\n90\n180\n270\n");
  const std::string red = "warning: " + path("red.txt") + " states phases at 633 nm, but the light has 532 nm";
  EXPECT_TRUE(noted(run(hologram("a.png", {"--lut", path("red.txt")})), red));
  EXPECT_TRUE(noted(run({"reconstruct", path("a.png"), "-o", path("f.png"), "--lut", path("red.txt")}), red));
  ASSERT_EQ(run(hologram("map_633nm.png", {})).exit_code, 0);
  const std::string map =
      "warning: " + path("map_633nm.png") + " is named as a correction at 633 nm, but the light has";
  EXPECT_TRUE(noted(run(hologram("b.png", {"--correction", path("map_633nm.png")})), map));
  EXPECT_TRUE(
      noted(run({"reconstruct", path("b.png"), "-o", path("f.png"), "--correction", path("map_633nm.png")}), map));
  write("short.txt", "phase_deg\n0\n60\n120\n180\n");
  EXPECT_TRUE(noted(run(hologram("a.png", {"--lut", path("short.txt")})),
                    path("short.txt") +
                        ": a stroke of 0.5 turns, below one: phases beyond it are off by up to 1.57 rad, "
                        "all by 0.68 rad rms"));
  expect_refused(hologram("a.png", {"--lut", path("short.txt"), "--lut-unit", "rad"}),
                 {"short.txt", "unit: expected deg, as the table states, got rad"});
  expect_refused(hologram("a.png", {"--lut-unit", "rad"}), {"--lut-unit: expected a table of --lut, got"});
  const std::string black = "codes of few bits look black";
  EXPECT_TRUE(noted(run(hologram("b.png", {"--encode", "amplitude", "--bits", "1"})), black));
  EXPECT_TRUE(noted(run(hologram("b.png", {"--bits", "2"})), black));
  EXPECT_FALSE(noted(run(hologram("b.png", {"--bits", "4"})), black));
}

TEST_F(FlagsTest, AllThatIsMissingIsNamedAtOnce) {
  ASSERT_EQ(run(hologram("a.bmp", {"--encode", "amplitude"})).exit_code, 0);
  const std::vector<std::string> look{"reconstruct", path("a.bmp"), "-o", path("f.png")};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), look.begin(), look.end());
    return more;
  };
  expect_refused(look, {"a.bmp", "--pitch", "--wavelength", "--distance", "--encode"});
  expect_refused(with({"--encode", "amplitude", "--sweep", "7cm:9cm:3"}),
                 {"--pitch, --wavelength and --amplitude-range:"});
  const std::vector<std::string> grid{"--pitch", "8um", "--wavelength", "532nm", "--distance", "8cm"};
  const auto on_grid = [&](std::vector<std::string> more) {
    more.insert(more.end(), grid.begin(), grid.end());
    return with(more);
  };
  expect_refused(on_grid({"--encode", "amplitude"}), {"--amplitude-range: expected a value"});
  expect_refused(on_grid({"--bits", "12"}), {"--bits", "8 bits", "12"});
  expect_refused(on_grid({"--encode", "complex"}), {"--encode", "complex"});
  expect_refused(on_grid({"--encode", "fase"}), {"--encode", "did you mean 'phase'"});
  expect_refused(on_grid({"--amplitude-range", "3,1"}), {"--amplitude-range", "rising"});
  expect_refused(on_grid({"--packed16"}), {"packed 16-bit"});
  expect_refused(on_grid({"--lut", path("missing.txt")}), {"missing.txt"});
  ASSERT_EQ(run(hologram("p.bmp", {"--packed16"})).exit_code, 0);
  expect_refused({"reconstruct", path("p.bmp"), "-o", path("f.png"), "--pitch", "8um", "--wavelength", "532nm",
                  "--distance", "8cm"},
                 {"p.bmp", "coloured", "--packed16"});
  ASSERT_EQ(run(hologram("f.npy", {})).exit_code, 0);
  expect_refused({"reconstruct", path("f.npy"), "-o", path("f.png")}, {"--pitch, --wavelength and --distance:"});
  expect_refused({"reconstruct", path("f.npy"), "-o", path("f.png"), "--bits", "8"}, {"--bits", "complex field"});
}

// Flags override metadata of the file.
TEST_F(FlagsTest, FlagsReplaceKeys) {
  (void)run_json(hologram("a.png", {"--encode", "amplitude", "--reference-angle", "0.7deg"}));
  (void)run_json({"reconstruct", path("a.png"), "-o", path("own.npy"), "--linear"});
  (void)run_json({"reconstruct", path("a.png"), "-o", path("stated.npy"), "--linear", "--reference-angle", "0deg"});
  EXPECT_NE(pixels_of(path("own.npy")).value, pixels_of(path("stated.npy")).value);
  (void)run_json({"reconstruct", path("a.png"), "-o", path("stated.npy"), "--linear", "--reference-angle", "0.7deg"});
  EXPECT_EQ(pixels_of(path("own.npy")).value, pixels_of(path("stated.npy")).value);
  const auto json = run_json({"reconstruct", path("a.png"), "-o", path("stated.png"), "--wavelength", "633nm"});
  EXPECT_EQ(json["wavelength_m"].get<double>(), 633e-9);
}

TEST_F(FlagsTest, ThreeColoursAreThree) {
  for (const char* wavelength : {"638nm", "520nm", "450nm"}) {
    ASSERT_EQ(run(hologram(fmt::format("{}.png", wavelength), {"--wavelength", wavelength})).exit_code, 0);
  }
  ASSERT_EQ(run(hologram("again.png", {"--wavelength", "520nm"})).exit_code, 0);
  const auto look = [&](const std::string& third) {
    return std::vector<std::string>{"reconstruct", path("638nm.png"), path("520nm.png"), path(third),
                                    "-o",          path("f.png")};
  };
  expect_refused(look("520nm.png"), {"IN", "different files"});
  expect_refused(look("again.png"), {"again.png", "another wavelength", "520 nm"});
  EXPECT_EQ(run(look("450nm.png")).exit_code, 0);
}

}  // namespace
}  // namespace holotone::test
