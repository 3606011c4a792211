// Input that no one means, and mistakes of the first minutes: one line that names what to change.
#include <tests/cli/small_panel.hpp>

namespace holotone::test {
namespace {

class AttackTest : public SmallPanelTest {
 protected:
  [[nodiscard]] std::vector<std::string> optimize(const std::vector<std::string>& more,
                                                  const std::string& output = "o.png") const {
    write_image(path("p.png"), grey(32, 24, {}));
    std::vector<std::string> line{"optimize",     path("p.png"), "-o",         path(output), "--resolution",
                                  "32x24",        "--pitch",     "8um",        "--device",   "cpu",
                                  "--iterations", "1",           "--distance", "2mm"};
    line.insert(line.end(), more.begin(), more.end());
    return line;
  }
};

TEST_F(AttackTest, NamesThatAreNotUtf8AreWritten) {
  const auto result =
      run({"scene", "dice", "-o", path("bad\xff"), "--resolution", "16", "--views", "1x1", "--points", "10"});
  EXPECT_EQ(result.exit_code, 0) << result.error;
  EXPECT_NE(content_of(path("bad\xff/scene.json")).find("\xef\xbf\xbd"), std::string::npos);
}

TEST_F(AttackTest, AMissingFolderForTemporaryFilesIsNamed) {
  const auto line = optimize({"--camera", "cat %s"});
  const auto result = RunningProgram(line, captured_, [] { setenv("TMPDIR", "/nonexistent", 1); }).wait(60);
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.error.find("holotone: TMPDIR: expected a folder for temporary files, got"), 0U) << result.error;
}

TEST_F(AttackTest, OptionsWithoutEffectAreRefused) {
  write_cloud("c.csv", {{0, 0, -0.1, 1}});
  write_image(path("p.png"), grey(32, 24, {}));
  expect_refused({"hologram", path("c.csv"), "-o", path("o.png"), "--hide-cell", "1mm"},
                 {"--hide-cell: expected --hide, got none"});
  expect_refused({"hologram", path("c.csv"), "-o", path("o.npy"), "--compression", "0"},
                 {"--compression: expected an output ending in .png or .tif, got"});
  expect_refused({"halftone", path("p.png"), "-o", path("o.svg"), "--compression", "0"},
                 {"--compression: expected an output ending in .png or .tif, got"});
  expect_refused(optimize({"--compression", "0"}, "o.bmp"),
                 {"--compression: expected an output ending in .png or .tif"});
  expect_refused({"panel", "chart", "-o", path("o.bmp"), "--compression", "0"},
                 {"--compression: expected an output ending in .png or .tif"});
  expect_refused({"reconstruct", path("f.npy"), "-o", path("o.bmp"), "--compression", "0"},
                 {"--compression: expected an output ending in .png or .tif"});
  expect_refused(optimize({"--viewer-distance", "40cm"}), {"--viewer-distance: expected --aperture or --depth"});
  ASSERT_EQ(run(hologram("good.csv", "f.npy")).exit_code, 0);
  expect_refused({"quantize", path("f.npy"), "-o", path("o.png"), "--method", "truncate", "--hogel", "8"},
                 {"--hogel: expected a method that diffuses errors, got truncate"});
  expect_refused({"smoe", "fit", path("p.png"), "-o", path("o.smoe"), "--rows", "up"},
                 {"--rows: expected names of views with %v"});
  for (const char* option : {"--port", "--bind", "--host"}) {
    expect_refused({"view", path("p.png"), "-o", path("o.html"), option, "99"}, {option});
  }
}

TEST_F(AttackTest, ATableWithoutZHoldsDots) {
  write("r.csv", "x,y,radius\n1,2,0.5\n3,4,0.5\n");
  write("bad.csv", "x,y,radius\nnan,2,0.5\n");
  EXPECT_NE(run({"info", path("r.csv")}).output.find("2 dots"), std::string::npos);
  EXPECT_EQ(run({"view", path("r.csv"), "-o", path("v.html")}).exit_code, 0);
  expect_refused({"info", path("bad.csv")}, {"bad.csv: expected finite coordinates (line 2), got nan"});
}

TEST_F(AttackTest, AStartNeedsAHologram) {
  auto line = optimize({});
  line.insert(line.end(), {"--start", path("p.png")});
  expect_refused(line, {"p.png: expected a hologram to start from, got a picture that states no encoding"});
}

TEST_F(AttackTest, OneSubframeCounter) {
  expect_refused(optimize({"--subframes", "2"}, "o_%t%t.png"), {"--output: expected one %t, got", "o_%t%t.png"});
}

TEST_F(AttackTest, APanelOfMirrorsShowsNoPhases) {
  const auto result = run({"optimize", path("p.png"), "-o", path("o.png"), "--panel", "ti-dlp6500"});
  EXPECT_EQ(result.error.find("holotone: --panel: expected a phase modulator"), 0U) << result.error;
}

TEST_F(AttackTest, AnUnknownOptionIsNamedFirst) {
  expect_refused({"info", "--bogus"}, {"info: expected a known option, got '--bogus'"});
  EXPECT_EQ(run({"help"}).output, run({"--help"}).output);
  EXPECT_EQ(run({"help", "smoe", "fit"}).output, run({"smoe", "fit", "--help"}).output);
}

TEST_F(AttackTest, LongValuesAreShortened) {
  const auto result = run({"hologram", path("c.csv"), "-o", path("o.png"), "--wavelength", std::string(100'000, '5')});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_LT(result.error.size(), 400U);
  EXPECT_NE(result.error.find("555...555"), std::string::npos) << result.error;
}

TEST_F(AttackTest, AReaderThatHasEnoughIsNoError) {
  const auto result = run_prepared({"panels", "--json"}, [] {
    int ends[2];
    if (pipe(ends) != 0) std::abort();
    dup2(ends[1], 1);
    close(ends[0]);
    close(ends[1]);
  });
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.error, "");
}

TEST_F(AttackTest, WhatALinkLeadsToStandsOutsideTheName) {
  write_cloud("c.csv", {{0, 0, -0.1, 1}});
  fs::create_symlink("/dev/full", path("full.png"));
  expect_refused({"hologram", path("c.csv"), "-o", path("full.png")}, {"full.png', a device, pipe or socket"});
}

}  // namespace
}  // namespace holotone::test
