#pragma once
// Members of a glTF's JSON that may be missing or of another type. Not for users.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
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

/// The file with the accessors of these numbers, three integers each, as floats: by KHR_mesh_quantization, integers of
/// n bits are taken as they are or, if normalized, divided by 2^n - 1 (2^(n-1) - 1 of signed ones, at least -1). Throws
/// io for accessors without data, sparse ones, and those that their buffer cannot hold.
std::string gltf_of_floats(const std::string& path, Json root, const std::vector<std::size_t>& accessors);

}  // namespace holotone::io
