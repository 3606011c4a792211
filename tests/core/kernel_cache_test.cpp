// Compiled kernels on disk: machine code that another user may have placed is never returned.
#include <filesystem>
#include <fmt/format.h>
#include <functional>
#include <holotone/core/kernel_cache.hpp>
#include <sys/stat.h>
#include <tests/support/io_support.hpp>
#include <unistd.h>

namespace holotone {
namespace {

namespace fs = std::filesystem;
constexpr uid_t other_user = 65534;

#define SKIP_UNLESS_ROOT() \
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file to another user"

unsigned file_mode(const std::string& path) {
  struct stat status {};
  EXPECT_EQ(lstat(path.c_str(), &status), 0) << path;
  return status.st_mode & 07777U;
}

class KernelFiles : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(mkdir(cache_.c_str(), 0700), 0); }

  /// The code of one kernel. Compiled anew it is `fresh`.
  [[nodiscard]] std::string code(const std::string& fresh) const {
    return kept_kernel(cache_, "kernel", "identity", [&] { return fresh; });
  }

  /// Path of the only file.
  [[nodiscard]] std::string only_file() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(cache_)) names.push_back(entry.path().string());
    EXPECT_EQ(names.size(), 1u);
    return names.empty() ? std::string() : names.front();
  }

  /// Keeps "planted", changes the file by `change` and expects that its code is not used but made again.
  void expect_made_again(const std::function<void(const std::string&)>& change) const {
    fs::remove_all(cache_);
    ASSERT_EQ(code("planted"), "planted");
    ASSERT_EQ(code("fresh"), "planted");
    EXPECT_EQ(find_refused_kernel(cache_).first, "");
    change(only_file());
    EXPECT_EQ((fs::path(cache_) / find_refused_kernel(cache_).first).string(), only_file());
    EXPECT_EQ(code("fresh"), "fresh");
    EXPECT_EQ(find_refused_kernel(cache_).first, "");
    EXPECT_EQ(code("later"), "fresh");
    EXPECT_EQ(file_mode(only_file()), 0600u);
  }

  /// Keeps "planted", changes the folder by `change` and expects that it is neither read nor written.
  void expect_refused(const std::function<void()>& change, const std::string& refusal) const {
    fs::remove_all(cache_);
    ASSERT_EQ(code("planted"), "planted");
    EXPECT_EQ(kernel_cache_refusal(cache_), "");
    change();
    EXPECT_EQ(kernel_cache_refusal(cache_), refusal);
    EXPECT_EQ(code("fresh"), "fresh");
    EXPECT_EQ(kept_kernel(cache_, "other", "identity", [] { return std::string("fresh"); }), "fresh");
    const std::string file = only_file();
    forget_kernel(cache_, "kernel", "identity");
    EXPECT_EQ(only_file(), file);
  }

  io_support::TemporaryFolder folder_;
  std::string cache_ = folder_.file("cache");
};

TEST_F(KernelFiles, AreForThisUserAloneUnderAnyUmask) {
  fs::remove_all(cache_);
  const mode_t before = umask(0);
  const std::string made = folder_.file("a/b/c");
  (void)kept_kernel(made, "kernel", "identity", [] { return std::string("code"); });
  umask(before);
  for (const char* name : {"a", "a/b", "a/b/c"}) EXPECT_EQ(file_mode(folder_.file(name)), 0700u) << name;
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator(made)) {
    EXPECT_EQ(file_mode(entry.path().string()), 0600u) << entry.path();
    ++files;
  }
  EXPECT_EQ(files, 1u);
}

TEST_F(KernelFiles, FilesThatOthersCanWriteToAreMadeAgain) {
  for (const mode_t mode : {0620, 0602, 0666}) {
    expect_made_again([&](const std::string& file) { ASSERT_EQ(chmod(file.c_str(), mode), 0); });
  }
}

TEST_F(KernelFiles, FilesOfOthersAreMadeAgain) {
  SKIP_UNLESS_ROOT();
  expect_made_again([](const std::string& file) { ASSERT_EQ(chown(file.c_str(), other_user, 0), 0); });
}

TEST_F(KernelFiles, LinksAreNotFollowed) {
  expect_made_again([&](const std::string& file) {
    fs::rename(file, folder_.file("elsewhere"));
    fs::create_symlink(folder_.file("elsewhere"), file);
  });
  EXPECT_GT(fs::file_size(folder_.file("elsewhere")), 0u);  // replaced was the link
}

TEST_F(KernelFiles, FoldersThatOthersCanWriteToAreRefused) {
  for (const mode_t mode : {0770, 0702, 01777}) {
    expect_refused([&] { ASSERT_EQ(chmod(cache_.c_str(), mode), 0); }, fmt::format("mode {:o}", mode));
  }
}

TEST_F(KernelFiles, FoldersOfOthersAreRefused) {
  SKIP_UNLESS_ROOT();
  expect_refused([&] { ASSERT_EQ(chown(cache_.c_str(), other_user, 0), 0); }, "one of user 65534");
}

// A link to a folder is followed, for caches on another disk: the folder at its end is checked.
TEST_F(KernelFiles, FoldersBehindLinksAreChecked) {
  fs::create_directory_symlink(cache_, folder_.file("link"));
  const auto linked = [&](const std::string& fresh) {
    return kept_kernel(folder_.file("link"), "kernel", "identity", [&] { return fresh; });
  };
  EXPECT_EQ(linked("kept"), "kept");
  EXPECT_EQ(code("fresh"), "kept");
  ASSERT_EQ(chmod(cache_.c_str(), 0777), 0);
  EXPECT_EQ(kernel_cache_refusal(folder_.file("link")), "mode 777");
  EXPECT_EQ(linked("fresh"), "fresh");
}

TEST_F(KernelFiles, AbsentFoldersAndNoneAreNotRefused) {
  EXPECT_EQ(kernel_cache_refusal(""), "");
  EXPECT_EQ(kernel_cache_refusal(folder_.file("absent")), "");
  EXPECT_EQ(find_refused_kernel("").first, "");
  EXPECT_EQ(find_refused_kernel(folder_.file("absent")).first, "");
}

}  // namespace
}  // namespace holotone
