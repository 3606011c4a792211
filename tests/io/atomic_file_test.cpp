#include <holotone/io/atomic_file.hpp>
#include <holotone/io/file_handle_detail.hpp>
#include <memory>
#include <sys/stat.h>
#include <sys/wait.h>
#include <tests/support/io_support.hpp>
#include <unistd.h>

namespace holotone {
namespace {

using io_support::error_of;
using io_support::read_raw;
using io_support::TemporaryFolder;
using io_support::write_raw;

TEST(AtomicFile, AppearsOnlyWhenCommitted) {
  const TemporaryFolder folder;
  const std::string path = folder.file("out.bin");
  {
    AtomicFile file(path);
    write_raw(file.temporary_path(), "complete");
    EXPECT_FALSE(std::filesystem::exists(path));
    EXPECT_EQ(folder.names().size(), 1u);
    file.commit();
    EXPECT_EQ(read_raw(path), "complete");
  }
  EXPECT_EQ(folder.names(), std::vector<std::string>{"out.bin"});
}

TEST(AtomicFile, WithoutCommitNothingIsLeftAndTheOldFileStays) {
  const TemporaryFolder folder;
  const std::string path = folder.file("out.bin");
  write_raw(path, "old");
  {
    const AtomicFile file(path);
    write_raw(file.temporary_path(), "half");
  }
  EXPECT_EQ(folder.names(), std::vector<std::string>{"out.bin"});
  EXPECT_EQ(read_raw(path), "old");
}

TEST(AtomicFile, PermissionsFollowTheUmaskOrTheFileReplaced) {
  const TemporaryFolder folder;
  const std::string path = folder.file("out.bin");
  const auto file_mode = [&] {
    struct stat information {};
    stat(path.c_str(), &information);
    return information.st_mode & 0777;
  };
  const mode_t old = umask(027);
  write_file(path, "new");
  umask(old);
  EXPECT_EQ(file_mode(), 0640u);
  chmod(path.c_str(), 0604);
  write_file(path, "newer");
  EXPECT_EQ(file_mode(), 0604u);
  EXPECT_EQ(read_raw(path), "newer");
}

TEST(AtomicFile, NamesCannotBeGuessed) {
  const TemporaryFolder folder;
  const auto read_digits = [&] {
    const AtomicFile file(folder.file("out.bin"));
    const auto name = std::filesystem::path(file.temporary_path()).filename().string();
    EXPECT_TRUE(name.starts_with(".out.bin.") && name.ends_with(".part")) << name;
    return name.substr(9, name.size() - 9 - 5);
  };
  const auto first = read_digits();
  const auto second = read_digits();
  EXPECT_EQ(first.size(), 16u);
  std::size_t same = 0;
  for (std::size_t i = 0; i < std::min(first.size(), second.size()); ++i) same += first[i] == second[i] ? 1 : 0;
  EXPECT_LE(same, 8u) << first << " and " << second;
}

// In a folder that others may write to, a link may take the temporary's place between two steps.
TEST(AtomicFile, WhatTakesThePlaceOfTheTemporaryIsNotWritten) {
  const TemporaryFolder folder;
  write_raw(folder.file("victim"), "private");
  const AtomicFile file(folder.file("out.bin"));
  std::filesystem::rename(file.temporary_path(), folder.file("moved"));
  std::filesystem::create_symlink("victim", file.temporary_path());
  write_raw(io::name_of_opened(file.descriptor(), file.temporary_path()), "content");
  EXPECT_EQ(read_raw(folder.file("victim")), "private");
  EXPECT_EQ(read_raw(folder.file("moved")), "content");
}

TEST(AtomicFile, FollowsASymbolicLink) {
  const TemporaryFolder folder;
  write_raw(folder.file("real"), "old");
  std::filesystem::create_symlink("real", folder.file("link"));
  write_file(folder.file("link"), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder.file("link")));
  EXPECT_EQ(read_raw(folder.file("real")), "new");
}

TEST(AtomicFile, MissingFolderIsNamed) {
  const TemporaryFolder folder;
  const std::string text = error_of([&] { write_file(folder.file("absent/out.png"), "x"); });
  EXPECT_MENTIONS(text, folder.file("absent"));
  EXPECT_MENTIONS(text, "expected folder");
}

TEST(AtomicFile, FoldersAndDevicesAreNotReplaced) {
  const TemporaryFolder folder;
  EXPECT_MENTIONS(error_of([&] { write_file(folder.file("."), "x"); }), "a folder");
  EXPECT_MENTIONS(error_of([&] { write_file("/proc/x", "x"); }), "expected folder '/proc' to take new files, got ");
  EXPECT_MENTIONS(error_of([] { write_file("/dev/null", "x"); }), "a device");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  EXPECT_MENTIONS(error_of([] { write_file("", "x"); }), "a name");
}

TEST(AtomicFile, AtMost64AtOnceAndThenAgain) {
  const TemporaryFolder folder;
  std::vector<std::unique_ptr<AtomicFile>> files;
  files.reserve(64);
  for (int i = 0; i < 64; ++i) files.push_back(std::make_unique<AtomicFile>(folder.file(std::to_string(i))));
  EXPECT_MENTIONS(error_of([&] { AtomicFile(folder.file("more")); }), "64 files");
  files.clear();
  EXPECT_TRUE(folder.names().empty());
  write_file(folder.file("more"), "x");
  EXPECT_EQ(read_raw(folder.file("more")), "x");
}

// The actions of a signal handler, in a child, because they end writing permanently.
TEST(AtomicFile, RemovePendingFilesLeavesNothingAndStopsWriting) {
  const TemporaryFolder folder;
  const pid_t child = fork();
  if (child == 0) {
    const AtomicFile first(folder.file("first"));
    const AtomicFile second(folder.file("second"));
    write_file(folder.file("done"), "kept");
    remove_pending_files();
    bool refused = false;
    try {
      const AtomicFile third(folder.file("third"));
    } catch (const Error& error) {
      refused = error.code() == ErrorCode::cancelled;
    }
    _exit(refused ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(folder.names(), std::vector<std::string>{"done"});
}

}  // namespace
}  // namespace holotone
