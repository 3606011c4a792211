// Trajectories of spots from files, frames between key frames, tables of a panel's relaxation.
#include <cmath>
#include <gtest/gtest.h>
#include <holotone/core/error.hpp>
#include <holotone/recipes/spot_motion.hpp>
#include <tests/support/io_support.hpp>
#include <tests/support/on_each_device.hpp>

namespace {

using holotone::ErrorCode;
using holotone::PanelRelaxation;
using holotone::read_spot_trajectory;
using holotone::spot_frame;
using holotone::SpotFrame;
using holotone::SpotFrameOptions;
using holotone::SpotOptions;
using holotone::SpotTrajectory;

class SpotTrajectories : public testing::Test {
 protected:
  [[nodiscard]] std::string write(const std::string& name, const std::string& text) const {
    io_support::write_raw(folder_.file(name), text);
    return folder_.file(name);
  }
  void refused(const std::string& text, const std::vector<std::string>& words) const {
    const auto file = write("refused", text);
    for (const auto& word : words) {
      support::expect_error(ErrorCode::io, word, [&] { (void)read_spot_trajectory(file); });
    }
    support::expect_error(ErrorCode::io, "refused", [&] { (void)read_spot_trajectory(file); });
  }
  void relaxation_refused(const std::string& text, const std::string& words) const {
    const auto file = write("refused", text);
    support::expect_error(ErrorCode::io, words, [&] { (void)holotone::read_panel_relaxation(file); });
  }

 private:
  io_support::TemporaryFolder folder_;
};

void expect_frame(const SpotFrame& frame, double time, const std::vector<std::int64_t>& id,
                  const std::vector<std::array<double, 4>>& spots) {
  EXPECT_NEAR(frame.time, time, 1e-12);
  EXPECT_EQ(frame.id, id);
  ASSERT_EQ(frame.spots.position_m.size(), spots.size());
  for (std::size_t i = 0; i < spots.size(); ++i) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      EXPECT_NEAR(frame.spots.position_m[i][axis], spots[i][axis], 1e-7 * std::abs(spots[i][axis])) << i << " " << axis;
    }
    EXPECT_NEAR(frame.spots.intensity[i], spots[i][3], 1e-6) << i;
  }
}

void expect_example(const SpotTrajectory& trajectory) {
  EXPECT_FALSE(trajectory.has_times);
  ASSERT_EQ(trajectory.keys.size(), 3U);
  expect_frame(trajectory.keys[0], 0, {3, 7}, {{1e-6, 2e-6, 0, 1}, {3e-6, 4e-6, 5e-6, 2}});
  expect_frame(trajectory.keys[1], 4, {7, 8}, {{5e-6, 4e-6, 5e-6, 1}, {9e-6, 9e-6, 0, 1}});
  expect_frame(trajectory.keys[2], 6, {8}, {{1e-6, 9e-6, 0, 1}});
}

TEST_F(SpotTrajectories, TablesAndJsonAreReadInAnyOrder) {
  expect_example(read_spot_trajectory(write("a.csv",
                                            "frame,id,x_um,y_um,z_um,intensity\n0,3,1,2,0,1\n0,7,3,4,5,2\n"
                                            "4,7,5,4,5,1\n4,8,9,9,0,1\n6,8,1,9,0,1\n")));
  expect_example(read_spot_trajectory(write("b.csv",
                                            "# moves\nId; z [nm]; X_um; y (um); Intensity; Frame\r\n8;0;1;9;1;6\r\n"
                                            "7;5000;5;4;1;4\r\n8;0;9;9;1;4\r\n7;5000;3;4;2;0\r\n3;0;1;2;1;0\r\n")));
  expect_example(
      read_spot_trajectory(write("c.csv", "0 3 1 2 0 1\n0 7 3 4 5 2\n4 7 5 4 5 1\n4 8 9 9 0 1\n6 8 1 9 0 1\n"), 1e-6));
  expect_example(read_spot_trajectory(
      write("e.csv", "# units: um\n0 3 1 2 0 1\n0 7 3 4 5 2\n4 7 5 4 5 1\n4 8 9 9 0 1\n6 8 1 9 0 1\n")));
  expect_example(read_spot_trajectory(
      write("d.json", R"({"unit": "um", "spots": [[0, 3, 1, 2], {"frame": 0, "id": 7, "x_nm": 3000, "y": 4, "z": 5,
      "intensity": 2}, [4, 7, 5, 4, 5, 1], [4, 8, 9, 9], [6, 8, 1, 9]]})")));
}

