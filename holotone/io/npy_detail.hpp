#pragma once
// The header of NumPy's .npy files, versions 1 to 3 (numpy.lib.format). Not for users.
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace holotone::io {

struct NpyHeader {
  char kind = 'f';             ///< 'f' float, 'c' complex, 'i' signed, 'u' unsigned
  std::size_t item_bytes = 4;  ///< bytes of one element
  std::endian order = std::endian::little;
  bool fortran_order = false;  ///< first index varies fastest
  std::vector<std::uint64_t> shape;
  std::size_t data_begin = 0;
  /// Type as in the file: "<c8".
  std::string type;
  /// Shape as text: "{3, 4}".
  [[nodiscard]] std::string shape_text() const;
};

bool is_npy(std::string_view bytes);

/// Throws io for a malformed header, a type that is not a plain number, or a shape that differs from the file's size.
NpyHeader parse_npy_header(std::string_view bytes, std::string_view path);

/// Parses the header as above, from the first `bytes` of a file of `file_bytes`.
NpyHeader parse_npy_header(std::string_view bytes, std::uint64_t file_bytes, std::string_view path);

/// Reads only the header of a file. Throws io for a header of more than 1 MiB.
NpyHeader read_npy_header(const std::string& path);

/// Returns a version 1.0 header (a multiple of 64 bytes) for a C-ordered array.
std::string npy_header(std::string_view type, const std::vector<std::int64_t>& shape);

/// Returns a real number of the header's kind at `data`, as double.
double load_npy_number(const char* data, char kind, std::size_t item_bytes, std::endian order);

}  // namespace holotone::io
