#include <complex>
#include <cstring>
#include <holotone/core/error.hpp>
#include <holotone/io/atomic_file.hpp>
#include <holotone/io/field_formats_detail.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/npy_detail.hpp>

namespace holotone::io {

FieldFile read_npy_field(std::string_view bytes, std::string_view path) {
  const NpyHeader header = parse_npy_header(bytes, path);
  if (header.kind != 'c' || header.shape.size() != 2) {
    throw_io(path, "complex numbers of shape {ny, nx}", header.type + " of shape " + header.shape_text());
  }
  FieldFile field;
  field.values = make_field(header.shape[0], header.shape[1], path);
  const std::int64_t ny = field.values.shape()[0];
  const std::int64_t nx = field.values.shape()[1];
  const std::size_t half = header.item_bytes / 2;
  const char* data = bytes.data() + header.data_begin;
  for (std::int64_t row = 0; row < ny; ++row) {
    for (std::int64_t col = 0; col < nx; ++col) {
      const auto at = static_cast<std::size_t>(header.fortran_order ? col * ny + row : row * nx + col);
      const char* item = data + at * header.item_bytes;
      field.values(row, col) = {static_cast<float>(load_npy_number(item, 'f', half, header.order)),
                                static_cast<float>(load_npy_number(item + half, 'f', half, header.order))};
    }
  }
  return field;
}

void write_npy_field(const std::string& path, const FieldFile& field) {
  const auto shape = field.values.shape();
  std::string bytes = npy_header("<c8", {shape[0], shape[1]});
  bytes.reserve(bytes.size() + field.values.bytes());
  for (const auto& value : field.values.host()) {
    store(bytes, value.real());
    store(bytes, value.imag());
  }
  write_file(path, bytes);
}

}  // namespace holotone::io
