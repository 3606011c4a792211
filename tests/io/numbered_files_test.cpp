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

TEST(NumberedFiles, MayHaveNegativeNumbers) {
  const io_support::TemporaryFolder folder;
  const auto list = [&](const io::FramePattern& pattern) {
    std::vector<std::string> names;
    for (const auto& frame : io::find_frames(pattern, "typed")) {
      names.push_back(frame.path.substr(folder.file("").size()));
    }
    return names;
  };
  for (const char* name : {"-002.png", "-001.png", "0000.png", "0001.png", "-0003.png", "-01.png", "r_-20.png",
                           "r_-9.png", "w-1.png", "w-2.png"}) {
    io_support::write_raw(folder.file(name), "x");
  }
  EXPECT_EQ(list({folder.file(""), ".png", 4}),
            (std::vector<std::string>{"-0003.png", "-002.png", "-001.png", "0000.png", "0001.png"}));
  EXPECT_EQ(list({folder.file("r_"), ".png", 1}), (std::vector<std::string>{"r_-20.png", "r_-9.png"}));
  EXPECT_EQ(io_support::error_of([&] {
              (void)io::find_frames({folder.file("w"), ".png", 1}, "w%d.png");
            }),
            "w%d.png: expected files with a number in place of the counter, got w-1.png, before whose number stands a "
            "hyphen");
}

}  // namespace
}  // namespace holotone
