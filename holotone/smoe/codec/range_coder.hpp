#pragma once
// Binary arithmetic coder in integers: the same bytes and the same bits on every machine. Not for users.
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace holotone::smoe {

/// Adaptive probability that the next bit of a context is 1, in 2^-22: the mean of the first bits, then an
/// exponentially weighted mean.
class AdaptiveBit {
 public:
  /// Probability in 2^-16, 1 to 65535.
  [[nodiscard]] std::uint32_t chance() const;
  void learn(bool bit);

 private:
  std::uint32_t chance_ = std::uint32_t{1} << 21;
  std::uint32_t seen_ = 0;
};

/// Logarithms of odds in 2^-8, -2047 to 2047, of probabilities in 2^-16, and back.
std::int32_t odds_of(std::uint32_t chance);
std::uint32_t chance_of(std::int32_t odds);

/// Mixes several probabilities into one by a weighted sum of the logarithms of their odds; the weights are learned
/// online. Source: Mahoney 2005 (context mixing).
template <std::size_t count>
class ChanceMixer {
 public:
  ChanceMixer() { weights_.fill(static_cast<std::int32_t>(first_sum / static_cast<std::int64_t>(count))); }

  [[nodiscard]] std::uint32_t chance(const std::array<AdaptiveBit*, count>& models) {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < count; ++i) {
      odds_[i] = odds_of(models[i]->chance());
      sum += std::int64_t{weights_[i]} * odds_[i];
    }
    chance_ = chance_of(static_cast<std::int32_t>(sum < -limit ? -2047 : sum > limit ? 2047 : sum >> 16));
    return chance_;
  }
  void learn(bool bit) {
    const std::int64_t error = (bit ? 65535 : 0) - static_cast<std::int64_t>(chance_);
    for (std::size_t i = 0; i < count; ++i) {
      const std::int64_t weight = weights_[i] + ((odds_[i] * error * rate) >> 16);
      weights_[i] = static_cast<std::int32_t>(weight < -most ? -most : weight > most ? most : weight);
    }
  }

 private:
  static constexpr std::int64_t limit = std::int64_t{2047} << 16;
  static constexpr std::int64_t most = std::int64_t{1} << 22;
  static constexpr std::int64_t first_sum = 70000;  // initial sum of the weights, in 2^-16: slightly above 1
  static constexpr std::int64_t rate = 3;
  std::array<std::int32_t, count> weights_{};
  std::array<std::int32_t, count> odds_{};
  std::uint32_t chance_ = 0;
};

/// Range encoder: a bit of probability p costs -log2 p bits.
///
/// Source: Martin 1979 (range coding), with carries as in the LZMA specification (Pavlov 2015).
class RangeEncoder {
 public:
  /// `chance`: probability of a 1, in 2^-16, 1 to 65535. Returns the bit.
  bool code(bool bit, std::uint32_t chance);
  bool code(bool bit, AdaptiveBit& model);
  /// Codes the low `count` bits of `value`, 0 to 32, each with probability 1/2. Returns `value`.
  std::uint32_t code_raw(std::uint32_t value, int count);
  /// Ends the stream and returns its bytes. No bits may follow.
  std::vector<std::byte> finish();

 private:
  void shift();
  std::vector<std::byte> bytes_;
  std::uint64_t low_ = 0;
  std::uint32_t range_ = 0xffffffff;
  std::uint64_t pending_ = 0;  ///< number of bytes of 255 that a carry would turn to 0
  std::uint8_t held_ = 0;
  bool started_ = false;
};

/// Range decoder of the bytes of RangeEncoder, by the same calls with the same probabilities; the bits passed are
/// ignored.
///
/// Past the end it reads zeros and counts them. Nothing outside `bytes` is accessed, and each call takes bounded time.
class RangeDecoder {
 public:
  explicit RangeDecoder(std::span<const std::byte> bytes);
  bool code(bool ignored, std::uint32_t chance);
  bool code(bool ignored, AdaptiveBit& model);
  std::uint32_t code_raw(std::uint32_t ignored, int count);
  /// True if more bytes are missing than an encoder can omit: the stream is corrupt.
  [[nodiscard]] bool exhausted() const { return missing_ > max_left_out; }
  /// Unread bytes.
  [[nodiscard]] std::span<const std::byte> rest() const { return bytes_.subspan(at_); }

 private:
  static constexpr int max_left_out = 4;
  std::uint32_t next();
  void normalise();
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
  int missing_ = 0;
  std::uint32_t code_ = 0;
  std::uint32_t range_ = 0xffffffff;
};

}  // namespace holotone::smoe
