#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/points/gltf_json_detail.hpp>
#include <holotone/io/points/scene_formats_detail.hpp>

namespace holotone::io {
namespace {

/// Extensions of materials, pictures and lights, on which no vertex depends; and Draco's, which assimp decodes or,
/// built without it, refuses. Quantized meshes become floats before assimp reads them; hidden nodes are left out.
bool is_known(std::string_view extension) {
  constexpr std::array<std::string_view, 16> others = {
      "KHR_node_visibility",        "KHR_node_selectability",  "KHR_node_hoverability", "EXT_mesh_features",
      "EXT_instance_features",      "EXT_structural_metadata", "FB_ngon_encoding",      "EXT_lights_image_based",
      "KHR_draco_mesh_compression", "KHR_mesh_quantization",   "KHR_texture_transform", "KHR_texture_basisu",
      "EXT_texture_webp",           "KHR_lights_punctual",     "MSFT_texture_dds",      "KHR_xmp_json_ld"};
  return extension.starts_with("KHR_materials_") || std::ranges::find(others, extension) != others.end();
}

std::string name_of_type(std::uint64_t type) {
  switch (type) {
    case 5120:
    case 5121: return "8-bit integers";
    case 5122:
    case 5123: return "16-bit integers";
    case 5125: return "32-bit integers";
    default: return fmt::format("component type {}", type);
  }
}

/// Adds the accessors of positions and normals of integers, of which assimp would take the bytes for floats.
void find_integers(const Json& root, const Json& primitive, std::size_t mesh, std::string_view path,
                   std::vector<std::size_t>& integers) {
  constexpr std::uint64_t float_type = 5126;
  const Json& accessors = list_in(root, "accessors");
  const Json& used = list_in(root, "extensionsUsed");
  for (const char* const name : {"POSITION", "NORMAL"}) {
    const std::uint64_t index = number_in(member_in(primitive, "attributes"), name, accessors.size());
    if (index >= accessors.size()) continue;  // none, or one that assimp refuses
    const std::uint64_t type = number_in(accessors[index], "componentType", float_type);
    if (type == float_type) continue;
    if (std::ranges::find(used, Json("KHR_mesh_quantization")) == used.end()) {
      throw_io(path, fmt::format("{} of mesh {} as 32-bit floats", name, mesh),
               name_of_type(type) + " without KHR_mesh_quantization");
    }
    if (std::ranges::find(integers, index) == integers.end()) integers.push_back(static_cast<std::size_t>(index));
  }
}

/// Collects names, each once.
class Names {
 public:
  void add_if(bool found, std::string_view name) {
    if (found && std::ranges::find(names_, name) == names_.end()) names_.emplace_back(name);
  }
  [[nodiscard]] std::string list() const { return list_names(names_); }

 private:
  std::vector<std::string> names_;
};

bool is_dark(const Json& factor) {
  return std::ranges::all_of(factor, [](const Json& value) { return value.is_number() && value.get<double>() == 0; });
}

void note_material(const Json& material, Names& ignored) {
  const Json& pbr = member_in(material, "pbrMetallicRoughness");
  const Json& gloss = member_in(member_in(material, "extensions"), "KHR_materials_pbrSpecularGlossiness");
  const Json& mode = member_in(material, "alphaMode");
  ignored.add_if(!member_in(pbr, "baseColorTexture").is_null(), "baseColorTexture");
  ignored.add_if(!member_in(gloss, "diffuseTexture").is_null(), "diffuseTexture");
  ignored.add_if(!member_in(material, "normalTexture").is_null(), "normalTexture");
  ignored.add_if(!member_in(material, "emissiveTexture").is_null(), "emissiveTexture");
  ignored.add_if(!is_dark(list_in(material, "emissiveFactor")), "emissiveFactor");
  ignored.add_if(mode == "BLEND" || mode == "MASK", "alphaMode");
}

/// Names of what changes the look or the place of a scene's surface and is not applied.
std::string name_ignored(const Json& root, const GltfScene& scene) {
  Names ignored;
  for (const Json& material : list_in(root, "materials")) note_material(material, ignored);
  for (const Json& mesh : list_in(root, "meshes")) {
    for (const Json& primitive : list_in(mesh, "primitives")) {
      ignored.add_if(!list_in(primitive, "targets").empty(), "morph targets");
    }
  }
  ignored.add_if(scene.has_lines, scene.has_others ? "lines" : "lines (their vertices are points)");
  ignored.add_if(!list_in(root, "animations").empty(), "animations (the rest pose is read)");
  const std::size_t scenes = list_in(root, "scenes").size();
  ignored.add_if(scenes > 1, fmt::format("scenes other than {} of {}", number_in(root, "scene", 0), scenes));
  for (const Json& extension : list_in(root, "extensionsUsed")) {
    if (extension.is_string()) ignored.add_if(!is_known(extension.get<std::string>()), extension.get<std::string>());
  }
  return ignored.list();
}

}  // namespace

Json parse_gltf(const std::string& path) {
  std::string text = read_gltf_json(path);
  while (text.ends_with('\0')) text.pop_back();  // some writers fill a GLB's chunk with zeros
  Json root = Json::parse(text, nullptr, false);
  if (root.is_discarded()) {
    std::ranges::replace_if(
        text, [](char c) { return static_cast<unsigned char>(c) >= 0x80; }, '?');
    root = Json::parse(text, nullptr, false);
  }
  if (!root.is_object()) throw_io(path, "a glTF or GLB scene", "no JSON object");
  return root;
}

GltfFacts require_known_gltf(const std::string& path) {
  const Json root = parse_gltf(path);
  const Json& version = member_in(member_in(root, "asset"), "version");
  if (version.is_string() && !version.get<std::string>().starts_with("2.")) {
    throw_io(path, "glTF 2", "version " + in_quotes(version.get<std::string>()));
  }
  const Json& least = member_in(member_in(root, "asset"), "minVersion");
  if (least.is_string() && least != "2.0")
    throw_io(path, "glTF 2.0", "minVersion " + in_quotes(least.get<std::string>()));
  for (const Json& extension : list_in(root, "extensionsRequired")) {
    const std::string name = extension.is_string() ? extension.get<std::string>() : extension.dump();
    if (!is_known(name)) throw_io(path, "a scene without a required extension of its geometry", in_quotes(name));
  }
  GltfScene scene = read_gltf_scene(root, path);
  const Json& meshes = list_in(root, "meshes");
  std::vector<std::size_t> integers;
  for (std::size_t i = 0; i < meshes.size(); ++i) {
    for (const Json& primitive : list_in(meshes[i], "primitives")) find_integers(root, primitive, i, path, integers);
  }
  std::string ignored = name_ignored(root, scene);
  return {std::move(ignored), integers.empty() ? "" : gltf_of_floats(path, root, integers), std::move(scene)};
}

}  // namespace holotone::io
