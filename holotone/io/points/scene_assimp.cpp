#include <holotone/core/error.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/file_format_detail.hpp>
#include <holotone/io/points/points.hpp>
#include <holotone/io/points/scene_formats_detail.hpp>

#if HOLOTONE_ASSIMP
#include <assimp/DefaultIOStream.h>
#include <assimp/DefaultIOSystem.h>
#include <assimp/Importer.hpp>
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

// A file that is open already, from byte `begin` on. assimp's own stream would look up its length by its name.
class OpenedFile final : public Assimp::DefaultIOStream {
 public:
  OpenedFile(std::FILE* stream, const char* name, std::size_t begin = 0)
      : DefaultIOStream(stream, name), stream_(stream), begin_(begin) {
    std::fseek(stream, static_cast<long>(begin), SEEK_SET);
  }
  std::size_t FileSize() const override {
    struct stat status {};
    const auto bytes = fstat(fileno(stream_), &status) == 0 ? static_cast<std::size_t>(status.st_size) : 0;
    return bytes - std::min(bytes, begin_);
  }
  aiReturn Seek(std::size_t offset, aiOrigin origin) override {
    return DefaultIOStream::Seek(origin == aiOrigin_SET ? begin_ + offset : offset, origin);
  }
  std::size_t Tell() const override { return DefaultIOStream::Tell() - begin_; }

 private:
  std::FILE* stream_;  // closed by the base
  std::size_t begin_;
};

// Restricts the files that assimp opens. A material (OBJ's mtllib) changes nothing in a Mesh, so for an OBJ only the
// file itself is opened. A glTF's buffers are regular files in its folder or below.
class SceneFiles final : public Assimp::DefaultIOSystem {
 public:
  explicit SceneFiles(const std::string& path) : path_(path), folder_(path.substr(0, path.rfind('/') + 1)) {}

  // assimp searches for files of similar names if a buffer is missing: none exist here.
  bool Exists(const char* file) const override { return file == path_; }

  Assimp::IOStream* Open(const char* file, const char* mode) override {
    if (std::string_view(mode).find_first_of("wa+") != std::string_view::npos) return nullptr;
    if (file == path_) return open_scene(file);
    if (io::has_format(path_, io::FileFormat::obj) || refusal_) return nullptr;
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
  // assimp would take a byte order mark for a part of an OBJ's first word, and drop its line.
  static Assimp::IOStream* open_scene(const char* file) {
    std::FILE* const stream = std::fopen(file, "rb");
    if (stream == nullptr) return nullptr;
    std::array<char, io::byte_order_mark.size()> head{};
    const std::size_t count = std::fread(head.data(), 1, head.size(), stream);
    const bool marked = std::string_view(head.data(), count) == io::byte_order_mark;
    return new OpenedFile(stream, file, marked ? head.size() : 0);
  }

  std::string path_;
  std::string folder_;
  std::optional<Error> refusal_;
};

// Position, normal, colour. Corners that agree in all become one vertex, so that a point on a texture seam does not
// count twice.
using Corner = std::array<float, 9>;
using Matrix = aiMatrix4x4t<double>;  // of nodes: a float32 one would round translations far from zero

/// Throws if the numbers of an OBJ, which assimp rounds to float32, lie too far from zero for the scene's size.
void require_resolved(const aiScene& scene, std::string_view path) {
  constexpr double steps_a_size = 1000;
  aiVector3D low;
  aiVector3D high;
  bool first = true;
  for (unsigned i = 0; i < scene.mNumMeshes; ++i) {
    for (unsigned v = 0; scene.mMeshes[i]->mVertices != nullptr && v < scene.mMeshes[i]->mNumVertices; ++v) {
      const aiVector3D& p = scene.mMeshes[i]->mVertices[v];
      for (unsigned axis = 0; axis < 3; ++axis) {
        low[axis] = first ? p[axis] : std::min(low[axis], p[axis]);
        high[axis] = first ? p[axis] : std::max(high[axis], p[axis]);
      }
      first = false;
    }
  }
  double size = 0;
  float farthest = 0;
  for (unsigned axis = 0; axis < 3; ++axis) {
    size = std::max(size, static_cast<double>(high[axis]) - low[axis]);
    farthest = std::max({farthest, std::abs(low[axis]), std::abs(high[axis])});
  }
  const double step = static_cast<double>(std::nextafter(farthest, std::numeric_limits<float>::infinity())) - farthest;
  if (size > 0 && std::isfinite(step) && step * steps_a_size > size) {
    throw_io(path, fmt::format("coordinates that float32 resolves to a thousandth of the scene's {:.3g}", size),
             fmt::format("steps of {:.3g} at {:.9g}; move the scene to its origin, or use PLY", step, farthest));
  }
}

class SceneBuilder {
 public:
  SceneBuilder(const aiScene& scene, std::string_view path, const io::Origin& origin)
      : scene_(scene), path_(path), origin_(origin), codes_(io::has_format(path, io::FileFormat::obj)) {
    has_normals_ = scene.mNumMeshes > 0;
    for (unsigned i = 0; i < scene.mNumMeshes; ++i) {
      has_normals_ = has_normals_ && scene.mMeshes[i]->HasNormals();
      has_colours_ = has_colours_ || scene.mMeshes[i]->HasVertexColors(0);
    }
    if (codes_) largest_code_ = find_largest_code();
  }

