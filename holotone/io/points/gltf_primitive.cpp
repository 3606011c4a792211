#include <algorithm>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/points/gltf_json_detail.hpp>

namespace holotone::io {
namespace {

enum ComponentType : std::uint64_t { uint8 = 5121, uint16 = 5123, uint32 = 5125, float32 = 5126 };

std::uint64_t bytes_of_type(std::uint64_t type) { return type == uint8 ? 1 : type == uint16 ? 2 : 4; }

class PrimitiveCheck {
 public:
  PrimitiveCheck(const Json& root, const Json& primitive, std::size_t mesh, std::string_view path)
      : accessors_(list_in(root, "accessors")),
        views_(list_in(root, "bufferViews")),
        primitive_(primitive),
        mesh_(mesh),
        path_(path) {}

  GltfPrimitive run() const {
    const Json& attributes = member_in(primitive_, "attributes");
    const Json& positions = element_in(accessors_, attributes, "POSITION");
    if (positions.is_null()) return {};  // none, or one that assimp refuses
    const std::uint64_t vertices = number_in(positions, "count", 0);
    for (const char* const name : {"POSITION", "NORMAL", "COLOR_0"}) {
      const Json& accessor = element_in(accessors_, attributes, name);
      if (!accessor.is_null()) require_attribute(accessor, name, vertices);
    }
    const Json& indices = element_in(accessors_, primitive_, "indices");
    if (!indices.is_null()) require_indices(indices);
    return make_primitive(vertices, indices.is_null() ? vertices : number_in(indices, "count", 0));
  }

 private:
  void require_attribute(const Json& accessor, std::string_view name, std::uint64_t vertices) const {
    const bool is_colour = name == "COLOR_0";
    const std::uint64_t type = number_in(accessor, "componentType", float32);
    if (is_colour && type != float32 && type != uint8 && type != uint16) {
      fail(name, "as 32-bit floats or integers of 8 or 16 bits without sign", fmt::format("component type {}", type));
    }
    const std::string shape = text_in(accessor);
    if (shape != "VEC3" && !(is_colour && shape == "VEC4")) fail(name, "as VEC3", in_quotes(shape));
    const std::uint64_t count = number_in(accessor, "count", 0);
    if (count != vertices)
      fail(name, fmt::format("with one for each of {} positions", vertices), fmt::to_string(count));
    if (!is_colour && type != float32) return;  // gltf_of_floats checks them
    require_stride(accessor, name, (shape == "VEC3" ? 3 : 4) * bytes_of_type(type));
  }

  void require_stride(const Json& accessor, std::string_view name, std::uint64_t bytes) const {
    const std::uint64_t stride = number_in(element_in(views_, accessor, "bufferView"), "byteStride", bytes);
    const std::string got = fmt::format("a stride of {} bytes", stride);
    if (stride < bytes) fail(name, fmt::format("at least {} bytes apart", bytes), got);
    // assimp would lay the sparse values over the interleaved bytes as if these were packed
    if (stride != bytes && !member_in(accessor, "sparse").is_null()) fail(name, "packed, as it is sparse", got);
  }

  void require_indices(const Json& accessor) const {
    const std::uint64_t type = number_in(accessor, "componentType", 0);
    if (type != uint8 && type != uint16 && type != uint32) {
      fail("indices", "as integers without sign", fmt::format("component type {}", type));
    }
    const std::string shape = text_in(accessor);
    if (shape != "SCALAR") fail("indices", "as SCALAR", in_quotes(shape));
  }

  [[nodiscard]] static std::string text_in(const Json& accessor) {
    const Json& type = member_in(accessor, "type");
    return type.is_string() ? type.get<std::string>() : type.dump();
  }

  [[nodiscard]] GltfPrimitive make_primitive(std::uint64_t vertices, std::uint64_t corners) const {
    enum Mode : std::uint64_t { points, lines, line_loop, line_strip, triangles, triangle_strip, triangle_fan };
    const std::uint64_t mode = number_in(primitive_, "mode", triangles);
    if (mode > triangle_fan) fail("mode", "of 0 to 6", fmt::to_string(mode));
    const std::uint64_t each = mode == triangles ? 3 : mode == lines ? 2 : 1;
    if (corners % each != 0) {
      fail(mode == lines ? "lines" : "triangles", fmt::format("of {} corners each", each), counted(corners, "corner"));
    }
    GltfPrimitive primitive;
    primitive.shape = mode == points ? GltfShape::points : mode < triangles ? GltfShape::lines : GltfShape::triangles;
    primitive.positions = number_in(member_in(primitive_, "attributes"), "POSITION", 0);
    primitive.vertices = vertices;
    const std::uint64_t shared = mode == line_strip ? 1 : mode > triangles ? 2 : 0;  // corners of the first piece
    primitive.pieces = corners / each - std::min(corners, shared);
    return primitive;
  }

  [[noreturn]] void fail(std::string_view what, std::string_view expected, std::string_view got) const {
    throw_io(path_, fmt::format("{} of mesh {} {}", what, mesh_, expected), got);
  }

  const Json& accessors_;
  const Json& views_;
  const Json& primitive_;
  std::size_t mesh_;
  std::string_view path_;
};

}  // namespace

GltfPrimitive require_known_primitive(const Json& root, const Json& primitive, std::size_t mesh,
                                      std::string_view path) {
  return PrimitiveCheck(root, primitive, mesh, path).run();
}

}  // namespace holotone::io
