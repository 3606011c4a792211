#include <holotone/core/error.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/file_format_detail.hpp>
#include <holotone/io/points/points.hpp>
#include <holotone/io/points/scene_formats_detail.hpp>

#if HOLOTONE_ASSIMP
#include <assimp/DefaultIOStream.h>
#include <assimp/DefaultIOSystem.h>
#include <assimp/Importer.hpp>
#include <assimp/MemoryIOWrapper.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>
#include <cmath>
#include <cstdio>
#include <fmt/format.h>
#include <holotone/io/named_file_detail.hpp>
#include <holotone/io/points/weld_detail.hpp>
#include <holotone/io/text_reader_detail.hpp>
#include <limits>
#include <optional>
#include <sys/stat.h>
#include <utility>
#endif

namespace holotone {

#if HOLOTONE_ASSIMP
namespace {

// A file that is open already. assimp's own stream would look up its length by its name.
class OpenedFile final : public Assimp::DefaultIOStream {
 public:
  OpenedFile(std::FILE* stream, const char* name) : DefaultIOStream(stream, name), stream_(stream) {}
  std::size_t FileSize() const override {
    struct stat status {};
    return fstat(fileno(stream_), &status) == 0 ? static_cast<std::size_t>(status.st_size) : 0;
  }

 private:
  std::FILE* stream_;  // closed by the base
};

// Restricts the files that assimp opens: buffers are regular files in the scene's folder or below.
class SceneFiles final : public Assimp::DefaultIOSystem {
 public:
  /// `content` stands in for the file of that path, unless it is empty.
  SceneFiles(const std::string& path, const std::string& content)
      : path_(path), folder_(path.substr(0, path.rfind('/') + 1)), content_(content) {}

  // assimp searches for files of similar names if a buffer is missing: none exist here.
  bool Exists(const char* file) const override { return file == path_; }

  Assimp::IOStream* Open(const char* file, const char* mode) override {
    if (std::string_view(mode).find_first_of("wa+") != std::string_view::npos) return nullptr;
    if (file == path_ && !content_.empty()) {
      return new Assimp::MemoryIOStream(reinterpret_cast<const std::uint8_t*>(content_.data()), content_.size());
    }
    if (file == path_) return DefaultIOSystem::Open(file, mode);
    if (refusal_) return nullptr;
    std::string_view name(file);
    if (name.starts_with(folder_)) name.remove_prefix(folder_.size());
    try {
      io::FileHandle buffer = io::open_named_file(path_, std::string(name), "buffer");
      std::FILE* const stream = fdopen(buffer.get(), "rb");
      if (stream == nullptr) return nullptr;
      (void)buffer.release();
      return new OpenedFile(stream, file);
    } catch (const Error& error) {  // must not pass through assimp, which would report another
      refusal_ = error;
      return nullptr;
    }
  }

  // Throws the reason for a buffer that was not opened, which assimp does not report.
  void throw_refusal() const {
    if (refusal_) throw Error(*refusal_);
  }

 private:
  std::string path_;
  std::string folder_;
  const std::string& content_;
  std::optional<Error> refusal_;
};

// Position, normal, colour. Corners that agree in all become one vertex, so that a point on a texture seam does not
// count twice.
using Corner = std::array<float, 9>;
using Matrix = aiMatrix4x4t<double>;  // of nodes: a float32 one would round translations far from zero

class SceneBuilder {
 public:
  SceneBuilder(const aiScene& scene, std::string_view path, const io::Origin& origin)
      : scene_(scene), path_(path), origin_(origin) {
    has_normals_ = scene.mNumMeshes > 0;
    for (unsigned i = 0; i < scene.mNumMeshes; ++i) {
      has_normals_ = has_normals_ && scene.mMeshes[i]->HasNormals();
      has_colours_ =
          has_colours_ || scene.mMeshes[i]->HasVertexColors(0) || base_colour(*scene.mMeshes[i]) != Vec3f{1, 1, 1};
    }
  }

  Mesh build() {
    std::vector<std::pair<const aiNode*, Matrix>> pending;  // a deep tree must not overflow the stack
    if (scene_.mRootNode != nullptr) pending.emplace_back(scene_.mRootNode, Matrix(scene_.mRootNode->mTransformation));
    while (!pending.empty()) {
      const auto [node, transform] = pending.back();
      pending.pop_back();
      mesh_nodes_ += node->mNumMeshes > 0 ? 1 : 0;
      for (unsigned i = 0; i < node->mNumMeshes; ++i) {
        if (node->mMeshes[i] >= scene_.mNumMeshes) fail("mesh indices in range", fmt::format("{}", node->mMeshes[i]));
        add(*scene_.mMeshes[node->mMeshes[i]], transform);
      }
      if (node->mNumChildren > 0) note_scale(transform);
      for (unsigned i = 0; i < node->mNumChildren; ++i) {
        pending.emplace_back(node->mChildren[i], transform * Matrix(node->mChildren[i]->mTransformation));
      }
    }
    if (mesh_.position.empty()) fail("at least 1 vertex", "0");
    return std::move(mesh_);
  }

