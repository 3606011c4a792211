#include <array>
#include <cmath>
#include <complex>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/io/atomic_file.hpp>
#include <holotone/io/fields/field_formats_detail.hpp>
#include <holotone/io/file_bytes_detail.hpp>

// OpenHolo's complex field file: a file header, a field header, a table of wavelengths, then two planes of numbers (all
// real parts, then all imaginary ones; or amplitudes, then phases), row by row. The headers are C structures in memory
// order, with the gaps of x86-64 or without: the size that the field header states, its table included, differs
// (github.com/Openhologram/Openholo: ImgCodecDefine.h, ImgCodecOhc.cpp). The format states neither the distance nor the
// sign of the phase.
namespace holotone::io {
namespace {

enum FieldType : std::uint8_t { float32_type = 9, float64_type = 10 };
enum FieldCode : std::uint8_t { amplitude_phase = 1, real_imaginary = 2 };
enum FieldStore : std::uint8_t { direct_store = 1 };
enum ColourType : std::uint8_t { wavelength_list = 2 };
enum ColourArrangement : std::uint8_t { pixel_by_pixel = 1, plane_by_plane = 2 };
enum LengthUnit : std::uint8_t { no_unit = 0, metre, centimetre, millimetre, micrometre, nanometre };

// Bytes of the two headers, and where the second states its size and the number of wavelengths.
struct HeaderLayout {
  std::uint32_t file_bytes;
  std::uint32_t field_bytes;
  std::uint32_t wavelengths_at;
};
constexpr HeaderLayout aligned_layout = {32, 80, 68};
constexpr HeaderLayout packed_layout = {24, 65, 53};

struct OhcLayout {
  bool aligned = false;
  bool side_by_side = false;  // the two numbers of a pixel, in files of Holotone before 0.2
};

std::uint32_t uint_at(std::string_view bytes, std::size_t position) {
  return bytes.size() < position + 4 ? 0 : load<std::uint32_t>(bytes.data() + position, std::endian::little);
}

bool states_sizes(std::string_view bytes, const HeaderLayout& layout) {
  const std::uint64_t wavelengths = uint_at(bytes, layout.wavelengths_at);
  return wavelengths > 0 && uint_at(bytes, layout.file_bytes) == layout.field_bytes + 8 * wavelengths;
}

OhcLayout find_layout(std::string_view bytes, std::string_view path) {
  if (states_sizes(bytes, aligned_layout)) return {.aligned = true, .side_by_side = false};
  if (states_sizes(bytes, packed_layout)) return {};
  // Holotone stated the size without the table.
  const std::uint32_t stated = uint_at(bytes, packed_layout.file_bytes);
  if (stated == packed_layout.field_bytes) return {.aligned = false, .side_by_side = true};
  const bool text =
      bytes.starts_with("OH\n") && bytes.substr(2, 24).find_first_not_of("\n0123456789") == std::string_view::npos;
  throw_io(path, "OpenHolo's binary headers of 32 + 80 or 24 + 65 bytes",
           text ? "the text of another version of OpenHolo" : fmt::format("a field header of {} bytes", stated));
}

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
  double pitch_m = 0;  // 0: not stated
  double wavelength_m = 0;
  std::uint8_t type = float32_type;
  std::uint8_t code = real_imaginary;
  std::uint64_t field_bytes = 0;
};

template <class T>
void require_value(T got, T expected, std::string_view what, std::string_view path) {
  if (got != expected) throw_io(path, fmt::format("{} {}", what, expected), fmt::format("{}", got));
}

// "code 3 (amplitude alone)"; a code that OpenHolo does not have is named alone.
template <std::size_t Count>
std::string coded(std::string_view what, std::uint8_t code, const std::array<std::string_view, Count>& names) {
  return code < Count ? fmt::format("{} {} ({})", what, code, names[code]) : fmt::format("{} {}", what, code);
}

void require_numbers(std::uint8_t type, std::string_view path) {
  constexpr std::array<std::string_view, 12> names = {"none",   "int8",   "int16",  "int32",   "int64",   "uint8",
                                                      "uint16", "uint32", "uint64", "float32", "float64", "pictures"};
  if (type != float32_type && type != float64_type) {
    throw_io(path, "float32 or float64 numbers (type 9 or 10)", coded("type", type, names));
  }
}

void require_both_parts(std::uint8_t code, std::string_view path) {
  constexpr std::array<std::string_view, 5> names = {"none", "amplitude and phase", "real and imaginary part",
                                                     "amplitude alone", "phase alone"};
  if (code != amplitude_phase && code != real_imaginary) {
    throw_io(path, "amplitude and phase or real and imaginary part (field code 1 or 2)", coded("code", code, names));
  }
}

// The pitch in metres, or 0 of a file that states neither unit nor pitch.
double take_pitch(ByteReader& reader, std::string_view path) {
  const auto x = reader.take<double>("pitch");
  const auto y = reader.take<double>("pitch");
  const auto unit = reader.take<std::uint8_t>("pitch unit");
  if (unit == no_unit && x <= 0 && y <= 0) return 0;
  const double scale = metres_per(unit, "pitch", path);
  if (x != y) {
    throw_io(path, "square pixels (pxPitchX = pxPitchY)", fmt::format("{:g} m x {:g} m", x * scale, y * scale));
  }
  return x * scale;
}

OhcHeader take_header(ByteReader& reader, const OhcLayout& layout, std::string_view path) {
  const auto skip_gap = [&](std::size_t bytes) {
    if (layout.aligned) reader.take_bytes(bytes, "OHC header");
  };
  OhcHeader header;
  reader.take_bytes(2, "OHC signature");
  skip_gap(6);
  reader.take<std::uint64_t>("file size");  // OpenHolo's own files do not always agree with it
  reader.take_bytes(2, "version");
  skip_gap(2);
  reader.take_bytes(8, "reserved words");
  header.data_offset = reader.take<std::uint32_t>("offset of the field");
  reader.take<std::uint32_t>("field header size");
  header.nx = reader.take<std::uint32_t>("columns");
  header.ny = reader.take<std::uint32_t>("rows");
  skip_gap(4);
  header.pitch_m = take_pitch(reader, path);
  skip_gap(3);
  require_value(reader.take<std::uint32_t>("number of wavelengths"), 1u, "number of wavelengths", path);
  const auto colours = reader.take<std::uint8_t>("colour type");
  const auto arrangement = reader.take<std::uint8_t>("colour arrangement");
  const auto wavelength_unit = reader.take<std::uint8_t>("wavelength unit");
  header.type = reader.take<std::uint8_t>("number type");
  const auto store_kind = reader.take<std::uint8_t>("field store");
  header.code = reader.take<std::uint8_t>("field code");
  const auto phase_coded = reader.take<std::uint8_t>("phase code");
  skip_gap(1);
  reader.take_bytes(16, "phase code range");
  header.field_bytes = reader.take<std::uint64_t>("field size");
  const auto compression = reader.take<std::uint8_t>("compression");
  skip_gap(7);
  header.wavelength_m = reader.take<double>("wavelength") * metres_per(wavelength_unit, "wavelength", path);
  if (colours > wavelength_list) throw_io(path, "colour type 0 to 2", fmt::format("{}", colours));
  if (arrangement != pixel_by_pixel && arrangement != plane_by_plane) {
    throw_io(path, "colour arrangement 1 or 2 (by pixel or by plane)", fmt::format("{}", arrangement));
  }
  require_numbers(header.type, path);
  require_both_parts(header.code, path);
  require_value<unsigned>(phase_coded, 0, "phase code", path);
  require_value<unsigned>(store_kind, direct_store, "field store", path);
  require_value<unsigned>(compression, 0, "compression", path);
  if (!(header.wavelength_m > 0 && std::isfinite(header.wavelength_m))) {
    throw_io(path, "a positive wavelength", fmt::format("{:g} m", header.wavelength_m));
  }
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
  const OhcLayout layout = find_layout(bytes, path);
  ByteReader reader(bytes, path, std::endian::little);
  const OhcHeader header = take_header(reader, layout, path);
  const std::size_t begin = data_begin(header, reader, path);
  const std::size_t number = header.type == float32_type ? 4 : 8;
  const std::uint64_t available = begin <= bytes.size() ? (bytes.size() - begin) / (2 * number) : 0;
  const std::uint64_t needed = std::uint64_t{header.nx} * header.ny;
  if (needed != available) {
    throw_io(path, fmt::format("{} values of shape {{{}, {}}}", needed, header.ny, header.nx),
             fmt::format("bytes for {}", available));
  }
  require_value(header.field_bytes, 2 * number * needed, "field size", path);
  FieldFile field;
  field.values = make_field(header.ny, header.nx, path);
  const char* first_item = bytes.data() + begin;
  const std::size_t step = layout.side_by_side ? 2 * number : number;
  const char* second_item = first_item + (layout.side_by_side ? number : number * needed);
  for (auto& value : field.values.host()) {
    const double first = load_float(first_item, number);
    const double second = load_float(second_item, number);
    first_item += step;
    second_item += step;
    if (header.code == real_imaginary) {
      value = {static_cast<float>(first), static_cast<float>(second)};
    } else {
      value = {static_cast<float>(first * std::cos(second)), static_cast<float>(first * std::sin(second))};
    }
  }
  field.metadata["wavelength_m"] = number_text(header.wavelength_m);
  if (header.pitch_m != 0) field.metadata["pitch_m"] = number_text(header.pitch_m);
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
  const std::uint32_t header_bytes = aligned_layout.field_bytes + 8;
  const std::uint32_t offset = aligned_layout.file_bytes + header_bytes;
  std::string bytes = "OH";
  bytes.reserve(offset + field.values.bytes());
  const auto store_gap = [&](std::size_t count) { bytes.append(count, '\0'); };
  store_gap(6);
  store(bytes, std::uint64_t{offset} + field.values.bytes());
  store(bytes, std::uint8_t{1});
  store(bytes, std::uint8_t{0});
  store_gap(2);
  store(bytes, std::uint64_t{0});  // two reserved words
  store(bytes, offset);
  store(bytes, header_bytes);
  store(bytes, static_cast<std::uint32_t>(shape[1]));
  store(bytes, static_cast<std::uint32_t>(shape[0]));
  store_gap(4);
  store(bytes, pitch_m);
  store(bytes, pitch_m);
  store(bytes, std::uint8_t{metre});
  store_gap(3);
  store(bytes, std::uint32_t{1});  // wavelengths
  store(bytes, std::uint8_t{wavelength_list});
  store(bytes, std::uint8_t{plane_by_plane});
  store(bytes, std::uint8_t{metre});
  store(bytes, std::uint8_t{float32_type});
  store(bytes, std::uint8_t{direct_store});
  store(bytes, std::uint8_t{real_imaginary});
  store(bytes, std::uint8_t{0});  // no phase code
  store_gap(1);
  store(bytes, -1.0);  // its range, as OpenHolo writes it
  store(bytes, 1.0);
  store(bytes, static_cast<std::uint64_t>(field.values.bytes()));
  store(bytes, std::uint8_t{0});  // not compressed
  store_gap(7);
  store(bytes, wavelength_m);
  for (const auto& value : field.values.host()) store(bytes, value.real());
  for (const auto& value : field.values.host()) store(bytes, value.imag());
  write_file(path, bytes);
}

}  // namespace holotone::io
