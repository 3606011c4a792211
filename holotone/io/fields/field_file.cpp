#include <algorithm>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/io/fields/field_file.hpp>
#include <holotone/io/fields/field_formats_detail.hpp>
#include <holotone/io/fields/field_numbers_detail.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/file_format_detail.hpp>
#include <holotone/io/images/image.hpp>
#include <holotone/io/images/image_formats_detail.hpp>
#include <holotone/io/npy_detail.hpp>
#include <holotone/io/text_reader_detail.hpp>

namespace holotone {
namespace {

constexpr std::string_view hdf5_signature("\x89HDF\r\n\x1a\n", 8);

/// True if HDF5's signature is at byte 0, or behind a user block of 512, 1024 or 2048 bytes.
bool has_signature(const std::string& file) {
  const std::string first = io::read_first_bytes(file, 2048 + hdf5_signature.size());
  for (const std::size_t at : {0, 512, 1024, 2048}) {
    if (first.size() >= at + hdf5_signature.size() && first.compare(at, hdf5_signature.size(), hdf5_signature) == 0) {
      return true;
    }
  }
  return false;
}

bool is_picture(std::string_view bytes) {
  return io::is_png(bytes) || io::is_tiff(bytes) || io::is_jpeg(bytes) || io::is_bmp(bytes);
}

io::FieldNumbers to_numbers(FieldFile field) {
  io::FieldNumbers numbers;
  numbers.values = std::move(field.values);
  numbers.metadata = std::move(field.metadata);
  return numbers;
}

/// Numbers of a picture of one channel, its codes from 0 to 1.
io::FieldNumbers read_picture_numbers(const std::string& path) {
  const Image image = read_image(path);
  const auto shape = shape_of(image);
  if (shape[2] != 1) throw_io(path, "a picture of one channel", fmt::format("{}", shape[2]));
  io::FieldNumbers numbers;
  numbers.whole = !std::holds_alternative<Array<float, 3>>(image.pixels);
  numbers.type = numbers.whole ? "codes" : "float32";
  numbers.metadata = image.metadata;
  numbers.notes = image.notes;
  numbers.real = Array<double, 2>({shape[0], shape[1]});
  const auto values = to_float(image);
  std::ranges::copy(values.host(), numbers.real.data());
  return numbers;
}

}  // namespace

bool is_hdf5(const std::string& path) {
  return io::has_format(path, io::FileFormat::hdf5 | io::FileFormat::mat) || has_signature(io::split_part(path).file);
}

bool is_field_name(std::string_view path) { return io::has_format(path, io::formats::fields); }

FieldFile read_field(const std::string& path, const FieldReadOptions& options) {
  return io::compose_field(path, options, io::read_numbers);
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

FieldNumbers read_numbers(const std::string& path) {
  const FilePart named = split_part(path);
  if (is_matlab5(named.file, path)) return read_matlab5(path);
  if (is_hdf5(path)) return read_hdf5_numbers(path);
  const std::string bytes =
      read_bytes_if(named.file, [](std::string_view first) { return is_npy(first) || is_ohc(first); });
  if (is_picture(bytes)) return read_picture_numbers(path);
  if (!named.part.empty() && (is_npy(bytes) || is_ohc(bytes))) {
    throw_io(path, "a part of an HDF5, MATLAB or TIFF file", fmt::format("{}, which has no parts", named.file));
  }
  if (is_npy(bytes)) return read_npy_numbers(bytes, path);
  if (is_ohc(bytes)) return to_numbers(read_ohc(bytes, path));
  throw_io(path, "a field: HDF5, MATLAB, NPY, OHC or float TIFF",
           "a file that begins " + in_quotes(bytes.substr(0, 8)));
}

Array<double, 2> make_real(std::uint64_t ny, std::uint64_t nx, std::string_view path) {
  constexpr auto most = static_cast<std::uint64_t>(maximum_field_bytes) / sizeof(double);
  if (ny == 0 || nx == 0 || ny > most / nx) {
    throw_io(path, fmt::format("1 to {} numbers", most), fmt::format("shape {{{}, {}}}", ny, nx));
  }
  return Array<double, 2>({static_cast<std::int64_t>(ny), static_cast<std::int64_t>(nx)});
}

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
