// Files with a number in their names.
#include <gtest/gtest.h>
#include <holotone/io/numbered_files_detail.hpp>
#include <tests/support/io_support.hpp>

namespace holotone {
namespace {

TEST(NumberedFiles, AreFoundInTheOrderOfTheirNumbers) {
  const io_support::TemporaryFolder folder;
  for (const char* name : {"f_10.png", "f_9.png", "f_010.png", "f_x.png", "f_1.tif"}) {
    io_support::write_raw(folder.file(name), "x");
  }
  const io::FramePattern plain{folder.file("f_"), ".png", 1};
  const auto frames = io::find_frames(plain, "f_%d.png");
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(frames[0].number, 9);
  EXPECT_EQ(frames[1].path, folder.file("f_10.png"));
  EXPECT_EQ(io::find_frames({folder.file("f_"), ".png", 3}, "f_%03d.png").at(0).path, folder.file("f_010.png"));
  const auto text = io_support::error_of([&] { (void)io::find_frames({folder.file("f_"), ".png", 5}, "f_%05d.png"); });
  EXPECT_EQ(text,
            "f_%05d.png: expected files with a number in place of the counter, got f_010.png, whose counter is %03d");
}

}  // namespace
}  // namespace holotone
