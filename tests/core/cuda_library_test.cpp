// The search for CUDA's libraries, on small fake ones. Every test has a soname of its own, because a library that was
// found stays in the process.
#include <atomic>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <holotone/core/cuda.hpp>
#include <holotone/core/cuda_library.hpp>
#include <holotone/core/error.hpp>
#include <iterator>
#include <string>
#include <tests/support/paths.hpp>
#include <thread>
#include <unistd.h>
#include <vector>

extern "C" {
int holotone_fake_number();  // declared for their types: the addresses are loaded
int holotone_fake_other();
}

namespace holotone {
namespace {

namespace fs = std::filesystem;

#define HOLOTONE_FAKE(apply) apply(holotone_fake_number) apply(holotone_fake_other)
struct Fake {
  HOLOTONE_LIBRARY_FUNCTIONS(Fake, HOLOTONE_FAKE)
};

class CudaLibrary : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::path(testing::TempDir()) / fmt::format("holotone_fake_{}", ::getpid());
    fs::create_directories(root_);
  }
  void TearDown() override {
    set_cuda_library_folders({});
    fs::remove_all(root_);
  }

  /// Makes root_/folder/libholotone_fake_<letter>.so.<version>, whose holotone_fake_number is `number`.
  void put(const std::string& folder, char letter, char version, char number, const std::string& kind = "whole") {
    std::ifstream in(fs::path(build_folder()) / "tests" / fmt::format("libfake_library_{}.so", kind), std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(in)), {});
    ASSERT_FALSE(bytes.empty());
    replace(bytes, "libholotone_fake_0.so.2", fmt::format("libholotone_fake_{}.so.{}", letter, version));
    replace(bytes, "fake library 0", fmt::format("fake library {}", number));
    write(folder, letter, version, bytes);
  }
  void write(const std::string& folder, char letter, char version, const std::string& bytes) {
    fs::create_directories(root_ / folder);
    std::ofstream(root_ / folder / fmt::format("libholotone_fake_{}.so.{}", letter, version), std::ios::binary)
        << bytes;
  }
  static void replace(std::string& bytes, const std::string& from, const std::string& to) {
    const auto at = bytes.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    bytes.replace(at, from.size(), to);
  }

  void search_in(const std::vector<std::string>& folders) const {
    std::vector<std::string> paths;
    for (const auto& folder : folders) paths.push_back((root_ / folder).string());
    set_cuda_library_folders(paths);
  }
  static cuda::LibraryVersions versions(char letter) {
    return {"Fake",
            {fmt::format("libholotone_fake_{}.so.2", letter), fmt::format("libholotone_fake_{}.so.1", letter)},
            "holotone-fake"};
  }
  static int found(char letter) { return Fake(versions(letter)).holotone_fake_number(); }
  static std::string message(char letter) {
    try {
      found(letter);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unsupported);
      return error.what();
    }
    ADD_FAILURE() << "a library was found";
    return {};
  }

  fs::path root_;
};

TEST_F(CudaLibrary, TheFirstFolderThatHasItGivesIt) {
  put("b", 'a', '2', '3');
  put("c", 'a', '2', '4');
  search_in({"without", "b", "c"});
  const Fake fake(versions('a'));
  EXPECT_EQ(fake.holotone_fake_number(), 3);
  EXPECT_EQ(fake.holotone_fake_other(), 13);
}

TEST_F(CudaLibrary, AFolderComesBeforeAVersion) {
  put("b", 'b', '1', '5');
  put("c", 'b', '2', '6');
  put("c", 'b', '1', '7');
  search_in({"b", "c"});
  EXPECT_EQ(found('b'), 5);
}

TEST_F(CudaLibrary, TheBestVersionOfAFolderIsTaken) {
  put("b", 'c', '1', '5');
  put("b", 'c', '2', '6');
  search_in({"b"});
  EXPECT_EQ(found('c'), 6);
}

TEST_F(CudaLibrary, WhatTheProcessHasLoadedComesFirst) {
  put("first", 'd', '1', '1');
  put("second", 'd', '2', '2');
  search_in({"first"});
  EXPECT_EQ(found('d'), 1);
  search_in({"second"});
  EXPECT_EQ(found('d'), 1);
}

TEST_F(CudaLibrary, TheSystemIsSearchedAfterTheFolders) {
  // A library of the C library's package that this program does not use.
  const cuda::LibraryVersions system{"Locale", {"libBrokenLocale.so.1"}, "none"};
  EXPECT_EQ(cuda::load(system, {"__ctype_get_mb_cur_max"}).size(), 1u);
}

TEST_F(CudaLibrary, AMissingOneIsNamedWithEveryPlace) {
  search_in({"b", "c"});
  EXPECT_EQ(
      message('e'),
      fmt::format("Fake: expected libholotone_fake_e.so.2 or libholotone_fake_e.so.1 in {0}/b, {0}/c, the system's "
                  "folders or /usr/local/cuda/lib64, got none; install NVIDIA's CUDA toolkit, or in Python: pip "
                  "install holotone-fake",
                  root_.string()));
  put("c", 'e', '2', '8');
  EXPECT_EQ(found('e'), 8);  // searched again
}

TEST_F(CudaLibrary, ADamagedOneIsNamedAndPassedOver) {
  write("b", 'f', '2', "no library");
  search_in({"b"});
  const auto what = message('f');
  const auto path = (root_ / "b" / "libholotone_fake_f.so.2").string();
  EXPECT_NE(what.find("lib64, got " + path + ": "), std::string::npos) << what;  // and the loader's own words
  EXPECT_EQ(what.find('\n'), std::string::npos);
  put("c", 'f', '2', '2');
  search_in({"b", "c"});
  EXPECT_EQ(found('f'), 2);
}

TEST_F(CudaLibrary, OneWithoutAFunctionIsNamedAndPassedOver) {
  put("b", 'g', '2', '1', "partial");
  search_in({"b"});
  const auto what = message('g');
  const auto path = (root_ / "b" / "libholotone_fake_g.so.2").string();
  EXPECT_NE(what.find("got " + path + " lacks holotone_fake_other; install"), std::string::npos) << what;
  put("c", 'g', '2', '2');
  search_in({"b", "c"});
  EXPECT_EQ(found('g'), 2);
}

TEST_F(CudaLibrary, ThreadsThatLoadAtOnceGetTheSame) {
  put("b", 'h', '2', '6');
  std::atomic<int> right = 0;
  std::atomic<int> failed = 0;
  const auto functions = []() -> const Fake& {
    static const Fake table(versions('h'));
    return table;
  };
  const auto all_threads = [&](const std::vector<std::string>& folders) {
    search_in(folders);
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&] {
        try {
          right += functions().holotone_fake_other() == 16;
        } catch (const Error&) {
          ++failed;
        }
      });
    }
    for (int i = 0; i < 100; ++i) search_in(folders);
    for (auto& thread : threads) thread.join();
  };
  all_threads({});
  EXPECT_EQ(failed, 8);
  all_threads({"b"});
  EXPECT_EQ(right, 8);
}

}  // namespace
}  // namespace holotone
