#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <holotone/core/colour.hpp>
#include <holotone/io/images/image.hpp>
#include <numeric>
#include <tests/io/image_fixtures.hpp>
#include <tests/io/png_checksums.hpp>
#include <tests/support/io_support.hpp>

namespace holotone {
namespace {

using io_fixtures::compute_crc;
using io_fixtures::repair_checksums;
using io_support::error_of;
using io_support::expect_survival;
using io_support::expect_truncations_refused;
using io_support::read_raw;
using io_support::TemporaryFolder;
using io_support::write_raw;

template <class T>
Image make_image(Shape<3> shape) {
  Array<T, 3> pixels(shape);
  for (std::int64_t i = 0; i < pixels.size(); ++i) {
    const auto bits = random_bits(11, static_cast<std::uint64_t>(i));
    pixels.data()[i] = std::is_integral_v<T> ? static_cast<T>(bits) : static_cast<T>(std::ldexp(bits >> 40, -20));
  }
  return {std::move(pixels), {}};
}

template <class T>
const Array<T, 3>& pixels_as(const Image& image) {
  return std::get<Array<T, 3>>(image.pixels);
}

template <class T>
void expect_equal(const Image& got, const Image& expected) {
  ASSERT_TRUE((std::holds_alternative<Array<T, 3>>(got.pixels)));
  ASSERT_EQ(shape_of(got), shape_of(expected));
  EXPECT_TRUE(std::ranges::equal(pixels_as<T>(got).host(), pixels_as<T>(expected).host()));
}

bool has_tiff() {
  const TemporaryFolder folder;
  try {
    write_image(folder.file("x.tif"), make_image<std::uint8_t>({1, 1, 1}));
  } catch (const Error& error) {
    return error.code() != ErrorCode::unsupported;
  }
  return true;
}
#define SKIP_WITHOUT_TIFF() \
  if (!has_tiff()) GTEST_SKIP() << "built without libtiff"

const Metadata metadata = {{"wavelength_m", "5.32e-07"},
                           {"pitch_m", "8e-06"},
                           {"encoding", "phase"},
                           {"note", "gr\xc3\xbc\xc3\x9f dich: a \\ b\nsecond line"},
                           {"text:Title", "somebody's"}};

// 11.7 kB of fax code that declare 20,000 x 19,000 pixels, 380 MB.
TEST(ImageTiff, SmallFilesHoldNoLargePictures) {
  SKIP_WITHOUT_TIFF();
  const TemporaryFolder folder;
  std::string bytes = io_fixtures::fax_tiff;
  const auto put = [&](std::string_view tag, std::uint16_t value) {
    const auto at = bytes.find(std::string(tag) + std::string("\3\0\1\0\0\0", 6));
    ASSERT_NE(at, std::string::npos);
    std::memcpy(bytes.data() + at + 8, &value, sizeof value);
  };
  put(std::string_view("\0\1", 2), 20'000);
  put(std::string_view("\1\1", 2), 19'000);
  write_raw(folder.file("x.tif"), bytes + std::string(11'500, 'x'));
  EXPECT_MENTIONS(error_of([&] { read_image(folder.file("x.tif")); }), "data for 20000 x 19000 pixels");
}

TEST(ImageRead, PicturesAreRefusedByTheirHeaders) {
  const TemporaryFolder folder;
  for (const std::string name : {"x.png", "x.bmp", "x.tif"}) {
    if (name == "x.tif" && !has_tiff()) continue;
    write_image(folder.file(name), make_image<std::uint8_t>({5, 7, 3}));
    Shape<3> seen{};
    const auto accept = [&](const Shape<3>& shape) { seen = shape; };
    read_image(folder.file(name), {.accept = accept});
    EXPECT_EQ(seen, (Shape<3>{5, 7, 3})) << name;
    const auto refuse = [](const Shape<3>&) { throw_io("x", "another", "this"); };
    EXPECT_EQ(error_of([&] { read_image(folder.file(name), {.accept = refuse}); }), "x: expected another, got this");
    EXPECT_MENTIONS(error_of([&] { read_image(folder.file(name), {.bytes_a_pixel = 1e15}); }), "of free memory hold");
  }
}

template <class T>
void expect_round_trips(const std::string& name, std::initializer_list<std::int64_t> channel_counts) {
  const TemporaryFolder folder;
  const std::string path = folder.file(name);
  for (auto channels : channel_counts) {
    for (const Shape<3> shape : {Shape<3>{13, 37, channels}, Shape<3>{1, 1, channels}, Shape<3>{64, 3, channels}}) {
      for (const std::optional<int> compression : {std::optional<int>(), {0}, {3}}) {
        Image image = make_image<T>(shape);
        write_image(path, image, {.compression = compression});
        expect_equal<T>(read_image(path), image);
      }
    }
  }
  EXPECT_EQ(folder.names().size(), 1u) << "temporaries left";
}

TEST(ImagePng, RoundTripsBothDepthsAndAllChannels) {
  expect_round_trips<std::uint8_t>("x.png", {1, 2, 3, 4});
  expect_round_trips<std::uint16_t>("x.PNG", {1, 2, 3, 4});
}

TEST(ImageTiff, RoundTripsAllDepthsAndChannels) {
  SKIP_WITHOUT_TIFF();
  expect_round_trips<std::uint8_t>("x.tif", {1, 2, 3, 4});
  expect_round_trips<std::uint16_t>("x.tiff", {1, 2, 3, 4});
  expect_round_trips<float>("x.tif", {1, 3});
}

TEST(ImageBmp, RoundTripsGreyAndColour) { expect_round_trips<std::uint8_t>("x.bmp", {1, 3}); }

TEST(ImageTiff, KeepsNotANumberAndInfinity) {
  SKIP_WITHOUT_TIFF();
  const TemporaryFolder folder;
  Array<float, 3> pixels({1, 3, 1});
  pixels(0, 0, 0) = NAN;
  pixels(0, 1, 0) = -INFINITY;
  pixels(0, 2, 0) = -0.0f;
  write_image(folder.file("x.tif"), {std::move(pixels), {}});
  const Image image = read_image(folder.file("x.tif"));
  const auto& got = pixels_as<float>(image);
  EXPECT_TRUE(std::isnan(got(0, 0, 0)));
  EXPECT_EQ(got(0, 1, 0), -INFINITY);
  EXPECT_TRUE(std::signbit(got(0, 2, 0)));
}

TEST(ImageMetadata, RoundTripsInPngAndTiff) {
  const TemporaryFolder folder;
  for (const std::string name : {"x.png", "x.tif"}) {
    if (name == "x.tif" && !has_tiff()) continue;
    Image image = make_image<std::uint8_t>({5, 7, 1});
    image.metadata = metadata;
    write_image(folder.file(name), image);
    EXPECT_EQ(read_image(folder.file(name)).metadata, metadata) << name;
  }
  // Under Holotone's own keyword, visible to other programs.
  EXPECT_MENTIONS(read_raw(folder.file("x.png")), std::string("tEXtholotone:wavelength_m\0"
                                                              "5.32e-07",
                                                              34));
  EXPECT_MENTIONS(read_raw(folder.file("x.png")), std::string("tEXtTitle\0", 10));
}

// The level table of a 16-bit modulator is more than a megabyte.
TEST(ImageMetadata, LongTextRoundTrips) {
  const TemporaryFolder folder;
  for (const std::string name : {"x.png", "x.tif"}) {
    if (name == "x.tif" && !has_tiff()) continue;
    Image image = make_image<std::uint8_t>({2, 2, 1});
    image.metadata = {{"level_phase_rad", std::string(1500000, '7')}, {"pitch_m", "8e-06"}};
    write_image(folder.file(name), image);
    EXPECT_EQ(read_image(folder.file(name)).metadata, image.metadata) << name;
  }
}

TEST(ImageMetadata, BmpHasNoneAndSixteenBitCarriesItToo) {
  const TemporaryFolder folder;
  Image image = make_image<std::uint8_t>({5, 7, 1});
  image.metadata = metadata;
  write_image(folder.file("x.bmp"), image);
  EXPECT_TRUE(read_image(folder.file("x.bmp")).metadata.empty());
  Image wide = make_image<std::uint16_t>({5, 7, 1});
  wide.metadata = metadata;
  write_image(folder.file("x.png"), wide);
  EXPECT_EQ(read_image(folder.file("x.png")).metadata, metadata);
}

TEST(ImageMetadata, TextOfOtherProgramsIsKept) {
  SKIP_WITHOUT_TIFF();
  const TemporaryFolder folder;
  write_raw(folder.file("x.tif"), io_fixtures::described_tiff);
  const Metadata expected = {{"text:ImageDescription", "made elsewhere"}};
  EXPECT_EQ(read_image(folder.file("x.tif")).metadata, expected);
}

TEST(ImageMetadata, KeysThatAFormatCannotHoldAreRefused) {
  const TemporaryFolder folder;
  const auto write = [&](const std::string& name, const std::string& key, const std::string& value) {
    Image image = make_image<std::uint8_t>({2, 2, 1});
    image.metadata[key] = value;
    write_image(folder.file(name), image);
  };
  constexpr auto code = ErrorCode::invalid_argument;
  EXPECT_MENTIONS(error_of([&] { write("x.png", std::string(71, 'k'), "v"); }, code), "metadata");
  EXPECT_MENTIONS(error_of([&] { write("x.png", "two  blanks", "v"); }, code), "metadata");
  EXPECT_MENTIONS(error_of([&] { write("x.png", "\xc3\xa4", "v"); }, code), "metadata");
  EXPECT_MENTIONS(error_of([&] { write("x.tif", "line\nbreak", "v"); }, code), "metadata");
  EXPECT_MENTIONS(error_of([&] { write("x.tif", "colon: blank", "v"); }, code), "metadata");
  EXPECT_MENTIONS(error_of([&] { write("x.png", "", "v"); }, code), "metadata");
  EXPECT_MENTIONS(error_of([&] { write("x.png", "zero", std::string("a\0b", 3)); }, code), "metadata");
  EXPECT_TRUE(folder.names().empty());
}

// Files of other programs -------------------------------------------------------------------------------------------

Image read_fixture(const std::string& bytes, const std::string& name) {
  const TemporaryFolder folder;
  write_raw(folder.file(name), bytes);
  return read_image(folder.file(name));
}

template <class T>
void expect_pixels(const Image& image, Shape<3> shape, const std::vector<double>& expected, double tolerance = 0) {
  ASSERT_TRUE((std::holds_alternative<Array<T, 3>>(image.pixels)));
  ASSERT_EQ(shape_of(image), shape);
  const auto got = pixels_as<T>(image).host();
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(static_cast<double>(got[i]), expected[i], tolerance) << i;
}

template <class Value>
std::vector<double> make_values(int ny, int nx, const Value& value) {
  std::vector<double> result;
  for (int row = 0; row < ny; ++row) {
    for (int col = 0; col < nx; ++col) result.push_back(value(row, col));
  }
  return result;
}

std::vector<double> palette_pixels(bool alpha) {
  constexpr double colours[3][4] = {{255, 0, 0, 255}, {0, 255, 0, 0}, {10, 20, 30, 255}};
  std::vector<double> result;
  for (int index : {0, 1, 2, 0, 2, 2, 1, 0})
    result.insert(result.end(), colours[index], colours[index] + (alpha ? 4 : 3));
  return result;
}

double every_third(int row, int col) { return (10 * row + col) % 3 == 0 ? 1 : 0; }

TEST(ImagePng, PaletteTransparencyBitsAndInterlacing) {
  expect_pixels<std::uint8_t>(read_fixture(io_fixtures::palette_png, "x.png"), {2, 4, 3}, palette_pixels(false));
  expect_pixels<std::uint8_t>(read_fixture(io_fixtures::palette_alpha_png, "x.png"), {2, 4, 4}, palette_pixels(true));
  expect_pixels<std::uint8_t>(read_fixture(io_fixtures::bit_png, "x.png"), {2, 10, 1}, make_values(2, 10, every_third));
  expect_pixels<std::uint8_t>(read_fixture(io_fixtures::interlaced_png, "x.png"), {5, 5, 1},
                              make_values(5, 5, [](int row, int col) { return 50 * row + 10 * col; }));
}

TEST(ImageBmp, PaletteAndBits) {
  expect_pixels<std::uint8_t>(read_fixture(io_fixtures::palette_bmp, "x.bmp"), {2, 4, 3}, palette_pixels(false));
  expect_pixels<std::uint8_t>(read_fixture(io_fixtures::bit_bmp, "x.bmp"), {2, 10, 1}, make_values(2, 10, every_third));
}

// A BMP of one row: a header of 40 bytes, then the given parts.
std::string bmp_of(std::int32_t width, std::int32_t height, std::uint16_t bits, std::uint32_t compression,
                   const std::string& masks_and_palette, const std::string& rows) {
  using io_support::bytes_of;
  const auto begin = static_cast<std::uint32_t>(54 + masks_and_palette.size());
  return "BM" + bytes_of(static_cast<std::uint32_t>(begin + rows.size())) + bytes_of(std::uint32_t{0}) +
         bytes_of(begin) + bytes_of(std::uint32_t{40}) + bytes_of(width) + bytes_of(height) +
         bytes_of(std::uint16_t{1}) + bytes_of(bits) + bytes_of(compression) + std::string(20, '\0') +
         masks_and_palette + rows;
}

TEST(ImageBmp, TopDownRowsAndMasks) {
  const std::string rows = "\x01\x02\x03\x09\x04\x05\x06\x09";
  expect_pixels<std::uint8_t>(read_fixture(bmp_of(1, -2, 32, 0, "", rows), "x.bmp"), {2, 1, 3}, {3, 2, 1, 6, 5, 4});
  expect_pixels<std::uint8_t>(read_fixture(bmp_of(1, 2, 32, 0, "", rows), "x.bmp"), {2, 1, 3}, {6, 5, 4, 3, 2, 1});
  using io_support::bytes_of;
  const std::string masks = bytes_of(std::uint32_t{0xff}) + bytes_of(std::uint32_t{0xff00}) +
                            bytes_of(std::uint32_t{0xff0000}) + bytes_of(std::uint32_t{0xff000000});
  expect_pixels<std::uint8_t>(read_fixture(bmp_of(1, -2, 32, 6, masks, rows), "x.bmp"), {2, 1, 4},
                              {1, 2, 3, 9, 4, 5, 6, 9});
}

TEST(ImageBmp, IndexOutsideThePaletteIsRefused) {
  const std::string two_colours("\0\0\0\0\1\2\3\0", 8);
  std::string file = bmp_of(4, 1, 8, 0, two_colours, std::string("\0\1\2\0", 4));
  file[46] = 2;  // colours used
  EXPECT_MENTIONS(error_of([&] { read_fixture(file, "x.bmp"); }), "palette indices below 2, got 2");
}

TEST(ImageJpeg, ColourAndProgressiveGrey) {
  const Image colour = read_fixture(io_fixtures::colour_jpeg, "x.jpg");
  std::vector<double> expected;
  for (int i = 0; i < 128; ++i) expected.insert(expected.end(), {200, 40, 90});
  expect_pixels<std::uint8_t>(colour, {8, 16, 3}, expected, 2);
  expect_pixels<std::uint8_t>(read_fixture(io_fixtures::grey_jpeg, "x.jpg"), {8, 16, 1},
                              make_values(8, 16, [](int, int col) { return 16 * col; }), 2);
}

TEST(ImageTiff, TilesPlanesCompressionsAndByteOrders) {
  SKIP_WITHOUT_TIFF();
  expect_pixels<std::uint16_t>(read_fixture(io_fixtures::tiled_lzw_tiff, "x.tif"), {20, 18, 1},
                               make_values(20, 18, [](int row, int col) { return 100 * (18 * row + col); }));
  std::vector<double> planes;
  for (int i = 0; i < 12; ++i) planes.insert(planes.end(), {0.0 + i, 60.0 + i, 120.0 + i});
  expect_pixels<std::uint8_t>(read_fixture(io_fixtures::planar_tiff, "x.tif"), {3, 4, 3}, planes);
  expect_pixels<float>(read_fixture(io_fixtures::double_big_endian_tiff, "x.tif"), {2, 3, 1},
                       {-0.5, -0.25, 0, 0.25, 0.5, 0.75});
  expect_pixels<std::uint8_t>(read_fixture(io_fixtures::white_is_zero_tiff, "x.tif"), {2, 3, 1},
                              {255, 254, 253, 252, 251, 250});
  expect_pixels<std::uint8_t>(read_fixture(io_fixtures::fax_tiff, "x.tif"), {2, 10, 1},
                              make_values(2, 10, every_third));
}

// Helpers -----------------------------------------------------------------------------------------------------------

TEST(Image, ToFloatScalesCodesAndToGreyDropsAlpha) {
  Array<std::uint8_t, 3> codes({1, 2, 4});
  const std::array<std::uint8_t, 8> values = {255, 0, 51, 7, 102, 102, 102, 255};
  std::ranges::copy(values, codes.data());
  const Image image{std::move(codes), {}};
  const auto floats = to_float(image);
  EXPECT_EQ(floats.shape(), (Shape<3>{1, 2, 4}));
  EXPECT_FLOAT_EQ(floats(0, 0, 0), 1.0f);
  EXPECT_FLOAT_EQ(floats(0, 0, 2), 0.2f);
  const auto grey = to_grey(image);
  EXPECT_EQ(grey.shape(), (Shape<2>{1, 2}));
  EXPECT_FLOAT_EQ(grey(0, 0), 0.4f);
  EXPECT_FLOAT_EQ(grey(0, 1), 0.4f);

  Array<std::uint16_t, 3> wide({1, 1, 2});
  wide(0, 0, 0) = 65535;
  wide(0, 0, 1) = 5;
  EXPECT_FLOAT_EQ(to_grey({std::move(wide), {}})(0, 0), 1.0f);
  Array<float, 3> real({1, 1, 1});
  real(0, 0, 0) = -3.5f;
  EXPECT_FLOAT_EQ(to_grey({std::move(real), {}})(0, 0), -3.5f);
}

TEST(Image, ToLinearConvertsCodesButNoAlphaAndNoFloats) {
  Array<std::uint8_t, 3> grey_alpha({1, 256, 2});
  for (int code = 0; code < 256; ++code) {
    grey_alpha(0, code, 0) = static_cast<std::uint8_t>(code);
    grey_alpha(0, code, 1) = static_cast<std::uint8_t>(255 - code);
  }
  const auto light = to_linear({std::move(grey_alpha), {}});
  Array<std::uint16_t, 3> wide({1, 65536, 3});
  for (std::int64_t i = 0; i < wide.size(); ++i) wide.data()[i] = static_cast<std::uint16_t>(i / 3);
  const auto fine = to_linear({std::move(wide), {}});
  double worst = 0;
  for (int code = 0; code < 256; ++code) {
    worst = std::max(worst, std::abs(static_cast<double>(light(0, code, 0)) - srgb_to_linear(code / 255.0)));
    EXPECT_FLOAT_EQ(light(0, code, 1), static_cast<float>(255 - code) / 255);
  }
  for (int code = 0; code < 65536; ++code) {
    for (int c = 0; c < 3; ++c) {
      worst = std::max(worst, std::abs(static_cast<double>(fine(0, code, c)) - srgb_to_linear(code / 65535.0)));
    }
  }
  EXPECT_LT(worst, 3e-7);
  Array<float, 3> real({1, 1, 1});
  real(0, 0, 0) = 0.25F;
  EXPECT_EQ(to_linear({std::move(real), {}})(0, 0, 0), 0.25F);
}

TEST(Image, WhatAFormatCannotHoldIsUnsupported) {
  const TemporaryFolder folder;
  constexpr auto code = ErrorCode::unsupported;
  EXPECT_MENTIONS(error_of([&] { write_image(folder.file("x.png"), make_image<float>({2, 2, 1})); }, code), "PNG");
  EXPECT_MENTIONS(error_of(
                      [&] {
                        write_image(folder.file("x.bmp"), make_image<std::uint16_t>({2, 2, 1}));
                      },
                      code),
                  "BMP");
  EXPECT_MENTIONS(error_of(
                      [&] {
                        write_image(folder.file("x.bmp"), make_image<std::uint8_t>({2, 2, 4}));
                      },
                      code),
                  "BMP");
  EXPECT_MENTIONS(error_of(
                      [&] {
                        write_image(folder.file("x.jpg"), make_image<std::uint8_t>({2, 2, 1}));
                      },
                      code),
                  ".jpg");
  EXPECT_MENTIONS(error_of(
                      [&] {
                        write_image(folder.file("x"), make_image<std::uint8_t>({2, 2, 1}));
                      },
                      code),
                  "extension");
  EXPECT_TRUE(folder.names().empty());
}

TEST(Image, BadArgumentsAreRefused) {
  const TemporaryFolder folder;
  constexpr auto code = ErrorCode::invalid_argument;
  const std::string path = folder.file("x.png");
  EXPECT_MENTIONS(error_of([&] { write_image(path, Image{}); }, code), "shape");
  EXPECT_MENTIONS(error_of([&] { write_image(path, make_image<std::uint8_t>({2, 2, 5})); }, code), "{2, 2, 5}");
  EXPECT_MENTIONS(error_of([&] { write_image(path, make_image<std::uint8_t>({0, 2, 1})); }, code), "{0, 2, 1}");
  const auto image = make_image<std::uint8_t>({2, 2, 1});
  for (const int level : {-1, 10}) {
    EXPECT_MENTIONS(error_of([&] { write_image(path, image, {.compression = level}); }, code), "compression");
  }
  const auto absent = folder.file("absent/x.png");
  EXPECT_MENTIONS(error_of([&] { write_image(absent, image); }), folder.file("absent"));
}

// Bad input ---------------------------------------------------------------------------------------------------------

TEST(ImageBadInput, MissingEmptyFolderGarbage) {
  const TemporaryFolder folder;
  const auto read = [&](const std::string& name) { return error_of([&] { read_image(folder.file(name)); }); };
  EXPECT_MENTIONS(read("absent.png"), "got none");
  EXPECT_MENTIONS(read("."), "a folder");
  write_raw(folder.file("empty.png"), "");
  EXPECT_MENTIONS(read("empty.png"), "an empty file");
  write_raw(folder.file("garbage.png"), "what is this \x01\x02\xff");
  EXPECT_MENTIONS(read("garbage.png"), "PNG, TIFF, JPEG, BMP, PFM or OpenEXR");
  EXPECT_MENTIONS(error_of([] { read_image("/dev/zero"); }), "regular file");
  write_raw(folder.file("signature.png"), "\x89PNG\r\n\x1a\n");
  EXPECT_MENTIONS(read("signature.png"), "signature.png: expected PNG chunk");
}

TEST(ImageBadInput, DeclaredSizesBeyondTheFileAreRefusedBeforeMemoryIsTaken) {
  const TemporaryFolder folder;
  Image image = make_image<std::uint8_t>({4, 4, 1});
  write_image(folder.file("x.png"), image);
  std::string png = read_raw(folder.file("x.png"));
  // IHDR for 60000 x 60000 with its checksum: 13 bytes from byte 16, CRC at 29.
  const std::string large("\x00\x00\xea\x60\x00\x00\xea\x60\x08\x00\x00\x00\x00\xa5\xb9\x2a\x9e", 17);
  png.replace(16, 17, large);
  write_raw(folder.file("large.png"), png);
  EXPECT_MENTIONS(error_of([&] { read_image(folder.file("large.png")); }), "60000 x 60000");
  write_raw(folder.file("large.bmp"), bmp_of(60000, 60000, 24, 0, "", "abc"));
  EXPECT_MENTIONS(error_of([&] { read_image(folder.file("large.bmp")); }), "60000 x 60000");
}

const auto read = [](const std::string& path) { read_image(path); };

// One small file for each kind with its own reading path.
std::vector<std::pair<std::string, std::string>> seeds() {
  const TemporaryFolder folder;
  std::vector<std::pair<std::string, std::string>> result;
  const auto add = [&](const std::string& name, Image image) {
    if (!name.ends_with("bmp")) image.metadata = metadata;
    write_image(folder.file(name), image);
    result.emplace_back(name, read_raw(folder.file(name)));
  };
  add("grey.png", make_image<std::uint8_t>({16, 24, 1}));
  add("wide.png", make_image<std::uint16_t>({16, 24, 3}));
  add("grey.bmp", make_image<std::uint8_t>({16, 24, 1}));
  add("colour.bmp", make_image<std::uint8_t>({16, 24, 3}));
  result.emplace_back("palette.png", io_fixtures::palette_alpha_png);
  result.emplace_back("interlaced.png", io_fixtures::interlaced_png);
  result.emplace_back("bit.bmp", io_fixtures::bit_bmp);
  result.emplace_back("colour.jpg", io_fixtures::colour_jpeg);
  result.emplace_back("progressive.jpg", io_fixtures::grey_jpeg);
  if (!has_tiff()) return result;
  add("grey.tif", make_image<std::uint8_t>({16, 24, 1}));
  add("float.tif", make_image<float>({16, 24, 3}));
  result.emplace_back("tiles.tif", io_fixtures::tiled_lzw_tiff);
  result.emplace_back("planes.tif", io_fixtures::planar_tiff);
  result.emplace_back("fax.tif", io_fixtures::fax_tiff);
  return result;
}

TEST(ImageBadInput, TruncatedFilesAreRefused) {
  for (const auto& [name, bytes] : seeds()) {
    // The last bytes of a TIFF may be unused, and a JPEG of one colour may end early.
    const bool strict = name.ends_with(".png") || name.ends_with(".bmp") || name.ends_with(".jpg");
    expect_truncations_refused(bytes, name, strict, read);
  }
}

TEST(ImageBadInput, TwoHundredMutationsOfEachFormat) {
  for (const auto& [name, bytes] : seeds()) expect_survival(name, bytes, name, 200, read);
}

TEST(ImageBadInput, MutatedPngWithRightChecksums) {
  EXPECT_EQ(compute_crc("IEND"), 0xae426082u);
  for (const auto& [name, bytes] : seeds()) {
    if (name.ends_with(".png")) expect_survival(name, bytes, name, 600, read, repair_checksums);
  }
}

TEST(ImageBytes, ArePngAndJpegFiles) {
  const TemporaryFolder folder;
  Image image{Array<std::uint8_t, 3>({24, 40, 3}), {{"wavelength_m", "5.32e-07"}}};
  auto& codes = std::get<Array<std::uint8_t, 3>>(image.pixels);
  for (std::int64_t i = 0; i < codes.size(); ++i) {
    codes.data()[i] = static_cast<std::uint8_t>(128 + 100 * std::sin(0.02 * static_cast<double>(i / 3)));
  }
  write_image(folder.file("x.png"), image);
  EXPECT_EQ(holotone::png_bytes(image), read_raw(folder.file("x.png")));
  write_raw(folder.file("x.jpg"), holotone::jpeg_bytes(image, 95));
  const Image back = read_image(folder.file("x.jpg"));
  const auto& seen = std::get<Array<std::uint8_t, 3>>(back.pixels);
  ASSERT_EQ(seen.shape(), codes.shape());
  for (std::int64_t i = 0; i < codes.size(); ++i) ASSERT_NEAR(seen.data()[i], codes.data()[i], 8) << i;
  EXPECT_LT(holotone::jpeg_bytes(image, 20).size(), holotone::jpeg_bytes(image, 95).size());
  const Image alpha{Array<std::uint8_t, 3>({2, 2, 4}), {}};
  constexpr auto argument = ErrorCode::invalid_argument;
  EXPECT_EQ(error_of([&] { (void)holotone::jpeg_bytes(image, 0); }, argument),
            "jpeg_bytes: quality: expected 1 to 100, got 0");
  EXPECT_NE(error_of([&] { (void)holotone::jpeg_bytes(alpha, 90); }, argument).find("image: expected 8-bit codes"),
            std::string::npos);
}

}  // namespace
}  // namespace holotone