  /// Throws if errors of the nodes' translations, `rounding`, move parts of the mesh by a thousandth of its size.
  void require_resolved(const Mesh& mesh, double rounding) const {
    constexpr double steps_a_size = 1000;
    if (rounding == 0 || mesh_nodes_ < 2) return;
    double size = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const auto [low, high] = std::ranges::minmax_element(mesh.position, {}, [&](const Vec3f& p) { return p[axis]; });
      size = std::max(size, static_cast<double>((*high)[axis]) - (*low)[axis]);
    }
    if (rounding * scale_ * steps_a_size <= size) return;
    fail(fmt::format("translations of nodes that float32 holds to a thousandth of the scene's {:.3g}", size),
         fmt::format("errors of {:.3g}; apply the transforms before exporting", rounding * scale_));
  }

 private:
  void note_scale(const Matrix& t) {
    for (const auto& row : {std::array{t.a1, t.a2, t.a3}, std::array{t.b1, t.b2, t.b3}, std::array{t.c1, t.c2, t.c3}}) {
      scale_ = std::max(scale_, std::hypot(row[0], row[1], row[2]));
    }
  }

  /// baseColorFactor of the part's material, without alpha: linear light.
  [[nodiscard]] Vec3f base_colour(const aiMesh& part) const {
    aiColor4D colour(1, 1, 1, 1);
    if (part.mMaterialIndex >= scene_.mNumMaterials) return {1, 1, 1};
    if (scene_.mMaterials[part.mMaterialIndex]->Get(AI_MATKEY_COLOR_DIFFUSE, colour) != aiReturn_SUCCESS) {
      return {1, 1, 1};
    }
    return {colour.r, colour.g, colour.b};
  }

  void add(const aiMesh& part, const Matrix& transform) {
    if (part.mVertices == nullptr) return;
    aiMatrix3x3t<double> turn(transform);
    turn = turn.Inverse().Transpose();
    std::vector<std::uint32_t> index(part.mNumVertices);
    const Vec3f base = base_colour(part);
    for (unsigned v = 0; v < part.mNumVertices; ++v) {
      index[v] = add_corner(make_corner(part, v, transform, turn, base));
    }
    for (unsigned f = 0; f < part.mNumFaces; ++f) {
      const aiFace& face = part.mFaces[f];
      for (unsigned k = 0; k < face.mNumIndices; ++k) {
        if (face.mIndices[k] >= part.mNumVertices) {
          fail(fmt::format("vertex indices below {} in face {}", part.mNumVertices, f),
               fmt::format("{}", face.mIndices[k]));
        }
      }
      if (face.mNumIndices != 3) continue;  // points and lines: only their vertices are used
      mesh_.triangle.push_back({index[face.mIndices[0]], index[face.mIndices[1]], index[face.mIndices[2]]});
    }
  }

  Corner make_corner(const aiMesh& part, unsigned v, const Matrix& transform, const aiMatrix3x3t<double>& turn,
                     const Vec3f& base) const {
    using Vector = aiVector3t<double>;
    const aiVector3D& stored = part.mVertices[v];
    const Vector at = transform * Vector(stored.x, stored.y, stored.z);
    const Vec3f position = io::relative_to(origin_, at.x, at.y, at.z);
    Vector normal;
    if (has_normals_) {
      normal = turn * Vector(part.mNormals[v].x, part.mNormals[v].y, part.mNormals[v].z);
      normal.NormalizeSafe();
    }
    const Vec3f unit = io::relative_to({}, normal.x, normal.y, normal.z);
    Vec3f colour = base;
    if (part.HasVertexColors(0)) {
      const aiColor4D& rgb = part.mColors[0][v];
      colour = {base[0] * rgb.r, base[1] * rgb.g, base[2] * rgb.b};
    }
    return {position[0], position[1], position[2], unit[0], unit[1], unit[2], colour[0], colour[1], colour[2]};
  }

  std::uint32_t add_corner(const Corner& corner) {
    if (welder_.size() >= UINT32_MAX) fail("fewer than 2^32 vertices", "more");
    const auto [index, is_new] = welder_.weld(corner);
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
  io::Origin origin_;
  std::size_t mesh_nodes_ = 0;
  double scale_ = 1;  // largest of the nodes with children
  bool has_normals_ = false;
  bool has_colours_ = false;
  Mesh mesh_;
  io::Welder<9> welder_;
};

}  // namespace

Mesh read_scene_assimp(const std::string& path, Coordinates coordinates) {
  if (!is_assimp_scene(path)) io::throw_format(path, io::formats::assimp_scenes, "assimp");
  io::read_first_bytes(path, 1);  // reports a missing or empty file more precisely than assimp
  const io::GltfFacts facts = io::require_known_gltf(path);
  Assimp::Importer importer;
  auto* const files = new SceneFiles(path, facts.floats);
  importer.SetIOHandler(files);  // takes ownership
  // Without aiProcess_ValidateDataStructure, which rejects point clouds; SceneBuilder checks the data it uses.
  const aiScene* scene = importer.ReadFile(path, aiProcess_Triangulate);
  if (scene == nullptr) {
    files->throw_refusal();
    throw_io(path, "a glTF or GLB scene", fmt::format("what assimp calls '{}'", importer.GetErrorString()));
  }
  std::optional<SceneBuilder> builder;
  Mesh mesh = io::read_around(coordinates,
                              [&](const io::Origin& origin) { return builder.emplace(*scene, path, origin).build(); });
  if (coordinates == Coordinates::centred) builder->require_resolved(mesh, facts.rounding);
  mesh.ignored = facts.ignored;
  return mesh;
}
#else
Mesh read_scene_assimp(const std::string& path, Coordinates /*coordinates*/) {
  throw Error(ErrorCode::unsupported, path + ": expected a build with assimp for glTF, got one without");
}
#endif

}  // namespace holotone
