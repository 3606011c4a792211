#pragma once
// Reading and writing at a position of an open file. Not for users.
#include <cstdint>
#include <string>
#include <utility>

namespace holotone::io {

/// Closes a file when it goes out of scope.
class FileHandle {
 public:
  explicit FileHandle(int file = -1) : file_(file) {}
  ~FileHandle();
  FileHandle(FileHandle&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  FileHandle& operator=(FileHandle&& other) noexcept {
    std::swap(file_, other.file_);
    return *this;
  }
  FileHandle(const FileHandle&) = delete;
  FileHandle& operator=(const FileHandle&) = delete;
  [[nodiscard]] int get() const { return file_; }
  /// Gives the file to the caller, who closes it.
  [[nodiscard]] int release() { return std::exchange(file_, -1); }
  [[nodiscard]] bool valid() const { return file_ >= 0; }

 private:
  int file_;
};

/// Name under which a library opens the same file again, whatever may have taken the place of its `name` since; `name`
/// on a system without /proc.
std::string name_of_opened(int file, const std::string& name);

/// 16 hexadecimal digits for a name that nobody can guess. Throws io if the system has no random numbers.
std::string random_digits();

/// Writes all bytes; returns 0, or errno.
int write_at(const FileHandle& file, const char* data, std::uint64_t bytes, std::uint64_t position);

/// Lets the disk take written bytes while the program continues: fsync then has less to wait for. On Linux; an error is
/// fsync's to tell.
void begin_flush(const FileHandle& file, std::uint64_t bytes, std::uint64_t position);

/// Reads all bytes; returns 0, errno, or -1 if the file is shorter.
int read_at(const FileHandle& file, char* data, std::uint64_t bytes, std::uint64_t position);

}  // namespace holotone::io
