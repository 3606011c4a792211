#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/points/gltf_json_detail.hpp>

namespace holotone::io {
namespace {

/// Extensions that move, repeat or replace vertices where they stand, required or not.
bool changes_geometry(std::string_view extension) {
  constexpr std::array<std::string_view, 5> names = {"EXT_mesh_gpu_instancing", "KHR_gaussian_splatting", "CESIUM_RTC",
                                                     "EXT_mesh_primitive_restart", "KHR_mesh_primitive_restart"};
  return std::ranges::find(names, extension) != names.end();
}

class SceneReader {
 public:
  SceneReader(const Json& root, std::string_view path) : root_(root), path_(path) {}

  GltfScene read() {
    require_extensions(root_, "the file");
    const Json& scenes = list_in(root_, "scenes");
    const std::uint64_t shown = number_in(root_, "scene", 0);
    if (shown >= scenes.size()) return std::move(scene_);  // none, which assimp refuses
    const Json& scene = scenes[static_cast<std::size_t>(shown)];
    require_extensions(scene, fmt::format("scene {}", shown));
    scene_.nodes.resize(list_in(root_, "nodes").size());
    scene_.roots = numbers_in(scene, "nodes");
    read_nodes();
    return std::move(scene_);
  }

 private:
  void read_nodes() {
    std::vector<bool> seen(scene_.nodes.size());
    std::vector<std::size_t> pending = scene_.roots;
    while (!pending.empty()) {
      const std::size_t index = pending.back();
      pending.pop_back();
      if (index >= seen.size() || seen[index]) continue;  // assimp refuses a node out of range and a circle
      seen[index] = true;
      read_node(index);
      const GltfNode& node = scene_.nodes[index];
      if (!node.is_hidden) pending.insert(pending.end(), node.children.begin(), node.children.end());
    }
  }

  void read_node(std::size_t index) {
    const Json& json = list_in(root_, "nodes")[index];
    GltfNode& node = scene_.nodes[index];
    const std::string name = fmt::format("node {}", index);
    node.is_hidden = is_hidden(json, name);
    if (node.is_hidden) return;
    node.children = numbers_in(json, "children");
    node.transform = read_gltf_transform(json, name, path_);
    require_extensions(json, name);
    const Json& meshes = list_in(root_, "meshes");
    const std::uint64_t number = number_in(json, "mesh", meshes.size());
    if (number >= meshes.size()) return;  // none, or one that assimp refuses
    const auto mesh_number = static_cast<std::size_t>(number);
    const Json& mesh = meshes[mesh_number];
    const Json& skin = member_in(json, "skin");
    if (!skin.is_null()) {
      throw_io(path_, "meshes without a skin, which bends them",
               fmt::format("skin {} of {}; export it with its pose applied", skin.dump(), name));
    }
    require_no_morph(json, mesh, name);
    const std::string mesh_name = fmt::format("mesh {}", mesh_number);
    require_extensions(mesh, mesh_name);
    for (const Json& primitive : list_in(mesh, "primitives")) {
      require_extensions(primitive, mesh_name);
      node.primitives.push_back(require_known_primitive(root_, primitive, mesh_number, path_));
      (node.primitives.back().shape == GltfShape::lines ? scene_.has_lines : scene_.has_others) = true;
    }
  }

  [[nodiscard]] bool is_hidden(const Json& node, std::string_view name) const {
    const Json& visible = member_in(member_in(member_in(node, "extensions"), "KHR_node_visibility"), "visible");
    if (visible.is_null()) return false;
    if (!visible.is_boolean()) {
      throw_io(path_, fmt::format("true or false as KHR_node_visibility of {}", name), in_quotes(visible.dump()));
    }
    return !visible.get<bool>();
  }

  /// A node's weights replace those of its mesh.
  void require_no_morph(const Json& node, const Json& mesh, std::string_view name) const {
    std::size_t targets = 0;
    for (const Json& primitive : list_in(mesh, "primitives")) {
      targets = std::max(targets, list_in(primitive, "targets").size());
    }
    const Json& weights = list_in(member_in(node, "weights").is_null() ? mesh : node, "weights");
    for (std::size_t i = 0; i < std::min(targets, weights.size()); ++i) {
      if (weights[i].is_number() && weights[i].get<double>() == 0) continue;
      throw_io(
          path_, "meshes without morph targets of a weight, which move their vertices",
          fmt::format("weight {} of target {} of {}; export it with its shape applied", weights[i].dump(), i, name));
    }
  }

  void require_extensions(const Json& object, std::string_view where) const {
    const Json& extensions = member_in(object, "extensions");
    if (!extensions.is_object()) return;
    for (const auto& [name, value] : extensions.items()) {
      if (!changes_geometry(name)) continue;
      throw_io(path_, "a scene without an extension of its geometry", fmt::format("{} of {}", in_quotes(name), where));
    }
  }

  [[nodiscard]] static std::vector<std::size_t> numbers_in(const Json& object, const char* name) {
    std::vector<std::size_t> numbers;
    for (const Json& number : list_in(object, name)) {
      if (number.is_number_unsigned()) numbers.push_back(static_cast<std::size_t>(number.get<std::uint64_t>()));
    }
    return numbers;
  }

  const Json& root_;
  std::string_view path_;
  GltfScene scene_;
};

}  // namespace

GltfScene read_gltf_scene(const Json& root, std::string_view path) { return SceneReader(root, path).read(); }

}  // namespace holotone::io