TEST_F(SpotTrajectories, TimesHaveUnits) {
  const auto trajectory = read_spot_trajectory(write("t.csv", "time_ms,id,x_um,y_um\n5,1,1,0\n0,1,0,0\n20,1,4,0\n"));
  EXPECT_TRUE(trajectory.has_times);
  ASSERT_EQ(trajectory.keys.size(), 3U);
  EXPECT_DOUBLE_EQ(trajectory.keys[1].time, 5e-3);
  EXPECT_DOUBLE_EQ(trajectory.keys[2].time, 20e-3);
  const auto times = holotone::spot_frame_times(trajectory, {.frame_time_s = 2.5e-3}, {});
  ASSERT_EQ(times.size(), 9U);
  EXPECT_EQ(times[2], trajectory.keys[1].time);
  expect_frame(spot_frame(trajectory, times[1]), 2.5e-3, {1}, {{0.5e-6, 0, 0, 1}});
  expect_frame(spot_frame(trajectory, times[4]), 10e-3, {1}, {{2e-6, 0, 0, 1}});
  // The last frame is the last key frame, whatever the distance.
  const auto coarse = holotone::spot_frame_times(trajectory, {.frame_time_s = 8e-3}, {});
  EXPECT_EQ(coarse, (std::vector<double>{0, 8e-3, 16e-3, 20e-3}));
  EXPECT_EQ(holotone::spot_frame_times(trajectory, {}, {}), (std::vector<double>{0, 5e-3, 20e-3}));
}

