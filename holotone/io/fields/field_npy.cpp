#include <complex>
#include <cstring>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/io/atomic_file.hpp>
#include <holotone/io/fields/field_formats_detail.hpp>
#include <holotone/io/fields/field_numbers_detail.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/npy_detail.hpp>

namespace holotone::io {

namespace {

void require_matrix(const NpyHeader& header, std::string_view path) {
  if (header.shape.size() == 2) return;
  throw_io(path, "an array of shape {ny, nx}", header.type + " of shape " + header.shape_text());
}

/// "float32" of "<f4".
std::string type_text(const NpyHeader& header) {
  const std::string_view kind = header.kind == 'f' ? "float" : header.kind == 'u' ? "uint" : "int";
  return fmt::format("{}{}", kind, 8 * header.item_bytes);
}

}  // namespace

FieldLayout npy_layout(const std::string& path) {
  const NpyHeader header = read_npy_header(path);
  require_matrix(header, path);
  FieldLayout layout;
  if (header.kind != 'c') layout.real_type = type_text(header);
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

FieldNumbers read_npy_numbers(std::string_view bytes, std::string_view path) {
  const NpyHeader header = parse_npy_header(bytes, path);
  require_matrix(header, path);
  FieldNumbers numbers;
  const char* data = bytes.data() + header.data_begin;
  const auto each = [&](std::int64_t ny, std::int64_t nx, const auto& store_one) {
    for (std::int64_t row = 0; row < ny; ++row) {
      for (std::int64_t col = 0; col < nx; ++col) {
        const auto at = static_cast<std::size_t>(header.fortran_order ? col * ny + row : row * nx + col);
        store_one(row, col, data + at * header.item_bytes);
      }
    }
  };
  if (header.kind == 'c') {
    const std::size_t half = header.item_bytes / 2;
    numbers.values = make_field(header.shape[0], header.shape[1], path);
    const auto [ny, nx] = numbers.values.shape();
    each(ny, nx, [&](std::int64_t row, std::int64_t col, const char* item) {
      numbers.values(row, col) = {static_cast<float>(load_npy_number(item, 'f', half, header.order)),
                                  static_cast<float>(load_npy_number(item + half, 'f', half, header.order))};
    });
    return numbers;
  }
  numbers.type = type_text(header);
  numbers.whole = header.kind != 'f';
  numbers.real = make_real(header.shape[0], header.shape[1], path);
  const auto [ny, nx] = numbers.real.shape();
  each(ny, nx, [&](std::int64_t row, std::int64_t col, const char* item) {
    numbers.real(row, col) = load_npy_number(item, header.kind, header.item_bytes, header.order);
  });
  note_largest_values(numbers, numbers.type, path);
  return numbers;
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
