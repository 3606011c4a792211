// Transparency masks of TIFF files, as GDAL writes them beside a picture.
#include <cstring>
#include <holotone/core/error.hpp>
#include <holotone/io/images/image.hpp>
#include <holotone/recipes/scenes/depth_picture_detail.hpp>
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
using Values = std::vector<double>;

Image read_tif(const std::string& bytes, const std::string& part = {}) {
  const TemporaryFolder folder;
  write_raw(folder.file("x.tif"), bytes);
  return read_image(folder.file("x.tif" + part));
}

/// Values of all channels.
Values list_values(const Image& image) {
  return std::visit([](const auto& pixels) { return Values(pixels.host().begin(), pixels.host().end()); },
                    image.pixels);
}

Page grey_page(const std::string& codes) { return {static_cast<std::uint32_t>(codes.size()), 1, 8, 1, 1, {codes}}; }

/// A mask of one row and 1 bit a pixel, 1 for what is seen; NewSubfileType 4, PhotometricInterpretation 4.
Page mask_page(std::uint32_t nx, const std::string& bits, std::uint32_t kind = 4) {
  return {nx, 1, 1, 1, 4, {bits}, {{254, 4, {kind}}}};
}

class TiffMask : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      read_tif(tiff_file({grey_page("a")}));
    } catch (const Error& error) {
      if (error.code() == ErrorCode::unsupported) GTEST_SKIP() << "built without libtiff";
      throw;
    }
  }
};

TEST_F(TiffMask, PixelsOfZeroAreTransparent) {
  const Page mask = mask_page(3, "\x40");  // 0 1 0
  const Image grey = read_tif(tiff_file({grey_page("abc"), mask}));
  EXPECT_EQ(shape_of(grey), (Shape<3>{1, 3, 2}));
  EXPECT_EQ(list_values(grey), (Values{'a', 0, 'b', 255, 'c', 0}));
  EXPECT_TRUE(grey.notes.empty());
  EXPECT_EQ(list_values(read_tif(tiff_with_sub_directory(grey_page("abc"), mask))), list_values(grey));
  const Page rgb{2, 1, 8, 3, 2, {"abcdef"}};
  EXPECT_EQ(list_values(read_tif(tiff_file({rgb, mask_page(2, "\x80")}))),
            (Values{'a', 'b', 'c', 255, 'd', 'e', 'f', 0}));
  const Page words{2, 1, 16, 1, 1, {"abcd"}};
  EXPECT_EQ(list_values(read_tif(tiff_file({words, mask_page(2, "\x80")}))),
            (Values{'a' + 256 * 'b', 65535, 'c' + 256 * 'd', 0}));
  const Page few{4, 1, 2, 1, 1, {"\x1b"}};  // 0 1 2 3
  EXPECT_EQ(list_values(read_tif(tiff_file({few, mask_page(4, "\x50")}))), (Values{0, 0, 1, 3, 2, 0, 3, 3}));
}

TEST_F(TiffMask, AlphaIsMultipliedByAMaskOfShares) {
  const Page alpha{3, 1, 8, 2, 1, {"a\xff\x62\x80\x63\xff"}, {{338, 3, {2}}}};
  const Page shares{3, 1, 8, 1, 4, {std::string("\x80\xff\0", 3)}, {{254, 4, {4}}}};
  EXPECT_EQ(list_values(read_tif(tiff_file({alpha, shares}))), (Values{'a', 128, 'b', 128, 'c', 0}));
}

TEST_F(TiffMask, OfEachPageTheFirstOfItsSizeCounts) {
  const auto reduced = mask_page(3, std::string(1, '\0'), 5);  // of a reduced copy
  const auto bytes = tiff_file(
      {grey_page("abc"), reduced, mask_page(3, "\xc0"), grey_page("def"), mask_page(3, "\x60"), grey_page("ghi")});
  EXPECT_EQ(list_values(read_tif(bytes, ":1")), (Values{'a', 255, 'b', 255, 'c', 0}));
  EXPECT_EQ(list_values(read_tif(bytes, ":2")), (Values{'d', 0, 'e', 255, 'f', 255}));
  EXPECT_EQ(list_values(read_tif(bytes, ":3")), (Values{'g', 'h', 'i'}));
  const Image other = read_tif(tiff_file({grey_page("abc"), mask_page(2, "\x80")}));
  EXPECT_EQ(list_values(other), (Values{'a', 'b', 'c'}));
  ASSERT_EQ(other.notes.size(), 1U);
  EXPECT_NE(other.notes[0].find("x.tif: a transparency mask of 2 x 1 pixels is not applied to 3 x 1"),
            std::string::npos);
  EXPECT_EQ(list_values(read_tif(tiff_file({grey_page("abc"), mask_page(3, "\xe0")}))), (Values{'a', 'b', 'c'}));
  const Page wide{3, 1, 16, 1, 4, {"abcdef"}, {{254, 4, {4}}}};
  support::expect_error(ErrorCode::io, "expected a mask of one sample of 1 or 8 bits, got 1 sample of 16 bits", [&] {
    read_tif(tiff_file({grey_page("abc"), wide}));
  });
}

TEST_F(TiffMask, DepthsHaveHolesThere) {
  const TemporaryFolder folder;
  std::string depths;
  for (const float depth : {0.2F, 77.0F, 0.22F, 0.21F}) {
    depths.append(4, '\0');
    std::memcpy(depths.data() + depths.size() - 4, &depth, 4);
  }
  const Page page{4, 1, 32, 1, 1, {depths}, {{339, 3, {3}}}};
  write_raw(folder.file("d.tif"), tiff_file({page, mask_page(4, "\xb0")}));  // 1 0 1 1
  PlacedPicture job;
  job.depth = folder.file("d.tif");
  job.size_m = 1;
  const DepthMap map = read_depth(job, {1, 4});
  EXPECT_EQ(map.holes, 1);
  EXPECT_NEAR(map.nearest_m, 0.2, 1e-6);
  EXPECT_NEAR(map.farthest_m, 0.22, 1e-6);
}

TEST_F(TiffMask, SurvivesMutations) {
  const auto read = [](const std::string& path) { read_image(path); };
  const auto bytes = tiff_file({grey_page("abc"), mask_page(3, "\x40"), grey_page("def")});
  io_support::expect_survival("mask.tif", bytes, "mask.tif", 2000, read);
  io_support::expect_survival("sub.tif", tiff_with_sub_directory(grey_page("abc"), mask_page(3, "\x40")), "sub.tif",
                              2000, read);
}

}  // namespace
}  // namespace holotone
