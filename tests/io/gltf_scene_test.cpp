// What a glTF declares is honoured, noted or refused by name.
#include <cmath>
#include <fmt/format.h>
#include <holotone/io/guarded/guarded.hpp>
#include <holotone/io/points/scene_formats_detail.hpp>
#include <nlohmann/json.hpp>
#include <tests/io/assimp_scenes.hpp>
#include <tests/support/paths.hpp>

namespace holotone {
namespace {

using io_support::bytes_of;
using io_support::error_of;
using io_support::write_raw;
using Json = nlohmann::json;
using namespace assimp_scenes;

/// A triangle (0 0 0) (1 0 0) (0 1 0) of node 0, with normals along z, to be changed. Further numbers are appended.
class GltfScene : public testing::Test {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_ASSIMP();
    reset();
  }

  void reset() {
    bytes_.clear();
    json_ = Json::parse(R"({"asset":{"version":"2.0"},"scene":0,"scenes":[{"nodes":[0]}],"nodes":[{"mesh":0}],
"meshes":[{"primitives":[{"attributes":{}}]}],"buffers":[{"uri":"x.bin"}],"bufferViews":[],"accessors":[]})");
    attributes()["POSITION"] = add_numbers<float>({0, 0, 0, 1, 0, 0, 0, 1, 0}, "VEC3", 5126);
    attributes()["NORMAL"] = add_numbers<float>({0, 0, 1, 0, 0, 1, 0, 0, 1}, "VEC3", 5126);
    primitive()["indices"] = add_numbers<std::uint16_t>({0, 1, 2}, "SCALAR", 5123);
  }

  Json& node() { return json_["nodes"][0]; }
  Json& primitive() { return json_["meshes"][0]["primitives"][0]; }
  Json& attributes() { return primitive()["attributes"]; }
  Json& accessor(std::size_t index) { return json_["accessors"][index]; }

  template <class T>
  std::size_t add_view(const std::vector<T>& values) {
    bytes_.resize((bytes_.size() + 3) / 4 * 4);
    json_["bufferViews"].push_back(
        {{"buffer", 0}, {"byteOffset", bytes_.size()}, {"byteLength", values.size() * sizeof(T)}});
    for (const T value : values) bytes_ += bytes_of(value);
    return json_["bufferViews"].size() - 1;
  }

  template <class T>
  std::size_t add_numbers(const std::vector<T>& values, const std::string& type, int component_type) {
    const std::size_t each = type == "SCALAR" ? 1 : static_cast<std::size_t>(type.back() - '0');
    json_["accessors"].push_back({{"bufferView", add_view(values)},
                                  {"componentType", component_type},
                                  {"count", values.size() / each},
                                  {"type", type}});
    return json_["accessors"].size() - 1;
  }

  Mesh read() {
    json_["buffers"][0]["byteLength"] = bytes_.size();
    write_raw(folder_.file("x.bin"), bytes_);
    write_raw(folder_.file("x.gltf"), json_.dump());
    return read_scene_guarded(folder_.file("x.gltf"), guarded_program());
  }
  std::string refusal() {
    return error_of([&] { (void)read(); });
  }

  io_support::TemporaryFolder folder_;
  std::string bytes_;
  Json json_;
};

using Positions = std::vector<Vec3f>;

// (0 0 0) (1 0 0) (0 1 0) (5 5 5), of which the indices choose.
TEST_F(GltfScene, VerticesThatNoIndexNamesAreLeftOutByName) {
  const std::size_t four = add_numbers<float>({0, 0, 0, 1, 0, 0, 0, 1, 0, 5, 5, 5}, "VEC3", 5126);
  attributes() = {{"POSITION", four}};
  Mesh mesh = read();
  EXPECT_EQ(mesh.position, (Positions{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}));
  EXPECT_EQ(mesh.triangle.size(), 1u);
  EXPECT_EQ(mesh.ignored, "1 vertex that no index names");
  primitive()["mode"] = 0;
  primitive()["indices"] = add_numbers<std::uint16_t>({3, 1, 3}, "SCALAR", 5123);
  mesh = read();
  EXPECT_EQ(mesh.position, (Positions{{1, 0, 0}, {5, 5, 5}}));
  EXPECT_EQ(mesh.ignored, "2 vertices that no index names");
  primitive().erase("indices");
  EXPECT_EQ(read().position.size(), 4u);
  primitive()["indices"] = add_numbers<std::uint16_t>({0, 4}, "SCALAR", 5123);
  EXPECT_MENTIONS(refusal(), "vertex indices below 4 in node 0, got 1 of 2 points without them");
}

