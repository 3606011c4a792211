// The table of formats against the extensions that readers and writers take.
#include <algorithm>
#include <gtest/gtest.h>
#include <holotone/io/file_format_detail.hpp>
#include <holotone/io/file_formats.hpp>
#include <iterator>
#include <set>
#include <sstream>

namespace holotone {
namespace {

using io::FileFormat;
namespace kinds = io::formats;

std::set<std::string> extensions_in(FileFormat formats) {
  std::istringstream list(io::list_extensions(formats));
  return {std::istream_iterator<std::string>(list), {}};
}

/// Extensions of all rows of a content that are read, or written.
std::set<std::string> listed(FileContent content, std::string FormatSupport::*text) {
  std::set<std::string> found;
  for (const auto& row : file_formats()) {
    if (row.content == content && !(row.*text).empty()) found.insert(row.extensions.begin(), row.extensions.end());
  }
  return found;
}

TEST(FileFormats, EveryFormatOfTheReadersHasARow) {
  const std::pair<FileContent, FileFormat> readers[] = {
      {FileContent::picture, kinds::pictures},
      {FileContent::scene, kinds::scenes},
      {FileContent::field, kinds::fields | FileFormat::mat},
      {FileContent::dots, kinds::read_dots | kinds::pictures},
      {FileContent::model, kinds::models},
      {FileContent::depth, FileFormat::npy | FileFormat::npz | FileFormat::tiff | kinds::light},
  };
  for (const auto& [content, formats] : readers) {
    EXPECT_EQ(listed(content, &FormatSupport::read), extensions_in(formats)) << name_of(content);
  }
  std::set<std::string> all;
  for (const auto& row : file_formats()) all.insert(row.extensions.begin(), row.extensions.end());
  EXPECT_EQ(all, extensions_in(static_cast<FileFormat>(~std::uint32_t{0})));
}

// A row may say in words which of its extensions are written.
TEST(FileFormats, EveryFormatOfTheWritersHasARow) {
  const std::pair<FileContent, FileFormat> writers[] = {
      {FileContent::picture, kinds::written_pictures},
      {FileContent::scene, FileFormat::ply},
      {FileContent::field, kinds::fields},
      {FileContent::dots, kinds::written_dots},
      {FileContent::model, kinds::models},
      {FileContent::page, FileFormat::html},
  };
  for (const auto& [content, formats] : writers) {
    const auto written = listed(content, &FormatSupport::written);
    const auto expected = extensions_in(formats);
    EXPECT_TRUE(std::includes(written.begin(), written.end(), expected.begin(), expected.end())) << name_of(content);
  }
}

TEST(FileFormats, RowsAreComplete) {
  std::set<std::pair<std::string, FileContent>> names;
  for (const auto& row : file_formats()) {
    EXPECT_TRUE(names.emplace(row.name, row.content).second) << row.name;
    EXPECT_FALSE(row.extensions.empty()) << row.name;
    EXPECT_FALSE(row.read.empty() && row.written.empty()) << row.name;
    EXPECT_EQ(row.honoured.empty(), row.read.empty()) << row.name << ": what of it is honoured?";
    EXPECT_TRUE(row.is_built || !row.library.empty()) << row.name;
    for (const auto& extension : row.extensions) {
      EXPECT_NE(io::file_format("x" + extension), FileFormat::none) << row.name << " " << extension;
    }
  }
}

}  // namespace
}  // namespace holotone
