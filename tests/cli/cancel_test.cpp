// Ctrl-C during long runs.
#include <tests/support/program.hpp>

namespace holotone::test {
namespace {

class CancelTest : public ProgramTest {
 protected:
  /// A cloud whose direct sum takes minutes.
  CancelTest() {
    std::vector<std::array<double, 4>> points;
    for (int i = 0; i < 100'000; ++i) {
      points.push_back({1e-5 * (i % 300), 1e-5 * (i / 300), -0.2 - 1e-7 * (i % 7), 1});
    }
    write_cloud("many.csv", points);
  }

  [[nodiscard]] std::vector<std::string> slow(const std::string& output, std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"hologram", path("many.csv"), "-o", path(output), "--method", "direct", "--tolerance",
                               "1e-5", "--device", "cpu"});
    return more;
  }

  void expect_cancelled(const std::vector<std::string>& arguments, int signal, int times, double after_s) const {
    const auto before = files();
    RunningProgram program(arguments, captured_);
    std::this_thread::sleep_for(std::chrono::duration<double>(after_s));
    ASSERT_TRUE(program.running()) << "the run was too short to be cancelled";
    for (int i = 0; i < times; ++i) {
      program.send(signal);
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    const auto result = program.wait(60);
    EXPECT_EQ(result.exit_code, 130) << result.error;
    EXPECT_LE(std::count(result.error.begin(), result.error.end(), '\n'), 1) << result.error;
    EXPECT_EQ(result.output, "");
    EXPECT_EQ(files(), before);
  }
};

TEST_F(CancelTest, TheFirstSignalStopsTheSum) {
  expect_cancelled(slow("out.png"), SIGINT, 1, 1.5);
  expect_cancelled(slow("out.npy"), SIGTERM, 1, 1.5);
}

// Delayed: before the handler is installed, a signal ends the program by default, and there is nothing to remove.
TEST_F(CancelTest, EarlyWhileReading) { expect_cancelled(slow("out.png"), SIGINT, 1, 0.8); }

TEST_F(CancelTest, TheSecondSignalEndsAtOnce) { expect_cancelled(slow("out.png"), SIGINT, 2, 1.5); }

TEST_F(CancelTest, DevicesAreMeasuredUpToTheSignal) {
  expect_cancelled({"devices", "--measure", "--json"}, SIGINT, 1, 0.3);
}

/// Short frames, so that several are written before a signal arrives.
class CancelFramesTest : public CancelTest {
 protected:
  [[nodiscard]] std::vector<std::string> frames(std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"hologram", path("many.csv"), "-o", path("f_%04d.png"), "--spin", "360deg:100000",
                               "--points", "50", "--resolution", "320x240", "--pitch", "8um", "--device", "cpu"});
    return more;
  }

  /// Waits for a frame, sends the signals and expects the folder unchanged.
  void expect_frames_cancelled(const std::string& frame, std::initializer_list<int> signals) const {
    const auto before = files();
    RunningProgram program(frames(), captured_);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!fs::exists(path(frame)) && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    ASSERT_TRUE(program.running());
    ASSERT_TRUE(fs::exists(path(frame)));
    for (const int signal : signals) program.send(signal);
    const auto result = program.wait(60);
    EXPECT_EQ(result.exit_code, 130) << result.error;
    EXPECT_EQ(files(), before);
  }
};

TEST_F(CancelFramesTest, MovingPicturesLeaveNoFrames) { expect_frames_cancelled("f_0003.png", {SIGINT}); }

TEST_F(CancelFramesTest, NorAfterTwoSignals) {
  for (int i = 0; i < 5; ++i) expect_frames_cancelled(fmt::format("f_{:04}.png", 2 * i + 1), {SIGTERM, SIGINT});
}

TEST_F(CancelFramesTest, NorWhenTheTerminalGoes) {
  expect_frames_cancelled("f_0003.png", {SIGHUP});
  expect_frames_cancelled("f_0003.png", {SIGQUIT});
}

// Frames of an earlier run belong to the user: frames not reached stay unchanged, replaced frames are complete.
TEST_F(CancelFramesTest, FramesOfAnOlderRunStay) {
  for (const std::initializer_list<int> signals : {std::initializer_list<int>{SIGINT}, {SIGINT, SIGINT}}) {
    write("f_0001.png", "old");
    write("f_99999.png", "old");
    expect_frames_cancelled("f_0003.png", signals);
    EXPECT_EQ(content_of(path("f_99999.png")), "old");
    EXPECT_EQ(shape_of(read_image(path("f_0001.png"))), (Shape<3>{240, 320, 1}));
  }
}

// Three million file names are checked before the first frame.
TEST_F(CancelTest, AMillionFramesStartAtOnce) {
  expect_cancelled({"hologram", path("many.csv"), "-o", path("f_%d.png"), "--spin", "360deg:1000000", "--rgb",
                    "638nm,520nm,450nm", "--device", "cpu"},
                   SIGINT, 1, 0.8);
  const auto start = std::chrono::steady_clock::now();
  RunningProgram program({"hologram", path("many.csv"), "-o", path("f_%d.png"), "--spin", "360deg:1000000", "--points",
                          "9", "--resolution", "32x24", "--pitch", "8um", "--device", "cpu"},
                         captured_);
  while (!fs::exists(path("f_0.png")) && program.running()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const auto seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  RecordProperty("seconds_to_first_frame", fmt::format("{}", seconds));
  EXPECT_LT(seconds, 60);  // names are not looked up one by one
  program.send(SIGINT);
  EXPECT_EQ(program.wait(20).exit_code, 130);
  EXPECT_EQ(files(), std::set<std::string>{"many.csv"});
}

TEST_F(CancelTest, SampleStopsWhileSamplingAndWriting) {
  for (const double after_s : {0.8, 2.5}) {
    const auto start = std::chrono::steady_clock::now();
    expect_cancelled({"sample", "knot", "-o", path("big.ply"), "--points", "60000000"}, SIGINT, 1, after_s);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(15));
  }
}

}  // namespace
}  // namespace holotone::test
