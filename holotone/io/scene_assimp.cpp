#include <holotone/core/error.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/points.hpp>
#include <holotone/io/scene_formats_detail.hpp>

#if HOLOTONE_ASSIMP
#include <assimp/Importer.hpp>
#include <assimp/postprocess.h>
#include <assimp/scene.h>
#include <fmt/format.h>
#include <holotone/io/weld_detail.hpp>
#include <utility>
#endif

namespace holotone {

#if HOLOTONE_ASSIMP
namespace {

// Position, normal, colour: corners that agree in all become one vertex, so that a texture seam does not
// shine twice.
using Corner = std::array<float, 9>;

class SceneBuilder {
 public:
  SceneBuilder(const aiScene& scene, std::string_view path)
      : scene_(scene), path_(path), codes_(io::extension_of(path) == ".obj") {
    has_normals_ = scene.mNumMeshes > 0;
    for (unsigned i = 0; i < scene.mNumMeshes; ++i) {
      has_normals_ = has_normals_ && scene.mMeshes[i]->HasNormals();
      has_colours_ = has_colours_ || scene.mMeshes[i]->HasVertexColors(0);
    }
  }

  Mesh build() {
    std::vector<std::pair<const aiNode*, aiMatrix4x4>> pending;  // a deep tree must not use up the stack
    if (scene_.mRootNode != nullptr) pending.emplace_back(scene_.mRootNode, scene_.mRootNode->mTransformation);
    while (!pending.empty()) {
      const auto [node, transform] = pending.back();
      pending.pop_back();
      for (unsigned i = 0; i < node->mNumMeshes; ++i) {
        if (node->mMeshes[i] >= scene_.mNumMeshes) fail("mesh indices in range", fmt::format("{}", node->mMeshes[i]));
        add(*scene_.mMeshes[node->mMeshes[i]], transform);
      }
      for (unsigned i = 0; i < node->mNumChildren; ++i) {
        pending.emplace_back(node->mChildren[i], transform * node->mChildren[i]->mTransformation);
      }
    }
    if (mesh_.position.empty()) fail("at least 1 vertex", "0");
    return std::move(mesh_);
  }

 private:
  void add(const aiMesh& part, const aiMatrix4x4& transform) {
    if (part.mVertices == nullptr) return;
    aiMatrix3x3 turn(transform);
    turn = turn.Inverse().Transpose();
    std::vector<std::uint32_t> index(part.mNumVertices);
    for (unsigned v = 0; v < part.mNumVertices; ++v) index[v] = index_of(corner_of(part, v, transform, turn));
    for (unsigned f = 0; f < part.mNumFaces; ++f) {
      const aiFace& face = part.mFaces[f];
      for (unsigned k = 0; k < face.mNumIndices; ++k) {
        if (face.mIndices[k] >= part.mNumVertices) {
          fail(fmt::format("vertex indices below {} in face {}", part.mNumVertices, f),
               fmt::format("{}", face.mIndices[k]));
        }
      }
      if (face.mNumIndices != 3) continue;  // points and lines: their vertices are enough
      mesh_.triangle.push_back({index[face.mIndices[0]], index[face.mIndices[1]], index[face.mIndices[2]]});
    }
  }

  Corner corner_of(const aiMesh& part, unsigned v, const aiMatrix4x4& transform, const aiMatrix3x3& turn) const {
    const aiVector3D position = transform * part.mVertices[v];
    aiVector3D normal;
    if (has_normals_) {
      normal = turn * part.mNormals[v];
      normal.NormalizeSafe();
    }
    Corner corner{position.x, position.y, position.z, normal.x, normal.y, normal.z, 1, 1, 1};
    if (part.HasVertexColors(0)) {
      const aiColor4D& colour = part.mColors[0][v];
      const std::array<float, 3> rgb = {colour.r, colour.g, colour.b};
      for (std::size_t c = 0; c < 3; ++c) corner[6 + c] = codes_ ? io::linear_of_code(double{rgb[c]}, 1) : rgb[c];
    }
    return corner;
  }

  std::uint32_t index_of(const Corner& corner) {
    if (welder_.size() >= UINT32_MAX) fail("fewer than 2^32 vertices", "more");
    const auto [index, is_new] = welder_.index_of(corner);
    if (is_new) {
      mesh_.position.push_back({corner[0], corner[1], corner[2]});
      if (has_normals_) mesh_.normal.push_back({corner[3], corner[4], corner[5]});
      if (has_colours_) mesh_.colour.push_back({corner[6], corner[7], corner[8]});
    }
    return index;
  }

  [[noreturn]] void fail(std::string_view expected, std::string_view got) const { throw_io(path_, expected, got); }

  const aiScene& scene_;
  std::string_view path_;
  bool codes_;  // colours are sRGB
  bool has_normals_ = false;
  bool has_colours_ = false;
  Mesh mesh_;
  io::Welder<9> welder_;
};

}  // namespace

Mesh read_scene_assimp(const std::string& path) {
  io::read_first_bytes(path, 1);  // says what is wrong with a missing or empty file better than assimp
  Assimp::Importer importer;
  // No aiProcess_ValidateDataStructure: it refuses point clouds; SceneBuilder checks what it uses.
  const aiScene* scene = importer.ReadFile(path, aiProcess_Triangulate);
  if (scene == nullptr) {
    throw_io(path, "an OBJ, glTF or GLB scene", fmt::format("what assimp calls '{}'", importer.GetErrorString()));
  }
  return SceneBuilder(*scene, path).build();
}
#else
Mesh read_scene_assimp(const std::string& path) {
  throw Error(ErrorCode::unsupported, path + ": expected a build with assimp for OBJ and glTF, got one without");
}
#endif

}  // namespace holotone