TEST_F(SpotTrajectories, WhatIsNoTrajectoryIsRefusedByName) {
  refused("frame,id,x,y\n0,1,1,2\n", {"unit"});
  refused("frame,id,x_um,y_um,intensity_dB\n0,1,1,2,3\n", {"numbers without dB or logarithm as intensity (line 1)"});
  refused(R"([{"frame": 0, "id": 1, "x_um": 1, "y_um": 2, "intensity [log10]": 3}])", {"dB or logarithm", "row 0"});
  refused("frame,x_um,y_um\n0,1,2\n", {"id", "line 2"});
  refused("id,x_um,y_um\n0,1,2\n", {"a column frame or time", "line 2", "none"});
  refused("frame,id,x_um\n0,1,2\n", {"a column y (line 2)"});
  refused("frame,time_s,id,x_um,y_um\n0,0,1,1,2\n", {"frame or time", "both"});
  refused("frame,id,x_um,y_um\n0,a,1,2\n", {"a whole number as id (line 2)", "'a'"});
  refused("frame;id;x_um;y_um\n0;1;300,5;100,2\n", {"numbers with a point, such as 300.5 (line 2)"});
  refused("time,id,x_um,y_um\n0,1,1,2\n", {"unit of time", "none"});
  refused("time_h,id,x_um,y_um\n0,1,1,2\n", {"unit of time", "h"});
  refused("frame,id,x_um,y_um\n0.5,1,1,2\n", {"whole number as frame", "line 2"});
  refused("frame,id,x_um,y_um\n0,1.5,1,2\n", {"whole number as id", "1.5"});
  refused("frame,id,x_um,y_um\n0,nan,1,2\n", {"whole number as id"});
  refused("frame,id,x_um,y_um\n1e12,1,1,2\n", {"whole number as frame"});
  refused("frame,id,x_um,y_um\n0,1,1,2\n1,1,1,2\n0,1,3,4\n", {"line 4", "id 1 again at frame 0"});
  refused("time_ms,id,x_um,y_um\n1,1,1,2\n1,1,1,2\n", {"line 3", "0.001 s"});
  refused("frame,id,x_um,y_um\n0,1,1\n", {"line 2", "4 numbers"});
  refused("frame,id,x_um,y_um\n0,1,1,abc\n", {"line 2", "abc"});
  refused("frame,id,x_um,y_um\n0,1,inf,2\n", {"line 2", "finite"});
  refused("frame,id,x_um,y_um,intensity\n0,1,1,2,0\n", {"line 2", "intensity"});
  refused("frame,id,x_um,y_um,speed\n0,1,1,2,3\n", {"speed"});
  refused("frame,id,x_um,x_um,y_um\n0,1,1,2,3\n", {"one column x"});
  refused("frame,id,x_px,y_um\n0,1,1,2\n", {"unit of length", "px"});
  refused("frame,id,x_um,y_um\n", {"at least 1 spot"});
  refused("0,1,2,3,4,5,6\n", {"columns"});
  refused("[[0, 1, 1]]", {"y", "row 0"});
  refused("[[0, 1, 1, \"a\"]]", {"row 0"});
  refused("[{\"frame\": 0, \"id\": 1, \"x_um\": 1, \"X_um\": 2, \"y_um\": 1}]", {"row 0", "once"});
  refused("[{\"frame\": 0, \"id\": 1, \"x_um\": 1, \"y_um\": 1}, {\"time_s\": 1, \"id\": 1, \"x_um\": 1, \"y_um\": 1}]",
          {"row 1", "frame or time"});
  refused("[3]", {"row 0"});
  refused("{\"spots\": 3}", {"a list"});
  refused("{\"moves\": []}", {"spots"});
  refused("{\"spots\": [[0, 1, 1, 2]], \"units\": \"um\"}", {"units"});
  refused("{\"spots\": [[0, 1, 1, 2]], \"unit\": \"px\"}", {"unit of length"});
  refused("[1, 2", {"JSON"});
  refused("[]", {"at least 1 spot"});
}

TEST_F(SpotTrajectories, DamagedFilesAreSurvived) {
  const auto read = [](const std::string& file) { (void)read_spot_trajectory(file, 1e-6); };
  io_support::expect_survival("trajectory_table",
                              "time_ms,id,x_um,y_um,intensity\n0,1,10,-5,1\n0,2,-20,8,0.5\n5,1,11,-5,1\n", ".csv", 2000,
                              read);
  io_support::expect_survival(
      "trajectory_json", R"({"unit": "um", "spots": [[0, 1, 1, 2], {"frame": 1, "id": 1, "x": 3, "y": 4, "z": 1}]})",
      ".json", 2000, read);
  io_support::expect_survival("relaxation", "time_ms,share\n1,0.3\n5,0.9\n20,1\n", ".csv", 2000,
                              [](const std::string& file) { (void)holotone::read_panel_relaxation(file); });
}

