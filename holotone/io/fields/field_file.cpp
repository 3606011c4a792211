#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/io/fields/field_file.hpp>
#include <holotone/io/fields/field_formats_detail.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/file_format_detail.hpp>
#include <holotone/io/npy_detail.hpp>
#include <holotone/io/text_reader_detail.hpp>

namespace holotone {
namespace {

constexpr std::string_view hdf5_signature("\x89HDF\r\n\x1a\n", 8);

}  // namespace

bool is_hdf5(const std::string& path) {
  return io::has_format(path, io::FileFormat::hdf5 | io::FileFormat::mat) ||
         io::read_first_bytes(path, hdf5_signature.size()) == hdf5_signature;
}

bool is_field_name(std::string_view path) { return io::has_format(path, io::formats::fields); }

FieldFile read_field(const std::string& path) {
  if (is_hdf5(path)) return io::read_hdf5(path);
  const std::string bytes =
      io::read_bytes_if(path, [](std::string_view first) { return io::is_npy(first) || io::is_ohc(first); });
  if (io::is_npy(bytes)) return io::read_npy_field(bytes, path);
  if (io::is_ohc(bytes)) return io::read_ohc(bytes, path);
  throw_io(path, "a field: HDF5, NPY or OHC", "a file that begins " + io::in_quotes(bytes.substr(0, 8)));
}

void write_field(const std::string& path, const FieldFile& field) {
  if (field.values.empty()) throw_argument("write_field", "values", "at least 1 value", "an empty field");
  const auto format = io::file_format(path);
  if (format == io::FileFormat::hdf5) return io::write_hdf5(path, field);
  if (format == io::FileFormat::npy) return io::write_npy_field(path, field);
  if (format == io::FileFormat::ohc) return io::write_ohc(path, field);
  io::throw_format(path, io::formats::fields, "a field");
}

namespace io {

Array<std::complex<float>, 2> make_field(std::uint64_t ny, std::uint64_t nx, std::string_view path) {
  constexpr auto most = static_cast<std::uint64_t>(maximum_field_bytes) / sizeof(std::complex<float>);
  if (ny == 0 || nx == 0 || ny > most / nx) {
    throw_io(path, fmt::format("1 to {} values", most), fmt::format("shape {{{}, {}}}", ny, nx));
  }
  return Array<std::complex<float>, 2>({static_cast<std::int64_t>(ny), static_cast<std::int64_t>(nx)});
}

std::string number_text(double value) { return fmt::format("{}", value); }

bool metadata_number(const Metadata& metadata, const std::string& key, double& value) {
  const auto entry = metadata.find(key);
  return entry != metadata.end() && parse_number(entry->second, value);
}

}  // namespace io
}  // namespace holotone