TEST_F(GltfScene, PrimitivesMayShareAnAccessor) {
  attributes() = {{"POSITION", add_numbers<float>({0, 0, 0, 1, 0, 0, 0, 1, 0, 5, 5, 5}, "VEC3", 5126)}};
  json_["materials"] = {{{"pbrMetallicRoughness", {{"baseColorFactor", {0.5, 0.5, 0.5, 1}}}}}, Json::object()};
  primitive()["material"] = 0;
  Json points = primitive();
  points["mode"] = 0;
  points["material"] = 1;
  points["indices"] = add_numbers<std::uint16_t>({3}, "SCALAR", 5123);
  json_["meshes"][0]["primitives"].push_back(points);
  const Mesh mesh = read();
  EXPECT_EQ(mesh.position, (Positions{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {5, 5, 5}}));
  ASSERT_EQ(mesh.colour.size(), 4u);
  EXPECT_EQ(mesh.colour[0], (Vec3f{0.5F, 0.5F, 0.5F}));
  EXPECT_EQ(mesh.colour[3], (Vec3f{1, 1, 1}));
  EXPECT_EQ(mesh.ignored, "");
}

TEST_F(GltfScene, LinesBesideTrianglesAreLeftOutByName) {
  attributes() = {{"POSITION", add_numbers<float>({0, 0, 0, 1, 0, 0, 0, 1, 0, 5, 5, 5}, "VEC3", 5126)}};
  const Json triangle = primitive();
  Json lines = triangle;
  for (const int mode : {1, 2, 3}) {
    lines["mode"] = mode;
    lines["indices"] = add_numbers<std::uint16_t>({0, 3}, "SCALAR", 5123);
    json_["meshes"][0]["primitives"] = Json::array({triangle, lines});
    const Mesh mesh = read();
    EXPECT_EQ(mesh.position, (Positions{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}})) << mode;
    EXPECT_EQ(mesh.ignored, "lines");
    json_["meshes"][0]["primitives"] = Json::array({lines});
    const Mesh alone = read();
    EXPECT_EQ(alone.position, (Positions{{0, 0, 0}, {5, 5, 5}})) << mode;
    EXPECT_EQ(alone.ignored, "lines (their vertices are points), 2 vertices that no index names");
  }
}

TEST_F(GltfScene, SkinsAreRefused) {
  json_["skins"] = {{{"joints", {1}}}};  // without matrices, of which assimp needs one
  json_["nodes"].push_back({{"translation", {0, 0, 1}}});
  node()["skin"] = 0;
  EXPECT_MENTIONS(refusal(), "x.gltf: expected meshes without a skin, which bends them, got skin 0 of node 0; export");
  node().erase("skin");
  EXPECT_EQ(read().position.size(), 3u);
}

TEST_F(GltfScene, MorphTargetsOfAWeightAreRefused) {
  primitive()["targets"] = {{{"POSITION", add_numbers<float>({0, 0, 1, 0, 0, 1, 0, 0, 1}, "VEC3", 5126)}}};
  EXPECT_EQ(read().position[0], (Vec3f{0, 0, 0}));
  json_["meshes"][0]["weights"] = {0.5};
  EXPECT_MENTIONS(refusal(),
                  "x.gltf: expected meshes without morph targets of a weight, which move their vertices, "
                  "got weight 0.5 of target 0 of node 0");
  node()["weights"] = {0};  // instead of the mesh's
  EXPECT_EQ(read().position[0], (Vec3f{0, 0, 0}));
  json_["meshes"][0].erase("weights");
  node()["weights"] = {1};
  EXPECT_MENTIONS(refusal(), "got weight 1 of target 0 of node 0");
}

