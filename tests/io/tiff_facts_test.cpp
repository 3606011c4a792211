// What TIFF tags say beside the pixels: missing strips, reduced copies, SubIFDs, values without data.
#include <cmath>
#include <cstring>
#include <holotone/core/error.hpp>
#include <holotone/io/images/image.hpp>
#include <string>
#include <tests/io/tiff_directory.hpp>
#include <tests/support/io_support.hpp>
#include <tests/support/on_each_device.hpp>
#include <vector>

namespace holotone {
namespace {

using io_fixtures::Page;
using io_fixtures::tiff_file;
using io_fixtures::tiff_with_sub_directory;
using io_support::TemporaryFolder;
using io_support::write_raw;

Image read_tif(const std::string& bytes, bool as_light = false) {
  const TemporaryFolder folder;
  write_raw(folder.file("x.tif"), bytes);
  return read_image(folder.file("x.tif"), {.as_light = as_light});
}

Page grey_page(std::uint32_t nx, std::uint32_t ny, const std::vector<std::string>& strips,
               const std::vector<io_fixtures::Tag>& tags = {}) {
  return {nx, ny, 8, 1, 1, strips, tags};
}

template <class T = std::uint8_t>
std::vector<double> list_values(const Image& image) {
  const auto pixels = std::get<Array<T, 3>>(image.pixels).host();
  return {pixels.begin(), pixels.end()};
}

void expect_note(const Image& image, const std::string& text) {
  ASSERT_EQ(image.notes.size(), 1U) << (image.notes.empty() ? "" : image.notes.back());
  EXPECT_NE(image.notes.front().find(text), std::string::npos) << image.notes.front();
}

class TiffFacts : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      read_tif(tiff_file({grey_page(1, 1, {"a"})}));
    } catch (const Error& error) {
      if (error.code() == ErrorCode::unsupported) GTEST_SKIP() << "built without libtiff";
      throw;
    }
  }
};

TEST_F(TiffFacts, MissingStripsAreZero) {
  const Image image = read_tif(tiff_file({grey_page(3, 6, {"abcdef", "", "ghijkl"})}));
  EXPECT_EQ(list_values(image),
            (std::vector<double>{'a', 'b', 'c', 'd', 'e', 'f', 0, 0, 0, 0, 0, 0, 'g', 'h', 'i', 'j', 'k', 'l'}));
  expect_note(image, "x.tif: 1 strip not in the file (offset 0): read as 0");
  const Image named = read_tif(tiff_file({grey_page(2, 2, {"ab", ""}, {{42113, 2, {}, "255"}})}));
  EXPECT_EQ(list_values(named), (std::vector<double>{'a', 'b', 255, 255}));
}

TEST_F(TiffFacts, AStripInTheHeaderIsRefused) {
  std::string bytes = tiff_file({grey_page(2, 2, {"ab", "cd"})});
  std::string offset;
  io_fixtures::append(offset, static_cast<std::uint32_t>(bytes.size() - 2), 4);
  bytes.replace(bytes.find(offset), 4, 4, '\0');
  support::expect_error(ErrorCode::io, "x.tif: expected strips and tiles behind the header, got offset 0",
                        [&] { read_tif(bytes); });
}

TEST_F(TiffFacts, ThePageOfFullResolutionIsRead) {
  const Page copy = grey_page(1, 1, {"z"}, {{254, 4, {1}}});
  const Page full = grey_page(2, 1, {"ab"}, {{254, 4, {0}}});
  const std::vector<double> expected{'a', 'b'};
  for (const auto& bytes : {tiff_file({copy, full}), tiff_with_sub_directory(copy, full),
                            tiff_with_sub_directory(grey_page(1, 1, {"z"}), full)}) {
    const Image image = read_tif(bytes);
    EXPECT_EQ(list_values(image), expected);
    EXPECT_TRUE(image.notes.empty());
  }
  // A pyramid's levels are reduced.
  EXPECT_EQ(list_values(read_tif(tiff_with_sub_directory(full, copy))), expected);
  expect_note(read_tif(tiff_file({copy})), "x.tif: holds a reduced copy of a picture alone (NewSubfileType 1)");
}

