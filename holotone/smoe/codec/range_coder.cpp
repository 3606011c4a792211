// The binary arithmetic coder and its adaptive probabilities.
#include <algorithm>
#include <holotone/smoe/codec/range_coder.hpp>

namespace holotone::smoe {
namespace {

constexpr std::uint32_t min_range = std::uint32_t{1} << 24;
constexpr std::uint32_t longest_memory = 250;  // bits that a probability averages over

/// 2^16 / (seen + 2)
constexpr auto rates = [] {
  std::array<std::uint32_t, longest_memory + 1> table{};
  for (std::uint32_t seen = 0; seen <= longest_memory; ++seen) table[seen] = (std::uint32_t{1} << 17) / (2 * seen + 4);
  return table;
}();

/// Logistic function 2^16 / (1 + exp(8 - i / 2)), rounded; linear interpolation in between.
constexpr std::array<std::int32_t, 33> logistic{22,    36,    60,    98,    162,   267,   439,   720,   1179,
                                                1921,  3108,  4971,  7812,  11955, 17625, 24743, 32768, 40793,
                                                47911, 53581, 57724, 60565, 62428, 63615, 64357, 64816, 65097,
                                                65269, 65374, 65438, 65476, 65500, 65514};

constexpr std::uint32_t interpolated(std::int32_t odds) {
  const std::int32_t place = odds + 2048;
  const std::int32_t at = place >> 7;
  const std::int32_t part = place & 127;
  const auto left = logistic[static_cast<std::size_t>(at)];
  const auto right = logistic[static_cast<std::size_t>(std::min(at + 1, 32))];
  return static_cast<std::uint32_t>((left * (128 - part) + right * part) >> 7);
}

/// Inverse table for probabilities i 2^-12: the least log odds whose probability is not below (i + 1/2) 2^-12.
constexpr auto logits = [] {
  std::array<std::int16_t, 4096> table{};
  std::int32_t odds = -2047;
  for (std::uint32_t chance = 0; chance < 4096; ++chance) {
    while (odds < 2047 && interpolated(odds) < chance * 16 + 8) ++odds;
    table[chance] = static_cast<std::int16_t>(odds);
  }
  return table;
}();

}  // namespace

std::int32_t odds_of(std::uint32_t chance) { return logits[chance >> 4]; }
std::uint32_t chance_of(std::int32_t odds) { return interpolated(odds); }

std::uint32_t AdaptiveBit::chance() const { return std::clamp(chance_ >> 6, std::uint32_t{1}, std::uint32_t{65535}); }

void AdaptiveBit::learn(bool bit) {
  const std::uint64_t rate = rates[seen_];
  if (bit) {
    chance_ += static_cast<std::uint32_t>((((std::uint64_t{1} << 22) - 1 - chance_) * rate) >> 16);
  } else {
    chance_ -= static_cast<std::uint32_t>((chance_ * rate) >> 16);
  }
  if (seen_ < longest_memory) ++seen_;
}

void RangeEncoder::shift() {
  const bool carry = (low_ >> 32) != 0;
  if (low_ < 0xff000000 || carry) {
    // The first held byte precedes the stream: it is not written.
    if (started_) bytes_.push_back(static_cast<std::byte>(held_ + (carry ? 1 : 0)));
    started_ = true;
    for (; pending_ > 0; --pending_) bytes_.push_back(static_cast<std::byte>(carry ? 0x00 : 0xff));
    held_ = static_cast<std::uint8_t>(low_ >> 24);
  } else {
    ++pending_;
  }
  low_ = (low_ & 0x00ffffff) << 8;
}

bool RangeEncoder::code(bool bit, std::uint32_t chance) {
  const std::uint32_t part = (range_ >> 16) * chance;
  if (bit) {
    range_ = part;
  } else {
    low_ += part;
    range_ -= part;
  }
  while (range_ < min_range) {
    range_ <<= 8;
    shift();
  }
  return bit;
}

bool RangeEncoder::code(bool bit, AdaptiveBit& model) {
  code(bit, model.chance());
  model.learn(bit);
  return bit;
}

std::uint32_t RangeEncoder::code_raw(std::uint32_t value, int count) {
  for (int i = count - 1; i >= 0; --i) code(((value >> i) & 1) != 0, std::uint32_t{1} << 15);
  return value;
}

std::vector<std::byte> RangeEncoder::finish() {
  // Any number within the range ends the stream. The one with the most trailing zeros is chosen: they need not be
  // written.
  const std::uint64_t last = low_ + range_ - 1;
  for (int zeros = 32; zeros >= 0; --zeros) {
    const std::uint64_t number = (last >> zeros) << zeros;
    if (number < low_) continue;
    low_ = number;
    break;
  }
  for (int i = 0; i < 5; ++i) shift();
  for (int i = 0; i < 4 && !bytes_.empty() && bytes_.back() == std::byte{0}; ++i) bytes_.pop_back();
  return std::move(bytes_);
}

RangeDecoder::RangeDecoder(std::span<const std::byte> bytes) : bytes_(bytes) {
  for (int i = 0; i < 4; ++i) code_ = (code_ << 8) | next();
}

std::uint32_t RangeDecoder::next() {
  if (at_ < bytes_.size()) return static_cast<std::uint32_t>(bytes_[at_++]);
  if (missing_ <= max_left_out) ++missing_;
  return 0;
}

void RangeDecoder::normalise() {
  while (range_ < min_range) {
    range_ <<= 8;
    code_ = (code_ << 8) | next();
  }
}

bool RangeDecoder::code(bool /*ignored*/, std::uint32_t chance) {
  const std::uint32_t part = (range_ >> 16) * chance;
  const bool bit = code_ < part;
  if (bit) {
    range_ = part;
  } else {
    code_ -= part;
    range_ -= part;
  }
  normalise();
  return bit;
}

bool RangeDecoder::code(bool ignored, AdaptiveBit& model) {
  const bool bit = code(ignored, model.chance());
  model.learn(bit);
  return bit;
}

std::uint32_t RangeDecoder::code_raw(std::uint32_t /*ignored*/, int count) {
  std::uint32_t value = 0;
  for (int i = 0; i < count; ++i) value = (value << 1) | (code(false, std::uint32_t{1} << 15) ? 1 : 0);
  return value;
}

}  // namespace holotone::smoe
