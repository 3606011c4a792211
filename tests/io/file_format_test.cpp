#include <gtest/gtest.h>
#include <holotone/core/error.hpp>
#include <holotone/io/dots/dots.hpp>
#include <holotone/io/fields/field_file.hpp>
#include <holotone/io/file_format_detail.hpp>
#include <holotone/io/points/points.hpp>
#include <iterator>
#include <set>
#include <sstream>

namespace holotone {
namespace {

using io::FileFormat;

std::set<std::string> extensions_in(FileFormat formats) {
  std::istringstream list(io::list_extensions(formats));
  return {std::istream_iterator<std::string>(list), {}};
}

TEST(FileFormat, IsFoundByTheExtensionInAnyCase) {
  EXPECT_EQ(io::file_format("a/Dragon.PLY"), FileFormat::ply);
  EXPECT_EQ(io::file_format("a.TIF"), FileFormat::tiff);
  EXPECT_EQ(io::file_format("a.png.tiff"), FileFormat::tiff);
  for (const std::string name : {"", "png", ".png", "folder.png/a", "a.png ", "a.pn", "a.", "a.jpegs"}) {
    EXPECT_EQ(io::file_format(name), FileFormat::none) << name;
    EXPECT_FALSE(io::has_format(name, io::formats::pictures | io::formats::scenes)) << name;
  }
}

// Written out once more: a format that moves between the kinds changes what commands accept.
TEST(FileFormat, KindsHaveTheseExtensions) {
  namespace formats = io::formats;
  const std::pair<FileFormat, std::string> expected[] = {
      {formats::pictures_with_metadata, ".png .tif .tiff"},
      {formats::written_pictures, ".png .tif .tiff .bmp"},
      {formats::light, ".pfm .exr"},
      {formats::pictures, ".png .tif .tiff .bmp .jpg .jpeg .pfm .exr"},
      {formats::fields_by_rows, ".h5 .hdf5 .npy"},
      {formats::codes_by_rows, ".tif .tiff .npy"},
      {formats::fields, ".h5 .hdf5 .npy .ohc"},
      {formats::assimp_scenes, ".gltf .glb"},
      {formats::meshes, ".stl .obj .gltf .glb"},
      {formats::point_tables, ".xyz .csv .tsv .txt .asc"},
      {formats::scenes, ".ply .stl .xyz .csv .tsv .txt .asc .npy .obj .gltf .glb"},
      {formats::dots_alone, ".dat .xy .svg"},
      {formats::dot_tables, ".csv .tsv .txt .dat .xy"},
      {formats::read_dots, ".csv .tsv .txt .dat .xy .npy .svg"},
      {formats::written_dots, ".png .csv .txt .npy .svg .pdf"},
      {formats::models, ".smoe .json .npz"}};
  for (const auto& [kind, list] : expected) {
    EXPECT_EQ(io::list_extensions(kind), list);
    for (const auto& extension : extensions_in(kind)) EXPECT_TRUE(io::has_format("x" + extension, kind)) << extension;
  }
}

TEST(FileFormat, EveryBitHasAnExtensionOfItsOwn) {
  std::set<std::string> all;
  std::size_t sum = 0;
  for (std::uint32_t bit = 1; bit <= static_cast<std::uint32_t>(FileFormat::exr); bit *= 2) {
    const auto found = extensions_in(static_cast<FileFormat>(bit));
    EXPECT_FALSE(found.empty()) << bit;
    all.insert(found.begin(), found.end());
    sum += found.size();
  }
  EXPECT_EQ(all.size(), sum);
}

TEST(FileFormat, ErrorsListExtensionsAndWhatTheyGot) {
  EXPECT_EQ(io::name_ending_in(io::formats::codes_by_rows), "a name ending in .tif, .tiff or .npy");
  EXPECT_EQ(io::any_extension(FileFormat::ply), ".ply");
  EXPECT_EQ(io::extension_or_none("a"), "no extension");
  try {
    io::throw_format("a.GIF", io::formats::written_pictures, "an image");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unsupported);
    EXPECT_STREQ(error.what(), "a.GIF: expected .png, .tif, .tiff or .bmp for an image, got .gif");
  }
}

TEST(FileFormat, PublicPredicatesFollowTheTable) {
  const auto all = extensions_in(static_cast<FileFormat>(~std::uint32_t{0}));
  ASSERT_GT(all.size(), 25U);
  for (const auto& extension : all) {
    const std::string name = "x" + extension;
    EXPECT_EQ(is_dots_output(name), extensions_in(io::formats::written_dots).contains(extension)) << name;
    EXPECT_EQ(is_picture_of_dots(name), extensions_in(io::formats::pictures).contains(extension)) << name;
    EXPECT_EQ(is_field_name(name), extensions_in(io::formats::fields).contains(extension)) << name;
    EXPECT_EQ(is_assimp_scene(name), extensions_in(io::formats::assimp_scenes).contains(extension)) << name;
  }
}

}  // namespace
}  // namespace holotone
