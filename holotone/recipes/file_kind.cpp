#include <algorithm>
#include <holotone/io/dots/dots_formats_detail.hpp>
#include <holotone/io/fields/field_file.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/file_format_detail.hpp>
#include <holotone/io/npy_detail.hpp>
#include <holotone/recipes/file_kind_detail.hpp>
#include <holotone/recipes/mixture_files.hpp>

namespace holotone {
namespace {

/// True if a file can hold nothing but dots: SVG, DAT, XY, a table that Holotone wrote or without z.
bool is_dots_file(const std::string& path) {
  const auto format = io::file_format(path);
  if (io::includes(io::formats::dots_alone, format)) return true;
  constexpr std::string_view own_comment = "# Holotone dots";
  if (!io::includes(io::formats::tables_of_either, format)) return false;
  constexpr std::size_t heading_bytes = 4096;
  const auto bytes = io::read_first_bytes(path, heading_bytes);
  return bytes.starts_with(own_comment) || io::begins_as_dots(bytes);
}

/// Complex is a field; real {n, 2} dots, {n, 3} and {n, 4} points.
FileKind kind_of_npy(const std::string& path) {
  const auto header = io::read_npy_header(path);
  const auto columns = header.shape.size() == 2 ? header.shape[1] : 0;
  if (header.kind == 'c') return FileKind::field;
  if (columns < 2 || columns > 4) return FileKind::array;
  return columns == 2 ? FileKind::dots : FileKind::points;
}

}  // namespace

FileKind file_kind(const std::string& path) {
  if (is_dots_file(path)) return FileKind::dots;
  if (is_mixture_name(path)) return FileKind::model;
  if (io::has_format(path, io::formats::pictures)) return FileKind::picture;
  if (io::has_format(path, io::FileFormat::npy)) return kind_of_npy(path);
  if (is_field_name(path) || is_hdf5(path)) return FileKind::field;
  return FileKind::points;
}

}  // namespace holotone
