// Frames in a pipeline: all are made once and in turn, and the earliest failure is thrown.
#include <gtest/gtest.h>
#include <holotone/bands/frame_pipeline_detail.hpp>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>

namespace holotone {
namespace {

TEST(FramePipeline, MakesEveryFrameInTurn) {
  for (const int preparers : {1, 3}) {
    std::mutex mutex;
    std::multiset<int> written;
    FramePipeline<int, int> pipeline(
        40, 1000, preparers, [](std::int64_t frame) { return 1000 + static_cast<int>(frame); },
        [&](const int& made) {
          const std::scoped_lock lock(mutex);
          written.insert(made);
        });
    std::int64_t next = 0;
    pipeline([&](std::int64_t frame, const int& prepared) {
      EXPECT_EQ(frame, next++);
      EXPECT_EQ(prepared, 1000 + frame);
      for (const int channel : {0, 1}) pipeline.put(frame, 2 * prepared + channel);
    });
    EXPECT_EQ(next, 40);
    ASSERT_EQ(written.size(), 80u);
    int expected = 2000;
    for (const int made : written) EXPECT_EQ(made, expected++);
  }
}

TEST(FramePipeline, ThrowsTheErrorOfTheFirstOfSeveralFrames) {
  for (int i = 0; i < 20; ++i) {
    FramePipeline<int, int> pipeline(
        30, 0, 4,
        [](std::int64_t frame) {
          if (frame == 7 || frame == 9) throw std::runtime_error("frame " + std::to_string(frame));
          return static_cast<int>(frame);
        },
        [](const int&) {});
    try {
      pipeline([&](std::int64_t frame, const int& prepared) {
        EXPECT_LT(frame, 9);
        pipeline.put(frame, prepared);
      });
      FAIL() << "no error";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "frame 7");
    }
  }
}

TEST(FramePipeline, AnErrorOfComputingOrWritingStopsAll) {
  FramePipeline<int, int> computing(
      1000, 0, 2, [](std::int64_t frame) { return static_cast<int>(frame); }, [](const int&) {});
  std::int64_t last = 0;
  const auto fail = [&](std::int64_t frame, const int&) {
    last = frame;
    if (frame == 3) throw std::runtime_error("no light");
  };
  EXPECT_THROW(computing(fail), std::runtime_error);
  EXPECT_EQ(last, 3);
  FramePipeline<int, int> writing(
      1000, 0, 2, [](std::int64_t frame) { return static_cast<int>(frame); },
      [](const int& made) {
        if (made == 5) throw std::runtime_error("disk full");
      });
  EXPECT_THROW(writing([&](std::int64_t frame, const int& prepared) { writing.put(frame, prepared); }),
               std::runtime_error);
}

}  // namespace
}  // namespace holotone
