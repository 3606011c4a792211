#include <atomic>
#include <cstdint>
#include <gtest/gtest.h>
#include <holotone/core/parallel.hpp>
#include <holotone/core/progress.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace holotone {
namespace {

TEST(ParallelFor, VisitsEveryIndexOnce) {
  std::vector<int> visits(1001, 0);
  parallel_for(1, 1000, [&](std::int64_t i) { ++visits[static_cast<std::size_t>(i)]; });
  EXPECT_EQ(visits.front(), 0);
  EXPECT_EQ(visits.back(), 0);
  for (std::size_t i = 1; i < 1000; ++i) EXPECT_EQ(visits[i], 1) << i;
}

TEST(ParallelFor, EmptyRangesDoNothing) {
  parallel_for(0, 0, [](std::int64_t) { FAIL(); });
  parallel_for(5, 2, [](std::int64_t) { FAIL(); });
}

TEST(ParallelFor, TheFirstExceptionReachesTheCallerAndStopsTheRest) {
  std::atomic<std::int64_t> done = 0;
  const std::int64_t count = 1'000'000;
  try {
    parallel_for(0, count, [&](std::int64_t i) {
      if (i == 10) throw std::runtime_error("body 10");
      ++done;
    });
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_EQ(std::string(error.what()), "body 10");
  }
  EXPECT_GE(done, 0);
  EXPECT_LT(done, count - 1);
}

TEST(ParallelFor, OfSeveralExceptionsTheLowestIndexWins) {
  for (int round = 0; round < 50; ++round) {
    try {
      parallel_for(0, 400, [](std::int64_t i) {
        if (i % 7 == 5) throw std::runtime_error("body " + std::to_string(i));
      });
      FAIL() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_EQ(std::string(error.what()), "body 5");
    }
  }
}

TEST(Progress, ReportsReachTheCallerAndCancelByException) {
  struct Recorder final : Progress {
    std::vector<std::int64_t> seen;
    bool update(std::string_view stage, std::int64_t done, std::int64_t total) override {
      EXPECT_EQ(stage, "summing points");
      EXPECT_EQ(total, 10);
      seen.push_back(done);
      return done < 3;
    }
  } recorder;
  std::int64_t done = 0;
  try {
    for (; done <= 10; ++done) recorder.step("summing points", done, 10);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::cancelled);
    EXPECT_EQ(std::string(error.what()), "summing points: cancelled");
  }
  EXPECT_EQ(recorder.seen, (std::vector<std::int64_t>{0, 1, 2, 3}));
}

TEST(Progress, NoneNeverCancels) { EXPECT_NO_THROW(Progress::none().step("reading", 1, 2)); }

}  // namespace
}  // namespace holotone