TEST_F(GltfScene, HiddenNodesAreLeftOutWithAllBelowThem) {
  const Json hidden = {{"KHR_node_visibility", {{"visible", false}}}};
  json_["extensionsUsed"] = {"KHR_node_visibility"};
  json_["nodes"] = {{{"mesh", 0}},
                    {{"mesh", 0}, {"translation", {0, 0, 1}}, {"extensions", hidden}, {"children", {2}}},
                    {{"mesh", 0}, {"translation", {0, 0, 1}}},
                    {{"children", {0, 4}}, {"translation", {0, 0, 8}}},
                    {{"mesh", 0}, {"translation", {0, 0, 1}}, {"extensions", hidden}}};
  json_["scenes"][0]["nodes"] = {1, 3};
  const Mesh mesh = read();
  EXPECT_EQ(mesh.position, (std::vector<Vec3f>{{0, 0, 8}, {1, 0, 8}, {0, 1, 8}}));
  EXPECT_EQ(mesh.ignored, "");
  json_["extensionsRequired"] = {"KHR_node_visibility"};
  json_["nodes"][4]["extensions"]["KHR_node_visibility"]["visible"] = true;
  EXPECT_EQ(read().position.size(), 6u);
  json_["nodes"][4]["extensions"]["KHR_node_visibility"]["visible"] = "no";
  EXPECT_MENTIONS(refusal(), "expected true or false as KHR_node_visibility of node 4");
}

TEST_F(GltfScene, ExtensionsOfTheGeometryAreRefusedWhereTheyStand) {
  json_["extensionsUsed"] = {"EXT_mesh_gpu_instancing"};
  json_["nodes"].push_back({{"mesh", 0}, {"extensions", {{"EXT_mesh_gpu_instancing", Json::object()}}}});
  EXPECT_EQ(read().position.size(), 3u);  // of a node outside of the scene
  json_["scenes"][0]["nodes"] = {0, 1};
  EXPECT_MENTIONS(refusal(),
                  "x.gltf: expected a scene without an extension of its geometry, got "
                  "'EXT_mesh_gpu_instancing' of node 1");
  reset();
  primitive()["extensions"]["KHR_gaussian_splatting"] = Json::object();
  EXPECT_MENTIONS(refusal(), "got 'KHR_gaussian_splatting' of mesh 0");
  reset();
  json_["extensions"]["CESIUM_RTC"]["center"] = {1, 2, 3};
  EXPECT_MENTIONS(refusal(), "got 'CESIUM_RTC' of the file");
  reset();
  json_["extensionsUsed"] = {"VENDOR_wind", "MSFT_lod", "KHR_materials_variants"};
  node()["extensions"] = {{"VENDOR_wind", Json::object()}, {"MSFT_lod", {{"ids", {1}}}}};
  primitive()["extensions"]["KHR_materials_variants"] = Json::object();
  EXPECT_EQ(read().ignored, "VENDOR_wind, MSFT_lod");
}

TEST_F(GltfScene, WhatIsNotReadIsNamed) {
  json_["animations"] = {{{"channels", {{{"sampler", 0}, {"target", {{"node", 0}, {"path", "translation"}}}}}},
                          {"samplers",
                           {{{"input", add_numbers<float>({0, 1}, "SCALAR", 5126)},
                             {"output", add_numbers<float>({0, 0, 0, 9, 9, 9}, "VEC3", 5126)}}}}}};
  const Mesh mesh = read();
  EXPECT_EQ(mesh.position[0], (Vec3f{0, 0, 0}));
  EXPECT_EQ(mesh.ignored, "animations (the rest pose is read)");
  reset();
  json_["scenes"].push_back({{"nodes", {1}}});
  json_["nodes"].push_back({{"mesh", 0}, {"translation", {0, 0, 4}}});
  json_.erase("scene");
  EXPECT_EQ(read().position[0], (Vec3f{0, 0, 0}));
  EXPECT_EQ(read().ignored, "scenes other than 0 of 2");
  json_["scene"] = 1;
  EXPECT_EQ(read().position[0], (Vec3f{0, 0, 4}));
  EXPECT_EQ(read().ignored, "scenes other than 1 of 2");
}

