// Pictures of four inks: Adobe's inverted JPEG, TIFF, and the ICC profile of a press.
#include <array>
#include <cmath>
#include <gtest/gtest.h>
#include <holotone/core/error.hpp>
#include <holotone/io/images/image.hpp>
#include <string>
#include <tests/io/image_fixtures.hpp>
#include <tests/io/tiff_bytes.hpp>
#include <tests/support/io_support.hpp>
#include <vector>

namespace holotone {
namespace {

using io_fixtures::append;
using io_support::TemporaryFolder;
using io_support::write_raw;

/// 8 x 8, all inks (200 40 90 25) of 255, with Adobe's marker. Pillow.
const std::string inks_jpeg = io_fixtures::from_hex(
    "ffd8ffee000e41646f626500640000000000ffdb00430001"
    "010101010101010101010101010101010101010101010101"
    "010101010101010101010101010101010101010101010101"
    "010101010101010101010101010101ffc000140800080008"
    "044311004d11005911004b1100ffc4001500010100000000"
    "000000000000000000000a09ffc400141001000000000000"
    "00000000000000000000ffda000e0443004d0059004b0000"
    "3f0036e570a50660ffd9");

std::string big(std::uint32_t value, int count) {
  std::string bytes;
  append(bytes, value, count, false);
  return bytes;
}

using Lab = std::array<double, 3>;

/// Colours of the corners, cyan, magenta, yellow and black the bits 8, 4, 2 and 1 of the number.
Lab corner_of(int number) {
  static constexpr std::array<Lab, 8> colours = {
      {{100, 0, 0}, {85, 0, 40}, {60, 30, 0}, {55, 30, 25}, {70, -20, -15}, {60, -25, 10}, {45, 10, -20}, {30, 0, 0}}};
  return number % 2 == 1 ? Lab{0, 0, 0} : colours[static_cast<std::size_t>(number / 2)];
}

std::string bytes_of_lab(const Lab& lab) {
  return {static_cast<char>(std::lround(lab[0] * 2.55)), static_cast<char>(std::lround(lab[1] + 128)),
          static_cast<char>(std::lround(lab[2] + 128))};
}

/// A press profile of ICC version 2 whose inks mix linearly in Lab (ICC.1:2001-04, lut8Type).
std::string press_profile() {
  std::string table = "mft1" + big(0, 4) + std::string("\4\3\2\0", 4);
  for (int i = 0; i < 9; ++i) table += big(i % 4 == 0 ? 65536 : 0, 4);
  std::string straight;
  for (int i = 0; i < 256; ++i) straight += static_cast<char>(i);
  for (int i = 0; i < 4; ++i) table += straight;
  for (int i = 0; i < 16; ++i) table += bytes_of_lab(corner_of(i));
  for (int i = 0; i < 3; ++i) table += straight;
  const std::string white = "XYZ " + big(0, 4) + big(0xf6d6, 4) + big(0x10000, 4) + big(0xd32d, 4);
  std::string name = "desc" + big(0, 4) + big(9, 4) + "Press of" + std::string(1 + 12 + 67, '\0');
  name.resize((name.size() + 3) / 4 * 4);
  std::string tags = big(3, 4);
  std::string data;
  for (const auto& [tag, bytes] :
       std::vector<std::pair<std::string, std::string>>{{"desc", name}, {"wtpt", white}, {"A2B0", table}}) {
    tags += tag + big(static_cast<std::uint32_t>(128 + 4 + 36 + data.size()), 4) +
            big(static_cast<std::uint32_t>(bytes.size()), 4);
    data += bytes;
  }
  std::string head = big(static_cast<std::uint32_t>(128 + tags.size() + data.size()), 4) + big(0, 4) +
                     big(0x02100000, 4) + "prtrCMYKLab " + std::string(12, '\0') + "acsp";
  head.resize(68);
  head += big(0xf6d6, 4) + big(0x10000, 4) + big(0xd32d, 4);
  head.resize(128);
  return head + tags + data;
}

/// Linear light of sRGB's primaries for a Lab colour relative to D50, through Bradford's adaptation (Lindbloom).
std::array<double, 3> find_light(const Lab& lab) {
  const double fy = (lab[0] + 16) / 116;
  const auto inverse = [](double f) { return f > 6.0 / 29 ? f * f * f : 3 * 36.0 / 841 * (f - 4.0 / 29); };
  const double x = 0.96422 * inverse(fy + lab[1] / 500);
  const double y = inverse(fy);
  const double z = 0.82521 * inverse(fy - lab[2] / 200);
  return {3.1338561 * x - 1.6168667 * y - 0.4906146 * z, -0.9787684 * x + 1.9161415 * y + 0.0334540 * z,
          0.0719453 * x - 0.2289914 * y + 1.4052427 * z};
}

Image read_bytes(const std::string& bytes, bool as_light) {
  const TemporaryFolder folder;
  write_raw(folder.file("x"), bytes);
  return read_image(folder.file("x"), {.as_light = as_light});
}

std::string with_profile(const std::string& profile) {
  const std::string marker = std::string("ICC_PROFILE\0\1\1", 14) + profile;
  std::string jpeg = inks_jpeg;
  return jpeg.insert(2, "\xff\xe2" + big(static_cast<std::uint32_t>(marker.size() + 2), 2) + marker);
}

std::string inks_tiff(const std::string& pixels, std::uint32_t bits, const std::string& profile = {},
                      std::uint32_t samples = 4) {
  std::string bytes = io_fixtures::tiff_of(2, 1, samples, bits, false, -1, pixels, profile);
  bytes[10 + 4 * 12 + 8] = 5;  // PhotometricInterpretation
  return bytes;
}

bool has_tiff() {
  try {
    read_bytes(inks_tiff(std::string(8, '\0'), 8), false);
  } catch (const Error& error) {
    return error.code() != ErrorCode::unsupported;
  }
  return true;
}

bool has_lcms() {
  const Image image = read_bytes(with_profile(press_profile()), true);
  return image.notes.empty() || image.notes.front().find("no Little CMS") == std::string::npos;
}

std::vector<int> list_codes(const Image& image) {
  return std::visit(
      [](const auto& pixels) {
        const auto codes = pixels.host();
        return std::vector<int>(codes.begin(), codes.end());
      },
      image.pixels);
}

TEST(ImageCmyk, WithoutAProfileInksMultiply) {
  const Image image = read_bytes(inks_jpeg, true);
  ASSERT_EQ(shape_of(image), (Shape<3>{8, 8, 3}));
  const std::vector<int> expected = {50, 194, 149};  // (255 - 200) (255 - 25) / 255, and so on
  const auto codes = list_codes(image);
  for (std::size_t i = 0; i < codes.size(); ++i) EXPECT_NEAR(codes[i], expected[i % 3], 1);
  ASSERT_EQ(image.notes.size(), 1U);
  EXPECT_MENTIONS(image.notes.front(), ": CMYK without a profile; R is (1 - C)(1 - K), G and B alike");
  // The same bytes as YCCK: inks of (107, 0, 209, 25), by JFIF's matrix.
  std::string ycck = inks_jpeg;
  ycck[ycck.find("Adobe") + 11] = 2;
  const auto other = list_codes(read_bytes(ycck, false));
  EXPECT_NEAR(other[0], 148 * 230 / 255, 2);
  EXPECT_NEAR(other[1], 230, 2);
  EXPECT_NEAR(other[2], 46 * 230 / 255, 2);
}

TEST(ImageCmyk, AJpegThatDoesNotSayWhatNoInkIsIsRefused) {
  std::string bytes = inks_jpeg;
  bytes.erase(2, 16);
  EXPECT_MENTIONS(io_support::error_of([&] { (void)read_bytes(bytes, true); }),
                  "expected a CMYK JPEG with Adobe's marker, which says that 255 is no ink, got none");
}

TEST(ImageCmyk, TiffOfBothDepths) {
  if (!has_tiff()) GTEST_SKIP() << "built without libtiff";
  const std::string bytes("\0\0\0\0\xc8\x28\x5a\x19", 8);
  const Image image = read_bytes(inks_tiff(bytes, 8), true);
  EXPECT_EQ(list_codes(image), (std::vector<int>{255, 255, 255, 50, 194, 149}));
  std::string words;
  for (const std::uint32_t ink : {0U, 65535U, 20000U, 0U, 1000U, 0U, 65535U, 40000U}) append(words, ink, 2);
  // (65535 - ink) (65535 - black) / 65535, rounded
  EXPECT_EQ(list_codes(read_bytes(inks_tiff(words, 16), false)), (std::vector<int>{65535, 0, 45535, 25145, 25535, 0}));
  EXPECT_MENTIONS(io_support::error_of([&] { (void)read_bytes(inks_tiff(bytes + bytes, 8, {}, 3), true); }),
                  "4 samples a CMYK pixel, got 3");
}

TEST(ImageCmyk, AProfileIsConverted) {
  if (!has_lcms()) GTEST_SKIP() << "built without Little CMS";
  if (!has_tiff()) GTEST_SKIP() << "built without libtiff";
  struct Case {
    std::array<std::uint32_t, 4> inks;
    int corner;
    double share;  ///< of the way from white to the corner
  };
  const std::vector<Case> cases = {
      {{0, 0, 0, 0}, 0, 0},         {{65535, 0, 0, 0}, 8, 1},   {{0, 65535, 0, 0}, 4, 1},
      {{0, 0, 65535, 0}, 2, 1},     {{0, 0, 0, 65535}, 1, 1},   {{65535, 65535, 0, 0}, 12, 1},
      {{0, 65535, 65535, 0}, 6, 1}, {{32768, 0, 0, 0}, 8, 0.5}, {{0, 0, 0, 16384}, 1, 0.25}};
  for (const auto& [inks, corner, share] : cases) {
    std::string words;
    for (int pixel = 0; pixel < 2; ++pixel) {
      for (const auto ink : inks) append(words, ink, 2);
    }
    const Image image = read_bytes(inks_tiff(words, 16, press_profile()), true);
    EXPECT_TRUE(image.notes.empty());
    const auto light = to_linear(image);
    Lab lab = corner_of(corner);
    for (std::size_t k = 0; k < 3; ++k) lab[k] = corner_of(0)[k] + share * (lab[k] - corner_of(0)[k]);
    const auto expected = find_light(lab);
    for (std::int64_t c = 0; c < 3; ++c) {
      EXPECT_NEAR(static_cast<double>(light(0, 1, c)), expected[static_cast<std::size_t>(c)], 6e-3)
          << "corner " << corner << ", channel " << c;
    }
  }
  const Image jpeg = read_bytes(with_profile(press_profile()), true);
  EXPECT_TRUE(jpeg.notes.empty());
  EXPECT_EQ(code_bits(jpeg), 16);
}

TEST(ImageCmyk, AnIgnoredProfileIsNamed) {
  const Image codes = read_bytes(with_profile(press_profile()), false);
  ASSERT_EQ(codes.notes.size(), 1U);
  EXPECT_MENTIONS(codes.notes.front(), "profile 'Press of' ignored: codes are not converted; R is (1 - C)(1 - K)");
  if (!has_lcms()) GTEST_SKIP() << "built without Little CMS";
  const Image damaged = read_bytes(with_profile(press_profile().substr(0, 300)), true);
  ASSERT_EQ(damaged.notes.size(), 1U);
  EXPECT_MENTIONS(damaged.notes.front(), "ignored: damaged, larger than 16 MiB, or not of CMYK");
}

void read_light(const std::string& path) { (void)read_image(path, {.as_light = true}); }

TEST(ImageCmyk, DamagedJpegFilesAreRefused) {
  io_support::expect_survival("JPEG", with_profile(press_profile()), ".jpg", 2000, read_light);
}

TEST(ImageCmyk, DamagedTiffFilesAreRefused) {
  if (!has_tiff()) GTEST_SKIP() << "built without libtiff";
  io_support::expect_survival("TIFF", inks_tiff(std::string(8, '\x20'), 8, press_profile()), ".tif", 2000, read_light);
}

}  // namespace
}  // namespace holotone
