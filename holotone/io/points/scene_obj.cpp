#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/io/points/obj_text_detail.hpp>
#include <holotone/io/points/polygon_detail.hpp>
#include <holotone/io/points/scene_formats_detail.hpp>
#include <holotone/io/points/weld_detail.hpp>
#include <limits>

namespace holotone::io {
namespace {

class ObjBuilder {
 public:
  ObjBuilder(const ObjText& text, std::string_view path, const Origin& origin)
      : text_(text), path_(path), origin_(origin), largest_code_(largest_code_of(text.largest_colour)) {
    has_normals_ = std::ranges::none_of(
        text.corner, [](const ObjText::Corner& corner) { return corner.normal == ObjText::no_normal; });
  }

  Mesh build() {
    if (text_.vertex.empty()) throw_io(path_, "at least 1 vertex", "0");
    auto ignored = text_.ignored;
    if (text_.face.empty()) {
      note_unused(add_points(), "that no 'p' names", ignored);
    } else {
      if (!text_.point.empty()) ignored.emplace_back("p");
      add_faces();
      note_unused(std::ranges::count(indices_, no_index, &Known::index), "without a face", ignored);
    }
    if (mesh_.normal.empty() && !text_.normal.empty()) ignored.emplace_back("vn");
    mesh_.ignored = list_names(ignored);
    return std::move(mesh_);
  }

 private:
  static constexpr std::uint32_t no_index = std::numeric_limits<std::uint32_t>::max();
  /// The last vertex of the mesh that a vertex of the file became, and the normal with which it did so.
  struct Known {
    std::uint32_t normal = ObjText::no_normal;
    std::uint32_t index = no_index;
  };

  static void note_unused(std::ptrdiff_t count, std::string_view why, std::vector<std::string>& ignored) {
    if (count > 0) ignored.push_back(fmt::format("{} {} {}", count, count == 1 ? "vertex" : "vertices", why));
  }

  [[nodiscard]] Vec3f position(std::size_t vertex) const {
    const auto& [x, y, z] = text_.vertex[vertex];
    return relative_to(origin_, x, y, z);
  }

  [[nodiscard]] Vec3f light(std::size_t vertex) const {
    const auto& [r, g, b] = text_.colour[vertex];
    if (r < 0) return {1, 1, 1};
    return {linear_of_code(r, largest_code_), linear_of_code(g, largest_code_), linear_of_code(b, largest_code_)};
  }

  [[nodiscard]] Vec3f unit_normal(std::size_t number) const {
    const auto& [x, y, z] = text_.normal[number];
    const double length = std::hypot(x, y, z);
    return length > 0 ? relative_to({}, x / length, y / length, z / length) : Vec3f{};
  }

  /// All vertices, or those that statements `p` name, each once. Returns the number of the others.
  std::ptrdiff_t add_points() {
    std::vector<bool> is_point(text_.vertex.size(), text_.point.empty());
    for (const std::uint32_t vertex : text_.point) is_point[vertex] = true;
    mesh_.position.reserve(text_.vertex.size());
    for (std::size_t i = 0; i < text_.vertex.size(); ++i) {
      if (!is_point[i]) continue;
      mesh_.position.push_back(position(i));
      if (!text_.colour.empty()) mesh_.colour.push_back(light(i));
    }
    return std::ranges::count(is_point, false);
  }

  void add_faces() {
    indices_.resize(text_.vertex.size());
    std::vector<std::array<double, 3>> corners;
    std::vector<std::array<std::uint32_t, 3>> triangles;
    const ObjText::Corner* corner = text_.corner.data();
    for (std::size_t f = 0; f < text_.face.size(); corner += text_.face[f], ++f) {
      if (text_.face[f] == 3) {
        mesh_.triangle.push_back({add(corner[0]), add(corner[1]), add(corner[2])});
        continue;
      }
      corners.clear();
      for (std::uint32_t k = 0; k < text_.face[f]; ++k) {
        corners.push_back(text_.vertex[corner[k].vertex]);
        add(corner[k]);  // triangles without area are left out, their corners are not
      }
      if (!split_polygon(corners, triangles)) {
        throw_io(path_, fmt::format("at most {} corners of a concave polygon", max_concave_corners),
                 fmt::format("{} in face {}", corners.size(), f + 1));
      }
      for (const auto& [a, b, c] : triangles)
        mesh_.triangle.push_back({add(corner[a]), add(corner[b]), add(corner[c])});
    }
  }

  /// Corners that agree in position, normal and colour are one vertex: one on a texture's seam does not count twice.
  std::uint32_t add(const ObjText::Corner& corner) {
    Known& known = indices_[corner.vertex];
    const std::uint32_t normal = has_normals_ ? corner.normal : ObjText::no_normal;
    if (known.index != no_index && known.normal == normal) return known.index;
    const Vec3f at = position(corner.vertex);
    const Vec3f up = has_normals_ ? unit_normal(normal) : Vec3f{};
    const Vec3f colour = text_.colour.empty() ? Vec3f{} : light(corner.vertex);
    if (welder_.size() >= no_index) throw_io(path_, "fewer than 2^32 vertices", "more");
    const auto [index, is_new] =
        welder_.weld({at[0], at[1], at[2], up[0], up[1], up[2], colour[0], colour[1], colour[2]});
    if (is_new) {
      mesh_.position.push_back(at);
      if (has_normals_) mesh_.normal.push_back(up);
      if (!text_.colour.empty()) mesh_.colour.push_back(colour);
    }
    known = {normal, index};
    return index;
  }

  const ObjText& text_;
  std::string_view path_;
  Origin origin_;
  double largest_code_;
  bool has_normals_ = false;
  std::vector<Known> indices_;
  Mesh mesh_;
  Welder<9> welder_;
};

}  // namespace

Mesh read_obj(std::string_view bytes, std::string_view path, const Origin& origin) {
  return ObjBuilder(parse_obj(bytes, path), path, origin).build();
}

}  // namespace holotone::io
