// Pages of TIFF files and the names of parts of files.
#include <filesystem>
#include <gtest/gtest.h>
#include <holotone/io/atomic_file.hpp>
#include <holotone/io/file_format_detail.hpp>
#include <holotone/io/file_part_detail.hpp>
#include <holotone/io/images/image.hpp>
#include <holotone/io/images/image_formats_detail.hpp>
#include <holotone/io/numbered_files_detail.hpp>
#include <holotone/io/tiff_pages_detail.hpp>
#include <tests/io/tiff_pages.hpp>
#include <tests/support/io_support.hpp>
#include <vector>

namespace holotone {
namespace {

using io_support::error_of;
using io_support::TemporaryFolder;
using io_support::write_raw;
using tiff_pages::Page;
using tiff_pages::pages_file;

bool has_tiff() {
  const TemporaryFolder folder;
  try {
    write_image(folder.file("x.tif"), {Array<std::uint8_t, 3>({1, 1, 1}), {}});
  } catch (const Error& error) {
    return error.code() != ErrorCode::unsupported;
  }
  return true;
}

std::string pixels_in(const Image& image) {
  const auto pixels = std::get<Array<std::uint8_t, 3>>(image.pixels).host();
  return {pixels.begin(), pixels.end()};
}

TEST(FilePart, TheFileOfTheWholeNameComesFirst) {
  const TemporaryFolder folder;
  const auto split = [&](const std::string& name) {
    const auto [file, part] = io::split_part(folder.file(name));
    return std::pair(std::filesystem::path(file).filename().string(), part);
  };
  using Pair = std::pair<std::string, std::string>;
  EXPECT_EQ(split("s.tif:2"), (Pair{"s.tif:2", ""}));  // no such file
  write_raw(folder.file("s.tif"), "x");
  write_raw(folder.file("f.h5"), "x");
  EXPECT_EQ(split("s.tif:2"), (Pair{"s.tif", "2"}));
  EXPECT_EQ(split("f.h5:/group/name:3"), (Pair{"f.h5", "/group/name:3"}));
  EXPECT_EQ(split("s.tif:"), (Pair{"s.tif:", ""}));
  EXPECT_EQ(split("s.tif"), (Pair{"s.tif", ""}));
  EXPECT_EQ(io::extension_of(folder.file("f.h5:/group/name.tif:3")), ".h5");
  EXPECT_EQ(io::extension_of(folder.file("absent.h5:a")), ".h5:a");
  write_raw(folder.file("s.tif:2"), "x");
  EXPECT_EQ(split("s.tif:2"), (Pair{"s.tif:2", ""}));
  EXPECT_EQ(split("s.tif:2:5"), (Pair{"s.tif", "2:5"}));
  EXPECT_EQ(io::part_index("3", 3, "pages", "x"), 2);
  for (const std::string part : {"0", "4", "-1", "2x", "", "a", "99999999999999999999"}) {
    EXPECT_MENTIONS(error_of([&] { io::part_index(part, 3, "pages", "x"); }),
                    "x: expected one of the pages 1 to 3 as the part, got '" + part + "'");
  }
}

TEST(FilePart, IsNoOutput) {
  const TemporaryFolder folder;
  write_raw(folder.file("s.png"), "x");
  const Image image{Array<std::uint8_t, 3>({1, 1, 1}), {}};
  EXPECT_MENTIONS(error_of([&] { write_image(folder.file("s.png:2"), image); }),
                  "expected a file's name, got that of a part of");
  EXPECT_FALSE(std::filesystem::exists(folder.file("s.png:2")));
}

TEST(TiffPages, AreCountedAndChosen) {
  if (!has_tiff()) GTEST_SKIP() << "built without libtiff";
  const TemporaryFolder folder;
  const std::string path = folder.file("s.tif");
  for (const bool little : {true, false}) {
    for (const bool big : {false, true}) {
      write_raw(path, pages_file({{"abc"}, {"xy", 1}, {"defgh", 2}, {"z", 4}, {"q", 2}}, little, big));
      EXPECT_EQ(page_count(path), 3);
      EXPECT_EQ(page_count(path + ":2"), 1);
      const Image first = read_image(path);
      EXPECT_EQ(pixels_in(first), "abc");
      EXPECT_EQ(first.notes, (std::vector{path + ": the first of 3 pages is read; " + path + ":2 is the second"}));
      const Image second = read_image(path + ":2");
      EXPECT_EQ(pixels_in(second), "defgh");
      EXPECT_EQ(second.notes, (std::vector{path + ":2: a transparency mask of 1 x 1 pixels is not applied to 5 x 1"}));
      EXPECT_EQ(pixels_in(read_image(path + ":1")), "abc");
      EXPECT_EQ(pixels_in(read_image(path + ":3")), "q");
      EXPECT_EQ(io::read_tiff_head(path + ":2").shape, (Shape<3>{1, 5, 1}));
      EXPECT_MENTIONS(error_of([&] { read_image(path + ":4"); }), ":4: expected one of the pages 1 to 3 as the part");
      EXPECT_MENTIONS(error_of([&] { read_image(path, {.one_page = true}); }), "expected one page; ");
      EXPECT_EQ(pixels_in(read_image(path + ":3", {.one_page = true})), "q");
    }
  }
}

TEST(TiffPages, AThumbnailIsNoFirstPage) {
  if (!has_tiff()) GTEST_SKIP() << "built without libtiff";
  const TemporaryFolder folder;
  const std::string path = folder.file("s.tif");
  write_raw(path, pages_file({{"xy", 1}, {"abcd"}}));
  EXPECT_EQ(pixels_in(read_image(path)), "abcd");
  EXPECT_TRUE(read_image(path).notes.empty());
  write_raw(path, pages_file({{"xy", 1}, {"uv", 1}}));  // nothing else: these are the pages
  EXPECT_EQ(page_count(path), 2);
  EXPECT_EQ(pixels_in(read_image(path + ":2")), "uv");
}

TEST(TiffPages, DamagedListsAndStacksOfImageJAreNamed) {
  if (!has_tiff()) GTEST_SKIP() << "built without libtiff";
  const TemporaryFolder folder;
  const std::string path = folder.file("s.tif");
  const std::string whole = pages_file({{"abc"}, {"def"}});
  std::string circle = whole;
  circle[whole.size() - 4 - 4] = 8;  // the last directory's next is the first
  for (const auto& bytes : {whole.substr(0, whole.size() - 40), circle}) {
    write_raw(path, bytes);
    const Image image = read_image(path);
    EXPECT_EQ(pixels_in(image), "abc");
    ASSERT_FALSE(image.notes.empty());
    EXPECT_MENTIONS(image.notes.front(), "the list of pages is damaged after page ");
  }
  write_raw(path, pages_file({{"abc"}}, true, false, "ImageJ=1.54f\nimages=7\nslices=7\n"));
  EXPECT_EQ(read_image(path).notes, (std::vector{path + ": ImageJ states 7 pictures, of which 1 can be read"}));
}

TEST(TiffPages, AreFramesOfACounter) {
  const TemporaryFolder folder;
  const std::string path = folder.file("s.tif");
  write_raw(path, pages_file({{"abc"}, {"xy", 1}, {"def"}}));
  const auto frames = io::find_frames({path + ":", ""}, "IN");
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(frames[1].number, 2);
  EXPECT_EQ(frames[1].path, path + ":2");
  EXPECT_EQ(io::page_names(path), (std::vector{path + ":1", path + ":2"}));
  EXPECT_EQ(io::page_names(path + ":2"), (std::vector{path + ":2"}));
  write_raw(path, pages_file({{"abc"}}));
  EXPECT_EQ(io::page_names(path), (std::vector{path}));
}

TEST(TiffPages, OtherPicturesHaveNone) {
  const TemporaryFolder folder;
  const std::string path = folder.file("s.png");
  write_image(path, {Array<std::uint8_t, 3>({1, 1, 1}), {}});
  EXPECT_EQ(page_count(path), 1);
  EXPECT_MENTIONS(error_of([&] { read_image(path + ":2"); }), "s.png:2: expected a part of a TIFF file, got");
}

TEST(TiffPages, DamagedFilesAreRefused) {
  if (!has_tiff()) GTEST_SKIP() << "built without libtiff";
  const auto read = [](const std::string& path) {
    (void)page_count(path);
    (void)read_image(path);
  };
  const auto second = [](const std::string& path) { (void)read_image(path + ":2"); };
  const std::vector<Page> pages{{"abc"}, {"xy", 1}, {"defgh", 2}};
  io_support::expect_survival("pages.tif", pages_file(pages), "pages.tif", 2000, read);
  io_support::expect_survival("big pages.tif", pages_file(pages, false, true), "pages.tif", 2000, second);
}

}  // namespace
}  // namespace holotone
