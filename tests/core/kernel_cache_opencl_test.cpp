// Compiled OpenCL kernels on disk: kept, made again where a file is no good, shared by processes.
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <holotone/core/crc32.hpp>
#include <sys/stat.h>
#include <tests/support/own_context_opencl.hpp>
#include <tests/support/program.hpp>

namespace {

namespace fs = std::filesystem;
using holotone::test::content_of;
using support::OwnContext;

/// A folder for each test. The library keeps programs for each context, so a new context reads the folder again.
class KernelCache : public support::OnOpencl {
 protected:
  void SetUp() override {
    OnOpencl::SetUp();
    fs::create_directories(folder_);
    fs::permissions(folder_, fs::perms::owner_all);  // under any umask
  }
  void TearDown() override {
    holotone::set_opencl_cache("");
    fs::remove_all(folder_);
  }

  void encode_in_a_new_context() const { support::expect_codes(OwnContext(devices().front()).borrow()); }

  /// Kernels are kept for both widths of codes.
  [[nodiscard]] std::vector<fs::path> kept() const {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder_)) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
  }

  /// Replaces every file by change(its content); encodes; returns how many files are as they were before the change.
  template <class Change>
  std::size_t made_again(const Change& change) const {
    holotone::set_opencl_cache(folder_);
    encode_in_a_new_context();
    const auto files = kept();
    EXPECT_EQ(files.size(), 2u);
    std::vector<std::string> good;
    for (const auto& file : files) {
      good.push_back(content_of(file));
      std::ofstream(file, std::ios::binary) << change(good.back());
    }
    encode_in_a_new_context();
    encode_in_a_new_context();
    EXPECT_EQ(kept(), files);
    std::size_t same = 0;
    for (std::size_t i = 0; i < files.size(); ++i) {
      // The same head: mark, checksum, lengths of identity and code. Machine code may hold names of the driver's.
      const std::string now = content_of(files[i]);
      same += now.size() > 1000 && now.substr(0, 18) == good[i].substr(0, 18) && now != change(good[i]) ? 1 : 0;
    }
    return same;
  }

  std::string folder_ = (fs::temp_directory_path() / fmt::format("holotone_kernels_{}", ::getpid())).string();
};

TEST_F(KernelCache, KernelsAreKeptAndRead) {
  holotone::set_opencl_cache(folder_ + "/made/at/need");
  encode_in_a_new_context();
  EXPECT_TRUE(fs::exists(folder_ + "/made/at/need"));
  holotone::set_opencl_cache(folder_);
  encode_in_a_new_context();
  fs::remove_all(folder_ + "/made");
  const auto files = kept();
  ASSERT_EQ(files.size(), 2u);
  const auto written = fs::last_write_time(files[0]);
  encode_in_a_new_context();
  EXPECT_EQ(kept(), files);
  EXPECT_EQ(fs::last_write_time(files[0]), written);
}

TEST_F(KernelCache, ForeignAndTruncatedFilesAreMadeAgain) {
  EXPECT_EQ(made_again([](const std::string&) { return std::string("a file of somebody else\n"); }), 2u);
  EXPECT_EQ(made_again([](const std::string&) { return std::string(); }), 2u);
  EXPECT_EQ(made_again([](const std::string& good) { return good.substr(0, good.size() / 2); }), 2u);
  EXPECT_EQ(made_again([](std::string good) {
              good[good.size() / 2] ^= 1;
              return good;
            }),
            2u);
}

/// A cache file with its checksum: identity and code of other lengths or content.
std::string packed(const std::string& identity, const std::string& code) {
  const std::string body = fmt::format("{} {}\n", identity.size(), code.size()) + identity + code;
  const auto sum = holotone::crc32(std::as_bytes(std::span(body.data(), body.size())));
  return fmt::format("holotone kernel 1\n{:08x}\n", sum) + body;
}

/// Identity and code of a good file.
std::pair<std::string, std::string> unpacked(const std::string& good) {
  const std::size_t begin = good.find('\n', 18) + 1;
  const std::size_t body = good.find('\n', begin) + 1;
  const std::size_t identity = std::stoul(good.substr(begin));
  return {good.substr(body, identity), good.substr(body + identity)};
}

TEST_F(KernelCache, WhatIsNoFileIsIgnored) {
  holotone::set_opencl_cache(folder_);
  encode_in_a_new_context();
  const auto files = kept();
  ASSERT_EQ(files.size(), 2u);
  const auto replaced_by = [&](const auto& make) {
    for (const auto& file : files) {
      fs::remove_all(file);
      make(file);
    }
    encode_in_a_new_context();
  };
  replaced_by([](const fs::path& path) { fs::create_directory(path); });
  replaced_by([](const fs::path& path) { ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0); });
  replaced_by([](const fs::path& path) { fs::create_symlink("/dev/zero", path); });
  replaced_by([](const fs::path& path) {  // larger than the machine's memory
    std::ofstream(path) << "holotone kernel 1\n";
    fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
    fs::resize_file(path, std::uintmax_t{1} << 40);
  });
}

TEST_F(KernelCache, StaleFilesAreMadeAgain) {
  const auto stale = [](const std::string& good) {
    auto [identity, code] = unpacked(good);
    EXPECT_EQ(packed(identity, code), good);
    identity[3] ^= 1;  // another driver
    return packed(identity, code);
  };
  EXPECT_EQ(made_again(stale), 2u);
}

TEST_F(KernelCache, CodeThatTheDriverRefusesIsMadeAgain) {
  EXPECT_EQ(made_again([](const std::string& good) { return packed(unpacked(good).first, "no machine's code"); }), 2u);
}

TEST_F(KernelCache, FoldersThatCannotBeWrittenAreIgnored) {
  std::ofstream(folder_ + "/file") << "not a folder";
  for (const auto& folder : {folder_ + "/file/cache", std::string("/proc/holotone")}) {
    holotone::set_opencl_cache(folder);
    encode_in_a_new_context();
  }
  fs::permissions(folder_, fs::perms::owner_read | fs::perms::owner_exec);
  holotone::set_opencl_cache(folder_);
  encode_in_a_new_context();
  fs::permissions(folder_, fs::perms::owner_all);
}

}  // namespace
