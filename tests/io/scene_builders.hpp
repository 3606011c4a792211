#pragma once
// Hand-made files of points and meshes, byte by byte.
#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <string>
#include <vector>

namespace scene_builders {

enum class PlyKind { ascii, little, big };

/// Writes numbers in the format's form: text, or bytes in either order.
class PlyData {
 public:
  explicit PlyData(PlyKind kind) : kind_(kind) {}
  template <class T>
  PlyData& add(T value) {
    if (kind_ == PlyKind::ascii) {
      text_ += fmt::format("{} ", +value);
    } else {
      std::string bytes(reinterpret_cast<const char*>(&value), sizeof value);
      if (kind_ == PlyKind::big) std::reverse(bytes.begin(), bytes.end());
      text_ += bytes;
    }
    return *this;
  }
  PlyData& end_row() {
    if (kind_ == PlyKind::ascii) text_ += '\n';
    return *this;
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  PlyKind kind_;
  std::string text_;
};

inline std::string ply_header(const std::string& format, std::uint64_t vertices, const std::string& more = "") {
  return fmt::format(
      "ply\nformat {} 1.0\nelement vertex {}\nproperty float x\nproperty float y\nproperty float z\n{}end_header\n",
      format, vertices, more);
}

/// Four vertices with every attribute, all eight types, lists in several places, three polygons.
inline std::string rich_ply(PlyKind kind) {
  const std::string format = kind == PlyKind::ascii    ? "ascii"
                             : kind == PlyKind::little ? "binary_little_endian"
                                                       : "binary_big_endian";
  const std::string header =
      "ply\nformat " + format +
      " 1.0\n"
      "element nothing 3\n"
      "element camera 2\nproperty short a\nproperty list ushort double b\n"
      "element vertex 4\nproperty list uchar int neighbours\nproperty double x\nproperty int8 y\n"
      "property uint16 z\nproperty uchar red\nproperty uint8 green\nproperty uchar blue\n"
      "property float nx\nproperty float32 ny\nproperty float64 nz\nproperty uint confidence\n"
      "property int32 material\nproperty float intensity\nproperty float phase\n"
      "element face 3\nproperty uchar flags\nproperty list uint8 uint32 vertex_indices\n"
      "property list int float texture\nend_header\n";
  PlyData data(kind);
  data.add(std::int16_t{-7}).add(std::uint16_t{2}).add(0.5).add(1.5).end_row();
  data.add(std::int16_t{8}).add(std::uint16_t{0}).end_row();
  for (int i = 0; i < 4; ++i) {
    data.add(std::uint8_t(i % 2));
    if (i % 2 == 1) data.add(std::int32_t{-1});
    data.add(i - 1.5).add(static_cast<std::int8_t>(2 + i)).add(std::uint16_t{3});
    data.add(std::uint8_t{255}).add(std::uint8_t{128}).add(std::uint8_t{0});
    data.add(0.0f).add(0.0f).add(1.0).add(std::uint32_t{4000000000u}).add(std::int32_t{-2});
    data.add(0.5f).add(0.25f * static_cast<float>(i)).end_row();
  }
  const std::vector<std::vector<std::uint32_t>> faces = {{0, 1, 2, 3}, {3, 2, 1}, {0, 1}};
  for (const auto& face : faces) {
    data.add(std::uint8_t{9}).add(static_cast<std::uint8_t>(face.size()));
    for (auto index : face) data.add(index);
    data.add(std::int32_t{1}).add(0.125f).end_row();
  }
  return header + data.text();
}

/// Two triangles that share an edge: (0 0 0) (1 0 0) (0 1 0) and (0 1 0) (1 0 0) (1 1 0.5).
inline constexpr float stl_corners[2][3][3] = {{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, {{0, 1, 0}, {1, 0, 0}, {1, 1, 0.5f}}};

inline std::string ascii_stl() {
  std::string text = "solid two triangles\n";
  for (const auto& triangle : stl_corners) {
    text += "facet normal 0 0 1\n  outer loop\n";
    for (const auto& v : triangle) text += fmt::format("    vertex {} {} {:e}\n", v[0], v[1], v[2]);
    text += "  endloop\nendfacet\n";
  }
  return text + "endsolid two triangles\n";
}

inline std::string binary_stl() {
  std::string bytes = "solid but binary";
  bytes.resize(80, ' ');
  const std::uint32_t count = 2;
  bytes.append(reinterpret_cast<const char*>(&count), 4);
  for (const auto& triangle : stl_corners) {
    bytes.append(12, '\0');
    bytes.append(reinterpret_cast<const char*>(triangle), sizeof triangle);
    bytes.append(2, '\0');
  }
  return bytes;
}

/// A version 1.0 file with entry (row, column) = 10 row + column.
inline std::string npy_points(const std::string& type, bool fortran, int rows, int columns) {
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': ({}, {}), }}", type,
                                   fortran ? "True" : "False", rows, columns);
  header.resize((header.size() + 11 + 63) / 64 * 64 - 11, ' ');
  header += '\n';
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(header.size() % 256);
  bytes += static_cast<char>(header.size() / 256);
  bytes += header;
  const auto append = [&]<class T>(T value) {
    std::string number(reinterpret_cast<const char*>(&value), sizeof value);
    if (type[0] == '>') std::reverse(number.begin(), number.end());
    bytes += number;
  };
  for (int i = 0; i < rows * columns; ++i) {
    const int row = fortran ? i % rows : i / columns;
    const int column = fortran ? i / rows : i % columns;
    const int value = 10 * row + column;
    const std::string kind = type.substr(1);
    if (kind == "f4") append(static_cast<float>(value));
    if (kind == "f8") append(static_cast<double>(value));
    if (kind == "i1") append(static_cast<std::int8_t>(value));
    if (kind == "i2") append(static_cast<std::int16_t>(value));
    if (kind == "i4") append(static_cast<std::int32_t>(value));
    if (kind == "i8") append(static_cast<std::int64_t>(value));
    if (kind == "u8") append(static_cast<std::uint64_t>(value));
  }
  return bytes;
}

}  // namespace scene_builders
