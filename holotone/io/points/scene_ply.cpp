#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/colour.hpp>
#include <holotone/core/error.hpp>
#include <holotone/io/points/ply_header_detail.hpp>
#include <holotone/io/points/ply_rows_detail.hpp>
#include <holotone/io/points/polygon_detail.hpp>
#include <holotone/io/points/scene_formats_detail.hpp>
#include <optional>

namespace holotone::io {
namespace {

enum Role : std::size_t { x, y, z, nx, ny, nz, red, green, blue, amplitude, intensity, phase, role_count };

std::size_t role_named(std::string_view name) {
  struct Name {
    std::string_view text;
    Role role;
  };
  constexpr Name names[] = {
      {"x", x},
      {"y", y},
      {"z", z},
      {"nx", nx},
      {"ny", ny},
      {"nz", nz},
      {"normal_x", nx},
      {"normal_y", ny},
      {"normal_z", nz},
      {"red", red},
      {"r", red},
      {"diffuse_red", red},
      {"green", green},
      {"g", green},
      {"diffuse_green", green},
      {"blue", blue},
      {"b", blue},
      {"diffuse_blue", blue},
      {"phase", phase},
      {"amplitude", amplitude},
      {"intensity", intensity},
      {"scalar_intensity", intensity},
      {"scalar_Intensity", intensity},
  };
  for (const auto& name_of : names) {
    if (name_of.text == name) return name_of.role;
  }
  return role_count;
}

// Maps properties of the vertex element to roles.
class VertexLayout {
 public:
  VertexLayout(const PlyElement& element, std::string_view path) : element_(element) {
    for (std::size_t p = 0; p < element.properties.size(); ++p) {
      const auto role = role_named(element.properties[p].name);
      if (role < role_count && !element.properties[p].is_list && !property_[role]) property_[role] = p;
    }
    for (Role role : {x, y, z}) {
      if (!property_[role]) {
        throw_io(path, fmt::format("vertex property '{}'", std::string_view("xyz").substr(role, 1)), "none");
      }
    }
  }
  [[nodiscard]] bool has(Role role) const { return property_[role].has_value(); }
  [[nodiscard]] bool has_three(Role first) const {
    return has(first) && has(static_cast<Role>(first + 1)) && has(static_cast<Role>(first + 2));
  }
  [[nodiscard]] double number(const PlyRow& row, Role role) const { return row.scalar[*property_[role]]; }
  [[nodiscard]] float value(const PlyRow& row, Role role) const { return static_cast<float>(number(row, role)); }
  // Returns a value in 0..1 for integer properties; floats are unchanged.
  [[nodiscard]] double unit_value(const PlyRow& row, Role role) const {
    const double largest = largest_code(element_.properties[*property_[role]].type);
    return row.scalar[*property_[role]] / (largest > 0 ? largest : 1);
  }
  /// Type of all three colours. Throws if they have several.
  [[nodiscard]] PlyType colour_type(std::string_view path) const {
    const auto type = [&](Role role) { return element_.properties[*property_[role]].type; };
    if (type(red) != type(green) || type(red) != type(blue)) {
      throw_io(path, "red, green and blue of one type", "several types");
    }
    return type(red);
  }
  /// Names of the properties without use.
  [[nodiscard]] std::vector<std::string> unused() const {
    std::vector<std::string> names;
    for (std::size_t p = 0; p < element_.properties.size(); ++p) {
      const auto role = static_cast<Role>(std::find(property_.begin(), property_.end(), p) - property_.begin());
      const bool alone =
          (role >= nx && role <= nz && !has_three(nx)) || (role >= red && role <= blue && !has_three(red));
      const bool beaten = role == intensity && has(amplitude);
      if (role == role_count || alone || beaten) names.push_back(element_.properties[p].name);
    }
    return names;
  }
  [[nodiscard]] Vec3f three(const PlyRow& row, Role first) const {
    return {value(row, first), value(row, static_cast<Role>(first + 1)), value(row, static_cast<Role>(first + 2))};
  }

