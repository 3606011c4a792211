#pragma once
// Shared by the tests of io: folders, bytes, errors, mutated files and a child process that may crash.
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <holotone/core/error.hpp>
#include <holotone/core/random.hpp>
#include <iterator>
#include <string>
#include <vector>

namespace io_support {

/// A temporary folder, removed with the object.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "holotone_io_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp");
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
      result.push_back(entry.path().filename().string());
    }
    return result;
  }

 private:
  std::filesystem::path path_;
};

/// Replaces the file. Removing it first avoids the flush of ext4 for a truncated and rewritten file.
inline void write_raw(const std::string& path, const std::string& bytes) {
  std::remove(path.c_str());
  std::ofstream stream(path, std::ios::binary);
  stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

inline std::string read_raw(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

/// Little-endian bytes of a number.
template <class T>
std::string bytes_of(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

/// The message of the holotone::Error that `action` throws; a test failure and "" if it throws none.
template <class Action>
std::string error_of(const Action& action, holotone::ErrorCode code = holotone::ErrorCode::io) {
  try {
    action();
  } catch (const holotone::Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    std::string text = error.what();
    EXPECT_EQ(text.find('\n'), std::string::npos) << "more than one line: " << text;
    return text;
  }
  ADD_FAILURE() << "expected holotone::Error";
  return "";
}

#define EXPECT_MENTIONS(text, word) \
  EXPECT_NE((text).find(word), std::string::npos) << "no '" << (word) << "' in: " << (text)

/// Whether the child below has a limit of memory: sanitizers reserve terabytes of address space.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool memory_is_limited = false;
#else
inline constexpr bool memory_is_limited = true;
#endif

/// The file `seed` with damage number `index` of a fixed series: bits, bytes, numbers, pieces, the end.
std::string mutated(const std::string& seed, std::uint64_t index);

/// Result of a child process that read many files.
struct ChildReport {
  int accepted = 0;             ///< files read without an error
  int rejected = 0;             ///< files that threw holotone::Error
  int last = -1;                ///< index of the last file begun
  std::int64_t growth_kib = 0;  ///< of the peak resident memory
  std::string failure;          ///< reason for a failure of the child; empty if none
};

/// Modifies a mutated file so that damage passes a checksum; identity for most formats.
using Repair = std::function<void(std::string&)>;

/// Runs read(path) in a forked child on `count` mutations of `seed` (written to a file with `extension`). Limits: 512
/// MiB of additional address space (not with a sanitizer) and 100 s. Each read must return or throw holotone::Error, in
/// one line, not out_of_memory.
ChildReport survive_mutations(const std::string& seed, const std::string& extension, int count,
                              const std::function<void(const std::string&)>& read, const Repair& repair = {});

/// survive_mutations and its expectations: no failure, memory within 256 MiB, at least one file rejected.
void expect_survival(const std::string& name, const std::string& seed, const std::string& extension, int count,
                     const std::function<void(const std::string&)>& read, const Repair& repair = {});

/// Reads the file truncated at every sixteenth; each read must throw holotone::Error, or may succeed unless `strict`.
void expect_truncations_refused(const std::string& seed, const std::string& extension, bool strict,
                                const std::function<void(const std::string&)>& read);

}  // namespace io_support