TEST_F(GltfScene, AccessorsThatAssimpWouldMisreadAreRefused) {
  const auto refused = [&](const auto& change, const std::string& reason) {
    reset();
    change();
    EXPECT_MENTIONS(refusal(), "x.gltf: expected " + reason);
  };
  refused([&] { accessor(0)["type"] = "VEC2"; }, "POSITION of mesh 0 as VEC3, got 'VEC2'");
  refused([&] { accessor(1)["count"] = 2; }, "NORMAL of mesh 0 with one for each of 3 positions, got 2");
  refused([&] { json_["bufferViews"][0]["byteStride"] = 8; },
          "POSITION of mesh 0 at least 12 bytes apart, got a stride of 8 bytes");
  refused(
      [&] {
        attributes()["COLOR_0"] = add_numbers<std::uint32_t>({0, 0, 0, 0, 0, 0, 0, 0, 0}, "VEC3", 5125);
      },
      "COLOR_0 of mesh 0 as 32-bit floats or integers of 8 or 16 bits without sign, got component type 5125");
  refused(
      [&] {
        primitive()["indices"] = add_numbers<float>({0, 1, 2}, "SCALAR", 5126);
      },
      "indices of mesh 0 as integers without sign, got component type 5126");
  refused(
      [&] {
        primitive()["indices"] = add_numbers<std::uint16_t>({0, 1, 2, 0, 1}, "SCALAR", 5123);
      },
      "triangles of mesh 0 of 3 corners each, got 5 corners");
  refused(
      [&] {
        primitive()["indices"] = add_numbers<std::uint16_t>({0, 1, 9, 0, 1, 2}, "SCALAR", 5123);
      },
      "vertex indices below 3 in node 0, got 1 of 2 triangles without them");
  refused([&] { primitive()["mode"] = 7; }, "mode of mesh 0 of 0 to 6, got 7");
  refused([&] { json_["asset"]["minVersion"] = "2.1"; }, "glTF 2.0, got minVersion '2.1'");
}

TEST_F(GltfScene, SparsePositionsAndInterleavedOnesAreRead) {
  const auto make_sparse = [&] {
    accessor(0)["sparse"] = {{"count", 1},
                             {"indices", {{"bufferView", add_view<std::uint16_t>({1})}, {"componentType", 5123}}},
                             {"values", {{"bufferView", add_view<float>({7, 0, 2})}}}};
  };
  make_sparse();
  EXPECT_EQ(read().position, (std::vector<Vec3f>{{0, 0, 0}, {7, 0, 2}, {0, 1, 0}}));
  const auto interleave = [&] {
    accessor(0)["bufferView"] = add_view<float>({5, 5, 5, 0, 0, 0, 5, 5, 5, 1, 0, 0, 5, 5, 5, 0, 1, 0});
    accessor(0)["byteOffset"] = 12;
    json_["bufferViews"].back()["byteStride"] = 24;
  };
  interleave();
  EXPECT_MENTIONS(refusal(), "POSITION of mesh 0 packed, as it is sparse, got a stride of 24 bytes");
  reset();
  interleave();
  EXPECT_EQ(read().position, (std::vector<Vec3f>{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}));
}

TEST_F(GltfScene, ColoursOfIntegersAreLinearLight) {
  attributes()["COLOR_0"] = add_numbers<std::uint8_t>({255, 51, 0, 9, 0, 255, 51, 9, 51, 0, 255, 9}, "VEC4", 5121);
  accessor(3)["normalized"] = true;
  const Mesh mesh = read();
  ASSERT_EQ(mesh.colour.size(), 3u);
  expect_near(mesh.colour[0], {1, 0.2f, 0});
  expect_near(mesh.colour[1], {0, 1, 0.2f});
}

TEST_F(GltfScene, TransformsThatAreNoneAreRefused) {
  const auto refused = [&](const Json& transform, const std::string& reason) {
    reset();
    node().update(transform);
    EXPECT_MENTIONS(refusal(), "x.gltf: expected " + reason);
  };
  refused({{"rotation", {0, 0, 2, 2}}}, "a unit quaternion as rotation of node 0, got one of length 2.828");
  refused({{"translation", {1, 2}}}, "3 numbers as translation of node 0, got '[1,2]'");
  refused({{"scale", {1, "2", 3}}}, "3 numbers as scale of node 0");
  Json matrix = {1, 0, 0, 0.5, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 5, 1};
  refused({{"matrix", matrix}}, "a matrix of node 0 whose last row is 0 0 0 1, got 0.5 0 0 1");
  matrix[3] = 0;
  refused({{"matrix", matrix}, {"translation", {0, 0, 1}}}, "a matrix or a translation of node 0, got both");
  reset();
  node()["matrix"] = matrix;
  EXPECT_EQ(read().position[1], (Vec3f{1, 0, 5}));
}

