#pragma once
// A table in a temporary file, read as points and as dots.
#include <gtest/gtest.h>
#include <holotone/io/dots/dots.hpp>
#include <holotone/io/points/points.hpp>
#include <string>
#include <tests/support/io_support.hpp>

namespace io_support {

class TableFileTest : public testing::Test {
 protected:
  [[nodiscard]] holotone::Mesh scene(const std::string& text) const {
    write_raw(path_, text);
    return holotone::read_scene(path_);
  }
  [[nodiscard]] std::string refusal(const std::string& text) const {
    return error_of([&] { (void)scene(text); });
  }
  [[nodiscard]] holotone::DotsFile dots(const std::string& text) const {
    write_raw(path_, text);
    return holotone::read_dots_file(path_);
  }

  TemporaryFolder folder_;
  std::string path_ = folder_.file("t.txt");
};

}  // namespace io_support
