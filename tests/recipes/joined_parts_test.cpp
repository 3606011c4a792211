// Parts of a print joined to the whole; parts that are missing, given twice, damaged or of another print.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <holotone/io/images/image.hpp>
#include <holotone/recipes/joined_parts.hpp>
#include <holotone/recipes/prints.hpp>
#include <string>
#include <tests/support/on_each_device.hpp>
#include <vector>

namespace holotone {
namespace {

namespace fs = std::filesystem;
using support::expect_error;

class JoinedPartsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / ::testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    try {
      print("whole.tif", {});
    } catch (const Error& error) {
      if (error.code() != ErrorCode::unsupported) throw;
      GTEST_SKIP() << "a build without libtiff";
    }
    for (int part = 1; part <= 3; ++part) {
      print(std::to_string(part) + ".tif", part_of_bands(shape_[0], 10, part, 3));
      parts_.push_back(path(std::to_string(part) + ".tif"));
    }
  }
  void TearDown() override { fs::remove_all(folder_); }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }

  void print(const std::string& name, const RowRange& rows, float x_m = 0, int bits = 8) const {
    PointCloud cloud;
    cloud.position = {{x_m, 0, -0.05F}, {1e-4F, -5e-5F, -0.06F}};
    cloud.amplitude = {1, 2};
    PointPrint print{.output = path(name), .encoding = EncodeOptions{.bits = bits}};
    print.sum.shape = shape_;
    print.sum.method = PointMethod::direct;
    print_points(cloud, {print}, {.rows_at_once = 10, .rows = rows});
  }
  [[nodiscard]] Array<std::uint8_t, 3> codes(const std::string& name) const {
    return std::get<Array<std::uint8_t, 3>>(read_image(path(name)).pixels);
  }

  fs::path folder_;
  Shape<2> shape_{48, 33};
  std::vector<std::string> parts_;
};

TEST_F(JoinedPartsTest, PixelsOfFewBitsAreCodes) {
  print("two.tif", {}, 0, 2);
  for (int part = 1; part <= 3; ++part) {
    print("part.tif", part_of_bands(shape_[0], 10, part, 3), 0, 2);
    Image image = read_image(path("part.tif"));
    image.bits = 2;  // another program packed the file
    write_image(parts_[static_cast<std::size_t>(part - 1)], image);
    ASSERT_EQ(read_image(parts_[static_cast<std::size_t>(part - 1)]).bits, 2);
  }
  join_parts(parts_, path("joined.tif"));
  EXPECT_TRUE(std::ranges::equal(codes("joined.tif").host(), codes("two.tif").host()));
}

TEST_F(JoinedPartsTest, AreTheWhole) {
  std::string appeared;
  const auto joined = join_parts({parts_[2], parts_[0], parts_[1]}, path("joined.tif"),
                                 {.before_output = [&](const std::string& output) { appeared = output; }});
  EXPECT_EQ(joined.shape, shape_);
  EXPECT_EQ(joined.parts, 3);
  EXPECT_EQ(joined.unchecked, 0);
  EXPECT_EQ(appeared, path("joined.tif"));
  const auto whole = codes("whole.tif");
  const auto made = codes("joined.tif");
  ASSERT_EQ(made.shape(), whole.shape());
  EXPECT_TRUE(std::equal(made.data(), made.data() + made.size(), whole.data()));
  EXPECT_EQ(read_image(path("joined.tif")).metadata, read_image(path("whole.tif")).metadata);
}

TEST_F(JoinedPartsTest, WhatIsWrongIsNamed) {
  const auto refused = [&](const std::vector<std::string>& inputs, const char* words) {
    expect_error(ErrorCode::io, words, [&] { join_parts(inputs, path("joined.tif")); });
    EXPECT_FALSE(fs::exists(path("joined.tif"))) << words;
  };
  refused({parts_[0], parts_[2]}, "expected parts that make the whole field, got none with rows 10 to 29");
  refused({parts_[0], parts_[1], parts_[1], parts_[2]}, "2.tif: expected each part once");
  refused({path("whole.tif")}, "whole.tif: expected a part of hologram --block, with block_first_row");
  print("other.tif", part_of_bands(shape_[0], 10, 3, 3), 1e-5F);
  refused({parts_[0], parts_[1], path("other.tif")}, "other.tif: expected a part of the same points");
  {
    std::fstream part(parts_[1], std::ios::in | std::ios::out | std::ios::binary);
    part.seekp(-1, std::ios::end);
    const auto last = static_cast<char>(part.peek() ^ 1);
    part.seekp(-1, std::ios::end);
    part.put(last);
  }
  refused(parts_, "2.tif: expected rows of CRC-32");
  expect_error(ErrorCode::invalid_argument, "inputs", [&] { join_parts({}, path("joined.tif")); });
}

}  // namespace
}  // namespace holotone
