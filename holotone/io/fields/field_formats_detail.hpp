#pragma once
// Readers and writers of read_field and write_field. Not for users.
#include <bit>
#include <cstdint>
#include <holotone/io/fields/field_file.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace holotone::io {

void write_npy_field(const std::string& path, const FieldFile& field);

bool is_ohc(std::string_view bytes);
FieldFile read_ohc(std::string_view bytes, std::string_view path);
void write_ohc(const std::string& path, const FieldFile& field);

void write_hdf5(const std::string& path, const FieldFile& field);

/// Creates the file of write_hdf5 without its values in the file `temporary`; returns the offset of the values.
/// `path` is for errors.
std::uint64_t create_hdf5(const std::string& temporary, Shape<2> shape, const Metadata& metadata,
                          const std::string& path);

/// Position of a field's values in its file.
struct FieldLayout {
  Shape<2> shape{};
  Metadata metadata;
  bool packed = false;          ///< chunked, or of a type that only libhdf5 converts: the offsets below do not apply
  std::int64_t chunk_rows = 1;  ///< number of rows unpacked together if packed
  std::uint64_t data_begin = 0;
  std::uint64_t value_bytes = 8;  ///< distance between values
  std::uint64_t real_at = 0;      ///< byte offset of the real part within a value
  std::uint64_t imaginary_at = 4;
  std::uint64_t number_bytes = 4;  ///< 4: float32, 8: float64
  std::endian order = std::endian::little;
  bool columns_first = false;  ///< the first index varies fastest
  std::string real_type = {};  ///< of real numbers, "float32": their values are read as FieldNumbers
  std::vector<std::string> notes = {};
};

/// Throws io unless the layout has at least 1 value and, if it is not packed, ends within `file_bytes`.
void check_layout(const FieldLayout& layout, std::uint64_t file_bytes, std::string_view path);

FieldLayout npy_layout(const std::string& path);
FieldLayout hdf5_layout(const std::string& path);
/// Reads `count` rows from `first_row`, without metadata, for any layout.
FieldFile read_hdf5_rows(const std::string& path, std::int64_t first_row, std::int64_t count);

/// The two functions above in a child `program` (io/guarded/guarded.hpp), or in this process if it is empty. Defined in
/// guarded.cpp.
FieldLayout hdf5_layout_guarded(const std::string& path, const std::string& program);
FieldFile read_hdf5_rows_guarded(const std::string& path, const std::string& program, std::int64_t first_row,
                                 Shape<2> shape);

/// Returns an uninitialised field. Throws io unless each extent is at least 1 and the size at most maximum_field_bytes.
Array<std::complex<float>, 2> make_field(std::uint64_t ny, std::uint64_t nx, std::string_view path);

/// Returns the shortest text of a number that reads back as the same number: "5.32e-07".
std::string number_text(double value);

/// Parses a metadata value as a number. Returns false if it is not one.
bool metadata_number(const Metadata& metadata, const std::string& key, double& value);

}  // namespace holotone::io
