// Codes of 1, 2 and 4 bits stay codes in every format, and are pictures from black to white.
#include <cmath>
#include <cstdint>
#include <gtest/gtest.h>
#include <holotone/io/dots/dots.hpp>
#include <holotone/io/images/image.hpp>
#include <holotone/io/images/image_rows.hpp>
#include <string>
#include <tests/io/png_bytes.hpp>
#include <tests/io/tiff_bytes.hpp>
#include <tests/support/io_support.hpp>
#include <tests/support/on_each_device.hpp>
#include <vector>

namespace holotone {
namespace {

using io_fixtures::append;
using io_fixtures::grey_palette;
using io_fixtures::make_png;
using io_fixtures::png_chunk;
using io_support::TemporaryFolder;
using io_support::write_raw;

Image read_bytes(const std::string& bytes) {
  const TemporaryFolder folder;
  write_raw(folder.file("x"), bytes);
  return read_image(folder.file("x"));
}

std::vector<int> list_codes(const Image& image) {
  const auto codes = std::get<Array<std::uint8_t, 3>>(image.pixels).host();
  return {codes.begin(), codes.end()};
}

/// 5 x 3 codes, all values among them.
std::vector<int> some_codes(int bits) {
  std::vector<int> codes;
  for (int i = 0; i < 15; ++i) codes.push_back(i * 7 % (1 << bits));
  return codes;
}

/// Rows of packed codes, each from a whole multiple of `unit` bytes on.
std::string packed(const std::vector<int>& codes, int bits, std::size_t unit = 1) {
  std::string bytes;
  for (std::size_t row = 0; row < 3; ++row) {
    std::string line(static_cast<std::size_t>((5 * bits + 7) / 8), '\0');
    for (std::size_t x = 0; x < 5; ++x) {
      const std::size_t bit = x * static_cast<std::size_t>(bits);
      line[bit / 8] = static_cast<char>(line[bit / 8] | codes[row * 5 + x] << (8 - bits - static_cast<int>(bit % 8)));
    }
    line.resize((line.size() + unit - 1) / unit * unit);
    bytes += line;
  }
  return bytes;
}

/// A grey TIFF of 5 x 3; `white_is_zero`: PhotometricInterpretation 0.
std::string tiff_bits(const std::vector<int>& codes, int bits, bool white_is_zero) {
  std::string bytes = io_fixtures::tiff_of(5, 3, 1, static_cast<std::uint32_t>(bits), false, -1, packed(codes, bits));
  constexpr std::size_t photometric = 10 + 4 * 12 + 8;
  bytes[photometric] = white_is_zero ? 0 : 1;
  return bytes;
}

/// A BMP of 5 x 3 whose palette has these greys.
std::string bmp_bits(const std::vector<int>& codes, int bits, const std::vector<int>& greys) {
  std::string bytes = "BM";
  const auto data_begin = static_cast<std::uint32_t>(54 + 4 * greys.size());
  for (const std::uint32_t number : {0U, 0U, data_begin, 40U, 5U}) append(bytes, number, 4);
  append(bytes, static_cast<std::uint32_t>(-3), 4);  // the top row first
  append(bytes, 1, 2);
  append(bytes, static_cast<std::uint32_t>(bits), 2);
  for (const std::uint32_t number : {0U, 0U, 0U, 0U, static_cast<std::uint32_t>(greys.size()), 0U}) {
    append(bytes, number, 4);
  }
  for (const int grey : greys) bytes += std::string(3, static_cast<char>(grey)) + '\0';
  return bytes + packed(codes, bits, 4);
}

std::vector<int> ramp(int bits) {
  std::vector<int> greys;
  for (int code = 0; code < 1 << bits; ++code) greys.push_back(code * 255 / ((1 << bits) - 1));
  return greys;
}

void expect_codes(const std::string& bytes, const std::vector<int>& codes, int bits) {
  const Image image = read_bytes(bytes);
  EXPECT_EQ(shape_of(image), (Shape<3>{3, 5, 1}));
  EXPECT_EQ(list_codes(image), codes);
  EXPECT_EQ(code_bits(image), bits);
  const auto values = to_float(image);
  const auto light = to_linear(image);
  const auto grey = to_grey(image);
  for (std::size_t i = 0; i < codes.size(); ++i) {
    const double value = codes[i] / (std::pow(2, bits) - 1);
    EXPECT_FLOAT_EQ(values.data()[i], static_cast<float>(value));
    EXPECT_FLOAT_EQ(grey.data()[i], static_cast<float>(value));
    EXPECT_NEAR(static_cast<double>(light.data()[i]),
                value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4), 1e-6);
  }
}

std::vector<int> inverted(std::vector<int> codes, int bits) {
  for (int& code : codes) code = (1 << bits) - 1 - code;
  return codes;
}

TEST(ImageBits, GreyCodesOfEveryFormat) {
  for (const int bits : {1, 2, 4}) {
    SCOPED_TRACE(bits);
    const auto codes = some_codes(bits);
    expect_codes(make_png({.nx = 5, .ny = 3, .depth = bits}, codes), codes, bits);
    expect_codes(make_png({.nx = 5, .ny = 3, .depth = bits, .interlaced = true}, codes), codes, bits);
    expect_codes(
        make_png({.nx = 5, .ny = 3, .depth = bits, .colour_type = 3, .chunks = grey_palette(ramp(bits))}, codes), codes,
        bits);
    if (bits != 2) expect_codes(bmp_bits(codes, bits, ramp(bits)), codes, bits);
  }
}

TEST(ImageBits, TiffOfEitherPolarity) {
  try {
    read_bytes(tiff_bits(some_codes(1), 1, false));
  } catch (const Error& error) {
    if (error.code() == ErrorCode::unsupported) GTEST_SKIP() << "built without libtiff";
    throw;
  }
  for (const int bits : {1, 2, 4}) {
    SCOPED_TRACE(bits);
    const auto codes = some_codes(bits);
    expect_codes(tiff_bits(codes, bits, false), codes, bits);
    expect_codes(tiff_bits(codes, bits, true), inverted(codes, bits), bits);
  }
}

TEST(ImageBits, PalettesOfOtherOrders) {
  const auto codes = some_codes(1);
  expect_codes(make_png({.nx = 5, .ny = 3, .depth = 1, .colour_type = 3, .chunks = grey_palette({255, 0})}, codes),
               inverted(codes, 1), 1);
  expect_codes(bmp_bits(codes, 1, {255, 0}), inverted(codes, 1), 1);
  // Greys that are no even steps are codes of 8 bits, as the palette has them.
  expect_codes(
      make_png({.nx = 5, .ny = 3, .depth = 2, .colour_type = 3, .chunks = grey_palette({0, 1, 2, 3})}, some_codes(2)),
      some_codes(2), 8);
}

TEST(ImageBits, TransparencyHasTheCodesBits) {
  const std::string transparent = png_chunk("tRNS", std::string("\0\2", 2));
  const Image image = read_bytes(make_png({.nx = 4, .ny = 1, .depth = 2, .chunks = transparent}, {0, 1, 2, 3}));
  EXPECT_EQ(list_codes(image), (std::vector<int>{0, 3, 1, 3, 2, 0, 3, 3}));
  EXPECT_EQ(image.bits, 2);
  const auto values = to_linear(image);
  EXPECT_EQ(values(0, 0, 1), 1);
  EXPECT_EQ(values(0, 2, 1), 0);
  // A palette with transparency is a picture: 8 bits.
  const std::string alpha = grey_palette({0, 255}) + png_chunk("tRNS", std::string("\x40\xff", 2));
  const Image mask = read_bytes(make_png({.nx = 2, .ny = 1, .depth = 1, .colour_type = 3, .chunks = alpha}, {0, 1}));
  EXPECT_EQ(list_codes(mask), (std::vector<int>{0, 64, 255, 255}));
  EXPECT_EQ(code_bits(mask), 8);
}

TEST(ImageBits, IndicesOutsideThePaletteAreRefused) {
  const std::string two = grey_palette({0, 255});
  for (const std::string& chunks : {two, two + png_chunk("tRNS", "\x40")}) {
    const auto bytes = make_png({.nx = 2, .ny = 1, .depth = 2, .colour_type = 3, .chunks = chunks}, {1, 2});
    EXPECT_MENTIONS(io_support::error_of([&] { (void)read_bytes(bytes); }), "expected palette indices below 2, got 2");
  }
}

TEST(ImageBits, SixteenBitsWithAlphaInterlaced) {
  const std::vector<int> samples = {0, 65535, 258, 1, 40000, 30000};
  for (const bool interlaced : {false, true}) {
    const Image image =
        read_bytes(make_png({.nx = 3, .ny = 1, .depth = 16, .colour_type = 4, .interlaced = interlaced}, samples));
    const auto codes = std::get<Array<std::uint16_t, 3>>(image.pixels).host();
    EXPECT_EQ((std::vector<int>{codes.begin(), codes.end()}), samples);
    EXPECT_EQ(code_bits(image), 16);
  }
  const std::string transparent = png_chunk("tRNS", std::string("\x01\x02\x00\x01\x9c\x40", 6));
  const Image image = read_bytes(make_png({.nx = 2, .ny = 1, .depth = 16, .colour_type = 2, .chunks = transparent},
                                          {258, 1, 40000, 258, 1, 40001}));
  const auto codes = std::get<Array<std::uint16_t, 3>>(image.pixels).host();
  EXPECT_EQ((std::vector<int>{codes.begin(), codes.end()}), (std::vector<int>{258, 1, 40000, 0, 258, 1, 40001, 65535}));
}

Image image_of(const std::vector<int>& codes, int bits, std::int64_t channels = 1) {
  Array<std::uint8_t, 3> pixels({3, 5 / channels, channels});
  for (std::int64_t i = 0; i < pixels.size(); ++i) {
    pixels.data()[i] = static_cast<std::uint8_t>(codes[static_cast<std::size_t>(i)]);
  }
  return {std::move(pixels), {}, {}, bits};
}

TEST(ImageBits, WrittenAsTheyAre) {
  const TemporaryFolder folder;
  for (const std::string name : {"x.png", "x.tif"}) {
    for (const int bits : {1, 2, 4}) {
      SCOPED_TRACE(name + " " + std::to_string(bits));
      try {
        write_image(folder.file(name), image_of(some_codes(bits), bits));
      } catch (const Error& error) {
        if (error.code() == ErrorCode::unsupported) continue;  // no libtiff
        throw;
      }
      const Image back = read_image(folder.file(name));
      EXPECT_EQ(list_codes(back), some_codes(bits));
      EXPECT_EQ(back.bits, bits);
    }
  }
  write_image(folder.file("x.bmp"), image_of(some_codes(2), 2));
  std::vector<int> scaled = some_codes(2);
  for (int& code : scaled) code *= 85;
  EXPECT_EQ(list_codes(read_image(folder.file("x.bmp"))), scaled);
  write_image(folder.file("rgb.png"), image_of(some_codes(2), 2, 5 / 2));
  EXPECT_EQ(list_codes(read_image(folder.file("rgb.png"))).at(1), scaled.at(1));
  EXPECT_MENTIONS(io_support::error_of([&] { write_image(folder.file("y.png"), image_of(some_codes(3), 2)); },
                                       ErrorCode::invalid_argument),
                  "codes of 2 bits, at most 3, got");
}

TEST(ImageBits, ScaledForViewers) {
  const TemporaryFolder folder;
  const auto codes = some_codes(3);
  const ImageWriteOptions options{.scaled_bits = 3};
  write_image(folder.file("x.png"), image_of(codes, 0), options);
  const Image back = read_image(folder.file("x.png"));
  const auto written = list_codes(back);
  for (std::size_t i = 0; i < codes.size(); ++i) EXPECT_EQ(written[i], std::lround(255 * codes[i] / 7.0)) << i;
  EXPECT_EQ(back.metadata.at("scaled_codes"), "1");
  ImageRowsWriter rows(folder.file("rows.png"), {3, 5, 1}, 8, {}, options);
  const Image image = image_of(codes, 0);
  rows.write(std::get<Array<std::uint8_t, 3>>(image.pixels).view());
  rows.finish();
  EXPECT_EQ(io_support::read_raw(folder.file("rows.png")), io_support::read_raw(folder.file("x.png")));
}

TEST(ImageBits, RowsHaveThem) {
  const TemporaryFolder folder;
  const auto codes = some_codes(4);
  write_raw(folder.file("x.png"), make_png({.nx = 5, .ny = 3, .depth = 4}, codes));
  write_raw(folder.file("x.bmp"), bmp_bits(codes, 4, ramp(4)));
  for (const std::string name : {"x.png", "x.bmp"}) {
    ImageRowsReader reader(folder.file(name));
    EXPECT_EQ(reader.bits(), 4);
    Array<std::uint8_t, 3> rows({2, 5, 1});
    reader.read(1, rows.view());
    for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(rows.data()[i], codes[5 + i]);
  }
}

TEST(ImageBits, DarkCodesAreDots) {
  const TemporaryFolder folder;
  // Dots at (1, 0) and (4, 2), whatever the palette's order and the number of bits.
  std::vector<int> codes(15, 1);
  codes[1] = codes[14] = 0;
  const auto expect_dots = [&](const std::string& name, const std::string& bytes) {
    write_raw(folder.file(name), bytes);
    EXPECT_EQ(read_dots(folder.file(name)).position, (std::vector<float>{1.5F, 0.5F, 4.5F, 2.5F})) << name;
  };
  expect_dots("grey.png", make_png({.nx = 5, .ny = 3, .depth = 1}, codes));
  expect_dots("palette.bmp", bmp_bits(inverted(codes, 1), 1, {255, 0}));
  expect_dots("two.png", make_png({.nx = 5, .ny = 3, .depth = 2}, codes));
}

TEST(ImageBits, DamagedFilesAreRefused) {
  const auto read = [](const std::string& path) { (void)to_float(read_image(path, {.as_light = true})); };
  const std::string transparent = png_chunk("tRNS", std::string("\0\2", 2));
  io_support::expect_survival(
      "grey and transparency",
      make_png({.nx = 5, .ny = 3, .depth = 2, .interlaced = true, .chunks = transparent}, some_codes(2)), ".png", 1000,
      read, io_fixtures::repair_checksums);
  io_support::expect_survival("BMP", bmp_bits(some_codes(4), 4, ramp(4)), ".bmp", 1000, read);
}

}  // namespace
}  // namespace holotone
