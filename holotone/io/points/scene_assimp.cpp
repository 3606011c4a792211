#include <holotone/core/error.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/file_format_detail.hpp>
#include <holotone/io/points/points.hpp>
#include <holotone/io/points/scene_formats_detail.hpp>

#if HOLOTONE_ASSIMP
#include <algorithm>
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
#include <map>
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
      const std::string plain(name);
      const std::string decoded = io::without_percents(plain);
      const bool is_coded = io::named_file_bytes(path_, plain) == 0 && io::named_file_bytes(path_, decoded) > 0;
      io::FileHandle buffer = io::open_named_file(path_, is_coded ? decoded : plain, "buffer");
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
using Turn = aiMatrix3x3t<double>;

Matrix matrix_of_rows(const io::GltfTransform& m) {
  return {m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7], m[8], m[9], m[10], m[11], m[12], m[13], m[14], m[15]};
}

/// Turns normals: the matrix's cofactors, which are its inverse transpose times its determinant. A flat node has them
/// too; a mirroring one keeps outward normals outward.
Turn turn_of_normals(const Matrix& m) {
  const double sign = m.Determinant() < 0 ? -1 : 1;
  return {sign * (m.b2 * m.c3 - m.b3 * m.c2), sign * (m.b3 * m.c1 - m.b1 * m.c3), sign * (m.b1 * m.c2 - m.b2 * m.c1),
          sign * (m.c2 * m.a3 - m.c3 * m.a2), sign * (m.c3 * m.a1 - m.c1 * m.a3), sign * (m.c1 * m.a2 - m.c2 * m.a1),
          sign * (m.a2 * m.b3 - m.a3 * m.b2), sign * (m.a3 * m.b1 - m.a1 * m.b3), sign * (m.a1 * m.b2 - m.a2 * m.b1)};
}

class SceneBuilder {
 public:
  SceneBuilder(const aiScene& scene, const io::GltfScene& declared, std::string_view path, const io::Origin& origin)
      : scene_(scene), declared_(declared), path_(path), origin_(origin) {
    has_normals_ = scene.mNumMeshes > 0;
    for (unsigned i = 0; i < scene.mNumMeshes; ++i) {
      has_normals_ = has_normals_ && scene.mMeshes[i]->HasNormals();
      has_colours_ =
          has_colours_ || scene.mMeshes[i]->HasVertexColors(0) || base_colour(*scene.mMeshes[i]) != Vec3f{1, 1, 1};
    }
  }

  Mesh build() {
    begin();
    while (!pending_.empty()) {  // a deep tree must not overflow the stack
      const Place place = pending_.back();
      pending_.pop_back();
      const io::GltfNode& declared = find_declared(place);
      if (declared.is_hidden) continue;
      const aiNode& node = *place.node;
      const Matrix transform = place.above * matrix_of_rows(declared.transform);
      for (unsigned i = 0; i < node.mNumMeshes; ++i) {
        if (node.mMeshes[i] >= scene_.mNumMeshes) fail("mesh indices in range", fmt::format("{}", node.mMeshes[i]));
        const aiMesh& part = *scene_.mMeshes[node.mMeshes[i]];
        require_pieces(part, declared.primitives[i], place.number);
        add(part, declared.primitives[i], transform);
      }
      for (unsigned i = 0; i < node.mNumChildren; ++i) {
        pending_.push_back({node.mChildren[i], transform, declared.children[i]});
      }
    }
    if (mesh_.position.empty()) fail("at least 1 vertex", "0");
    std::size_t unused = 0;
    for (const auto& [positions, is_used] : used_)
      unused += static_cast<std::size_t>(std::ranges::count(is_used, false));
    if (unused > 0) {
      mesh_.ignored = fmt::format("{} {} that no index names", unused, unused == 1 ? "vertex" : "vertices");
    }
    return std::move(mesh_);
  }

 private:
  struct Place {
    const aiNode* node;
    Matrix above;  // transform of its parent
    std::size_t number;
  };

  /// assimp puts several roots of a glTF below one more node.
  void begin() {
    const aiNode* const root = scene_.mRootNode;
    if (root == nullptr) return;
    const auto& roots = declared_.roots;
    if (roots.size() == 1) return pending_.push_back({root, {}, roots[0]});
    if (root->mNumChildren != roots.size()) fail(counted_nodes(roots.size()), counted_nodes(root->mNumChildren));
    for (std::size_t i = 0; i < roots.size(); ++i) pending_.push_back({root->mChildren[i], {}, roots[i]});
  }