TEST_F(SpotTrajectories, FramesLieBetweenKeyFrames) {
  const auto trajectory = read_spot_trajectory(
      write("a.csv", "frame,id,x_um,y_um,intensity\n0,1,0,0,1\n0,2,8,0,1\n4,1,4,8,2\n4,3,9,9,1\n5,1,4,8,2\n"));
  const auto all = holotone::spot_frame_times(trajectory, {}, {});
  EXPECT_EQ(all, (std::vector<double>{0, 1, 2, 3, 4, 5}));
  // Spot 2 stays until the key frame that lacks it; spot 3 is there from its own.
  expect_frame(spot_frame(trajectory, 1), 1, {1, 2}, {{1e-6, 2e-6, 0, 1.25}, {8e-6, 0, 0, 1}});
  expect_frame(spot_frame(trajectory, 3), 3, {1, 2}, {{3e-6, 6e-6, 0, 1.75}, {8e-6, 0, 0, 1}});
  expect_frame(spot_frame(trajectory, 4), 4, {1, 3}, {{4e-6, 8e-6, 0, 2}, {9e-6, 9e-6, 0, 1}});
  expect_frame(spot_frame(trajectory, 5), 5, {1}, {{4e-6, 8e-6, 0, 2}});
  const auto three = holotone::spot_frame_times(trajectory, {.frames_per_key = 2}, {});
  EXPECT_EQ(three, (std::vector<double>{0, 2, 4, 4.5, 5}));
  support::expect_error(ErrorCode::invalid_argument, "time", [&] { (void)spot_frame(trajectory, 5.01); });
  support::expect_error(ErrorCode::invalid_argument, "time", [&] { (void)spot_frame(trajectory, std::nan("")); });
}

TEST_F(SpotTrajectories, StepsAreInWidths) {
  SpotOptions lens;
  lens.grid = {100, 200, 10e-6, 1e-6};
  lens.focal_length_m = 0.1;  // widths of 100 um and 50 um, along the axis 0.02 m
  const auto trajectory = read_spot_trajectory(
      write("a.csv", "frame,id,x_um,y_um,z_um\n0,1,0,0,0\n1,1,30,20,0\n2,1,30,20,0\n3,1,30,20,4000\n"));
  // 0.3 and 0.4 of a width: half a width; then none; then a fifth along the axis.
  const auto times = holotone::spot_frame_times(trajectory, {.max_step_widths = 0.1}, lens);
  ASSERT_EQ(times.size(), 5U + 1 + 2 + 1);
  EXPECT_DOUBLE_EQ(times[1], 0.2);
  EXPECT_EQ(times[5], 1);
  EXPECT_EQ(times[6], 2);
  EXPECT_DOUBLE_EQ(times[7], 2.5);
  EXPECT_EQ(times[8], 3);
}

TEST_F(SpotTrajectories, SpotsBeyondTheOrderAreNamed) {
  SpotOptions lens;
  lens.grid = {100, 200, 10e-6, 1e-6};
  lens.focal_length_m = 0.1;  // 5 mm
  const auto near = read_spot_trajectory(write("a.csv", "frame,id,x_mm,y_mm\n0,1,5,-5\n"));
  EXPECT_NO_THROW(holotone::check_spot_trajectory(near, lens));
  const auto far = read_spot_trajectory(write("a.csv", "frame,id,x_mm,y_mm\n0,1,5,-5\n4,2,0,5.1\n"));
  support::expect_error(ErrorCode::invalid_argument, "frame 4, id 2",
                        [&] { holotone::check_spot_trajectory(far, lens); });
  const auto metres = read_spot_trajectory(write("a.csv", "frame,id,x_m,y_m\n0,1,1,1\n"));
  support::expect_error(ErrorCode::invalid_argument, "unit right?",
                        [&] { holotone::check_spot_trajectory(metres, lens); });
}

TEST_F(SpotTrajectories, LongestStepsAreInWidths) {
  SpotOptions lens;
  lens.grid = {100, 200, 10e-6, 1e-6};
  lens.focal_length_m = 0.1;  // widths of 100 um and 50 um
  const auto trajectory =
      read_spot_trajectory(write("a.csv", "frame,id,x_um,y_um\n0,1,0,0\n0,2,500,0\n2,1,30,20\n2,2,600,0\n"));
  EXPECT_TRUE(trajectory.has_units);
  EXPECT_FALSE(read_spot_trajectory(write("b.csv", "frame,id,x,y\n0,1,1,1\n"), 1e-6).has_units);
  EXPECT_NEAR(holotone::longest_spot_step(trajectory, {0, 2}, lens), 1, 1e-6);
  EXPECT_NEAR(holotone::longest_spot_step(trajectory, {0, 1, 2}, lens), 0.5, 1e-6);
  EXPECT_EQ(holotone::longest_spot_step(trajectory, {0}, lens), 0);
}

