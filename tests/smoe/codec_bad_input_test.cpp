// Errors of decode_smoe for invalid bytes: damaged files, and hostile files with a valid checksum.
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <holotone/smoe/codec.hpp>
#include <omp.h>
#include <tests/cases/smoe.hpp>
#include <tests/support/io_support.hpp>

namespace holotone {
namespace {

using io_support::error_of;
using io_support::expect_survival;
using io_support::expect_truncations_refused;
using io_support::read_raw;

// Offsets of the header's fields (holotone/smoe/codec/FORMAT.md).
constexpr std::size_t version_at = 8;
constexpr std::size_t flags_at = 10;
constexpr std::size_t dimensions_at = 11;
constexpr std::size_t channels_at = 12;
constexpr std::size_t size_at = 13;
constexpr std::size_t count_at = 21;
constexpr std::size_t box_at = 29;
constexpr std::size_t steps_at = 29 + 32;                 // for two dimensions
constexpr std::size_t predictors_at = steps_at + 4 * 10;  // after 2 + 8 steps

std::string to_text(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

SmoeModel decode(const std::string& bytes, const std::string& name = "photo.smoe") {
  return decode_smoe({reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()}, name);
}

/// Decodes on one thread: a forked child has none of its parent's other threads.
void decode_file(const std::string& path) {
  const int threads = omp_get_max_threads();
  omp_set_num_threads(1);
  const struct Restore {
    int threads;
    ~Restore() { omp_set_num_threads(threads); }
  } restore{threads};
  decode(read_raw(path), path);
}

/// Computed bit by bit, without the library's table.
std::uint32_t crc32(const std::string& bytes) {
  std::uint32_t value = 0xffffffff;
  for (const char c : bytes) {
    value ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? 0xedb88320U : 0U);
  }
  return ~value;
}

template <class T>
void put(std::string& bytes, std::size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

/// Makes size and checksum valid.
void repair(std::string& bytes) {
  if (bytes.size() < box_at + 4) return;
  put(bytes, size_at, static_cast<std::uint64_t>(bytes.size()));
  put(bytes, bytes.size() - 4, crc32(bytes.substr(0, bytes.size() - 4)));
}

std::string file(bool lossless = false, int dimensions = 2) {
  cases::SmoeCase c;
  c.dimensions = dimensions;
  c.components = 60;
  const auto model = cases::make_smoe(c);
  return to_text(encode_smoe(model, {.lossless = lossless, .steps = smoe_steps(model, 40)}));
}

std::string refusal(const std::string& bytes) {
  std::string text = error_of([&] { decode(bytes); });
  EXPECT_TRUE(text.starts_with("photo.smoe: ")) << text;
  return text;
}

/// Error for a file with one number changed.
template <class T>
std::string refusal_with(std::size_t at, T value) {
  static const std::string good = file();
  std::string bytes = good;
  put(bytes, at, value);
  repair(bytes);
  return refusal(bytes);
}

TEST(SmoeBadInput, TheGoodFileIsTaken) {
  auto bytes = file();
  repair(bytes);
  EXPECT_EQ(bytes, file()) << "the test's own checksum and places";
  EXPECT_EQ(decode(bytes).count(), 60);
}

TEST(SmoeBadInput, Damage) {
  const auto good = file();
  EXPECT_MENTIONS(refusal(""), "expected a .smoe file, got no bytes");
  EXPECT_MENTIONS(refusal("P6 4 4 255 and so on and so on"), "expected a .smoe file, got one that begins otherwise");
  EXPECT_MENTIONS(refusal(good + "x"), fmt::format("expected {} bytes, got {}", good.size(), good.size() + 1));
  EXPECT_MENTIONS(refusal(good.substr(0, good.size() - 1)), fmt::format("expected {} bytes", good.size()));
  EXPECT_MENTIONS(refusal(good.substr(0, 20)), "the file's size (8 bytes at byte 13), got 7 left");
  // Damage by a transfer in text mode.
  EXPECT_MENTIONS(refusal(good.substr(0, 5) + good.substr(6)), "a .smoe file");
  for (std::size_t at = box_at; at < good.size(); at += 7) {
    auto bytes = good;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
    EXPECT_MENTIONS(refusal(bytes), "expected ");
  }
}

TEST(SmoeBadInput, HostileHeaders) {
  EXPECT_MENTIONS(refusal_with(version_at, std::uint16_t{2}), "expected version 1, got 2");
  EXPECT_MENTIONS(refusal_with(flags_at, std::uint8_t{4}), "flags from 0 to 3, got 4");
  EXPECT_MENTIONS(refusal_with(dimensions_at, std::uint8_t{5}), "dimensions from 1 to 4, got 5");
  EXPECT_MENTIONS(refusal_with(channels_at, std::uint8_t{0}), "channels from 1 to 4, got 0");
  EXPECT_MENTIONS(refusal_with(count_at, std::uint64_t{1} << 60), "components in ");
  EXPECT_MENTIONS(refusal_with(count_at, std::uint64_t{0xffffffffffffffff}), "got 18446744073709551615");
  EXPECT_MENTIONS(refusal_with(count_at, std::uint64_t{0}), "expected 1 to ");
  EXPECT_MENTIONS(refusal_with(count_at, std::uint64_t{400}), "component");
  EXPECT_MENTIONS(refusal_with(box_at, std::nan("")), "box of positive sides");
  EXPECT_MENTIONS(refusal_with(box_at, 1e9), "box of positive sides");
  EXPECT_MENTIONS(refusal_with(box_at, -HUGE_VAL), "box of positive sides");
  const float bad_steps[] = {NAN, INFINITY, -1.0F, 0.0F, 1e38F};
  for (std::size_t i = 0; i < 9; ++i) {
    for (const float step : bad_steps) EXPECT_MENTIONS(refusal_with(steps_at + 4 * i, step), "a step of ");
  }
  EXPECT_MENTIONS(refusal_with(steps_at + 36, 1.5F), "a gain from 0 to 1, got 1.5");
  EXPECT_MENTIONS(refusal_with(predictors_at, std::int32_t{1 << 30}), "a median size");
  EXPECT_MENTIONS(refusal_with(predictors_at + 6, std::uint8_t{24}), "bits of a coordinate");
  EXPECT_MENTIONS(refusal_with(predictors_at + 7, std::int32_t{1 << 23}), "an origin");
  EXPECT_MENTIONS(refusal_with(predictors_at + 15, std::uint8_t{17}), "a predictor's weight");
}

// Steps so large that the decoded model is invalid: infinite, or indefinite after rounding to float32.
TEST(SmoeBadInput, ModelsThatAreNone) {
  EXPECT_MENTIONS(refusal_with(steps_at + 8, 16.0F), "expected ");
  auto skewed = file(false, 4);
  put(skewed, steps_at + 32 + 4 * 5, 256.0F);
  repair(skewed);
  EXPECT_MENTIONS(refusal(skewed), "model: covariance: expected positive definite");
  auto lossless = file(true);
  put(lossless, lossless.size() / 2, std::uint64_t{0x5a5a5a5a5a5a5a5a});
  repair(lossless);
  EXPECT_MENTIONS(refusal(lossless), "expected ");
}

TEST(SmoeBadInput, MoreOrFewerNumbersThanComponents) {
  const auto good = file();
  const auto followed_by = [&](char byte) { return good.substr(0, good.size() - 4) + std::string(8 + 4, byte); };
  auto bytes = followed_by('\0');  // trailing zeros are valid: they pad files of many equal components
  repair(bytes);
  EXPECT_EQ(decode(bytes).count(), 60);
  bytes = followed_by('\1');
  repair(bytes);
  EXPECT_MENTIONS(refusal(bytes), "zeros behind the last component");
  bytes = good;
  bytes.erase(bytes.size() / 2, bytes.size() / 2 - 4);
  repair(bytes);
  EXPECT_MENTIONS(refusal(bytes), "bits that are none in component ");
}

TEST(SmoeBadInput, MutationsNeitherCrashNorHang) {
  for (int dimensions = 1; dimensions <= 4; ++dimensions) {
    for (const bool lossless : {false, true}) {
      const auto name = fmt::format("{} dimensions{}", dimensions, lossless ? ", lossless" : "");
      const auto bytes = file(lossless, dimensions);
      expect_survival(name, bytes, ".smoe", 50, decode_file);
      expect_survival(name + ", checksum repaired", bytes, ".smoe", 150, decode_file, repair);
      expect_truncations_refused(bytes, ".smoe", true, decode_file);
    }
  }
}

// Short files with the maximum work per byte: all bits of the most probable kind.
TEST(SmoeBadInput, ShortFilesAskForLittle) {
  for (const char filling : {'\0', '\xff', 'U'}) {
    for (const int dimensions : {1, 4}) {
      auto bytes = file(false, dimensions);
      const std::size_t numbers = bytes.size() / 2;
      bytes.resize(numbers);
      bytes.append(20000, filling);
      put(bytes, count_at, std::uint64_t{65536});
      repair(bytes);
      expect_survival(fmt::format("{} dimensions, bytes of {:#x}", dimensions, static_cast<unsigned char>(filling)),
                      bytes, ".smoe", 3, decode_file, repair);
    }
  }
}

// A declared count above any file's maximum is limited by the number of bytes; the checksum is verified before the
// count.
TEST(SmoeBadInput, CountsAreBoundByBytes) {
  auto bytes = file();
  bytes.resize(1000000, '\0');
  put(bytes, count_at, std::uint64_t{8000000});
  EXPECT_MENTIONS(refusal(bytes), "bytes, got ");  // the stated size
  put(bytes, size_at, static_cast<std::uint64_t>(bytes.size()));
  EXPECT_MENTIONS(refusal(bytes), "checksum");
  repair(bytes);
  const auto most = bytes.size() - file().size();
  const auto text = refusal(bytes);
  EXPECT_MENTIONS(text, "got 8000000");
  EXPECT_MENTIONS(text, "expected 1 to 999");
  EXPECT_GT(most, 999000U);
  EXPECT_MENTIONS(refusal_with(count_at, std::uint64_t{65537}), "1 to 65536 components in ");
}

}  // namespace
}  // namespace holotone
