// The range coder: decoding restores the bits, at the cost given by the probabilities.
#include <cmath>
#include <gtest/gtest.h>
#include <holotone/core/random.hpp>
#include <holotone/smoe/codec/range_coder.hpp>
#include <tests/support/on_each_device.hpp>

namespace holotone {
namespace {

using smoe::AdaptiveBit;
using smoe::RangeDecoder;
using smoe::RangeEncoder;
using support::expect_within;

/// A random bit that is 1 with probability chance / 2^16.
bool drawn(std::uint64_t seed, std::uint64_t i, std::uint32_t chance) {
  return (random_bits(seed, i) & 0xffff) < chance;
}

TEST(RangeCoder, GivenChancesCostTheirEntropy) {
  for (const std::uint32_t chance : {1U, 40U, 3000U, 32768U, 60000U, 65535U}) {
    RangeEncoder encoder;
    constexpr std::uint64_t count = 50000;
    double bits = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      const bool bit = drawn(chance, i, chance);
      encoder.code(bit, chance);
      const double p = chance / 65536.0;
      bits -= std::log2(bit ? p : 1 - p);
    }
    const auto bytes = encoder.finish();
    // 32-bit ranges lose less than 2^-8 of an interval per bit; the end takes at most 5 bytes.
    EXPECT_LE(8.0 * static_cast<double>(bytes.size()), bits * 1.002 + 40) << chance;
    RangeDecoder decoder(bytes);
    for (std::uint64_t i = 0; i < count; ++i) ASSERT_EQ(decoder.code(false, chance), drawn(chance, i, chance)) << i;
    EXPECT_FALSE(decoder.exhausted());
    EXPECT_TRUE(decoder.rest().empty());
  }
}

TEST(RangeCoder, CarriesRunThroughRowsOf255) {
  // Bits that are almost never 0 keep low at the top of the interval: long runs of 255 that a carry changes.
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    RangeEncoder encoder;
    const auto bit = [&](std::uint64_t i) { return random_uniform64(seed, i) < (i % 37 == 0 ? 0.5 : 0.001); };
    const std::uint64_t count = 1 + random_bits(seed, 1000) % 400;
    for (std::uint64_t i = 0; i < count; ++i) encoder.code(bit(i), i % 37 == 0 ? 32768U : 1U);
    const auto bytes = encoder.finish();
    RangeDecoder decoder(bytes);
    for (std::uint64_t i = 0; i < count; ++i) {
      ASSERT_EQ(decoder.code(false, i % 37 == 0 ? 32768U : 1U), bit(i)) << seed << ", " << i;
    }
    EXPECT_FALSE(decoder.exhausted());
    EXPECT_TRUE(decoder.rest().empty());
  }
}

TEST(RangeCoder, LearntChancesComeNearTheEntropy) {
  for (const double p : {0.5, 0.1, 0.01}) {
    RangeEncoder encoder;
    AdaptiveBit model;
    constexpr std::uint64_t count = 20000;
    for (std::uint64_t i = 0; i < count; ++i) encoder.code(random_uniform64(3, i) < p, model);
    const auto bytes = encoder.finish();
    const double entropy = -(p * std::log2(p) + (1 - p) * std::log2(1 - p)) * count;
    // An estimate from about the last 250 bits costs 1 / (4 * 250 ln 2) bits per bit.
    expect_within("bits over the entropy", 8.0 * static_cast<double>(bytes.size()) / entropy,
                  1.02 + 3e-3 * count / entropy);
    RangeDecoder decoder(bytes);
    AdaptiveBit again;
    for (std::uint64_t i = 0; i < count; ++i) ASSERT_EQ(decoder.code(false, again), random_uniform64(3, i) < p);
  }
}

TEST(RangeCoder, RawBits) {
  RangeEncoder encoder;
  for (std::uint32_t i = 0; i < 1000; ++i) encoder.code_raw(i * 2654435761U, static_cast<int>(i % 33));
  const auto bytes = encoder.finish();
  EXPECT_LE(std::ssize(bytes), 1000 * 16 / 8 + 5);
  RangeDecoder decoder(bytes);
  for (std::uint32_t i = 0; i < 1000; ++i) {
    const auto count = i % 33;
    const std::uint32_t mask = count == 32 ? 0xffffffffU : (1U << count) - 1;
    ASSERT_EQ(decoder.code_raw(0, static_cast<int>(count)), (i * 2654435761U) & mask) << i;
  }
}

TEST(RangeCoder, MixedChancesAreAtLeastAsGoodAsTheBest) {
  // One model has no context; the other's context is which of two coins was thrown.
  RangeEncoder encoder;
  AdaptiveBit blind;
  std::array<AdaptiveBit, 2> seeing;
  smoe::ChanceMixer<2> mixer;
  constexpr std::uint64_t count = 20000;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto coin = static_cast<std::size_t>(random_bits(1, i) & 1);
    const bool bit = random_uniform64(2, i) < (coin == 0 ? 0.05 : 0.9);
    const std::array<AdaptiveBit*, 2> models{&blind, &seeing[coin]};
    encoder.code(bit, mixer.chance(models));
    mixer.learn(bit);
    for (auto* model : models) model->learn(bit);
  }
  const auto entropy = [](double p) { return -(p * std::log2(p) + (1 - p) * std::log2(1 - p)); };
  const double best = 0.5 * (entropy(0.05) + entropy(0.9)) * count;
  expect_within("mixed, bits over the best", 8.0 * static_cast<double>(encoder.finish().size()) / best, 1.03);
}

TEST(RangeCoder, OddsAndChancesAreInverse) {
  std::uint32_t before = 0;
  for (std::int32_t odds = -2047; odds <= 2047; ++odds) {
    const auto chance = smoe::chance_of(odds);
    EXPECT_GE(chance, std::max(before, 1U));
    EXPECT_LE(chance, 65535U);
    EXPECT_NEAR(chance / 65536.0, 1 / (1 + std::exp(-odds / 256.0)), 4e-3);
    before = chance;
  }
  for (std::uint32_t chance = 1; chance < 65536; chance += 7) {
    EXPECT_NEAR(smoe::chance_of(smoe::odds_of(chance)), chance, 150);
  }
}

TEST(RangeCoder, ReadingBeyondTheEndIsSeenAndEnds) {
  RangeEncoder encoder;
  for (std::uint64_t i = 0; i < 800; ++i) encoder.code_raw(static_cast<std::uint32_t>(random_bits(9, i)), 16);
  auto bytes = encoder.finish();
  bytes.resize(bytes.size() / 2);
  RangeDecoder decoder(bytes);
  bool seen = false;
  for (int i = 0; i < 800; ++i) {
    decoder.code_raw(0, 16);
    if (i < 390) {
      EXPECT_FALSE(decoder.exhausted()) << i;
    }
    seen = seen || decoder.exhausted();
  }
  EXPECT_TRUE(seen);
  RangeDecoder none{{}};
  for (int i = 0; i < 1000; ++i) none.code(false, 65535);
  for (int i = 0; i < 10; ++i) none.code_raw(0, 32);
  EXPECT_TRUE(none.exhausted());
}

}  // namespace
}  // namespace holotone
