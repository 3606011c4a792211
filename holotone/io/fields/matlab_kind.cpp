#include <holotone/core/error.hpp>
#include <holotone/io/fields/field_numbers_detail.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/file_format_detail.hpp>

namespace holotone::io {
namespace {

/// Header of a variable of version 4: type MOPT in decimal digits (M: kind of machine, P: precision, T: matrix, text or
/// sparse), rows, columns, imaginary part, length of the name (MAT-File Format, MathWorks, "Level 4").
bool is_level4(std::string_view first, std::endian order) {
  constexpr std::size_t header_bytes = 20;
  if (first.size() < header_bytes) return false;
  const auto number = [&](std::size_t i) { return load<std::uint32_t>(first.data() + 4 * i, order); };
  const std::uint32_t type = number(0);
  const std::uint32_t name_bytes = number(4);
  return type < 5000 && type / 100 % 10 == 0 && type / 10 % 10 <= 5 && type % 10 <= 2 && number(3) <= 1 &&
         name_bytes >= 1 && name_bytes <= 64;
}

}  // namespace

MatlabKind matlab_kind(std::string_view first, std::string_view name) {
  constexpr std::size_t mark_at = 124;  // version 0x0100 and "MI" in the machine's order of bytes
  if (first.starts_with("# Created by Octave")) return MatlabKind::octave_text;
  if (first.starts_with("Octave-1-")) return MatlabKind::octave_binary;
  if (first.size() >= matlab_head_bytes) {
    const std::string_view mark = first.substr(mark_at, 4);
    if (mark == std::string_view("\0\1IM", 4) || mark == std::string_view("\1\0MI", 4)) return MatlabKind::level5;
  }
  const bool mat = has_format(name, FileFormat::mat);
  if (mat && (is_level4(first, std::endian::little) || is_level4(first, std::endian::big))) return MatlabKind::level4;
  return MatlabKind::none;
}

bool is_matlab5(const std::string& file, std::string_view path) {
  constexpr std::string_view expected = "HDF5, or a MATLAB file of version 5 or 7.3";
  switch (matlab_kind(read_first_bytes(file, matlab_head_bytes), file)) {
    case MatlabKind::none: return false;
    case MatlabKind::level5: return true;
    case MatlabKind::level4: throw_io(path, expected, "a MATLAB 4 file; save with -v7.3");
    case MatlabKind::octave_text: throw_io(path, expected, "a text file of Octave; save with -v7 or -hdf5");
    case MatlabKind::octave_binary: throw_io(path, expected, "a binary file of Octave; save with -v7 or -hdf5");
  }
  return false;
}

}  // namespace holotone::io
