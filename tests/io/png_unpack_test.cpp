// PNG that Holotone wrote is read by all threads; libpng reads the same pixels of it, and refuses what is damaged.
#include <cstdio>
#include <gtest/gtest.h>
#include <holotone/core/error.hpp>
#include <holotone/core/random.hpp>
#include <holotone/io/images/image.hpp>
#include <holotone/io/images/png_bands_detail.hpp>
#include <holotone/io/images/png_reader_detail.hpp>
#include <holotone/io/images/png_unpack_detail.hpp>
#include <optional>
#include <string>
#include <vector>

namespace {

using holotone::Array;
using holotone::Image;
using holotone::Shape;
using holotone::io::Unpacked;

enum class Kind { noise, few_levels, smooth };

/// Codes that PngBands stores, packs as single bytes, or packs with references.
template <class Code>
std::vector<Code> make_codes(const Shape<3>& shape, Kind kind) {
  const auto [ny, nx, channels] = shape;
  std::vector<Code> codes(static_cast<std::size_t>(ny * nx * channels));
  for (std::size_t i = 0; i < codes.size(); ++i) {
    const auto random = holotone::random_bits(5, i);
    const auto row = static_cast<std::int64_t>(i) / (nx * channels);
    switch (kind) {
      case Kind::noise: codes[i] = static_cast<Code>(random); break;
      case Kind::few_levels: codes[i] = static_cast<Code>(random % 16 * 7); break;
      case Kind::smooth: codes[i] = static_cast<Code>(row + random % 3); break;
    }
  }
  return codes;
}

template <class Code>
std::string png_of(const Shape<3>& shape, const std::vector<Code>& codes, std::optional<int> level = {}) {
  std::string file;
  holotone::io::PngBands bands("test", "a.png", {shape, 8 * static_cast<int>(sizeof(Code)), level}, {{"key", "value"}},
                               [&](std::string_view bytes) { file += bytes; });
  bands.write(codes.data(), shape[0]);
  bands.finish();
  return file;
}

holotone::io::PngLayout make_layout(const Shape<3>& shape, int bits) {
  const auto step = static_cast<std::size_t>(shape[2] * bits / 8);
  return {static_cast<std::size_t>(shape[0]), static_cast<std::size_t>(shape[1]) * step, step, bits};
}

/// The pixels as libpng reads them; none if it refuses the file.
std::optional<std::vector<std::uint8_t>> by_libpng(const std::string& file, std::size_t count) {
  try {
    holotone::io::MemoryInput input(file);
    holotone::io::PngReader reader(input, "a.png");
    std::vector<std::uint8_t> rows(count);
    if (reader.shape()[0] * reader.shape()[1] * reader.shape()[2] * (reader.bits() / 8) !=
        static_cast<std::int64_t>(count)) {
      return std::nullopt;
    }
    reader.read_all(rows.data());
    return rows;
  } catch (const holotone::Error&) {
    return std::nullopt;
  }
}

template <class Code>
void check(const Shape<3>& shape, Kind kind, std::optional<int> level, bool by_threads) {
  SCOPED_TRACE(testing::Message() << holotone::to_string<3>(shape) << ", " << sizeof(Code) << " bytes");
  const auto codes = make_codes<Code>(shape, kind);
  const std::string file = png_of(shape, codes, level);
  std::vector<Code> rows(codes.size());
  auto* const bytes = reinterpret_cast<std::uint8_t*>(rows.data());
  EXPECT_EQ(holotone::io::unpack_png(file, make_layout(shape, 8 * sizeof(Code)), bytes) == Unpacked::yes, by_threads);
  if (by_threads) {
    EXPECT_TRUE(rows == codes);
  }
  const Image image = holotone::io::read_png(file, "a.png", {});
  const auto& pixels = std::get<Array<Code, 3>>(image.pixels);
  EXPECT_TRUE(std::equal(codes.begin(), codes.end(), pixels.data()));
  EXPECT_EQ(image.metadata.at("key"), "value");
}

TEST(PngUnpack, BandsOfNoGivenLevelAreReadByAllThreads) {
  for (const auto kind : {Kind::noise, Kind::few_levels, Kind::smooth}) {
    check<std::uint8_t>({700, 801, 1}, kind, {}, true);
    check<std::uint8_t>({300, 401, 3}, kind, {}, true);
    check<std::uint16_t>({300, 701, 1}, kind, {}, true);
    check<std::uint16_t>({123, 301, 4}, kind, {}, true);
  }
  check<std::uint8_t>({700, 801, 1}, Kind::smooth, 0, true);  // stored
}

TEST(PngUnpack, OthersAreLeftToLibpng) {
  check<std::uint8_t>({100, 101, 1}, Kind::noise, {}, false);  // one band
  check<std::uint8_t>({700, 801, 1}, Kind::smooth, 6, false);  // bands that refer to those before
}

// Whatever byte is damaged: what this reads, libpng reads too, with the same pixels.
TEST(PngUnpack, DamageIsSeenAsByLibpng) {
  const Shape<3> shape{60, 5001, 1};
  const auto codes = make_codes<std::uint8_t>(shape, Kind::few_levels);
  const std::string whole = png_of(shape, codes);
  int same = 0;
  int left = 0;
  for (std::uint64_t i = 0; i < 400; ++i) {
    std::string file = whole;
    const auto at = [&](std::uint64_t k) { return holotone::random_bits(9, 4 * i + k) % file.size(); };
    if (i % 4 == 3) {
      file.resize(at(0));
    } else if (i % 4 == 2) {
      file.erase(at(0), 1 + at(1) % 40);
    } else {
      // Near a chunk's head in half of the cases.
      const auto chunk = file.find("IDAT", at(0));
      const auto place = i % 2 == 0 && chunk != std::string::npos ? chunk - 4 + at(1) % 14 : at(0);
      file[std::min(place, file.size() - 1)] ^= static_cast<char>(1 << at(2) % 8);
    }
    std::vector<std::uint8_t> rows(codes.size());
    if (holotone::io::unpack_png(file, make_layout(shape, 8), rows.data()) != Unpacked::yes) {
      ++left;
      continue;
    }
    const auto expected = by_libpng(file, rows.size());
    if (!expected) continue;  // damage before the pixels, which the reader's header sees
    ++same;
    EXPECT_TRUE(*expected == rows) << i;
  }
  std::printf("%d files read, %d left to libpng\n", same, left);
  EXPECT_GT(left, 300);
}

// A file of many empty chunks takes no memory.
TEST(PngUnpack, ChunksThatAreNoBands) {
  const Shape<3> shape{700, 801, 1};
  std::string file = png_of(shape, make_codes<std::uint8_t>(shape, Kind::noise));
  const auto first = file.find("IDAT") - 4;
  std::string empty("\0\0\0\0IDAT\x35\xaf\x06\x1e", 12);
  std::string many = file.substr(0, first);
  for (int i = 0; i < 200000; ++i) many += empty;
  many += file.substr(first);
  std::vector<std::uint8_t> rows(700 * 801);
  EXPECT_EQ(holotone::io::unpack_png(many, make_layout(shape, 8), rows.data()), Unpacked::no);
}

// Two bands in each other's place: every chunk has its own checksum, only that of all rows differs.
TEST(PngUnpack, BandsInAnotherOrderAreRefused) {
  const Shape<3> shape{700, 801, 1};
  const std::string file = png_of(shape, make_codes<std::uint8_t>(shape, Kind::noise));
  std::vector<std::size_t> chunks;
  for (auto at = file.find("IDAT"); at != std::string::npos; at = file.find("IDAT", at + 1)) chunks.push_back(at - 4);
  ASSERT_GE(chunks.size(), 5U);
  const auto piece = [&](std::size_t i) { return file.substr(chunks[i], chunks[i + 1] - chunks[i]); };
  const std::string swapped = file.substr(0, chunks[1]) + piece(2) + piece(1) + file.substr(chunks[3]);
  try {
    (void)holotone::io::read_png(swapped, "a.png", {});
    ADD_FAILURE();
  } catch (const holotone::Error& error) {
    EXPECT_NE(std::string(error.what()).find("IDAT: incorrect data check"), std::string::npos) << error.what();
  }
}

TEST(PngUnpack, DamagedTextIsRefused) {
  const Shape<3> shape{10, 10, 1};
  std::string file = png_of(shape, make_codes<std::uint8_t>(shape, Kind::noise));
  file[file.find("value")] ^= 1;
  try {
    (void)holotone::io::read_png(file, "a.png", {});
    ADD_FAILURE();
  } catch (const holotone::Error& error) {
    EXPECT_NE(std::string(error.what()).find("CRC error"), std::string::npos) << error.what();
  }
}

}  // namespace
