#pragma once
// Reads bytes of a file and numbers from them, for the readers of this module. Not for users.
#include <bit>
#include <cstdint>
#include <cstring>
#include <holotone/io/file_handle_detail.hpp>
#include <string>
#include <string_view>
#include <type_traits>

namespace holotone::io {

/// "a folder of 12 files such as '0001.png'", what an error says of a folder in the place of a file.
std::string describe_folder(const std::string& path);

/// Opens a regular, non-empty file for reading and sets `bytes` to its length. Throws io.
FileHandle open_file(const std::string& path, std::uint64_t& bytes);

/// Reads `bytes` bytes from `position`. Throws io if the file is shorter.
void require_bytes(const FileHandle& file, char* data, std::uint64_t bytes, std::uint64_t position,
                   const std::string& path);

/// The same by all CPU threads: one copies from the system's cache slower than memory is.
void require_bytes_by_all(const FileHandle& file, char* data, std::uint64_t bytes, std::uint64_t position,
                          const std::string& path);

/// Returns the whole of a regular file. Throws io if it is missing, empty, a folder or a device, larger than free
/// memory, or not readable.
std::string read_bytes(const std::string& path);

/// The same of a text file of at most 4 MiB, such as a table of a panel's codes.
std::string read_text(const std::string& path);

/// As read_bytes if `accept` returns true for the first 512 bytes; otherwise returns only these, for the error.
std::string read_bytes_if(const std::string& path, bool (*accept)(std::string_view));

/// Returns the first `count` bytes, or fewer if the file is shorter; throws as read_bytes.
std::string read_first_bytes(const std::string& path, std::size_t count);

/// Throws io unless `name` is that of a readable file, or of a part of one (file_part_detail.hpp).
void require_input(const std::string& name);

/// Returns a count with its noun: "3 bytes", "1 byte".
std::string counted(std::uint64_t count, std::string_view singular);

/// Returns a short printable form of bytes from a file, for error messages.
std::string in_quotes(std::string_view text);

/// Returns the number of type T from the bytes at `data` in the given order.
template <class T>
T load(const char* data, std::endian order) {
  static_assert(std::is_arithmetic_v<T>);
  char bytes[sizeof(T)];
  if (order == std::endian::native) {
    std::memcpy(bytes, data, sizeof(T));
  } else {
    for (std::size_t i = 0; i < sizeof(T); ++i) bytes[i] = data[sizeof(T) - 1 - i];
  }
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

/// Appends the little-endian bytes of a number.
template <class T>
void store(std::string& bytes, T value) {
  static_assert(std::is_arithmetic_v<T>);
  char raw[sizeof(T)];
  std::memcpy(raw, &value, sizeof(T));
  if constexpr (std::endian::native == std::endian::big) {
    for (std::size_t i = 0; i < sizeof(T) / 2; ++i) std::swap(raw[i], raw[sizeof(T) - 1 - i]);
  }
  bytes.append(raw, sizeof(T));
}

/// Reads numbers in sequence; throws io with the file and the byte if the data are too short.
class ByteReader {
 public:
  ByteReader(std::string_view bytes, std::string_view path, std::endian order)
      : bytes_(bytes), path_(path), order_(order) {}
  [[nodiscard]] std::size_t position() const { return position_; }
  [[nodiscard]] std::size_t remaining() const { return bytes_.size() - position_; }
  template <class T>
  T take(std::string_view what) {
    return load<T>(take_bytes(sizeof(T), what).data(), order_);
  }
  std::string_view take_bytes(std::size_t count, std::string_view what) {
    if (count > remaining()) fail_short(count, what);
    const auto result = bytes_.substr(position_, count);
    position_ += count;
    return result;
  }

 private:
  [[noreturn]] void fail_short(std::size_t count, std::string_view what) const;
  std::string_view bytes_;
  std::string_view path_;
  std::endian order_;
  std::size_t position_ = 0;
};

}  // namespace holotone::io