 private:
  const PlyElement& element_;
  std::array<std::optional<std::size_t>, role_count> property_;
};

/// True for types whose range is that of their codes.
bool is_code_type(PlyType type) { return type == PlyType::uint8 || type == PlyType::uint16; }

/// Float colours above 1 are codes of 8 or 16 bits, as in tables; integers that could be larger are codes, too.
void convert_colours(std::string_view path, bool integers, std::vector<Vec3f>& colours) {
  float largest = 0;
  for (const auto& colour : colours) {
    for (float value : colour) largest = std::isfinite(value) ? std::max(largest, value) : largest;
  }
  const double most = std::max(largest_code_of(static_cast<double>(largest)), integers ? 255.0 : 1.0);
  if (most == 1) return;
  for (std::size_t i = 0; i < colours.size(); ++i) {
    for (float& value : colours[i]) {
      if (!(value >= 0 && value <= 65535)) {
        throw_io(path, "colours of 0 to 1, 255 or 65535", fmt::format("{:g} (vertex {})", value, i));
      }
      value = linear_of_code(static_cast<double>(value), most);
    }
  }
}

/// Throws for the properties of Gaussians (Kerbl et al. 2023), whose light no point of this library has.
void refuse_splats(const PlyElement& element, std::string_view path) {
  const auto has = [&](std::string_view name) {
    return std::any_of(element.properties.begin(), element.properties.end(),
                       [&](const auto& property) { return property.name == name; });
  };
  if (has("f_dc_0") && has("scale_0") && has("rot_0") && has("opacity")) {
    throw_io(path, "points or a mesh", "a 3-D Gaussian splat (f_dc_0, scale_0, rot_0, opacity); export it as points");
  }
}

bool is_corner_list(const PlyProperty& property) {
  return property.is_list && (property.name == "vertex_indices" || property.name == "vertex_index");
}

/// Returns whether every vertex is opaque: a property "alpha" of an integer type is its largest code.
bool read_vertices(PlyRows& rows, const PlyElement& element, std::string_view path, const Origin& origin, Mesh& mesh) {
  refuse_splats(element, path);
  const VertexLayout layout(element, path);
  if (element.count == 0) throw_io(path, "at least 1 vertex", "0");
  if (element.count > UINT32_MAX) throw_io(path, "fewer than 2^32 vertices", fmt::format("{}", element.count));
  const auto count = static_cast<std::size_t>(element.count);  // checked against the file's size by PlyRows
  const PlyType colour_type = layout.has_three(red) ? layout.colour_type(path) : PlyType::uint8;
  const double code = is_code_type(colour_type) ? largest_code(colour_type) : 0;
  const auto alpha = static_cast<std::size_t>(std::ranges::find(element.properties, "alpha", &PlyProperty::name) -
                                              element.properties.begin());
  const double opaque = alpha < element.properties.size() && !element.properties[alpha].is_list
                            ? largest_code(element.properties[alpha].type)
                            : 0;
  bool is_opaque = opaque > 0;
  mesh.position.resize(count);
  if (layout.has_three(nx)) mesh.normal.resize(count);
  if (layout.has_three(red)) mesh.colour.resize(count);
  if (layout.has(amplitude) || layout.has(intensity)) mesh.amplitude.resize(count);
  if (layout.has(phase)) mesh.phase_rad.resize(count);
  rows.read_all(element, [&](std::size_t i, const PlyRow& row) {
    is_opaque = is_opaque && row.scalar[alpha] == opaque;
    mesh.position[i] = relative_to(origin, layout.number(row, x), layout.number(row, y), layout.number(row, z));
    if (layout.has_three(nx)) mesh.normal[i] = layout.three(row, nx);
    if (layout.has_three(red)) {
      mesh.colour[i] = layout.three(row, red);
      if (code > 0) {
        for (float& value : mesh.colour[i]) value = linear_of_code(static_cast<double>(value), code);
      }
    }
    if (layout.has(amplitude)) {
      mesh.amplitude[i] = layout.value(row, amplitude);
    } else if (layout.has(intensity)) {
      mesh.amplitude[i] = static_cast<float>(std::sqrt(layout.unit_value(row, intensity)));
    }
    if (layout.has(phase)) mesh.phase_rad[i] = layout.value(row, phase);
  });
  if (code == 0) convert_colours(path, largest_code(colour_type) > 0, mesh.colour);
  return is_opaque;
}

/// Names of the elements and properties without use, but "flags" of MeshLab and "alpha" of vertices that are opaque.
std::vector<std::string> find_unused(const PlyHeader& header, bool is_opaque, std::string_view path) {
  std::vector<std::string> names;
  for (const auto& element : header.elements) {
    if (element.name == "vertex") {
      for (auto& name : VertexLayout(element, path).unused()) {
        if (name != "flags" && !(is_opaque && name == "alpha")) names.push_back(std::move(name));
      }
    } else if (element.name != "face") {
      if (element.count > 0) names.push_back("element " + element.name);
    } else {
      for (const auto& property : element.properties) {
        if (!is_corner_list(property) && property.name != "flags") names.push_back("face " + property.name);
      }
    }
  }
  return names;
}

/// Sets `is_used` of the vertices that a face names.
void read_faces(PlyRows& rows, const PlyElement& element, std::string_view path, Mesh& mesh,
                std::vector<bool>& is_used) {
  const std::size_t vertices = mesh.position.size();
  is_used.resize(vertices);
  const auto list = std::find_if(element.properties.begin(), element.properties.end(), is_corner_list);
  if (element.count == 0) return;
  if (list == element.properties.end()) throw_io(path, "a list 'vertex_indices' of element 'face'", "none");
  const auto wanted = static_cast<std::size_t>(list - element.properties.begin());
  PlyRow row;
  std::vector<std::array<double, 3>> corners;
  std::vector<std::array<std::uint32_t, 3>> triangles;
  for (std::uint64_t i = 0; i < element.count; ++i) {
    rows.read(element, i, wanted, row);
    corners.clear();
    for (double index : row.list) {
      if (!(index >= 0 && index < static_cast<double>(vertices) && index == std::floor(index))) {
        throw_io(path, fmt::format("vertex indices below {} in {}", vertices, rows.row_name(element, i)),
                 fmt::format("{:g}", index));
      }
      is_used[static_cast<std::size_t>(index)] = true;
      const Vec3f& p = mesh.position[static_cast<std::size_t>(index)];
      corners.push_back({p[0], p[1], p[2]});
    }
    if (!split_polygon(corners, triangles)) {
      throw_io(path, fmt::format("at most {} corners of a concave polygon", max_concave_corners),
               fmt::format("{} in {}", corners.size(), rows.row_name(element, i)));
    }
    const auto vertex = [&](std::uint32_t corner) { return static_cast<std::uint32_t>(row.list[corner]); };
    for (const auto& t : triangles) mesh.triangle.push_back({vertex(t[0]), vertex(t[1]), vertex(t[2])});
  }
}

/// Leaves out vertices that no face names, unless none does: the file is a mesh. Returns their number.
std::size_t drop_unused(const std::vector<bool>& is_used, Mesh& mesh) {
  std::vector<std::uint32_t> index(mesh.position.size());
  std::uint32_t kept = 0;
  for (std::size_t i = 0; i < index.size(); ++i) {
    index[i] = kept;
    kept += is_used[i] ? 1 : 0;
  }
  const std::size_t dropped = index.size() - kept;
  if (dropped == 0 || kept == 0) return 0;
  const auto keep = [&](auto& values) {
    if (values.empty()) return;
    for (std::size_t i = 0; i < index.size(); ++i) {
      if (is_used[i]) values[index[i]] = values[i];
    }
    values.resize(kept);
  };
  keep(mesh.position);
  keep(mesh.colour);
  keep(mesh.normal);
  keep(mesh.amplitude);
  keep(mesh.phase_rad);
  for (auto& triangle : mesh.triangle) {
    for (auto& corner : triangle) corner = index[corner];
  }
  return dropped;
}

void require_vertices(const PlyHeader& header, std::string_view path) {
  const auto is_vertex = [](const auto& element) { return element.name == "vertex"; };
  const auto count = std::count_if(header.elements.begin(), header.elements.end(), is_vertex);
  if (count != 1) throw_io(path, "one element 'vertex'", fmt::format("{}", count));
}

}  // namespace

float linear_of_code(double code, double largest) {
  static const auto table = [] {
    std::array<float, 256> values{};
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<float>(srgb_to_linear(static_cast<double>(i) / 255));
    }
    return values;
  }();
  const double clamped = code > 0 ? std::min(code, largest) : 0;
  if (largest == 255 && clamped == std::floor(clamped)) return table[static_cast<std::size_t>(clamped)];
  return static_cast<float>(srgb_to_linear(clamped / largest));
}

