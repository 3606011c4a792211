// Files of unfinished rows have names that the next run finds, so others can make them first.
#include <filesystem>
#include <holotone/io/fields/field_rows.hpp>
#include <sys/stat.h>
#include <tests/support/io_support.hpp>
#include <unistd.h>

namespace holotone {
namespace {

using io_support::error_of;
using io_support::read_raw;
using io_support::TemporaryFolder;
using io_support::write_raw;

constexpr uid_t other_user = 65534;
constexpr Shape<2> shape{4, 3};

void begin_rows(const std::string& path, bool resume) { FieldRowsWriter(path, shape, {}, {"key", resume}); }

class RowsOfOthers : public testing::TestWithParam<bool> {
 protected:
  TemporaryFolder folder_;
  std::string path_ = folder_.file("x.npy");
  std::string data_ = folder_.file(".x.npy.part");
  std::string journal_ = data_ + ".rows";
};

TEST_P(RowsOfOthers, AJournalOfAnotherUserIsRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file to another user";
  write_raw(journal_, "");
  ASSERT_EQ(chown(journal_.c_str(), other_user, 0), 0);
  EXPECT_EQ(error_of([&] { begin_rows(path_, GetParam()); }),
            path_ + ": expected '" + journal_ +
                "' to be absent or a file of an unfinished run, got one of user 65534; remove it or take another name");
  EXPECT_EQ(folder_.names(), std::vector<std::string>{".x.npy.part.rows"});
}

// A second name of one of the user's own files, which would be cut to nothing.
TEST_P(RowsOfOthers, AJournalWithASecondNameIsRefused) {
  write_raw(folder_.file("diary"), "private");
  std::filesystem::create_hard_link(folder_.file("diary"), journal_);
  EXPECT_MENTIONS(error_of([&] { begin_rows(path_, GetParam()); }), "got one with a second name");
  EXPECT_EQ(read_raw(folder_.file("diary")), "private");
}

TEST_P(RowsOfOthers, LinksAreRefused) {
  write_raw(folder_.file("diary"), "private");
  for (const auto& name : {data_, journal_}) {
    std::filesystem::create_symlink("diary", name);
    EXPECT_MENTIONS(error_of([&] { begin_rows(path_, GetParam()); }), "got a link");
    std::filesystem::remove(name);
  }
  EXPECT_EQ(read_raw(folder_.file("diary")), "private");
}

INSTANTIATE_TEST_SUITE_P(Resume, RowsOfOthers, testing::Bool());

}  // namespace
}  // namespace holotone
