// Plans of lines: each step covers the line, within the limits.
#include <algorithm>
#include <functional>
#include <gtest/gtest.h>
#include <holotone/fft/line_plan.hpp>
#include <numeric>

namespace {

using holotone::fft::plan_line;

bool has_small_factors(int length) {
  for (const int prime : {2, 3, 5, 7}) {
    while (length % prime == 0) length /= prime;
  }
  return length == 1;
}

TEST(LinePlan, StepsCoverEveryLineWithinTheLimits) {
  constexpr int max_items = 512;
  constexpr int max_values = 16;
  for (int length = 2; length <= 5000; ++length) {
    const auto plan = plan_line(length, max_items, max_values);
    ASSERT_EQ(plan.has_value(), has_small_factors(length)) << length;
    if (!plan) continue;
    EXPECT_EQ(std::accumulate(plan->radices.begin(), plan->radices.end(), 1, std::multiplies<>()), length);
    EXPECT_LE(plan->items, max_items) << length;
    EXPECT_LE(plan->values, max_values) << length;
    for (const int radix : plan->radices) {
      EXPECT_LE(radix, 16);
      EXPECT_GE(plan->values / radix * plan->items, length / radix) << length << " by " << radix;
    }
  }
}

TEST(LinePlan, IdleItemsAreAvoided) {
  const auto plan = plan_line(4096, 512, 16);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->radices, (std::vector{16, 16, 16}));
  EXPECT_EQ(plan->items, 256);
}

TEST(LinePlan, ThereIsNoneForOtherLengths) {
  EXPECT_FALSE(plan_line(0, 512, 16));
  EXPECT_FALSE(plan_line(1, 512, 16));
  EXPECT_FALSE(plan_line(11, 512, 16));
  EXPECT_FALSE(plan_line(8192, 256, 16)) << "too long for the items";
  EXPECT_FALSE(plan_line(std::int64_t{1} << 40, 512, 16));
}

}  // namespace
