#pragma once
// Readers of read_scene; `bytes` is the whole file. Not for users.
#include <array>
#include <functional>
#include <holotone/core/geometry.hpp>
#include <holotone/io/file_format_detail.hpp>
#include <holotone/io/points/gltf_scene_detail.hpp>
#include <holotone/io/points/points.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace holotone::io {

/// In the file's coordinates. A reader subtracts it in float64, before it rounds to float32.
using Origin = std::array<double, 3>;

inline Vec3f relative_to(const Origin& origin, double x, double y, double z) {
  return {static_cast<float>(x - origin[0]), static_cast<float>(y - origin[1]), static_cast<float>(z - origin[2])};
}

/// Calls read((0, 0, 0)) and, for centred coordinates that lie far from zero, read(origin) with their middle. Leaves
/// out normals that are all zero.
Mesh read_around(Coordinates coordinates, const std::function<Mesh(const Origin& origin)>& read);

Mesh read_ply(std::string_view bytes, std::string_view path, const Origin& origin);
Mesh read_stl(std::string_view bytes, std::string_view path, const Origin& origin);
/// Reads XYZ, CSV or TSV: one point per line.
Mesh read_table(std::string_view bytes, std::string_view path, const Origin& origin);
/// Reads the vertices, normals and faces of an OBJ; without faces its vertices are points.
Mesh read_obj(std::string_view bytes, std::string_view path, const Origin& origin);
Mesh read_npy_points(std::string_view bytes, std::string_view path, const Origin& origin);

/// Multiplies coordinates by the unit of lengths that comments of a PLY or OBJ or the header of an STL state; another
/// unit is named in Mesh::ignored. Throws io for two units.
void apply_stated_unit(Mesh& mesh, FileFormat format, std::string_view bytes, std::string_view path);

/// Returns the linear light of an integer colour code in 0..largest (sRGB); codes outside are clamped.
float linear_of_code(double code, double largest);

/// Largest code of colours of which `largest` is the largest number: 255 above 1, 65535 above 255; 1: linear light.
inline double largest_code_of(double largest) { return largest > 255 ? 65535 : largest > 1 ? 255 : 1; }

/// "opacity, f_rest_0 to f_rest_44": the names, printable, with runs of numbers joined; "and 9 more" after 12 of them.
std::string list_names(const std::vector<std::string>& names);

/// Returns the JSON of a .gltf, or of the first chunk of a .glb: 12 bytes of header, length, type, text.
std::string read_gltf_json(const std::string& path);

struct GltfFacts {
  /// Textures, emission, transparency, lines, morph targets, animations, other scenes and extensions.
  std::string ignored;
  /// The file with positions and normals of integers as floats; empty if they are floats. assimp takes their bytes for
  /// floats.
  std::string floats;
  GltfScene scene;
};

/// Throws io naming an extension that a glTF requires and that changes its geometry, another version than 2.0, and as
/// read_gltf_scene.
GltfFacts require_known_gltf(const std::string& path);

/// A uri with %XX decoded.
std::string without_percents(const std::string& uri);

/// Names of scene_side_files as they stand in the file and with %XX decoded, without the folder.
std::vector<std::string> scene_side_names(const std::string& path);

}  // namespace holotone::io