// The matrix of translation, rotation by 120 degrees about (1 1 1), which takes x to y, y to z, z to x, and scale.
TEST_F(GltfScene, TranslationRotationAndScale) {
  node().update({{"translation", {10, 20, 30}}, {"rotation", {0.5, 0.5, 0.5, 0.5}}, {"scale", {2, 3, 4}}});
  const Mesh mesh = read();
  EXPECT_EQ(mesh.position, (std::vector<Vec3f>{{10, 20, 30}, {10, 22, 30}, {10, 20, 33}}));
  EXPECT_EQ(mesh.normal[0], (Vec3f{1, 0, 0}));
}

double signed_area(const Mesh& mesh) {
  const auto& [a, b, c] = mesh.triangle.at(0);
  const auto& p = mesh.position;
  return double{(p[b][0] - p[a][0]) * (p[c][1] - p[a][1]) - (p[b][1] - p[a][1]) * (p[c][0] - p[a][0])} / 2;
}

// glTF 2.0, 3.7.4: a node of a negative determinant reverses the order of corners.
TEST_F(GltfScene, MirroredNodesKeepTheirOutside) {
  EXPECT_EQ(signed_area(read()), 0.5);
  node()["scale"] = {-2, 1, 1};
  const Mesh mesh = read();
  EXPECT_EQ(signed_area(mesh), 1);
  EXPECT_EQ(mesh.normal[0], (Vec3f{0, 0, 1}));
  EXPECT_EQ(mesh.position[1], (Vec3f{-2, 0, 0}));
}

TEST_F(GltfScene, FlatNodesHaveNormals) {
  node()["scale"] = {1, 1, 0};
  EXPECT_EQ(read().normal.at(0), (Vec3f{0, 0, 1}));
}

// float32 would place them 1.5 apart.
TEST_F(GltfScene, FarTranslationsAreFloat64) {
  json_["nodes"] = {{{"mesh", 0}, {"translation", {6378137.3, 0, 0}}},
                    {{"mesh", 0}, {"translation", {6378138.4, 0, 0}}}};
  json_["scenes"][0]["nodes"] = {0, 1};
  (void)read();
  const Mesh mesh = read_scene_guarded(folder_.file("x.gltf"), guarded_program(), {}, Coordinates::centred);
  ASSERT_EQ(mesh.position.size(), 6u);
  EXPECT_NEAR(std::abs(mesh.position[3][0] - mesh.position[0][0]), 1.1, 1e-6);
}

TEST_F(GltfScene, NamesInLatin1AndAnEndOfZeros) {
  node()["name"] = "W?rfel";
  node()["skin"] = 0;
  (void)refusal();
  std::string text = io_support::read_raw(folder_.file("x.gltf"));
  text[text.find("W?rfel") + 1] = '\xFC';
  write_raw(folder_.file("x.gltf"), text + std::string(2, '\0'));
  EXPECT_MENTIONS(error_of([&] { (void)read_scene_guarded(folder_.file("x.gltf"), guarded_program()); }),
                  "expected meshes without a skin");
}

TEST(GltfChecks, SurviveTwoThousandMutations) {
  const std::string text = R"({"asset":{"version":"2.0"},"scene":0,"scenes":[{"nodes":[0,1]}],
"extensionsRequired":["KHR_node_visibility"],"nodes":[{"mesh":0,"rotation":[0,0,0,1],"children":[1]},
{"mesh":0,"extensions":{"KHR_node_visibility":{"visible":true}},"matrix":[1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1]}],
"meshes":[{"primitives":[{"attributes":{"POSITION":0,"COLOR_0":1},"targets":[{"POSITION":0}],"mode":5,"material":0}],
"weights":[0]}],"bufferViews":[{"byteStride":12}],"animations":[{}],
"materials":[{"pbrMetallicRoughness":{"baseColorFactor":[1,0,1,1]}}],
"accessors":[{"bufferView":0,"componentType":5126,"count":4,"type":"VEC3","sparse":{}},
{"componentType":5121,"count":4,"type":"VEC4"}]})";
  io_support::expect_survival("gltf", text, ".gltf", 2000,
                              [](const std::string& path) { (void)io::require_known_gltf(path); });
}

}  // namespace
}  // namespace holotone