  Mesh build() {
    std::vector<std::pair<const aiNode*, Matrix>> pending;  // a deep tree must not overflow the stack
    if (scene_.mRootNode != nullptr) pending.emplace_back(scene_.mRootNode, Matrix(scene_.mRootNode->mTransformation));
    while (!pending.empty()) {
      const auto [node, transform] = pending.back();
      pending.pop_back();
      for (unsigned i = 0; i < node->mNumMeshes; ++i) {
        if (node->mMeshes[i] >= scene_.mNumMeshes) fail("mesh indices in range", fmt::format("{}", node->mMeshes[i]));
        add(*scene_.mMeshes[node->mMeshes[i]], transform);
      }
      for (unsigned i = 0; i < node->mNumChildren; ++i) {
        pending.emplace_back(node->mChildren[i], transform * Matrix(node->mChildren[i]->mTransformation));
      }
    }
    if (mesh_.position.empty()) fail("at least 1 vertex", "0");
    return std::move(mesh_);
  }

 private:
  /// 1 of OBJ colours from 0 to 1; 255 or 65535 if one is above. All are sRGB.
  [[nodiscard]] double find_largest_code() const {
    double largest = 0;
    for (unsigned i = 0; i < scene_.mNumMeshes; ++i) {
      const aiMesh& part = *scene_.mMeshes[i];
      for (unsigned v = 0; part.HasVertexColors(0) && v < part.mNumVertices; ++v) {
        const aiColor4D& colour = part.mColors[0][v];
        for (const float value : {colour.r, colour.g, colour.b}) {
          if (!(value >= 0 && value <= 65535)) fail("colours of 0 to 1, 255 or 65535", fmt::format("{:g}", value));
          largest = std::max(largest, static_cast<double>(value));
        }
      }
    }
    return io::largest_code_of(largest);
  }

  void add(const aiMesh& part, const Matrix& transform) {
    if (part.mVertices == nullptr) return;
    aiMatrix3x3t<double> turn(transform);
    turn = turn.Inverse().Transpose();
    std::vector<std::uint32_t> index(part.mNumVertices);
    for (unsigned v = 0; v < part.mNumVertices; ++v) index[v] = add_corner(make_corner(part, v, transform, turn));
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

  Corner make_corner(const aiMesh& part, unsigned v, const Matrix& transform, const aiMatrix3x3t<double>& turn) const {
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
    Corner corner{position[0], position[1], position[2], unit[0], unit[1], unit[2], 1, 1, 1};
    if (part.HasVertexColors(0)) {
      const aiColor4D& colour = part.mColors[0][v];
      const std::array<float, 3> rgb = {colour.r, colour.g, colour.b};
      for (std::size_t c = 0; c < 3; ++c)
        corner[6 + c] = codes_ ? io::linear_of_code(double{rgb[c]}, largest_code_) : rgb[c];
    }
    return corner;
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
  bool codes_;  // true if colours are sRGB
  double largest_code_ = 1;
  bool has_normals_ = false;
  bool has_colours_ = false;
  Mesh mesh_;
  io::Welder<9> welder_;
};

}  // namespace

Mesh read_scene_assimp(const std::string& path, Coordinates coordinates) {
  io::read_first_bytes(path, 1);  // reports a missing or empty file more precisely than assimp
  if (io::has_format(path, io::FileFormat::gltf)) io::require_known_gltf(path);
  Assimp::Importer importer;
  auto* const files = new SceneFiles(path);
  importer.SetIOHandler(files);  // takes ownership
  // Without aiProcess_ValidateDataStructure, which rejects point clouds; SceneBuilder checks the data it uses.
  const aiScene* scene = importer.ReadFile(path, aiProcess_Triangulate);
  if (scene == nullptr) {
    files->throw_refusal();
    throw_io(path, "an OBJ, glTF or GLB scene", fmt::format("what assimp calls '{}'", importer.GetErrorString()));
  }
  if (io::has_format(path, io::FileFormat::obj)) require_resolved(*scene, path);
  return io::read_around(coordinates,
                         [&](const io::Origin& origin) { return SceneBuilder(*scene, path, origin).build(); });
}
#else
Mesh read_scene_assimp(const std::string& path, Coordinates /*coordinates*/) {
  throw Error(ErrorCode::unsupported, path + ": expected a build with assimp for OBJ and glTF, got one without");
}
#endif

}  // namespace holotone
