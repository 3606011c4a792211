#pragma once
// A binary arithmetic coder in integers: the same bytes and the same bits on every machine. Not for users.
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace holotone::smoe {

/// The chance that the next bit of its kind is 1, in 2^-22, learnt from those before: the mean of the first ones, then
/// a mean that forgets.
class AdaptiveBit {
 public:
  /// In 2^-16, 1 to 65535.
  [[nodiscard]] std::uint32_t chance() const;
  void learn(bool bit);

 private:
  std::uint32_t chance_ = std::uint32_t{1} << 21;
  std::uint32_t seen_ = 0;
};

/// Logarithms of odds in 2^-8, -2047 to 2047, of chances in 2^-16, and back.
std::int32_t odds_of(std::uint32_t chance);
std::uint32_t chance_of(std::int32_t odds);

/// One chance from several, by a weighted sum of the logarithms of their odds; the weights learn which to trust.
/// Source: Mahoney 2005 (context mixing).
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
  static constexpr std::int64_t first_sum = 70000;  // of weights, in 2^-16: a little more than a mean
  static constexpr std::int64_t rate = 3;
  std::array<std::int32_t, count> weights_{};
  std::array<std::int32_t, count> odds_{};
  std::uint32_t chance_ = 0;
};

/// Writes bits, each in -log2 of the chance that it was given.
///
/// Source: Martin 1979 (range coding), with carries as in the LZMA specification (Pavlov 2015).
class RangeEncoder {
 public:
  /// `chance` of a 1, in 2^-16: 1 to 65535. Returns the bit.
  bool code(bool bit, std::uint32_t chance);
  bool code(bool bit, AdaptiveBit& model);
  /// The low `count` bits of `value`, 0 to 32, each of chance 1/2. Returns them.
  std::uint32_t code_raw(std::uint32_t value, int count);
  /// Ends the stream. The coder takes no more bits.
  std::vector<std::byte> finish();

 private:
  void shift();
  std::vector<std::byte> bytes_;
  std::uint64_t low_ = 0;
  std::uint32_t range_ = 0xffffffff;
  std::uint64_t pending_ = 0;  ///< bytes of 255 that a carry would turn
  std::uint8_t held_ = 0;
  bool started_ = false;
};

/// Reads what RangeEncoder wrote, with the same calls and the same chances; the bits given are ignored.
///
/// Behind the end it reads zeros, and says so: nothing outside `bytes` is touched, and each call takes bounded time.
class RangeDecoder {
 public:
  explicit RangeDecoder(std::span<const std::byte> bytes);
  bool code(bool ignored, std::uint32_t chance);
  bool code(bool ignored, AdaptiveBit& model);
  std::uint32_t code_raw(std::uint32_t ignored, int count);
  /// More was read than an encoder can have left out: the bits are none that were written.
  [[nodiscard]] bool exhausted() const { return missing_ > most_left_out; }
  /// Bytes that were not read.
  [[nodiscard]] std::span<const std::byte> rest() const { return bytes_.subspan(at_); }

 private:
  static constexpr int most_left_out = 4;
  std::uint32_t next();
  void normalise();
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
  int missing_ = 0;
  std::uint32_t code_ = 0;
  std::uint32_t range_ = 0xffffffff;
};

}  // namespace holotone::smoe
