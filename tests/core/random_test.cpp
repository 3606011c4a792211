#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <gtest/gtest.h>
#include <holotone/core/random.hpp>
#include <vector>

namespace holotone {
namespace {

// The values were computed from the formula with integers of another language: the bits of a seed must never change.
TEST(Random, SeededBitsArePinned) {
  EXPECT_EQ(random_bits(0, 0), 0xe98c3ea4c0021c70u);
  EXPECT_EQ(random_bits(0, 1), 0xd8b9c672085c20c0u);
  EXPECT_EQ(random_bits(1, 0), 0x44a00f3e97881a13u);
  EXPECT_EQ(random_bits(42, 7), 0xe40cd156933b6937u);
  EXPECT_EQ(random_bits(UINT64_MAX, UINT64_MAX), 0xdc058989e6208803u);
  EXPECT_EQ(random_uniform(0, 0), static_cast<float>(0xe98c3e) / 16777216.0F);
  EXPECT_EQ(random_uniform64(0, 0), static_cast<double>(0xe98c3ea4c0021c70u >> 11) / 9007199254740992.0);
}

/// Chi-squared of 64 equal bins over 64,000 draws; its mean is 63 and its standard deviation sqrt(126) = 11.2.
template <class Draw>
double chi_squared(const Draw& draw) {
  constexpr int bins = 64;
  constexpr int draws = 64'000;
  std::vector<int> count(bins, 0);
  for (int i = 0; i < draws; ++i) {
    const double value = draw(static_cast<std::uint64_t>(i));
    EXPECT_GE(value, 0.0);
    EXPECT_LT(value, 1.0);
    ++count[static_cast<std::size_t>(value * bins)];
  }
  constexpr double expected = static_cast<double>(draws) / bins;
  double sum = 0;
  for (const int n : count) sum += std::pow(n - expected, 2) / expected;
  return sum;
}

TEST(Random, IsUniformAlongCountersAndAlongSeeds) {
  const double limit = 63 + 5 * std::sqrt(126.0);
  const double along_counters = chi_squared([](std::uint64_t i) { return random_uniform(7, i); });
  const double along_seeds = chi_squared([](std::uint64_t i) { return random_uniform64(i, 7); });
  std::printf("chi-squared of 63 degrees: %.1f along counters, %.1f along seeds, limit %.1f\n", along_counters,
              along_seeds, limit);
  EXPECT_LT(along_counters, limit);
  EXPECT_LT(along_seeds, limit);
}

TEST(Random, NeighboursAndSeedsAreUncorrelated) {
  constexpr int draws = 100'000;
  double neighbours = 0;
  double seeds = 0;
  for (std::uint64_t i = 0; i < draws; ++i) {
    neighbours += (random_uniform64(3, i) - 0.5) * (random_uniform64(3, i + 1) - 0.5);
    seeds += (random_uniform64(3, i) - 0.5) * (random_uniform64(4, i) - 0.5);
  }
  // Products of two independent uniforms of variance 1/12: the mean's standard deviation is (1/12) / sqrt(draws).
  const double limit = 5.0 / 12 / std::sqrt(draws);
  EXPECT_LT(std::abs(neighbours / draws), limit);
  EXPECT_LT(std::abs(seeds / draws), limit);
}

TEST(Random, OneBitOfInputTurnsHalfOfTheOutput) {
  double turned = 0;
  constexpr int samples = 200;
  for (std::uint64_t i = 0; i < samples; ++i) {
    for (int bit = 0; bit < 64; ++bit) {
      turned += std::popcount(random_bits(5, i) ^ random_bits(5, i ^ (std::uint64_t{1} << bit)));
      turned += std::popcount(random_bits(i, 5) ^ random_bits(i ^ (std::uint64_t{1} << bit), 5));
    }
  }
  const double trials = samples * 64.0 * 2;
  EXPECT_NEAR(turned / trials, 32, 5 * 4 / std::sqrt(trials));  // binomial(64, 1/2): standard deviation 4
}

}  // namespace
}  // namespace holotone
