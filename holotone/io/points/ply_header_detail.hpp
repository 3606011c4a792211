#pragma once
// The header of a PLY file (Turk, "The PLY Polygon File Format", 1994). Not for users.
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace holotone::io {

enum class PlyType { int8, uint8, int16, uint16, int32, uint32, float32, float64 };

std::size_t type_size(PlyType type);
/// Returns the largest code of a colour of that unsigned type: 65535 for 16 bits, 255 for other integers, 0 for floats.
double largest_code(PlyType type);
/// Returns the number at `data` as double.
double load_number(const char* data, PlyType type, std::endian order);

struct PlyProperty {
  std::string name;
  PlyType type = PlyType::float32;
  bool is_list = false;
  PlyType count_type = PlyType::uint8;  ///< type of a list's length
};

struct PlyElement {
  std::string name;
  std::uint64_t count = 0;
  std::vector<PlyProperty> properties;
  [[nodiscard]] bool has_list() const;
  /// Bytes of a row in a binary file whose lists are all empty.
  [[nodiscard]] std::size_t smallest_row() const;
};

enum class PlyFormat { ascii, little, big };

struct PlyHeader {
  PlyFormat format = PlyFormat::ascii;
  std::vector<PlyElement> elements;
  std::size_t data_begin = 0;  ///< first byte after the header
};

/// Parses the header. Throws io naming the line.
PlyHeader parse_ply_header(std::string_view bytes, std::string_view path);

}  // namespace holotone::io
