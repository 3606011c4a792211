#include <complex>
#include <cstring>
#include <holotone/core/error.hpp>
#include <holotone/io/atomic_file.hpp>
#include <holotone/io/fields/field_formats_detail.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/npy_detail.hpp>

namespace holotone::io {

namespace {

void require_field(const NpyHeader& header, std::string_view path) {
  if (header.kind != 'c' || header.shape.size() != 2) {
    const bool phases = header.kind == 'f' && header.shape.size() == 2;
    throw_io(path, "complex numbers of shape {ny, nx}",
             header.type + " of shape " + header.shape_text() +
                 (phases ? "; for phases in radians save numpy.exp(1j * phase)" : ""));
  }
}

}  // namespace

FieldLayout npy_layout(const std::string& path) {
  const NpyHeader header = read_npy_header(path);
  require_field(header, path);
  FieldLayout layout;
  // The product agrees with the file's size: neither extent is near 2^63 unless the other is 0, which check_layout
  // refuses.
  layout.shape = {static_cast<std::int64_t>(header.shape[0]), static_cast<std::int64_t>(header.shape[1])};
  layout.data_begin = header.data_begin;
  layout.value_bytes = header.item_bytes;
  layout.number_bytes = header.item_bytes / 2;
  layout.imaginary_at = layout.number_bytes;
  layout.order = header.order;
  layout.columns_first = header.fortran_order;
  return layout;
}

FieldFile read_npy_field(std::string_view bytes, std::string_view path) {
  const NpyHeader header = parse_npy_header(bytes, path);
  require_field(header, path);
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