TEST_F(TiffFacts, ACamerasRawIsRefused) {
  const Page copy = grey_page(1, 1, {"z"}, {{254, 4, {1}}});
  Page raw{2, 2, 16, 1, 32803, {"abcdefgh"}, {{254, 4, {0}}}};
  support::expect_error(ErrorCode::io, "32803", [&] { read_tif(tiff_with_sub_directory(copy, raw)); });
}

std::string floats(const std::vector<float>& values) {
  std::string result(4 * values.size(), '\0');
  std::memcpy(result.data(), values.data(), result.size());
  return result;
}

TEST_F(TiffFacts, ValuesWithoutDataAreNamed) {
  const Page codes = grey_page(2, 2, {std::string("a\xff\xff\x10", 4)}, {{42113, 2, {}, "255"}});
  const Image image = read_tif(tiff_file({codes}));
  EXPECT_EQ(image.no_data, 255);
  expect_note(image, "x.tif: 2 pixels of value 255 without data (GDAL_NODATA)");
  const Page depths{
      2, 1, 32, 1, 1, {floats({0.5F, -3.4028235e38F})}, {{339, 3, {3}}, {42113, 2, {}, "-3.4028234663852886e+38"}}};
  expect_note(read_tif(tiff_file({depths})), "x.tif: 1 pixel of value -3.40282e+38 without data");
  EXPECT_TRUE(read_tif(tiff_file({grey_page(2, 1, {"ab"}, {{42113, 2, {}, "0"}})})).notes.empty());
}

TEST_F(TiffFacts, ScaleAndOffsetAreNamed) {
  const std::string metadata =
      "<GDALMetadata>\n<Item name=\"OFFSET\" sample=\"0\" role=\"offset\">0.2</Item>\n"
      "<Item name=\"SCALE\" sample=\"0\" role=\"scale\">0.02</Item>\n</GDALMetadata>";
  expect_note(read_tif(tiff_file({grey_page(2, 1, {"ab"}, {{42112, 2, {}, metadata}})})),
              "x.tif: its scale 0.02 and offset 0.2 (GDALMetadata) are not applied to the values");
}

TEST_F(TiffFacts, ReferenceBlackWhiteIsNamed) {
  const std::vector<std::uint32_t> full{0, 1, 255, 1, 0, 1, 255, 1, 0, 1, 255, 1};
  const std::vector<std::uint32_t> video{16, 1, 235, 1, 16, 1, 235, 1, 16, 1, 235, 1};
  std::vector<std::uint32_t> green = full;
  green[6] = 254;
  const auto page = [](const std::vector<std::uint32_t>& range, std::uint32_t samples) {
    const Page one{1, 1, 8, samples, samples == 3 ? 2U : 1U, {std::string(samples, 'a')}, {{532, 5, range}}};
    return read_tif(tiff_file({one}));
  };
  for (const std::uint32_t samples : {1U, 3U}) {
    expect_note(page(video, samples), "x.tif: its ReferenceBlackWhite 16 to 235 is not applied to the values");
    EXPECT_TRUE(page(full, samples).notes.empty());
  }
  expect_note(page(green, 3), "ReferenceBlackWhite 0 to 254 is not applied");
  EXPECT_EQ(list_values(page(video, 1)), std::vector<double>{'a'});
}

TEST_F(TiffFacts, PixelsThatAreNotSquareAreNamed) {
  const Page fax = grey_page(2, 1, {"ab"}, {{282, 5, {204, 1}}, {283, 5, {98, 1}}, {296, 3, {2}}});
  expect_note(read_tif(tiff_file({fax})),
              "x.tif: its pixels are not square, 204 columns and 98 rows on the same length: taken as square");
  const Page square = grey_page(2, 1, {"ab"}, {{282, 5, {300, 1}}, {283, 5, {600, 2}}, {296, 3, {2}}});
  EXPECT_TRUE(read_tif(tiff_file({square})).notes.empty());
}

std::vector<std::uint32_t> power_table(double power) {
  std::vector<std::uint32_t> table;
  for (int i = 0; i < 256; ++i)
    table.push_back(static_cast<std::uint32_t>(std::lround(65535 * std::pow(i / 255.0, power))));
  return table;
}