Mesh read_ply(std::string_view bytes, std::string_view path, const Origin& origin) {
  const PlyHeader header = parse_ply_header(bytes, path);
  require_vertices(header, path);
  PlyRows rows(header, bytes, path);
  Mesh mesh;
  std::vector<bool> is_used;
  bool is_opaque = false;
  bool faces_first = false;  // of which the vertices, which polygons need, come later
  for (const auto& element : header.elements) {
    if (element.name == "vertex") {
      is_opaque = read_vertices(rows, element, path, origin, mesh);
    } else if (element.name == "face" && mesh.position.empty()) {
      rows.skip(element);
      faces_first = true;
    } else if (element.name == "face") {
      read_faces(rows, element, path, mesh, is_used);
    } else if (element.name == "tristrips") {
      throw_io(path, "faces as element 'face'", "triangle strips (element 'tristrips')");
    } else {
      rows.skip(element);
    }
  }
  rows.finish(header.elements.back());
  if (faces_first) {
    PlyRows again(header, bytes, path);
    for (const auto& element : header.elements) {
      if (element.name == "vertex") break;
      if (element.name == "face") {
        read_faces(again, element, path, mesh, is_used);
      } else {
        again.skip(element);
      }
    }
  }
  auto unused = find_unused(header, is_opaque, path);
  const std::size_t dropped = is_used.empty() ? 0 : drop_unused(is_used, mesh);
  if (dropped > 0) unused.push_back(fmt::format("{} {} without a face", dropped, dropped == 1 ? "vertex" : "vertices"));
  mesh.ignored = list_names(unused);
  return mesh;
}

}  // namespace holotone::io
