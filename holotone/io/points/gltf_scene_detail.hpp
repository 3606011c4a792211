#pragma once
// What a glTF 2.0 declares of its scene. Not for users.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace holotone::io {

/// By rows: (x, y, z, 1) becomes the vector of rows times it.
using GltfTransform = std::array<double, 16>;

/// A node; one outside of the scene that is read is empty.
struct GltfNode {
  std::vector<std::size_t> children;
  std::vector<std::uint64_t> triangles;  ///< of each primitive of its mesh
  GltfTransform transform{};             ///< to its parent, in float64: assimp rounds a far translation to float32
  bool is_hidden = false;                ///< it and all below it, by KHR_node_visibility
};

struct GltfScene {
  std::vector<std::size_t> roots;
  std::vector<GltfNode> nodes;
};

}  // namespace holotone::io