bool has_lcms(const Image& image) {
  return image.notes.empty() || image.notes.front().find("no Little CMS") == std::string::npos;
}

TEST_F(TiffFacts, TheTransferFunctionIsLight) {
  const Image image = read_tif(tiff_file({grey_page(2, 1, {"dd"}, {{301, 3, power_table(1)}})}), true);
  if (!has_lcms(image)) GTEST_SKIP() << "built without Little CMS";
  EXPECT_TRUE(image.notes.empty());
  EXPECT_NEAR(static_cast<double>(to_linear(image)(0, 0, 0)), 100 / 255.0, 1e-4);
  // Adobe RGB (1998): its white is that of sRGB, the primaries of green alone differ.
  const double gamma = 563.0 / 256;
  const Page adobe{1,
                   1,
                   8,
                   3,
                   2,
                   {"\xc8\x3c\x3c"},
                   {{301, 3, power_table(gamma)},
                    {318, 5, {3127, 10000, 3290, 10000}},
                    {319, 5, {64, 100, 33, 100, 21, 100, 71, 100, 15, 100, 6, 100}}}};
  const auto light = to_linear(read_tif(tiff_file({adobe}), true));
  const double red = std::pow(200 / 255.0, gamma);
  const double dark = std::pow(60 / 255.0, gamma);
  EXPECT_NEAR(static_cast<double>(light(0, 0, 0)), 1.39836 * red - 0.39836 * dark, 1e-3);
  EXPECT_NEAR(static_cast<double>(light(0, 0, 1)), dark, 1e-3);
  EXPECT_NEAR(static_cast<double>(light(0, 0, 2)), dark, 1e-3);
  // Codes stay as they are.
  EXPECT_EQ(list_values(read_tif(tiff_file({adobe}))), (std::vector<double>{200, 60, 60}));
}

TEST_F(TiffFacts, APaletteKeepsItsSixteenBits) {
  std::vector<std::uint32_t> map(12, 0);  // of two bits: four entries of red, green and blue each
  map[1] = 0x1234;
  map[5] = 0x00ff;
  map[9] = 0xffff;
  map[2] = 0x5678;
  const Page wide{4, 1, 2, 1, 3, {"\x60"}, {{320, 3, map}}};  // indices 1, 2, 0, 0
  EXPECT_EQ(list_values<std::uint16_t>(read_tif(tiff_file({wide}))),
            (std::vector<double>{0x1234, 0x00ff, 0xffff, 0x5678, 0, 0, 0, 0, 0, 0, 0, 0}));
  for (const std::uint32_t low : {0U, 0x12U}) {  // 8 bits in the high byte
    std::vector<std::uint32_t> narrow(12, 0);
    narrow[1] = 0x1200 | low;
    EXPECT_EQ(list_values(read_tif(tiff_file({{4, 1, 2, 1, 3, {"\x60"}, {{320, 3, narrow}}}}))),
              (std::vector<double>{0x12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
  }
}

TEST_F(TiffFacts, SurvivesMutations) {
  const auto read = [](const std::string& path) { read_image(path, {.as_light = true}); };
  const Page copy = grey_page(1, 1, {"z"}, {{254, 4, {1}}});
  const Page full{3,
                  2,
                  8,
                  3,
                  2,
                  {"abcdefghi", ""},
                  {{254, 4, {0}},
                   {282, 5, {204, 1}},
                   {283, 5, {98, 1}},
                   {301, 3, power_table(2)},
                   {318, 5, {3127, 10000, 3290, 10000}},
                   {319, 5, {64, 100, 33, 100, 21, 100, 71, 100, 15, 100, 6, 100}},
                   {42112, 2, {}, "<Item role=\"scale\">2</Item>"},
                   {42113, 2, {}, "255"}}};
  io_support::expect_survival("facts.tif", tiff_with_sub_directory(copy, full), "facts.tif", 2000, read);
  io_support::expect_survival("pages.tif", tiff_file({copy, full}), "pages.tif", 2000, read);
}

}  // namespace
}  // namespace holotone