  /// What the file states of a node. Throws unless assimp's has as many children and meshes.
  [[nodiscard]] const io::GltfNode& find_declared(const Place& place) const {
    if (place.number >= declared_.nodes.size()) fail("nodes in range", fmt::format("node {}", place.number));
    const io::GltfNode& node = declared_.nodes[place.number];
    if (node.is_hidden) return node;
    if (place.node->mNumChildren != node.children.size()) {
      fail(fmt::format("{} below node {}", counted_nodes(node.children.size()), place.number),
           counted_nodes(place.node->mNumChildren));
    }
    if (place.node->mNumMeshes != node.primitives.size()) {
      fail(fmt::format("{} of node {}", io::counted(node.primitives.size(), "primitive"), place.number),
           io::counted(place.node->mNumMeshes, "primitive"));
    }
    return node;
  }

  static std::string counted_nodes(std::size_t count) { return io::counted(count, "node"); }

  /// assimp leaves out a point, line or triangle with a corner that does not exist.
  void require_pieces(const aiMesh& part, const io::GltfPrimitive& declared, std::size_t node) const {
    if (part.mNumFaces >= declared.pieces) return;
    const char* const noun = declared.shape == io::GltfShape::points  ? "point"
                             : declared.shape == io::GltfShape::lines ? "line"
                                                                      : "triangle";
    fail(fmt::format("vertex indices below {} in node {}", part.mNumVertices, node),
         fmt::format("{} of {} without them", part.mNumFaces, io::counted(declared.pieces, noun)));
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

  /// Vertices that the part's points, lines and triangles use. Throws io for one that does not exist.
  [[nodiscard]] std::vector<bool> find_used(const aiMesh& part) const {
    std::vector<bool> is_used(part.mNumVertices);
    for (unsigned f = 0; f < part.mNumFaces; ++f) {
      const aiFace& face = part.mFaces[f];
      for (unsigned k = 0; k < face.mNumIndices; ++k) {
        if (face.mIndices[k] >= part.mNumVertices) {
          fail(fmt::format("vertex indices below {} in face {}", part.mNumVertices, f),
               fmt::format("{}", face.mIndices[k]));
        }
        is_used[face.mIndices[k]] = true;
      }
    }
    return is_used;
  }

  /// Primitives may share an accessor, of which each uses a part. assimp 5.3 leaves out what one does not use.
  void note_used(const std::vector<bool>& is_used, const io::GltfPrimitive& declared) {
    if (is_used.size() != declared.vertices) return;
    auto& all = used_[declared.positions];
    all.resize(is_used.size());
    for (std::size_t v = 0; v < is_used.size(); ++v) all[v] = all[v] || is_used[v];
  }

  void add(const aiMesh& part, const io::GltfPrimitive& declared, const Matrix& transform) {
    if (part.mVertices == nullptr) return;
    const std::vector<bool> is_used = find_used(part);
    note_used(is_used, declared);
    if (declared.shape == io::GltfShape::lines && declared_.has_others) return;
    const Turn turn = turn_of_normals(transform);
    const bool mirrors = transform.Determinant() < 0;  // then the outside of its triangles is on the other side
    std::vector<std::uint32_t> index(part.mNumVertices);
    const Vec3f base = base_colour(part);
    for (unsigned v = 0; v < part.mNumVertices; ++v) {
      if (is_used[v]) index[v] = add_corner(make_corner(part, v, transform, turn, base));
    }
    for (unsigned f = 0; f < part.mNumFaces; ++f) {
      const aiFace& face = part.mFaces[f];
      if (face.mNumIndices != 3) continue;  // points and lines: only their vertices are used
      std::array<std::uint32_t, 3> triangle = {index[face.mIndices[0]], index[face.mIndices[1]],
                                               index[face.mIndices[2]]};
      if (mirrors) std::swap(triangle[1], triangle[2]);
      mesh_.triangle.push_back(triangle);
    }
  }

  Corner make_corner(const aiMesh& part, unsigned v, const Matrix& transform, const Turn& turn,
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
  const io::GltfScene& declared_;
  std::vector<Place> pending_;
  std::string_view path_;
  io::Origin origin_;
  bool has_normals_ = false;
  bool has_colours_ = false;
  std::map<std::size_t, std::vector<bool>> used_;  // vertices, by the accessor of positions
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
  Mesh mesh = io::read_around(
      coordinates, [&](const io::Origin& origin) { return SceneBuilder(*scene, facts.scene, path, origin).build(); });
  mesh.ignored =
      fmt::format("{}{}{}", facts.ignored, facts.ignored.empty() || mesh.ignored.empty() ? "" : ", ", mesh.ignored);
  return mesh;
}
#else
Mesh read_scene_assimp(const std::string& path, Coordinates /*coordinates*/) {
  throw Error(ErrorCode::unsupported, path + ": expected a build with assimp for glTF, got one without");
}
#endif

}  // namespace holotone
