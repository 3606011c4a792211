// Messages of `holotone halftone`, and cancellation.
#include <cmath>
#include <holotone/halftone/ink.hpp>
#include <tests/cli/halftone_program.hpp>

namespace holotone::test {
namespace {

using HalftoneWordsTest = HalftoneTest;

// If number and radius are both given, dots may not add up to the picture's ink; the warning names values that do.
TEST_F(HalftoneWordsTest, SaysWhatShareOfTheInkDotsHold) {
  ramp();
  const double total = total_ink(ink_from_pixels(to_float(read_image(path("ramp.png"))).view()).view());
  const auto warnings = [&](std::vector<std::string> more) {
    more.insert(more.end(), {"--iterations", "5", "--device", "cpu"});
    return run_json(halftone(std::move(more)))["warnings"];
  };
  const auto half = warnings({"--dots", fmt::format("{:.0f}", total / M_PI / 2), "--radius", "1"});
  ASSERT_EQ(half.size(), 1u);
  EXPECT_NE(half[0].get<std::string>().find("50 % of the picture's ink"), std::string::npos) << half;
  EXPECT_NE(half[0].get<std::string>().find("--radius 1.41 or --dots "), std::string::npos) << half;
  EXPECT_TRUE(warnings({"--dots", fmt::format("{:.0f}", total / M_PI * 1.05), "--radius", "1"}).empty());
  const auto physical = warnings({"--dots", "9", "--radius", "1mm", "--size", "56mm"});
  ASSERT_EQ(physical.size(), 1u);
  EXPECT_NE(physical[0].get<std::string>().find("mm or --dots "), std::string::npos) << physical;
  EXPECT_EQ(physical[0].get<std::string>().find(" mm"), std::string::npos) << "a length as it is typed";
  const auto varied = warnings({"--dots", "100", "--radius", "0.5:1"});
  ASSERT_EQ(varied.size(), 1u);
  EXPECT_EQ(varied[0].get<std::string>().find("--radius"), std::string::npos) << varied;
  EXPECT_TRUE(warnings({"--dots", "100"}).empty());
}

TEST_F(HalftoneWordsTest, HintsOnDarkPicturesAndIdleClipping) {
  even("dark.png", 20, 30, 60);
  const auto said = [&](std::vector<std::string> more) {
    more.insert(more.end(), {"--dots", "50", "--iterations", "40", "--device", "cpu"});
    const auto result = run(halftone(std::move(more), "dark.png"));
    EXPECT_EQ(result.exit_code, 0);
    return result.error;
  };
  EXPECT_NE(said({}).find("--gamma 2 gives a lighter print"), std::string::npos);
  EXPECT_EQ(said({"--gamma", "1"}), "");
  EXPECT_EQ(said({"--quiet"}), "");
  EXPECT_NE(said({"--clip", "--gamma", "2"}).find("--clip does nothing"), std::string::npos);
}

TEST_F(HalftoneWordsTest, SaysWhyItEnded) {
  even("flat.png", 20, 30, 200);
  const auto line = [&](const char* iterations) {
    return run(halftone({"--dots", "4", "--iterations", iterations, "--device", "cpu"}, "flat.png")).output;
  };
  EXPECT_NE(line("3").find(", 3 iterations, mean force"), std::string::npos) << line("3");
  EXPECT_NE(line("100000").find("settled after "), std::string::npos) << line("100000");
}

// Without --size the pixel size is unknown.
TEST_F(HalftoneWordsTest, ListsStateOnlyLengthsThatWereGiven) {
  ramp();
  const std::vector<std::string> more{"--dots", "60", "--method", "floyd-steinberg", "--order", "tour"};
  const auto bare = run(halftone(more));
  EXPECT_NE(bare.output.find(" pixels long"), std::string::npos) << bare.output;
  EXPECT_EQ(content_of(path("out.csv")).substr(0, 43), "# Holotone dots, width_px 56, height_px 40\n");
  EXPECT_EQ(read_dots(path("out.csv")).width, 56);
  auto sized = more;
  sized.insert(sized.end(), {"--size", "56mm"});
  EXPECT_NE(run(halftone(sized)).output.find("m long"), std::string::npos);
  EXPECT_NE(content_of(path("out.csv")).find("height_px 40, pixel_m 0.001\n"), std::string::npos);
}

TEST_F(HalftoneWordsTest, CtrlCLeavesNothing) {
  ramp("large.png", 300, 400);
  const auto before = files();
  for (const char* method : {"electrostatic", "direct", "lloyd", "ccvt"}) {
    const char* const count = std::string(method) == "direct" ? "10000" : "80000";
    std::vector<std::string> more{"--dots", count, "--iterations", "1000000", "--method", method, "--device", "cpu"};
    if (std::string(method) == "electrostatic") more.insert(more.end(), {"--frames", path("f_%04d.csv")});
    RunningProgram program(halftone(more, "large.png"), captured_);
    std::this_thread::sleep_for(std::chrono::milliseconds(1200));
    ASSERT_TRUE(program.running()) << method;
    program.send(SIGINT);
    const auto result = program.wait(60);
    EXPECT_EQ(result.exit_code, 130) << method << result.error;
    EXPECT_EQ(result.output, "");
    EXPECT_EQ(files(), before) << method;
  }
}

// An iteration over so many pairs takes many seconds.
TEST_F(HalftoneWordsTest, CtrlCEndsALongIteration) {
  ramp();
  const auto before = files();
  RunningProgram program(halftone({"--dots", "600000", "--method", "direct", "--device", "cpu"}), captured_);
  std::this_thread::sleep_for(std::chrono::milliseconds(2500));
  ASSERT_TRUE(program.running());
  const auto start = std::chrono::steady_clock::now();
  program.send(SIGINT);
  const auto result = program.wait(60);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(4));
  EXPECT_EQ(result.exit_code, 130);
  EXPECT_EQ(result.error, "holotone: cancelled\n");
  EXPECT_EQ(files(), before);
}

TEST_F(HalftoneWordsTest, ProgressTellsIterationForceAndTimeLeft) {
  ramp("large.png", 500, 700);
  RunningProgram program(
      halftone({"--dots", "150000", "--iterations", "100000", "--progress", "--device", "cpu"}, "large.png"),
      captured_);
  std::string said;
  for (int i = 0; i < 600 && said.find("mean force") == std::string::npos && program.running(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    said = content_of(captured_ / "error");
  }
  for (const char* word : {"moving dots", "left", "iteration", "mean force"}) {
    EXPECT_NE(said.find(word), std::string::npos) << said;
  }
  program.send(SIGINT);
  EXPECT_EQ(program.wait(60).exit_code, 130);
}

}  // namespace
}  // namespace holotone::test
