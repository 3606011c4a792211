// What assimp's scenes hold and what is refused of them, through a child process.
#include <cmath>
#include <fmt/format.h>
#include <holotone/io/base64_detail.hpp>
#include <holotone/io/guarded/guarded.hpp>
#include <holotone/io/points/scene_formats_detail.hpp>
#include <random>
#include <tests/io/assimp_scenes.hpp>
#include <tests/io/polygon_builders.hpp>
#include <tests/support/paths.hpp>

namespace holotone {
namespace {

using io_support::error_of;
using io_support::TemporaryFolder;
using io_support::write_raw;
using namespace assimp_scenes;

const std::string program = guarded_program();

// A square of four corners in one primitive of `mode`; `more` is further JSON.
std::string gltf_square(int mode, const std::string& more = "", int component_type = 5126) {
  return R"({"asset":{"version":"2.0"},)" + more + R"("scene":0,"scenes":[{"nodes":[0]}],"nodes":[{"mesh":0}],
"meshes":[{"primitives":[{"attributes":{"POSITION":0},"mode":)" +
         std::to_string(mode) + R"(}]}],"buffers":[{"byteLength":48,"uri":"x.bin"}],
"bufferViews":[{"buffer":0,"byteLength":48}],"accessors":[{"bufferView":0,"componentType":)" +
         std::to_string(component_type) + R"(,"count":4,"type":"VEC3","min":[0,0,0],"max":[1,1,0]}]})";
}

// In the order of a fan, or of a strip.
std::string square_bytes(bool fan) {
  std::string bytes;
  for (const auto& [x, y] : fan ? std::vector<std::pair<int, int>>{{0, 0}, {1, 0}, {1, 1}, {0, 1}}
                                : std::vector<std::pair<int, int>>{{0, 0}, {1, 0}, {0, 1}, {1, 1}}) {
    for (const int value : {x, y, 0}) bytes += io_support::bytes_of(static_cast<float>(value));
  }
  return bytes;
}

TEST(AssimpScene, GltfStripsAndFans) {
  SKIP_WITHOUT_ASSIMP();
  const TemporaryFolder folder;
  for (const bool fan : {false, true}) {
    write_raw(folder.file("x.bin"), square_bytes(fan));
    write_raw(folder.file("x.gltf"), gltf_square(fan ? 6 : 5));
    const Mesh mesh = read_scene_guarded(folder.file("x.gltf"), program);
    EXPECT_EQ(mesh.position.size(), 4u);
    ASSERT_EQ(mesh.triangle.size(), 2u);
    for (const auto& [a, b, c] : mesh.triangle) {  // all counter-clockwise, of area 1/2
      const auto& p = mesh.position;
      EXPECT_EQ((p[b][0] - p[a][0]) * (p[c][1] - p[a][1]) - (p[b][1] - p[a][1]) * (p[c][0] - p[a][0]), 1) << fan;
    }
  }
}

TEST(AssimpScene, GltfThatRequiresMoreIsRefused) {
  SKIP_WITHOUT_ASSIMP();
  const TemporaryFolder folder;
  write_raw(folder.file("x.bin"), square_bytes(true));
  const auto read = [&](const std::string& gltf_text) {
    write_raw(folder.file("x.gltf"), gltf_text);
    return read_scene_guarded(folder.file("x.gltf"), program).position.size();
  };
  const auto requiring = [](const std::string& name) {
    return gltf_square(6, R"("extensionsUsed":[")" + name + R"("],"extensionsRequired":[")" + name + R"("],)");
  };
  for (const std::string name : {"KHR_materials_unlit", "KHR_texture_transform", "KHR_lights_punctual"}) {
    EXPECT_EQ(read(requiring(name)), 4u) << name;
  }
  EXPECT_EQ(read(gltf_square(6, R"("extensionsUsed":["EXT_mesh_gpu_instancing"],)")), 4u);
  for (const std::string name : {"EXT_meshopt_compression", "EXT_mesh_gpu_instancing", "VENDOR_unknown"}) {
    const std::string text = error_of([&] { (void)read(requiring(name)); });
    EXPECT_MENTIONS(text, "x.gltf: expected a scene without a required extension of its geometry, got '" + name + "'");
  }
  EXPECT_MENTIONS(error_of([&] { (void)read(gltf_square(6, "", 5123)); }),
                  "expected POSITION of mesh 0 as 32-bit floats, got 16-bit integers without KHR_mesh_quantization");
}

// A triangle with a material of `material` and colours of `type` and `components`, whose numbers of a vertex lie
// `stride` bytes apart. Its file x.bin: positions, then colours.
std::string coloured_gltf(const std::string& material, int type, const std::string& components, int stride) {
  return R"({"asset":{"version":"2.0"},"scene":0,"scenes":[{"nodes":[0]}],"nodes":[{"mesh":0}],"materials":[)" +
         material + R"(],"meshes":[{"primitives":[{"attributes":{"POSITION":0)" + (type == 0 ? "" : R"(,"COLOR_0":1)") +
         R"(},"material":0}]}],"buffers":[{"byteLength":)" + std::to_string(36 + 3 * stride) + R"(,"uri":"x.bin"}],
"bufferViews":[{"buffer":0,"byteLength":36})" +
         (type == 0
              ? ""
              : fmt::format(R"(,{{"buffer":0,"byteOffset":36,"byteLength":{},"byteStride":{}}})", 3 * stride, stride)) +
         R"(],"accessors":[{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3","min":[0,0,0],"max":[1,1,0]})" +
         (type == 0 ? ""
                    : fmt::format(R"(,{{"bufferView":1,"componentType":{},"count":3,"type":"{}"{}}})", type, components,
                                  type == 5126 ? "" : R"(,"normalized":true)")) +
         "]}";
}

// (1 0 0), (0.2 0.4 0.6) and (1 1 1) of the type's largest number, with alpha 0.4 where there is one.
template <class T>
std::string colour_bytes(double largest, int components, int stride) {
  const double light[3][4] = {{1, 0, 0, 0.4}, {0.2, 0.4, 0.6, 0.4}, {1, 1, 1, 0.4}};
  std::string bytes;
  for (const auto& vertex : light) {
    std::string row;
    for (int c = 0; c < components; ++c) row += io_support::bytes_of(static_cast<T>(largest * vertex[c]));
    row.resize(static_cast<std::size_t>(stride), '\x7f');
    bytes += row;
  }
  return bytes;
}

TEST(AssimpScene, GltfColoursAreTheFactorTimesThoseOfTheVertices) {
  SKIP_WITHOUT_ASSIMP();
  const TemporaryFolder folder;
  std::string positions;
  for (const float value : {0.F, 0.F, 0.F, 1.F, 0.F, 0.F, 0.F, 1.F, 0.F}) positions += io_support::bytes_of(value);
  const std::string factor = R"({"pbrMetallicRoughness":{"baseColorFactor":[0.5,0.25,1,0.75]}})";
  struct Kind {
    std::string components;
    std::string bytes;
    int type;
    int stride;
  };
  const Kind kinds[] = {{"VEC3", colour_bytes<float>(1, 3, 12), 5126, 12},
                        {"VEC4", colour_bytes<float>(1, 4, 16), 5126, 16},
                        {"VEC3", colour_bytes<std::uint8_t>(255, 3, 4), 5121, 4},
                        {"VEC4", colour_bytes<std::uint8_t>(255, 4, 4), 5121, 4},
                        {"VEC3", colour_bytes<std::uint16_t>(65535, 3, 8), 5123, 8},
                        {"VEC4", colour_bytes<std::uint16_t>(65535, 4, 8), 5123, 8}};
  for (const auto& kind : kinds) {
    write_raw(folder.file("x.bin"), positions + kind.bytes);
    for (const bool white : {false, true}) {
      write_raw(folder.file("x.gltf"),
                coloured_gltf(white ? R"({"name":"white"})" : factor, kind.type, kind.components, kind.stride));
      const Mesh mesh = read_scene_guarded(folder.file("x.gltf"), program);
      SCOPED_TRACE(fmt::format("{} {} white {}", kind.type, kind.components, white));
      ASSERT_EQ(mesh.colour.size(), 3u);
      expect_near(mesh.colour[0], {white ? 1.F : 0.5F, 0, 0});
      expect_near(mesh.colour[1], {white ? 0.2F : 0.1F, white ? 0.4F : 0.1F, 0.6F});
      expect_near(mesh.colour[2], {white ? 1.F : 0.5F, white ? 1.F : 0.25F, 1});
    }
  }
  write_raw(folder.file("x.bin"), positions);
  write_raw(folder.file("x.gltf"), coloured_gltf(factor, 0, "", 0));
  EXPECT_EQ(read_scene_guarded(folder.file("x.gltf"), program).colour, (std::vector<Vec3f>(3, {0.5F, 0.25F, 1})));
  write_raw(folder.file("x.gltf"), coloured_gltf(R"({"name":"white"})", 0, "", 0));
  EXPECT_TRUE(read_scene_guarded(folder.file("x.gltf"), program).colour.empty());
}

TEST(AssimpScene, GltfNamesWhatIsNotApplied) {
  SKIP_WITHOUT_ASSIMP();
  const TemporaryFolder folder;
  write_raw(folder.file("x.bin"), square_bytes(true));
  const auto read = [&](const std::string& more, int mode = 6) {
    write_raw(folder.file("x.gltf"), gltf_square(mode, more));
    return read_scene_guarded(folder.file("x.gltf"), program).ignored;
  };
  EXPECT_EQ(read(""), "");
  EXPECT_EQ(read(R"("materials":[{"alphaMode":"OPAQUE","emissiveFactor":[0,0,0]}],"skins":[],)"), "");
  EXPECT_EQ(read(R"("materials":[{"alphaMode":"BLEND","emissiveFactor":[0,0,0.5]},{"alphaMode":"MASK"}],)"),
            "emissiveFactor, alphaMode");
  EXPECT_EQ(read(R"("images":[{"uri":"a.png"}],"textures":[{"source":0}],
"materials":[{"pbrMetallicRoughness":{"baseColorTexture":{"index":0}},"normalTexture":{"index":0}}],)"),
            "baseColorTexture, normalTexture");
  EXPECT_EQ(read("", 3), "lines (their vertices are points)");
  EXPECT_EQ(read(R"("extensionsUsed":["KHR_materials_unlit","EXT_mesh_gpu_instancing","KHR_node_visibility"],)"),
            "EXT_mesh_gpu_instancing");
  std::string old = gltf_square(6);
  old.replace(old.find("2.0"), 3, "1.0");
  write_raw(folder.file("x.gltf"), old);
  EXPECT_MENTIONS(error_of([&] { (void)read_scene_guarded(folder.file("x.gltf"), program); }),
                  "x.gltf: expected glTF 2, got version '1.0'");
}

TEST(AssimpScene, NamesOfBuffersMayBeCoded) {
  SKIP_WITHOUT_ASSIMP();
  const TemporaryFolder folder;
  std::string text = gltf_square(6, "");
  text.replace(text.find("x.bin"), 5, "my%20b%C3%BCffer.bin");
  write_raw(folder.file("x.gltf"), text);
  EXPECT_MENTIONS(error_of([&] { (void)read_scene_guarded(folder.file("x.gltf"), program); }), "my%20b%C3%BCffer.bin");
  write_raw(folder.file("my b\u00fcffer.bin"), square_bytes(true));
  EXPECT_EQ(read_scene_guarded(folder.file("x.gltf"), program).position.size(), 4U);
  // A file of the very name comes first.
  write_raw(folder.file("my%20b%C3%BCffer.bin"), "x");
  EXPECT_NE(error_of([&] { (void)read_scene_guarded(folder.file("x.gltf"), program); }), "");
}

enum class Place { beside, in_text, in_glb };

/// A quantized triangle of positions (0 0 0), (100 0 0), (0 100 50) and normals (0 0 127): `type` of the numbers, which
/// lie `stride` bytes apart. A node scales by 0.5 and shifts by 3 along x.
template <class T>
void write_quantized(const std::string& folder, Place place, int type, bool normalized, int stride) {
  std::string bytes;
  for (const auto& row : {std::array{0, 0, 0}, {100, 0, 0}, {0, 100, 50}, {0, 0, 127}, {0, 0, 127}, {0, 0, 127}}) {
    std::string one;
    for (const int value : row) one += io_support::bytes_of(static_cast<T>(value));
    one.resize(static_cast<std::size_t>(stride), '\x55');
    bytes += one;
  }
  const std::string uri = place == Place::beside    ? R"(,"uri":"the%20x.bin")"
                          : place == Place::in_text ? R"(,"uri":"data:;base64,)" + io::base64(bytes) + R"(")"
                                                    : "";
  const std::string view = fmt::format(R"("byteLength":{0},"byteStride":{1}}})", 3 * stride, stride);
  const std::string accessor =
      fmt::format(R"("componentType":{},"count":3,"type":"VEC3","normalized":{}}})", type, normalized);
  std::string json = R"({"asset":{"version":"2.0"},"extensionsUsed":["KHR_mesh_quantization"],
"extensionsRequired":["KHR_mesh_quantization"],"scene":0,"scenes":[{"nodes":[0]}],
"nodes":[{"mesh":0,"scale":[0.5,0.5,0.5],"translation":[3,0,0]}],
"meshes":[{"primitives":[{"attributes":{"POSITION":0,"NORMAL":1}}]}],"buffers":[{"byteLength":)" +
                     std::to_string(bytes.size()) + uri + R"(}],"bufferViews":[{"buffer":0,)" + view +
                     R"(,{"buffer":0,"byteOffset":)" + std::to_string(3 * stride) + "," + view +
                     R"(],"accessors":[{"bufferView":0,"min":[0,0,0],"max":[100,100,50],)" + accessor +
                     R"(,{"bufferView":1,)" + accessor + "]}";
  if (place != Place::in_glb) {
    write_raw(folder + "/the x.bin", bytes);
    write_raw(folder + "/x.gltf", json);
    return;
  }
  json.resize((json.size() + 3) / 4 * 4, ' ');
  bytes.resize((bytes.size() + 3) / 4 * 4, ' ');
  const auto length = [](std::size_t size) { return io_support::bytes_of(static_cast<std::uint32_t>(size)); };
  std::string glb = "glTF" + length(2) + length(28 + json.size() + bytes.size()) + length(json.size());
  glb += "JSON" + json + length(bytes.size());
  glb += std::string("BIN\0", 4) + bytes;
  write_raw(folder + "/x.glb", glb);
}

TEST(AssimpScene, GltfOfQuantizedMeshes) {
  SKIP_WITHOUT_ASSIMP();
  const TemporaryFolder folder;
  const auto expect = [&](const std::string& name, double largest) {
    const Mesh mesh = read_scene_guarded(folder.file(name), program);
    SCOPED_TRACE(fmt::format("{} {}", name, largest));
    ASSERT_EQ(mesh.position.size(), 3u);
    const auto half = static_cast<float>(50 / largest);
    expect_near(mesh.position[0], {3, 0, 0});
    expect_near(mesh.position[1], {3 + half, 0, 0});
    expect_near(mesh.position[2], {3, half, half / 2});
    ASSERT_EQ(mesh.normal.size(), 3u);
    expect_near(mesh.normal[0], {0, 0, 1});
    EXPECT_EQ(mesh.ignored, "");
  };
  for (const Place place : {Place::beside, Place::in_text, Place::in_glb}) {
    const std::string name = place == Place::in_glb ? "x.glb" : "x.gltf";
    write_quantized<std::int8_t>(folder.file("."), place, 5120, false, 4);
    expect(name, 1);
    write_quantized<std::uint8_t>(folder.file("."), place, 5121, true, 3);
    expect(name, 255);
    write_quantized<std::int16_t>(folder.file("."), place, 5122, true, 8);
    expect(name, 32767);
    write_quantized<std::uint16_t>(folder.file("."), place, 5123, false, 12);
    expect(name, 1);
  }
}

TEST(AssimpScene, GltfOfQuantizedMeshesThatLie) {
  SKIP_WITHOUT_ASSIMP();
  const TemporaryFolder folder;
  write_quantized<std::int16_t>(folder.file("."), Place::in_text, 5122, false, 8);
  const std::string text = io_support::read_raw(folder.file("x.gltf"));
  const auto refuse = [&](const std::string& old, const std::string& now) {
    std::string other = text;
    other.replace(other.find(old), old.size(), now);
    write_raw(folder.file("x.gltf"), other);
    return error_of([&] { (void)read_scene_guarded(folder.file("x.gltf"), program); });
  };
  EXPECT_MENTIONS(refuse(R"("count":3)", R"("count":4)"), "NORMAL of mesh 0 with one for each of 4 positions, got 3");
  EXPECT_MENTIONS(refuse(R"("byteLength":24)", R"("byteLength":16)"),
                  "bytes in the buffer for all integers of accessor 0, got 3 of 8");
  EXPECT_MENTIONS(refuse(R"("byteStride":8)", R"("byteStride":4)"), "got 3 of 4 bytes each");
  EXPECT_MENTIONS(refuse(R"("byteOffset":24)", R"("byteOffset":25)"), "of accessor 1");
  EXPECT_MENTIONS(refuse(R"("bufferView":1)", R"("bufferView":9)"), "a bufferView of accessor 1, got none");
  EXPECT_MENTIONS(refuse(R"("bufferView":0,)", R"("sparse":{},"bufferView":0,)"), "got sparse ones");
  EXPECT_MENTIONS(refuse("5122", "5125"), "integers of 8 or 16 bits of accessor 0");
  EXPECT_MENTIONS(refuse("VEC3", "VEC2"), "POSITION of mesh 0 as VEC3, got 'VEC2'");
  EXPECT_MENTIONS(refuse(R"("buffer":0)", R"("buffer":1)"), "buffers below 1, got 1");
  EXPECT_MENTIONS(refuse("data:;base64,", "data:,"), "data of a buffer in base64");
  EXPECT_MENTIONS(refuse("data:;base64,", "../x"), "x.gltf: expected");
  write_quantized<std::int16_t>(folder.file("."), Place::in_glb, 5122, false, 8);
  const auto check = [](const std::string& path) { (void)io::require_known_gltf(path); };
  io_support::expect_survival("quantized.gltf", text, ".gltf", 2000, check);
  io_support::expect_survival("quantized.glb", io_support::read_raw(folder.file("x.glb")), ".glb", 2000, check);
}

// Accessors with `sparse` replace some of a view's values.
TEST(AssimpScene, GltfSparsePositions) {
  SKIP_WITHOUT_ASSIMP();
  const TemporaryFolder folder;
  std::string bytes = square_bytes(true);
  bytes += io_support::bytes_of(std::uint16_t{2}) + io_support::bytes_of(std::uint16_t{0});
  for (const float value : {7.F, 8.F, 9.F}) bytes += io_support::bytes_of(value);
  write_raw(folder.file("x.bin"), bytes);
  std::string text = gltf_square(6);
  const auto replace = [&](const std::string& old, const std::string& now) {
    ASSERT_NE(text.find(old), std::string::npos) << old;
    text.replace(text.find(old), old.size(), now);
  };
  replace(R"("byteLength":48,"uri")", R"("byteLength":64,"uri")");
  replace(R"({"buffer":0,"byteLength":48})",
          R"({"buffer":0,"byteLength":48},{"buffer":0,"byteOffset":48,"byteLength":2},
{"buffer":0,"byteOffset":52,"byteLength":12})");
  replace(R"("max":[1,1,0])", R"("max":[7,8,9],"sparse":{"count":1,"indices":{"bufferView":1,"componentType":5123},
"values":{"bufferView":2}})");
  write_raw(folder.file("x.gltf"), text);
  const Mesh mesh = read_scene_guarded(folder.file("x.gltf"), program);
  ASSERT_EQ(mesh.position.size(), 4u);
  expect_near(mesh.position[2], {7, 8, 9});
  expect_near(mesh.position[3], {0, 1, 0});
}

TEST(AssimpScene, ChecksOfGltfSurviveTwoThousandMutations) {
  io_support::expect_survival("gltf", gltf_square(5, R"("extensionsRequired":["KHR_materials_unlit"],)"), ".gltf", 2000,
                              io::require_known_gltf);
}

// 1e6 sizes from zero, through two nodes: their translations add up in float64.
TEST(AssimpScene, GltfFarFromZeroIsCentred) {
  SKIP_WITHOUT_ASSIMP();
  const TemporaryFolder folder;
  std::string far = gltf;
  const std::string old = R"("translation":[0,0,5]},{"mesh":0,)";
  far.replace(far.find(old), old.size(), R"("translation":[0,0,1000000]},{"mesh":0,"translation":[0,0,0.015625],)");
  write_raw(folder.file("x.gltf"), far);
  const Mesh mesh = read_scene_guarded(folder.file("x.gltf"), program, {}, Coordinates::centred);
  ASSERT_EQ(mesh.position.size(), 3u);
  EXPECT_EQ(mesh.origin[2] + mesh.position[1][2], 1000000.015625);
  expect_near(mesh.position[1], {0, 1, mesh.position[0][2]});
  expect_same(read_scene_assimp(folder.file("x.gltf"), Coordinates::centred), mesh);
}

}  // namespace
}  // namespace holotone
