#include <array>
#include <cmath>
#include <complex>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/io/atomic_file.hpp>
#include <holotone/io/fields/field_formats_detail.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <numbers>

// OpenHolo's complex field file: packed little-endian structures, a table of wavelengths, then two numbers per pixel
// (amplitude and phase, or real and imaginary part), side by side, row by row. The format states neither the distance
// nor the sign of the phase.
namespace holotone::io {
namespace {

enum FieldType : std::uint8_t { float32_type = 9, float64_type = 10 };
enum FieldCode : std::uint8_t { amplitude_phase = 1, real_imaginary = 2 };
enum FieldStore : std::uint8_t { direct_store = 1 };
enum LengthUnit : std::uint8_t { metre = 1, centimetre, millimetre, micrometre, nanometre };
constexpr std::uint32_t file_header_bytes = 24;
constexpr std::uint32_t field_header_bytes = 65;

double metres_per(std::uint8_t unit, std::string_view what, std::string_view path) {
  constexpr std::array<double, 6> metres = {0, 1, 1e-2, 1e-3, 1e-6, 1e-9};
  if (unit < metre || unit > nanometre) {
    throw_io(path, fmt::format("unit 1 to 5 (m, cm, mm, um, nm) of the {}", what), fmt::format("{}", unit));
  }
  return metres[unit];
}

struct OhcHeader {
  std::uint32_t data_offset = 0;
  std::uint32_t nx = 0;
  std::uint32_t ny = 0;
  double pitch_x_m = 0;
  double pitch_y_m = 0;
  double wavelength_m = 0;
  std::uint8_t type = float32_type;
  std::uint8_t code = real_imaginary;
  std::uint8_t phase_coded = 0;
  double phase_min = 0;
  double phase_max = 0;
};

template <class T>
void require_value(T got, T expected, std::string_view what, std::string_view path) {
  if (got != expected) throw_io(path, fmt::format("{} {}", what, expected), fmt::format("{}", got));
}

OhcHeader take_header(ByteReader& reader, std::string_view path) {
  OhcHeader header;
  reader.take_bytes(2, "OHC signature");
  reader.take<std::uint64_t>("file size");  // OpenHolo's own files do not always agree with it
  reader.take_bytes(2 + 8, "version");
  header.data_offset = reader.take<std::uint32_t>("offset of the field");
  reader.take<std::uint32_t>("field header size");
  header.nx = reader.take<std::uint32_t>("columns");
  header.ny = reader.take<std::uint32_t>("rows");
  header.pitch_x_m = reader.take<double>("pitch");
  header.pitch_y_m = reader.take<double>("pitch");
  const double pitch_unit = metres_per(reader.take<std::uint8_t>("pitch unit"), "pitch", path);
  header.pitch_x_m *= pitch_unit;
  header.pitch_y_m *= pitch_unit;
  if (header.pitch_y_m != header.pitch_x_m) {
    throw_io(path, "square pixels (pxPitchX = pxPitchY)",
             fmt::format("{:g} m x {:g} m", header.pitch_x_m, header.pitch_y_m));
  }
  require_value(reader.take<std::uint32_t>("number of wavelengths"), 1u, "number of wavelengths", path);
  reader.take_bytes(2, "colour type and arrangement");
  const double wavelength_unit = metres_per(reader.take<std::uint8_t>("wavelength unit"), "wavelength", path);
  header.type = reader.take<std::uint8_t>("number type");
  const auto store_kind = reader.take<std::uint8_t>("field store");
  header.code = reader.take<std::uint8_t>("field code");
  header.phase_coded = reader.take<std::uint8_t>("phase code");
  header.phase_min = reader.take<double>("phase code minimum");
  header.phase_max = reader.take<double>("phase code maximum");
  reader.take<std::uint64_t>("field size");
  const auto compression = reader.take<std::uint8_t>("compression");
  header.wavelength_m = reader.take<double>("wavelength") * wavelength_unit;
  if (header.type != float32_type && header.type != float64_type) {
    throw_io(path, "float32 or float64 numbers (type 9 or 10)", fmt::format("type {}", header.type));
  }
  if (header.code != amplitude_phase && header.code != real_imaginary) {
    throw_io(path, "amplitude and phase or real and imaginary part (field code 1 or 2)",
             fmt::format("code {}", header.code));
  }
  require_value<unsigned>(store_kind, direct_store, "field store", path);
  require_value<unsigned>(compression, 0, "compression", path);
  return header;
}

double load_float(const char* data, std::size_t bytes) {
  return bytes == 4 ? static_cast<double>(load<float>(data, std::endian::little))
                    : load<double>(data, std::endian::little);
}

// Offset of the field data: that of the header, or the end of the wavelength table if the header has 0.
std::size_t data_begin(const OhcHeader& header, const ByteReader& reader, std::string_view path) {
  if (header.data_offset == 0) return reader.position();
  if (header.data_offset < reader.position()) {
    throw_io(path, fmt::format("field data from byte {}", reader.position()),
             fmt::format("an offset of {}", header.data_offset));
  }
  return header.data_offset;
}

}  // namespace

bool is_ohc(std::string_view bytes) { return bytes.starts_with("OH"); }

FieldFile read_ohc(std::string_view bytes, std::string_view path) {
  ByteReader reader(bytes, path, std::endian::little);
  const OhcHeader header = take_header(reader, path);
  const std::size_t begin = data_begin(header, reader, path);
  const std::size_t number = header.type == float32_type ? 4 : 8;
  const std::uint64_t available = begin <= bytes.size() ? (bytes.size() - begin) / (2 * number) : 0;
  const std::uint64_t needed = std::uint64_t{header.nx} * header.ny;
  if (needed != available) {
    throw_io(path, fmt::format("{} values of shape {{{}, {}}}", needed, header.ny, header.nx),
             fmt::format("bytes for {}", available));
  }
  FieldFile field;
  field.values = make_field(header.ny, header.nx, path);
  // A phase code of phase_min..phase_max means 0..2 pi.
  const double span = header.phase_max - header.phase_min;
  const bool coded = header.code == amplitude_phase && header.phase_coded != 0 && std::isfinite(span) && span > 0;
  const double scale = coded ? 2 * std::numbers::pi / span : 1;
  const double shift = coded ? header.phase_min : 0;
  const char* item = bytes.data() + begin;
  for (auto& value : field.values.host()) {
    const double first = load_float(item, number);
    const double second = load_float(item + number, number);
    item += 2 * number;
    if (header.code == real_imaginary) {
      value = {static_cast<float>(first), static_cast<float>(second)};
    } else {
      const double angle = (second - shift) * scale;
      value = {static_cast<float>(first * std::cos(angle)), static_cast<float>(first * std::sin(angle))};
    }
  }
  field.metadata["wavelength_m"] = number_text(header.wavelength_m);
  field.metadata["pitch_m"] = number_text(header.pitch_x_m);
  return field;
}

void write_ohc(const std::string& path, const FieldFile& field) {
  double wavelength_m = 0;
  double pitch_m = 0;
  for (auto [key, value] : {std::pair{"wavelength_m", &wavelength_m}, std::pair{"pitch_m", &pitch_m}}) {
    if (!metadata_number(field.metadata, key, *value)) {
      throw_argument("write_field", "metadata", fmt::format("a number {} (OHC needs it)", key), "none");
    }
  }
  const auto shape = field.values.shape();
  if (shape[0] > UINT32_MAX || shape[1] > UINT32_MAX) {
    throw_argument("write_field", "values", "extents below 2^32 (OHC)", to_string<2>(shape));
  }
  const std::uint32_t offset = file_header_bytes + field_header_bytes + 8;
  std::string bytes = "OH";
  bytes.reserve(offset + field.values.bytes());
  store(bytes, std::uint64_t{offset} + field.values.bytes());
  store(bytes, std::uint8_t{1});
  store(bytes, std::uint8_t{0});
  store(bytes, std::uint64_t{0});  // two reserved words
  store(bytes, offset);
  store(bytes, field_header_bytes);
  store(bytes, static_cast<std::uint32_t>(shape[1]));
  store(bytes, static_cast<std::uint32_t>(shape[0]));
  store(bytes, pitch_m);
  store(bytes, pitch_m);
  store(bytes, std::uint8_t{metre});
  store(bytes, std::uint32_t{1});  // wavelengths
  store(bytes, std::uint8_t{2});   // colour: a list of wavelengths
  store(bytes, std::uint8_t{1});   // one after the other
  store(bytes, std::uint8_t{metre});
  store(bytes, std::uint8_t{float32_type});
  store(bytes, std::uint8_t{direct_store});
  store(bytes, std::uint8_t{real_imaginary});
  store(bytes, std::uint8_t{0});  // no phase code, hence no range
  store(bytes, 0.0);
  store(bytes, 0.0);
  store(bytes, static_cast<std::uint64_t>(field.values.bytes()));
  store(bytes, std::uint8_t{0});  // not compressed
  store(bytes, wavelength_m);
  for (const auto& value : field.values.host()) {
    store(bytes, value.real());
    store(bytes, value.imag());
  }
  write_file(path, bytes);
}

}  // namespace holotone::io
