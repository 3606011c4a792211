// Ctrl-C during long runs.
#include <tests/cli/program.hpp>

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

// Not at once: before the handler stands, the signal ends the program as it ends any, with nothing to clean up.
TEST_F(CancelTest, EarlyWhileReading) { expect_cancelled(slow("out.png"), SIGINT, 1, 0.8); }

TEST_F(CancelTest, TheSecondSignalEndsAtOnce) { expect_cancelled(slow("out.png"), SIGINT, 2, 1.5); }

TEST_F(CancelTest, MovingPicturesLeaveNoFrames) {
  // Quick frames, so that several are written before the signal comes.
  const std::vector<std::string> frames{
      "hologram", path("many.csv"), "-o",      path("f_%04d.png"), "--spin", "360deg:100000", "--points",
      "50",       "--resolution",   "320x240", "--pitch",          "8um",    "--device",      "cpu"};
  const auto before = files();
  RunningProgram program(frames, captured_);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (files().count("f_0003.png") == 0 && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ASSERT_TRUE(program.running());
  ASSERT_EQ(files().count("f_0003.png"), 1u);
  program.send(SIGINT);
  const auto result = program.wait(60);
  EXPECT_EQ(result.exit_code, 130) << result.error;
  EXPECT_EQ(files(), before);
}

}  // namespace
}  // namespace holotone::test
