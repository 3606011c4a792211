#pragma once
// A TIFF file open for reading. Empty if HOLOTONE_TIFF is off. Not for users.
#include <holotone/io/images/tiff/tiff_handle_detail.hpp>
#if HOLOTONE_TIFF
#include <cstdint>
#include <holotone/io/file_bytes_detail.hpp>
#include <string_view>

namespace holotone::io {

/// The file, in memory or open, for libtiff's callbacks.
struct TiffSource {
  std::string_view bytes;
  const FileHandle* file = nullptr;
  std::uint64_t size = bytes.size();
  std::uint64_t position = 0;

  /// Reads bytes within `size`.
  [[nodiscard]] bool read(char* target, std::uint64_t count, std::uint64_t at) const;
};

/// A file in libtiff's hands, which keep pointers into this object, at its first directory. The bytes or the handle,
/// and `path`, must outlive it.
class TiffInput {
 public:
  /// Throws io for a file that libtiff cannot open.
  TiffInput(std::string_view bytes, std::string_view path);
  TiffInput(const FileHandle& file, std::uint64_t size, std::string_view path);
  TiffInput(const TiffInput&) = delete;
  TiffInput& operator=(const TiffInput&) = delete;

  [[nodiscard]] TIFF* get() const { return file_.get(); }
  [[nodiscard]] std::string_view path() const { return path_; }
  [[nodiscard]] std::uint64_t size() const { return source_.size; }
  [[nodiscard]] bool read(char* target, std::uint64_t count, std::uint64_t at) const {
    return source_.read(target, count, at);
  }
  /// Throws io with libtiff's message.
  [[noreturn]] void fail() const;
  /// Goes to the directory at this offset. Throws as fail.
  void enter(std::uint64_t directory) const;

 private:
  TiffInput(const TiffSource& source, std::uint64_t bytes_read, std::string_view path);

  std::string_view path_;
  TiffSource source_;
  TiffMessage message_;
  TiffHandle file_;
};

}  // namespace holotone::io
#endif
