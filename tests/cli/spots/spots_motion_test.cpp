// holotone spots --trajectory: numbered codes whose spots stand where the trajectory has them; refusals; Ctrl-C.
#include <cmath>
#include <holotone/io/images/image.hpp>
#include <numbers>
#include <tests/support/program.hpp>

namespace holotone::test {
namespace {

class SpotsMotionTest : public ProgramTest {
 protected:
  [[nodiscard]] std::vector<std::string> moving(const std::string& trajectory,
                                                const std::vector<std::string>& more) const {
    std::vector<std::string> arguments{"spots",        "--trajectory",   trajectory, "-o",  path("s_%d.png"),
                                       "--resolution", "128x128",        "--pitch",  "8um", "--wavelength",
                                       "1064nm",       "--focal-length", "10cm"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }

  /// A ring of 12 spots that turns by half a width a frame.
  [[nodiscard]] std::string ring(int frames) const {
    std::string text = "frame,id,x_um,y_um\n";
    for (int frame = 0; frame < frames; ++frame) {
      for (int spot = 0; spot < 12; ++spot) {
        const double angle = 2 * std::numbers::pi * spot / 12 + 0.026 * frame;
        text += fmt::format("{},{},{:.3f},{:.3f}\n", frame, spot, 2500 + 2000 * std::cos(angle),
                            1500 + 2000 * std::sin(angle));
      }
    }
    return write("ring.csv", text);
  }
};

TEST_F(SpotsMotionTest, EveryFrameHasItsCodes) {
  const auto report = run_json(moving(
      ring(3), {"--step", "0.1", "--response-time", "2ms", "--frame-time", "10ms", "--table", path("light.csv")}));
  // Half a width a frame in steps of at most a tenth.
  const auto& frames = report["frames"];
  ASSERT_GE(frames.size(), 11u);
  ASSERT_LE(frames.size(), 13u);
  EXPECT_EQ(frames[0].count("transient"), 0u);
  double lowest = 2;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    EXPECT_EQ(frames[i]["frame"], i);
    EXPECT_EQ(frames[i]["spots"], 12);
    EXPECT_LT(frames[i]["deviation"], 0.03);
    EXPECT_TRUE(fs::exists(path("s_" + std::to_string(i) + ".png"))) << i;
    if (i > 0) lowest = std::min(lowest, frames[i]["transient"]["lowest"].get<double>());
  }
  EXPECT_EQ(report["lowest_transient"].get<double>(), lowest);
  EXPECT_GT(lowest, 0.8);
  // 12 lines a frame, and the names.
  const auto table = content_of(path("light.csv"));
  EXPECT_EQ(static_cast<std::size_t>(std::count(table.begin(), table.end(), '\n')), 12 * frames.size() + 1);
  // The last frame's spots are where the trajectory has them: pixels of reconstruct's picture are 103.9 um.
  const auto last = path("s_" + std::to_string(frames.size() - 1) + ".png");
  ASSERT_EQ(run({"reconstruct", last, "-o", path("seen.tif"), "--linear"}).exit_code, 0);
  const auto seen = to_float(read_image(path("seen.tif")));
  const double pixel_m = 1064e-9 * 0.1 / (128 * 8e-6);
  double in_spots = 0;
  double sum = 0;
  for (std::int64_t i = 0; i < seen.size(); ++i) sum += static_cast<double>(seen.data()[i]);
  for (int spot = 0; spot < 12; ++spot) {
    const double angle = 2 * std::numbers::pi * spot / 12 + 0.026 * 2;
    const auto column = static_cast<std::int64_t>(std::floor(64 + (2.5e-3 + 2e-3 * std::cos(angle)) / pixel_m));
    const auto row = static_cast<std::int64_t>(std::floor(64 - (1.5e-3 + 2e-3 * std::sin(angle)) / pixel_m));
    for (const std::int64_t down : {-1, 0, 1}) {
      for (const std::int64_t right : {-1, 0, 1}) {
        in_spots += static_cast<double>(seen(row + down, column + right, 0));
      }
    }
  }
  EXPECT_GT(in_spots / sum, 0.7);
}

TEST_F(SpotsMotionTest, TimesOfTheFileAreFramesOfThePanel) {
  const auto moves = write("t.csv", "time_ms,id,x_mm,y_mm\n0,1,1,1\n0,2,-2,1\n10,1,1.1,1\n10,3,-2,-2\n");
  const auto report =
      run_json(moving(moves, {"--frame-time", "2500us", "--response", write("r.csv", "time_ms,share\n1,0.6\n2,1\n")}));
  ASSERT_EQ(report["frames"].size(), 5u);
  EXPECT_EQ(report["frames"][4]["free_spots"], 1);
  EXPECT_NEAR(report["frames"][1]["time"].get<double>(), 2.5e-3, 1e-12);
  EXPECT_EQ(report["frames"][1]["transient"]["time_s"].size(), 6u);
  const auto words = run(moving(moves, {}));
  EXPECT_EQ(words.exit_code, 0) << words.error;
  EXPECT_NE(words.output.find("2 frames"), std::string::npos) << words.output;
}

TEST_F(SpotsMotionTest, SpotsThatMeetAreNamed) {
  const auto moves = write("m.csv", "frame,id,x_mm,y_mm\n0,1,1,1\n0,2,3,1\n5,1,2,1\n5,2,2,1\n");
  const auto report = run_json(moving(moves, {}));
  EXPECT_EQ(report["frames"].size(), 6u);
  EXPECT_GT(report["free_spots"], 0);
  // From frame to frame 200 um, widths of 104 um.
  ASSERT_EQ(report["warnings"].size(), 2u) << report.dump();
  EXPECT_NE(report["warnings"][0].get<std::string>().find("frame 5"), std::string::npos);
  EXPECT_NE(report["warnings"][1].get<std::string>().find("jumps by 1.9 widths"), std::string::npos) << report.dump();
  EXPECT_EQ(run_json(moving(moves, {"--step", "1"}))["warnings"].size(), 1u);
}

TEST_F(SpotsMotionTest, EachKindOfRemarkHasItsLine) {
  const auto moves = write("m.csv", "frame,id,x_mm,y_mm\n0,1,0,0.04\n0,2,3,1\n1,1,0,0.05\n1,2,3,1\n2,1,3,1\n2,2,3,1\n");
  const auto report = run_json(moving(moves, {"--frames", "1", "--table", path("light.csv")}));
  ASSERT_EQ(report["warnings"].size(), 2u) << report.dump();
  const auto merging = report["warnings"][0].get<std::string>();
  EXPECT_NE(merging.find("frame 2: 1 pair of spots"), std::string::npos) << merging;
  const auto central = report["warnings"][1].get<std::string>();
  EXPECT_NE(central.find("frame 0: 1 spot"), std::string::npos) << central;
  EXPECT_NE(central.find("; 1 frame more so"), std::string::npos) << central;
}

// 40 spots that stand elsewhere in each frame: a few steps a frame do not bring them to their intensities.
TEST_F(SpotsMotionTest, FramesFarFromTheirTargetsAreNamed) {
  std::string text = "frame,id,x_um,y_um\n";
  std::uint32_t state = 9;
  const auto place_um = [&state] {  // of Numerical Recipes' generator, 300 to 4000
    state = state * 1664525U + 1013904223U;
    return 300 + (state >> 16) % 3700;
  };
  for (int frame = 0; frame < 8; ++frame) {
    for (int spot = 0; spot < 40; ++spot) text += fmt::format("{},{},{},{}\n", frame, spot, place_um(), place_um());
  }
  const auto moves = write("m.csv", text);
  const auto far_line = [&](const nlohmann::json& report) {
    std::string line;
    for (const auto& warning : report["warnings"]) {
      const auto words = warning.get<std::string>();
      if (words.find("from the targets") != std::string::npos) line += words;
    }
    return line;
  };
  const auto report = run_json(moving(moves, {}));
  std::vector<int> far;
  for (const auto& frame : report["frames"]) {
    if (frame["deviation"].get<double>() > 0.05) far.push_back(frame["frame"].get<int>());
  }
  ASSERT_FALSE(far.empty()) << report.dump();
  const auto& first = report["frames"][static_cast<std::size_t>(far.front())];
  std::string expected = fmt::format(
      "frame {}: deviation {:.2g} % from the targets, worst spot {:.2g} % (more "
      "--motion-steps may help)",
      far.front(), 100 * first["deviation"].get<double>(), 100 * first["worst"].get<double>());
  if (far.size() == 2) expected += "; 1 frame more so";
  if (far.size() > 2) expected += fmt::format("; {} frames more so", far.size() - 1);
  EXPECT_EQ(far_line(report), expected);
  EXPECT_EQ(far_line(run_json(moving(moves, {"--motion-steps", "20"}))), "");
  EXPECT_EQ(far_line(run_json(moving(moves, {"--max-deviation", "0.9"}))), "");
}

TEST_F(SpotsMotionTest, TheTableHasTheTrajectorysTime) {
  const auto moves = write("t.csv", "frame,id,x_mm,y_mm\n7,1,1,1\n9,1,1.1,1\n");
  EXPECT_EQ(run(moving(moves, {"--frames", "4", "--table", path("light.csv")})).exit_code, 0);
  const auto table = content_of(path("light.csv"));
  EXPECT_EQ(table.rfind("frame,time,id,x_m,", 0), 0U) << table;
  EXPECT_NE(table.find("\n1,7.5,1,"), std::string::npos) << table;
}

TEST_F(SpotsMotionTest, CtrlCLeavesNoFrames) {
  const auto moves = ring(5000);
  const auto before = files();
  RunningProgram program(moving(moves, {"--table", path("light.csv")}), captured_);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!fs::exists(path("s_2.png")) && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ASSERT_TRUE(program.running());
  ASSERT_TRUE(fs::exists(path("s_2.png")));
  program.send(SIGINT);
  EXPECT_EQ(program.wait(60).exit_code, 130);
  EXPECT_EQ(files(), before);
}

TEST_F(SpotsMotionTest, WhatCannotBeIsRefusedByName) {
  const auto moves = ring(2);
  expect_refused(moving(moves, {"--frames", "3", "--step", "0.1"}), {"--step", "--frames"});
  expect_refused(moving(moves, {"--frames", "0"}), {"--frames"});
  expect_refused(moving(moves, {"--step", "0"}), {"--step"});
  expect_refused(moving(moves, {"--motion-steps", "0"}), {"--motion-steps"});
  expect_refused(moving(moves, {"--response-time", "5ms"}), {"--frame-time"});
  expect_refused(moving(moves, {"--frame-time", "5ms"}), {"--frame-time", "--response"});
  expect_refused(moving(moves, {"--response-time", "5"}), {"--response-time", "unit"});
  expect_refused(moving(moves, {"--response", path("none.csv")}), {"none.csv"});
  expect_refused(moving(moves, {"--response", moves}), {"ring.csv", "time, share"});
  expect_refused(moving(moves, {"--array", "2x2", "--spacing", "1mm"}), {"--trajectory"});
  expect_refused(moving(path("none.csv"), {}), {"none.csv"});
  const auto timed = write("t.csv", "time_ms,id,x_um,y_um\n0,1,1,1\n10,1,2,1\n");
  expect_refused(moving(timed, {"--frames", "3", "--frame-time", "1ms"}), {"--frame-time", "--frames", "--step"});
  expect_refused(moving(moves, {"--unit", "um"}), {"--unit", "ring.csv"});
  expect_refused(moving(moves, {"--ring", "4", "--radius", "1mm"}), {"--trajectory", "--ring"});
  const auto plain = write("plain.csv", "frame,id,x,y\n0,1,1,1\n");
  expect_refused(moving(plain, {}), {"plain.csv", "unit"});
  EXPECT_EQ(run(moving(plain, {"--unit", "um"})).exit_code, 0);
  const auto far = write("far.csv", "frame,id,x_m,y_m\n0,1,0.001,0\n1,1,1,0\n");
  expect_refused(moving(far, {}), {"far.csv", "frame 1, id 1", "diffraction order", "unit right?"});
  EXPECT_FALSE(fs::exists(path("s_1.png")));
  auto one = moving(moves, {});
  one[4] = path("one.png");
  expect_refused(one, {"--output", "counter"});
  expect_refused({"spots", "--array", "2x2", "--spacing", "1mm", "--focal-length", "10cm", "-o", path("a_%d.png")},
                 {"--output", "counter"});
  expect_refused(
      {"spots", "--array", "2x2", "--spacing", "1mm", "--focal-length", "10cm", "-o", path("a.png"), "--step", "0.1"},
      {"--step", "--trajectory"});
}

}  // namespace
}  // namespace holotone::test
