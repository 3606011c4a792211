#pragma once
// Fields, and hand-made field files.
#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/random.hpp>
#include <holotone/io/fields/field_file.hpp>
#include <string>
#include <tests/support/io_support.hpp>
#include <vector>

namespace field_builders {

inline holotone::FieldFile make_field(holotone::Shape<2> shape) {
  holotone::FieldFile field{holotone::Array<std::complex<float>, 2>(shape), {}};
  for (std::int64_t i = 0; i < field.values.size(); ++i) {
    const auto counter = static_cast<std::uint64_t>(2 * i);
    field.values.data()[i] = {holotone::random_uniform(5, counter) - 0.5f,
                              holotone::random_uniform(5, counter + 1) - 0.5f};
  }
  return field;
}

inline bool has_hdf5() {
  const io_support::TemporaryFolder folder;
  try {
    holotone::write_field(folder.file("x.h5"), make_field({1, 1}));
  } catch (const holotone::Error& error) {
    return error.code() != holotone::ErrorCode::unsupported;
  }
  return true;
}

/// A version 2.0 file with entry (row, column) = (10 row + column) - i (row + 0.5); real types hold the real part.
inline std::string npy_field(const std::string& type, bool fortran, int rows, int columns) {
  const std::string header = fmt::format("{{'descr': \"{}\", 'fortran_order': {}, 'shape': ({}, {})}}\n", type,
                                         fortran ? "True" : "False", rows, columns);
  std::string bytes("\x93NUMPY\x02\x00", 8);
  bytes += io_support::bytes_of(static_cast<std::uint32_t>(header.size())) + header;
  const auto append = [&](double value) {
    std::string number =
        type.ends_with("c8") ? io_support::bytes_of(static_cast<float>(value)) : io_support::bytes_of(value);
    if (type[0] == '>') std::reverse(number.begin(), number.end());
    bytes += number;
  };
  for (int i = 0; i < rows * columns; ++i) {
    const int row = fortran ? i % rows : i / columns;
    const int column = fortran ? i / rows : i % columns;
    append(10 * row + column);
    if (type[1] == 'c') append(-(row + 0.5));
  }
  return bytes;
}

/// How the two headers of an OHC file lie, and its two numbers of a pixel.
enum class OhcKind {
  aligned,  ///< C structures of x86-64 (32 + 80 bytes), planes: OpenHolo
  packed,   ///< without gaps (24 + 65 bytes), planes
  former    ///< without gaps, side by side, a header size without the table: Holotone 0.1
};

struct OhcOptions {
  std::uint8_t type = 9;  // float32
  std::uint8_t code = 2;  // real and imaginary
  std::uint8_t phase_coded = 0;
  std::uint32_t wavelengths = 1;
  std::uint8_t pitch_unit = 4;  // micrometres
  double pitch_x = 8;
  double pitch_y = 8;
  std::uint32_t offset_added = 0;
  OhcKind kind = OhcKind::aligned;
  std::uint8_t colours = 2;      // a list
  std::uint8_t arrangement = 2;  // by plane
  std::uint8_t wavelength_unit = 5;
  std::uint8_t store = 1;
  std::uint8_t compression = 0;
  std::int64_t bytes_added = 0;  // to the stated size of the field
  std::uint32_t size_added = 0;  // to the stated size of the header
};

/// OpenHolo's layout field by field: 532 nm. `numbers` in the order of the file.
inline std::string ohc_file(std::uint32_t nx, std::uint32_t ny, const std::vector<double>& numbers,
                            const OhcOptions& o) {
  using io_support::bytes_of;
  std::string data;
  for (double number : numbers) data += o.type == 9 ? bytes_of(static_cast<float>(number)) : bytes_of(number);
  const bool aligned = o.kind == OhcKind::aligned;
  const auto gap = [&](std::size_t count) { return aligned ? std::string(count, '\x7f') : std::string(); };
  const std::uint32_t table = 8 * o.wavelengths;
  const std::uint32_t size = (aligned ? 80 : 65) + (o.kind == OhcKind::former ? 0 : table) + o.size_added;
  const std::uint32_t offset = (aligned ? 112 : 89) + table + o.offset_added;
  std::string bytes = "OH" + gap(6) + bytes_of(std::uint64_t{offset + data.size()});
  bytes += std::string("\x01\0", 2) + gap(2) + std::string(8, '\0') + bytes_of(offset);
  bytes += bytes_of(size) + bytes_of(nx) + bytes_of(ny) + gap(4) + bytes_of(o.pitch_x) + bytes_of(o.pitch_y);
  bytes += bytes_of(o.pitch_unit) + gap(3) + bytes_of(o.wavelengths) + bytes_of(o.colours) + bytes_of(o.arrangement);
  bytes += bytes_of(o.wavelength_unit) + bytes_of(o.type) + bytes_of(o.store) + bytes_of(o.code);
  bytes += bytes_of(o.phase_coded) + gap(1) + bytes_of(-1.0) + bytes_of(1.0);
  bytes += bytes_of(data.size() + static_cast<std::uint64_t>(o.bytes_added)) + bytes_of(o.compression) + gap(7);
  for (std::uint32_t i = 0; i < o.wavelengths; ++i) bytes += bytes_of(532.0);
  return bytes + data;
}

}  // namespace field_builders
