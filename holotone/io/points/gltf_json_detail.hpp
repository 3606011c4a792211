#pragma once
// Members of a glTF's JSON that may be missing or of another type. Not for users.
#include <cstdint>
#include <holotone/io/points/gltf_scene_detail.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace holotone::io {

using Json = nlohmann::json;

/// The member of that name; null if there is none.
inline const Json& member_in(const Json& object, const char* name) {
  static const Json none;
  const auto found = object.is_object() ? object.find(name) : object.end();
  return object.is_object() && found != object.end() ? *found : none;
}

/// The array of that name; an empty one if there is none.
inline const Json& list_in(const Json& object, const char* name) {
  static const Json none = Json::array();
  const Json& found = member_in(object, name);
  return found.is_array() ? found : none;
}

/// The whole number of that name, or `otherwise`.
inline std::uint64_t number_in(const Json& object, const char* name, std::uint64_t otherwise) {
  const Json& found = member_in(object, name);
  return found.is_number_unsigned() ? found.get<std::uint64_t>() : otherwise;
}

/// The element of the array `list` that the member `name` numbers; null if there is none.
inline const Json& element_in(const Json& list, const Json& object, const char* name) {
  static const Json none;
  const std::uint64_t index = number_in(object, name, list.size());
  return index < list.size() ? list[static_cast<std::size_t>(index)] : none;
}

/// Parses the JSON of a .gltf or .glb. Bytes that are not UTF-8, as in a name in Latin-1, become question marks. Throws
/// io if it is no JSON object.
Json parse_gltf(const std::string& path);

/// Reads the tree of the scene that is shown: that of the file's "scene", or the first. Throws io for what assimp would
/// read as something else or leave out: skins, weights of morph targets, extensions of the geometry, attributes of
/// another length than the positions, transforms that no node may have.
GltfScene read_gltf_scene(const Json& root, std::string_view path);

/// The node's matrix, or that of its translation, unit quaternion and scale. Throws io for what is none.
GltfTransform read_gltf_transform(const Json& node, std::string_view name, std::string_view path);

/// Throws io unless assimp reads the primitive of mesh number `mesh` as the file states it. Returns what it states.
GltfPrimitive require_known_primitive(const Json& root, const Json& primitive, std::size_t mesh, std::string_view path);

/// The file with the accessors of these numbers, three integers each, as floats: by KHR_mesh_quantization, integers of
/// n bits are taken as they are or, if normalized, divided by 2^n - 1 (2^(n-1) - 1 of signed ones, at least -1). Throws
/// io for accessors without data, sparse ones, and those that their buffer cannot hold.
std::string gltf_of_floats(const std::string& path, Json root, const std::vector<std::size_t>& accessors);

}  // namespace holotone::io
