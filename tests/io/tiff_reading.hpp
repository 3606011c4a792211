#pragma once
// Tests that read a TIFF file x.tif, which skip in a build without libtiff.
#include <gtest/gtest.h>
#include <holotone/core/error.hpp>
#include <holotone/io/images/image.hpp>
#include <string>
#include <tests/io/tiff_directory.hpp>
#include <tests/support/io_support.hpp>
#include <vector>

namespace io_fixtures {

inline holotone::Image read_tif(const std::string& bytes, const std::string& part = {}) {
  const io_support::TemporaryFolder folder;
  io_support::write_raw(folder.file("x.tif"), bytes);
  return holotone::read_image(folder.file("x.tif" + part));
}

/// The only note, behind the folder's name.
inline std::string find_note(const std::vector<std::string>& notes) {
  if (notes.size() != 1) return notes.empty() ? "none" : notes[0] + " | " + notes[1];
  return notes[0].substr(notes[0].find("x.tif"));
}

/// A row of codes of 16 bits, with an ImageDescription unless it is empty.
inline Page words_page(const std::vector<std::uint16_t>& codes, const std::string& description = {}) {
  std::string bytes;
  for (const auto code : codes) append(bytes, code, 2);
  Page page{static_cast<std::uint32_t>(codes.size()), 1, 16, 1, 1, {bytes}};
  if (!description.empty()) page.tags.push_back({270, 2, {}, description});
  return page;
}

class TiffTest : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      read_tif(tiff_file({{1, 1, 8, 1, 1, {"a"}}}));
    } catch (const holotone::Error& error) {
      if (error.code() == holotone::ErrorCode::unsupported) GTEST_SKIP() << "built without libtiff";
      throw;
    }
  }
};

}  // namespace io_fixtures