TEST_F(SpotTrajectories, FramesThatCannotBeAreRefused) {
  const auto numbered = read_spot_trajectory(write("a.csv", "frame,id,x_um,y_um\n0,1,0,0\n9000000,1,4,8\n"));
  const auto timed = read_spot_trajectory(write("t.csv", "time_s,id,x_um,y_um\n0,1,0,0\n10,1,4,8\n"));
  const auto refused = [](const SpotTrajectory& trajectory, const SpotFrameOptions& frames, const std::string& words) {
    support::expect_error(ErrorCode::invalid_argument, words,
                          [&] { (void)holotone::spot_frame_times(trajectory, frames, {}); });
  };
  refused(numbered, {}, "1000000 frames");
  refused(numbered, {.frames_per_key = 0}, "frames_per_key");
  refused(numbered, {.max_step_widths = 0}, "max_step_widths");
  refused(numbered, {.frames_per_key = 2, .max_step_widths = 0.1}, "max_step_widths");
  refused(numbered, {.frame_time_s = 0.1}, "a trajectory with times");
  refused(timed, {.frames_per_key = 2, .frame_time_s = 0.1}, "frame_time_s");
  refused(timed, {.frame_time_s = 1e-6}, "1000000 frames");
  refused({}, {}, "at least 1 key frame");
  auto wrong = timed;
  wrong.keys[0].id.push_back(5);
  refused(wrong, {}, "for each id");
  wrong = timed;
  wrong.keys[1].time = 0;
  refused(wrong, {}, "rising");
}

TEST_F(SpotTrajectories, ARelaxationIsATimeConstantOrATable) {
  const PanelRelaxation constant{.time_constant_s = 5e-3};
  EXPECT_NEAR(holotone::relaxed_share(constant, 5e-3), 1 - std::exp(-1), 1e-12);
  EXPECT_EQ(holotone::relaxed_share(constant, 0), 0);
  EXPECT_EQ(holotone::relaxed_share({}, 0), 1);
  const auto table = holotone::read_panel_relaxation(write("r.csv", "time_ms,share\n0,0\n2,0.5\n4,1.1\n10,1\n"));
  EXPECT_NEAR(holotone::relaxed_share(table, 1e-3), 0.25, 1e-12);
  EXPECT_NEAR(holotone::relaxed_share(table, 3e-3), 0.8, 1e-12);
  EXPECT_NEAR(holotone::relaxed_share(table, 1), 1, 1e-12);
  relaxation_refused("time,share\n1,0.5\n", "unit of time");
  relaxation_refused("time_ms,share\n2,0.5\n1,0.6\n", "line 3");
  relaxation_refused("time_ms,share\n-1,0.5\n", "line 2");
  relaxation_refused("time_ms,share\n1,3\n", "share of 0 to 2");
  relaxation_refused("time_ms,share\n1,nan\n", "share of 0 to 2");
  relaxation_refused("time_ms\n1\n", "time and share");
  relaxation_refused("time_ms,share\n0,0\n", "at least 1 row");
  relaxation_refused("{\"unit\": \"ms\", \"response\": [[1, 1]]}", "column's name");
  const auto refused = [](const PanelRelaxation& wrong, const std::string& words) {
    support::expect_error(ErrorCode::invalid_argument, words, [&] { (void)holotone::relaxed_share(wrong, 1); });
  };
  refused({.time_constant_s = -1}, "time_constant_s");
  refused({.time_constant_s = 1, .time_s = {1}, .share = {1}}, "beside a table");
  refused({.time_s = {1, 1}, .share = {0.5, 1}}, "rising");
  refused({.time_s = {1, 2}, .share = {0.5}}, "rising");
  refused({.time_s = {1}, .share = {-1}}, "share");
}

}  // namespace
