#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/points/scene_formats_detail.hpp>
#include <holotone/io/points/weld_detail.hpp>
#include <holotone/io/text_reader_detail.hpp>

namespace holotone::io {
namespace {

constexpr std::size_t binary_header = 84;  // 80 arbitrary bytes and the count
constexpr std::size_t binary_row = 50;     // normal, three corners, two arbitrary bytes

// Merges equal vertices: STL repeats a vertex in each of its triangles, so that a vertex of six triangles would count
// six times.
class Vertices {
 public:
  explicit Vertices(Mesh& mesh) : mesh_(mesh) {}
  std::uint32_t add(const Vec3f& vertex) {
    const auto [index, is_new] = welder_.weld(vertex);
    if (is_new) mesh_.position.push_back(vertex);
    return index;
  }

 private:
  Mesh& mesh_;
  Welder<3> welder_;
};

Mesh read_binary(std::string_view bytes, std::string_view path, const Origin& origin) {
  const auto count = load<std::uint32_t>(bytes.data() + 80, std::endian::little);
  if (count == 0) throw_io(path, "at least 1 triangle", "0");
  if (count > UINT32_MAX / 3) throw_io(path, "fewer than 2^32 corners", fmt::format("{} triangles", count));
  Mesh mesh;
  Vertices vertices(mesh);
  mesh.triangle.reserve(count);  // agrees with the file's length
  // Colours of some programs: VisCAM's of each facet; Magics states that of all others in the header.
  bool attributes = bytes.substr(0, 80).find("COLOR=") != std::string_view::npos;
  for (std::size_t i = 0; i < count; ++i) {
    const char* corner = bytes.data() + binary_header + i * binary_row + 12;
    std::array<std::uint32_t, 3> triangle{};
    for (auto& index : triangle) {
      std::array<double, 3> vertex{};
      for (auto& value : vertex) {
        value = static_cast<double>(load<float>(corner, std::endian::little));
        corner += 4;
      }
      index = vertices.add(relative_to(origin, vertex[0], vertex[1], vertex[2]));
    }
    mesh.triangle.push_back(triangle);
    attributes = attributes || corner[0] != 0 || corner[1] != 0;
  }
  if (attributes) mesh.ignored = "colours of facets (attribute bytes)";
  return mesh;
}

// Whether `word` is a keyword in lower or upper case.
bool is_keyword(std::string_view word, std::string_view keyword) {
  return std::equal(word.begin(), word.end(), keyword.begin(), keyword.end(),
                    [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a + ('a' - 'A') : a) == b; });
}

class TextReader {
 public:
  TextReader(std::string_view bytes, std::string_view path, const Origin& origin)
      : lines_(bytes), path_(path), origin_(origin) {}

  Mesh read() {
    Mesh mesh;
    Vertices vertices(mesh);
    while (begin_solid()) read_facets(mesh, vertices);
    if (mesh.triangle.empty()) throw_io(path_, "at least 1 facet", "0");
    return mesh;
  }

 private:
  // Moves past the line of a solid's name. Returns false at the end of the file.
  bool begin_solid() {
    if (!lines_.next_filled(rest_)) return false;
    const auto word = take_word(rest_);
    if (!is_keyword(word, "solid")) fail("'solid' or the end of the file", word);
    rest_ = {};
    return true;
  }

  void read_facets(Mesh& mesh, Vertices& vertices) {
    for (auto word = next_word(); !is_keyword(word, "endsolid"); word = next_word()) {
      if (!is_keyword(word, "facet")) fail("'facet' or 'endsolid'", word);
      expect("normal");
      for (int i = 0; i < 3; ++i) next_number();
      expect("outer");
      expect("loop");
      std::array<std::uint32_t, 3> triangle{};
      for (auto& index : triangle) {
        expect("vertex");
        std::array<double, 3> vertex{};
        for (auto& value : vertex) value = next_number();
        index = vertices.add(relative_to(origin_, vertex[0], vertex[1], vertex[2]));
      }
      expect("endloop");
      expect("endfacet");
      if (mesh.triangle.size() >= UINT32_MAX / 3) fail("fewer than 2^32 corners", word);
      mesh.triangle.push_back(triangle);
    }
  }

  std::string_view next_word() {
    auto word = take_word(rest_);
    while (word.empty()) {
      if (!lines_.next_filled(rest_)) throw_io(path_, "'endsolid' at the end", "the end of the file without it");
      word = take_word(rest_);
    }
    return word;
  }
  double next_number() {
    const auto word = next_word();
    double value = 0;
    if (!parse_number(word, value)) fail("a number", word);
    return value;
  }
  void expect(std::string_view keyword) {
    const auto word = next_word();
    if (!is_keyword(word, keyword)) fail(fmt::format("'{}'", keyword), word);
  }
  [[noreturn]] void fail(std::string_view expected, std::string_view got) const {
    throw_io(path_, fmt::format("{} (line {})", expected, lines_.number()), in_quotes(got));
  }
  LineReader lines_;
  std::string_view path_;
  Origin origin_;
  std::string_view rest_;
};

}  // namespace

// Binary files may begin with "solid" too: the length decides.
Mesh read_stl(std::string_view bytes, std::string_view path, const Origin& origin) {
  const std::uint64_t count =
      bytes.size() >= binary_header ? load<std::uint32_t>(bytes.data() + 80, std::endian::little) : 0;
  if (bytes.size() >= binary_header && bytes.size() == binary_header + binary_row * count) {
    return read_binary(bytes, path, origin);
  }
  std::string_view text = bytes.substr(0, 256);
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  if (is_keyword(trim(text).substr(0, 5), "solid") && bytes.find('\0') == std::string_view::npos) {
    return TextReader(bytes, path, origin).read();
  }
  if (bytes.size() < binary_header) {
    throw_io(path, "'solid' or 84 bytes of binary STL header", counted(bytes.size(), "byte"));
  }
  throw_io(path, fmt::format("{} bytes for {} triangles", binary_header + binary_row * count, count),
           counted(bytes.size(), "byte"));
}

}  // namespace holotone::io
