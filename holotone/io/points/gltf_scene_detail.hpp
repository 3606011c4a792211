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

enum class GltfShape { points, lines, triangles };

/// A part of a mesh.
struct GltfPrimitive {
  GltfShape shape = GltfShape::triangles;
  std::size_t positions = 0;   ///< number of their accessor, which primitives may share
  std::uint64_t vertices = 0;  ///< of that accessor
  std::uint64_t pieces = 0;    ///< points, lines or triangles
};

/// A node; one outside of the scene that is read is empty.
struct GltfNode {
  std::vector<std::size_t> children;
  std::vector<GltfPrimitive> primitives;
  GltfTransform transform{};  ///< to its parent, in float64: assimp rounds a far translation to float32
  bool is_hidden = false;     ///< it and all below it, by KHR_node_visibility
};

struct GltfScene {
  std::vector<std::size_t> roots;
  std::vector<GltfNode> nodes;
  bool has_lines = false;
  bool has_others = false;  ///< triangles or points
};

}  // namespace holotone::io
