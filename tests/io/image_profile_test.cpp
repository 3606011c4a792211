#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <holotone/core/error.hpp>
#include <holotone/io/images/image.hpp>
#include <string>
#include <tests/io/declared/profile_bytes.hpp>
#include <tests/io/tiff_bytes.hpp>
#include <tests/support/io_support.hpp>
#include <vector>

namespace holotone {
namespace {

using io_fixtures::append;
using io_fixtures::big;
using io_fixtures::fixed;
using io_fixtures::gamma_curve;
using io_fixtures::make_png;
using io_fixtures::png_chunk;
using io_fixtures::profile_chunk;
using io_fixtures::profile_of;
using io_fixtures::stored;
using io_fixtures::tiff_of;
using io_fixtures::xyz;
using io_support::TemporaryFolder;
using io_support::write_raw;

constexpr double adobe_gamma = 563.0 / 256;

/// Adobe RGB (1998) with the colorants of its document, adapted to D50.
std::string adobe_profile() {
  return profile_of("Adobe RGB (1998)", "RGB ",
                    {xyz(0.60974, 0.31111, 0.01947), xyz(0.20528, 0.62567, 0.06087), xyz(0.14919, 0.06322, 0.74457)},
                    gamma_curve(adobe_gamma));
}

std::string srgb_profile() {
  const std::string curve = "para" + big(0, 4) + big(3, 2) + big(0, 2) + fixed(2.4) + fixed(1 / 1.055) +
                            fixed(0.055 / 1.055) + fixed(1 / 12.92) + fixed(0.04045);
  return profile_of("sRGB of a test", "RGB ",
                    {xyz(0.43607, 0.22249, 0.01392), xyz(0.38515, 0.71687, 0.09708), xyz(0.14307, 0.06061, 0.71410)},
                    curve);
}

std::string plain_jpeg(const std::array<int, 3>& colour) {
  Image image{Array<std::uint8_t, 3>({16, 16, 3}), {}};
  auto& codes = std::get<Array<std::uint8_t, 3>>(image.pixels);
  for (std::int64_t i = 0; i < codes.size(); ++i)
    codes.data()[i] = static_cast<std::uint8_t>(colour[static_cast<std::size_t>(i % 3)]);
  return jpeg_bytes(image, 100);
}

/// `swapped`: the second of the two parts comes first.
std::string jpeg_of(const std::array<int, 3>& colour, const std::string& profile, bool swapped = false) {
  std::string bytes = plain_jpeg(colour);
  // In two parts, as a large one is.
  for (const int part : {swapped ? 1 : 2, swapped ? 2 : 1}) {
    const std::string piece = part == 1 ? profile.substr(0, 100) : profile.substr(100);
    std::string body = std::string("ICC_PROFILE\0", 12) + static_cast<char>(part) + '\x02' + piece;
    bytes.insert(2, "\xff\xe2" + big(static_cast<std::uint32_t>(body.size() + 2), 2) + body);
  }
  return bytes;
}

Image read_light(const std::string& name, const std::string& bytes, bool as_light = true) {
  const TemporaryFolder folder;
  write_raw(folder.file(name), bytes);
  return read_image(folder.file(name), {.as_light = as_light});
}

bool has_lcms() {
  const Image image = read_light("x.png", make_png(1, 2, "abc", profile_chunk(adobe_profile())));
  if (image.notes.empty()) return true;
  EXPECT_NE(image.notes.front().find("x.png: profile 'Adobe RGB (1998)' ignored: this build has no Little CMS"),
            std::string::npos);
  return false;
}
#define SKIP_WITHOUT_LCMS() \
  if (!has_lcms()) GTEST_SKIP() << "built without Little CMS"

bool has_tiff() {
  try {
    read_light("x.tif", tiff_of(1, 1, 1, 8, false, -1, "a"));
  } catch (const Error& error) {
    return error.code() != ErrorCode::unsupported;
  }
  return true;
}

void expect_light(const Image& image, const std::array<double, 3>& expected, double tolerance) {
  EXPECT_TRUE(image.notes.empty()) << image.notes.front();
  const auto light = to_linear(image);
  for (std::int64_t c = 0; c < std::min<std::int64_t>(light.shape()[2], 3); ++c) {
    EXPECT_NEAR(static_cast<double>(light(0, 0, c)), expected[static_cast<std::size_t>(c)], tolerance) << c;
  }
}

/// Both spaces have the white D65: the primaries of green alone differ (Adobe RGB (1998) 2005-05; IEC 61966-2-1).
std::array<double, 3> adobe_light(const std::array<int, 3>& code) {
  std::array<double, 3> light{};
  for (std::size_t c = 0; c < 3; ++c) light[c] = std::pow(code[c] / 255.0, adobe_gamma);
  return {1.39836 * light[0] - 0.39836 * light[1], light[1], -0.04293 * light[1] + 1.04293 * light[2]};
}

const std::string red = "\xc8\x3c\x3c";  // 200 60 60

TEST(ImageProfile, AdobeRgbIsTheSameLightInPngAndJpeg) {
  SKIP_WITHOUT_LCMS();
  const auto expected = adobe_light({200, 60, 60});
  EXPECT_NEAR(expected[0], 0.799, 0.005);  // from 8-bit codes of sRGB
  EXPECT_NEAR(expected[1], 0.041, 0.001);
  EXPECT_NEAR(expected[2], 0.041, 0.001);
  expect_light(read_light("x.png", make_png(1, 2, red, profile_chunk(adobe_profile()))), expected, 0.001);
  for (const bool swapped : {false, true}) {
    const Image image = read_light("x.jpg", jpeg_of({200, 60, 60}, adobe_profile(), swapped));
    expect_light(image, adobe_light({200, 60, 60}), 0.006);
    EXPECT_TRUE(image.notes.empty());
  }
}

TEST(ImageProfile, RawProfilesOfPngAreProfiles) {
  std::string digits;
  for (const char c : adobe_profile()) digits += fmt::format("{:02x}", static_cast<unsigned char>(c));
  const Image expected = read_light("p.png", make_png(1, 2, "abc", profile_chunk(adobe_profile())));
  for (const std::string kind : {"icc", "icm"}) {
    const std::string text = fmt::format("\n{}\n{:8}\n{}\n", kind, digits.size() / 2, digits);
    const std::string name = "Raw profile type " + kind;
    for (const auto& chunk :
         {png_chunk("tEXt", name + '\0' + text), png_chunk("zTXt", name + std::string(2, '\0') + stored(text))}) {
      const Image image = read_light("p.png", make_png(1, 2, "abc", chunk));
      EXPECT_EQ(image.notes.size(), expected.notes.size());  // of a build without Little CMS
      EXPECT_EQ(image.pixels.index(), expected.pixels.index());
      EXPECT_TRUE(std::ranges::equal(to_float(image).host(), to_float(expected).host()));
    }
  }
  const Image damaged =
      read_light("p.png", make_png(1, 2, "abc", png_chunk("tEXt", std::string("Raw profile type icc\0\nicc\n", 26))));
  ASSERT_EQ(damaged.notes.size(), 1U);
  EXPECT_NE(damaged.notes[0].find("ignored"), std::string::npos) << damaged.notes[0];
}

TEST(ImageProfile, AdobeRgbIsTheSameLightInTiff) {
  SKIP_WITHOUT_LCMS();
  if (!has_tiff()) GTEST_SKIP() << "built without libtiff";
  const auto expected = adobe_light({200, 60, 60});
  expect_light(read_light("x.tif", tiff_of(1, 1, 3, 8, false, -1, red, adobe_profile())), expected, 0.001);
  const Image alpha = read_light("x.tif", tiff_of(1, 1, 4, 8, false, 2, red + "\x33", adobe_profile()));
  ASSERT_EQ(shape_of(alpha)[2], 4);
  expect_light(alpha, expected, 0.001);
}

int first_code(const Image& image) {
  const auto* const codes = std::get_if<Array<std::uint8_t, 3>>(&image.pixels);
  return codes == nullptr ? -1 : *codes->data();
}

TEST(ImageProfile, CodesAndSrgbStayAsTheyAre) {
  for (const auto& bytes : {make_png(1, 2, red, profile_chunk(srgb_profile())), make_png(1, 2, red, ""),
                            make_png(1, 2, red, png_chunk("sRGB", std::string(1, '\0'))),
                            make_png(1, 2, red, png_chunk("gAMA", big(45455, 4))),
                            make_png(1, 2, red, png_chunk("cICP", std::string("\x01\x0d\0\x01", 4)))}) {
    const Image image = read_light("x.png", bytes);
    EXPECT_EQ(first_code(image), 200);
    EXPECT_TRUE(image.notes.empty()) << image.notes.front();
  }
  const Image codes = read_light("x.png", make_png(1, 2, red, profile_chunk(adobe_profile())), false);
  EXPECT_EQ(first_code(codes), 200);
  EXPECT_TRUE(codes.notes.empty());
}

TEST(ImageProfile, LargePicturesAreTheSameLight) {
  SKIP_WITHOUT_LCMS();
  std::string pixels;
  for (int i = 0; i < 20000; ++i) pixels += red;
  const Image image = read_light("x.png", make_png(20000, 2, pixels, profile_chunk(adobe_profile())));
  const auto light = to_linear(image);
  const auto expected = adobe_light({200, 60, 60});
  for (std::int64_t i = 0; i < light.size(); ++i) {
    ASSERT_NEAR(static_cast<double>(light.data()[i]), expected[static_cast<std::size_t>(i % 3)], 0.001) << i;
  }
}

TEST(ImageProfile, GreyPicturesStayGrey) {
  SKIP_WITHOUT_LCMS();
  const double light = std::pow(100 / 255.0, 1.5);
  const auto grey = profile_of("Gamma 1.5", "GRAY", {}, gamma_curve(1.5));
  const Image image = read_light("x.png", make_png(2, 0, "dd", profile_chunk(grey)));
  ASSERT_EQ(shape_of(image), (Shape<3>{1, 2, 1}));
  expect_light(image, {light, 0, 0}, 0.001);
  if (!has_tiff()) GTEST_SKIP() << "built without libtiff";
  const double adobe = std::pow(100 / 255.0, adobe_gamma);
  expect_light(read_light("x.tif", tiff_of(2, 1, 1, 8, false, -1, "dd", adobe_profile())), {adobe, 0, 0}, 0.001);
}

TEST(ImageProfile, PngsGammaAndPrimariesCount) {
  SKIP_WITHOUT_LCMS();
  const auto linear = read_light("x.png", make_png(1, 2, red, png_chunk("gAMA", big(100000, 4))));
  expect_light(linear, {200 / 255.0, 60 / 255.0, 60 / 255.0}, 0.001);
  std::string primaries;
  for (const int number : {31270, 32900, 64000, 33000, 21000, 71000, 15000, 6000}) {
    primaries += big(static_cast<std::uint32_t>(number), 4);
  }
  const std::string gamma = big(static_cast<std::uint32_t>(std::lround(100000 / adobe_gamma)), 4);
  const auto chunks = png_chunk("gAMA", gamma) + png_chunk("cHRM", primaries);
  expect_light(read_light("x.png", make_png(1, 2, red, chunks)), adobe_light({200, 60, 60}), 0.001);
}

std::string little(std::uint32_t value) {
  std::string bytes;
  append(bytes, value, 4);
  return bytes;
}

/// BMP of one pixel (200, 60, 60), of version 4 or 5: CSType, endpoints {x, y, z} of R, G and B, gamma, profile.
std::string make_bmp(std::uint32_t size, std::uint32_t kind, const std::vector<double>& endpoints, double gamma,
                     const std::string& profile = {}) {
  std::string head = little(size) + little(1) + little(1) + little(24 << 16 | 1) + little(0) + little(4);
  head += little(2835) + little(2835) + std::string(24, '\0') + little(kind);
  for (const double number : endpoints) head += little(static_cast<std::uint32_t>(std::lround(number * 0x1p30)));
  head.resize(96);
  for (int c = 0; c < 3; ++c) head += little(static_cast<std::uint32_t>(std::lround(65536 * gamma)));
  if (size == 124) {
    head += little(4) + little(128) + little(static_cast<std::uint32_t>(profile.size())) + little(0);
  }
  std::string bytes = "BM" + little(14 + size + 4) + little(0) + little(14 + size) + head;
  bytes += std::string("\x3c\x3c\xc8\0", 4);
  return bytes + profile;
}
constexpr std::uint32_t embedded = 0x4d424544;  // 'MBED'
constexpr std::uint32_t linked = 0x4c494e4b;    // 'LINK'

/// Endpoints of Adobe RGB whose sum is D65 of luminance 1 (matrix of Adobe RGB (1998), annex).
const std::vector<double> adobe_endpoints = {0.57667, 0.29734, 0.02703, 0.18556, 0.62736,
                                             0.07069, 0.18823, 0.07529, 0.99134};

TEST(ImageProfile, BmpOfVersion4And5IsTheSameLight) {
  SKIP_WITHOUT_LCMS();
  const auto expected = adobe_light({200, 60, 60});
  expect_light(read_light("x.bmp", make_bmp(124, embedded, {}, 0, adobe_profile())), expected, 0.001);
  expect_light(read_light("x.bmp", make_bmp(108, 0, adobe_endpoints, adobe_gamma)), expected, 0.001);
  expect_light(read_light("x.bmp", make_bmp(108, 0, {}, 1)), {200 / 255.0, 60 / 255.0, 60 / 255.0}, 0.001);
  for (const auto& bytes :
       {make_bmp(108, 0, {}, 0), make_bmp(108, 0x73524742, {}, 0), make_bmp(124, 0x57696e20, {}, 0)}) {
    const Image image = read_light("x.bmp", bytes);
    EXPECT_EQ(first_code(image), 200);
    EXPECT_TRUE(image.notes.empty()) << image.notes.front();
  }
}

/// EXIF block (EXIF 2.3): ColorSpace, and an InteroperabilityIndex unless it is empty.
std::string make_exif(std::uint32_t space, const std::string& index, bool little_endian) {
  const auto number = [&](std::uint32_t value, int count) {
    std::string bytes;
    append(bytes, value, count, little_endian);
    return bytes;
  };
  const std::uint32_t entries = index.empty() ? 1 : 2;
  std::string block = little_endian ? std::string("II*\0", 4) : std::string("MM\0*", 4);
  block += number(8, 4) + number(1, 2) + number(0x8769, 2) + number(4, 2) + number(1, 4) + number(26, 4) + number(0, 4);
  block += number(entries, 2) + number(0xa001, 2) + number(3, 2) + number(1, 4) + number(space, 2) + number(0, 2);
  if (!index.empty()) block += number(0xa005, 2) + number(4, 2) + number(1, 4) + number(56, 4);
  block += number(0, 4);
  if (!index.empty()) block += number(1, 2) + number(1, 2) + number(2, 2) + number(4, 4) + index + '\0' + number(0, 4);
  return block;
}

std::string exif_jpeg(const std::string& block) {
  std::string bytes = plain_jpeg({200, 60, 60});
  const std::string body = std::string("Exif\0\0", 6) + block;
  return bytes.insert(2, "\xff\xe1" + big(static_cast<std::uint32_t>(body.size() + 2), 2) + body);
}

TEST(ImageProfile, AdobeRgbByExifAloneIsTheSameLight) {
  SKIP_WITHOUT_LCMS();
  const auto expected = adobe_light({200, 60, 60});
  for (const bool little_endian : {true, false}) {
    expect_light(read_light("x.jpg", exif_jpeg(make_exif(65535, "R03", little_endian))), expected, 0.006);
    expect_light(read_light("x.jpg", exif_jpeg(make_exif(2, "", little_endian))), expected, 0.006);
    const Image srgb = read_light("x.jpg", exif_jpeg(make_exif(1, "R98", little_endian)));
    EXPECT_EQ(first_code(srgb), 200);
    EXPECT_TRUE(srgb.notes.empty());
  }
}

/// TIFF or BigTIFF of one pixel (200, 60, 60) with ColorSpace and an InteroperabilityIndex unless it is empty.
std::string exif_tiff(std::uint32_t space, const std::string& index, bool little_endian, bool is_big) {
  const auto number = [&](std::uint64_t value, int bytes) {
    std::string stored;
    for (int i = 0; i < bytes; ++i) {
      stored += static_cast<char>(value >> (little_endian ? 8 * i : 8 * (bytes - 1 - i)) & 0xff);
    }
    return stored;
  };
  const int wide = is_big ? 8 : 4;
  const auto entry = [&](std::uint32_t tag, std::uint32_t type, std::uint64_t count, std::string value) {
    value.resize(static_cast<std::size_t>(wide));
    return number(tag, 2) + number(type, 2) + number(count, wide) + value;
  };
  const auto directory = [&](const std::vector<std::string>& entries) {
    std::string bytes = number(entries.size(), is_big ? 8 : 2);
    for (const auto& one : entries) bytes += one;
    return bytes + number(0, wide);
  };
  const auto page = [&](std::uint64_t pixels, std::uint64_t exif) {
    return directory({entry(256, 3, 1, number(1, 2)), entry(257, 3, 1, number(1, 2)), entry(258, 3, 1, number(8, 2)),
                      entry(259, 3, 1, number(1, 2)), entry(262, 3, 1, number(2, 2)),
                      entry(273, 4, 1, number(pixels, 4)), entry(277, 3, 1, number(3, 2)),
                      entry(278, 3, 1, number(1, 2)), entry(279, 4, 1, number(3, 4)),
                      entry(34665, 4, 1, number(exif, 4))});
  };
  const auto rules = [&](std::uint64_t offset) {
    std::vector<std::string> entries{entry(0xa001, 3, 1, number(space, 2))};
    if (!index.empty()) entries.push_back(entry(0xa005, 4, 1, number(offset, 4)));
    return directory(entries);
  };
  std::string bytes = little_endian ? "II" : "MM";
  bytes += number(is_big ? 43 : 42, 2) + (is_big ? number(8, 2) + number(0, 2) + number(16, 8) : number(8, 4));
  const std::size_t pixels = bytes.size() + page(0, 0).size();
  const std::size_t exif = pixels + 4;
  bytes += page(pixels, exif) + std::string(red) + '\0' + rules(exif + rules(0).size());
  return bytes + directory({entry(1, 2, 4, index)});
}

TEST(ImageProfile, AdobeRgbByExifAloneCountsInTiffAndPng) {
  SKIP_WITHOUT_LCMS();
  const auto expected = adobe_light({200, 60, 60});
  for (const bool little_endian : {true, false}) {
    const std::string block = make_exif(65535, "R03", little_endian);
    expect_light(read_light("x.png", make_png(1, 2, red, png_chunk("eXIf", block))), expected, 0.001);
    expect_light(read_light("x.png", make_png(1, 2, red, png_chunk("eXIf", make_exif(2, "", little_endian)))), expected,
                 0.001);
    for (const auto& chunk : {png_chunk("sRGB", std::string(1, '\0')), png_chunk("gAMA", big(45455, 4))}) {
      EXPECT_EQ(first_code(read_light("x.png", make_png(1, 2, red, chunk + png_chunk("eXIf", block)))), 200);
    }
    EXPECT_EQ(first_code(read_light("x.png", make_png(1, 2, red, png_chunk("eXIf", block)), false)), 200);
    if (!has_tiff()) continue;
    for (const bool is_big : {false, true}) {
      expect_light(read_light("x.tif", exif_tiff(65535, "R03", little_endian, is_big)), expected, 0.001);
      expect_light(read_light("x.tif", exif_tiff(2, "", little_endian, is_big)), expected, 0.001);
      const Image srgb = read_light("x.tif", exif_tiff(1, "R98", little_endian, is_big));
      EXPECT_EQ(first_code(srgb), 200);
      EXPECT_TRUE(srgb.notes.empty()) << srgb.notes.front();
      EXPECT_EQ(first_code(read_light("x.tif", exif_tiff(65535, "R03", little_endian, is_big), false)), 200);
    }
  }
}

std::string note_of(const std::string& name, const std::string& bytes) {
  const Image image = read_light(name, bytes);
  return fmt::format("{}", fmt::join(image.notes, "\n"));
}

TEST(ImageProfile, WhatIsIgnoredIsNamed) {
  EXPECT_NE(note_of("x.png", make_png(1, 2, red, png_chunk("cICP", std::string("\x09\x10\0\x01", 4))))
                .find("x.png: cICP 9,16,0,1 ignored"),
            std::string::npos);
  EXPECT_NE(note_of("x.png", make_png(1, 2, red, profile_chunk("no profile"))).find("iCCP"), std::string::npos);
  const std::string uncalibrated = "ColorSpace 65535 (not sRGB) of its EXIF block ignored";
  EXPECT_NE(note_of("x.png", make_png(1, 2, red, png_chunk("eXIf", make_exif(65535, "R98", true)))).find(uncalibrated),
            std::string::npos);
  if (has_tiff()) {
    EXPECT_NE(note_of("x.tif", exif_tiff(65535, "", true, false)).find(uncalibrated), std::string::npos);
  }
  EXPECT_NE(note_of("x.jpg", exif_jpeg(make_exif(0xfffd, "", true)))
                .find("x.jpg: ColorSpace 65533 (not sRGB) of its EXIF block ignored"),
            std::string::npos);
  EXPECT_NE(note_of("x.jpg", exif_jpeg(make_exif(65535, "R98", true)))
                .find("x.jpg: ColorSpace 65535 (not sRGB) of its EXIF block ignored"),
            std::string::npos);
  EXPECT_NE(note_of("x.bmp", make_bmp(124, linked, {}, 0, "name")).find("profile of another file ignored"),
            std::string::npos);
  EXPECT_NE(note_of("x.bmp", make_bmp(124, embedded, {}, 0)).find("profile outside the file ignored"),
            std::string::npos);
  SKIP_WITHOUT_LCMS();
  const auto grey = profile_of("Gamma 1.5", "GRAY", {}, gamma_curve(1.5));
  EXPECT_NE(note_of("x.jpg", jpeg_of({9, 9, 9}, grey)).find("profile 'Gamma 1.5' ignored: grey"), std::string::npos);
  EXPECT_NE(note_of("x.jpg", jpeg_of({9, 9, 9}, std::string(200, 'x'))).find("damaged"), std::string::npos);
  std::string part = jpeg_of({9, 9, 9}, adobe_profile());
  const std::size_t first = part.find(std::string("ICC_PROFILE\0\x01", 13));
  part[first] = 'X';  // the first part becomes a segment of another program
  EXPECT_NE(note_of("x.jpg", part).find("ICC profile without its first part ignored"), std::string::npos);
  part[first] = 'I';
  part[part.find(std::string("ICC_PROFILE\0\x02", 13))] = 'X';
  EXPECT_NE(note_of("x.jpg", part).find("damaged"), std::string::npos);
  if (!has_tiff()) GTEST_SKIP() << "built without libtiff";
  EXPECT_NE(note_of("x.tif", tiff_of(1, 1, 1, 32, true, -1, "abcd", adobe_profile())).find("floats"),
            std::string::npos);
}

TEST(ImageProfile, SurvivesMutations) {
  const auto read = [](const std::string& path) { read_image(path, {.as_light = true}); };
  io_support::expect_survival("profile.jpg", jpeg_of({9, 8, 7}, adobe_profile()), "profile.jpg", 2000, read);
  io_support::expect_survival("profile.png", make_png(1, 2, red, profile_chunk(adobe_profile())), "profile.png", 2000,
                              read, io_fixtures::repair_checksums);
  io_support::expect_survival("exif.tif", exif_tiff(65535, "R03", true, false), "exif.tif", 2000, read);
  io_support::expect_survival("exif.jpg", exif_jpeg(make_exif(65535, "R03", true)), "exif.jpg", 2000, read);
  io_support::expect_survival("profile.bmp", make_bmp(124, embedded, {}, 0, adobe_profile()), "profile.bmp", 2000,
                              read);
  io_support::expect_survival("calibrated.bmp", make_bmp(108, 0, adobe_endpoints, 2), "calibrated.bmp", 2000, read);
  if (!has_tiff()) GTEST_SKIP() << "built without libtiff";
  io_support::expect_survival("profile.tif", tiff_of(1, 1, 3, 8, false, -1, red, adobe_profile()), "profile.tif", 2000,
                              read);
}

}  // namespace
}  // namespace holotone
