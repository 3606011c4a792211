// What assimp's scenes hold and what is refused of them, through a child process.
#include <cmath>
#include <fmt/format.h>
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

TEST(AssimpScene, ObjColoursAboveOneAreCodes) {
  SKIP_WITHOUT_ASSIMP();
  const TemporaryFolder folder;
  const auto read = [&](const std::string& colour) {
    write_raw(folder.file("x.obj"), "v 0 0 0 0 0 0\nv 1 0 0 " + colour + "\nv 0 1 0 1 1 1\nf 1 2 3\n");
    return read_scene_guarded(folder.file("x.obj"), program).colour.at(1);
  };
  expect_near(read("0.5 1 0"), {0.21404114f, 1, 0});
  expect_near(read("127.5 255 0"), {0.21404114f, 1, 0});
  expect_near(read("32767.5 65535 0"), {0.21404114f, 1, 0});
  EXPECT_MENTIONS(error_of([&] { (void)read("0 -1 0"); }), "colours of 0 to 1, 255 or 65535, got -1");
}

TEST(AssimpScene, ObjWithAByteOrderMark) {
  SKIP_WITHOUT_ASSIMP();
  const TemporaryFolder folder;
  write_raw(folder.file("x.obj"), "\xEF\xBB\xBFv 0 0 0\nv 1 0 0\nv 0 1 0\nv 5 5 5\nf 1 2 3\n");
  const Mesh mesh = read_scene_guarded(folder.file("x.obj"), program);
  ASSERT_EQ(mesh.triangle.size(), 1u);
  expect_near(mesh.position[mesh.triangle[0][1]], {1, 0, 0});
}

double area_of_triangles(const Mesh& mesh) {
  double sum = 0;
  for (const auto& t : mesh.triangle) {
    std::array<double, 3> u{};
    std::array<double, 3> v{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      u[axis] = double{mesh.position[t[1]][axis]} - double{mesh.position[t[0]][axis]};
      v[axis] = double{mesh.position[t[2]][axis]} - double{mesh.position[t[0]][axis]};
    }
    sum += std::hypot(u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]) / 2;
  }
  return sum;
}

// assimp splits the polygons of an OBJ; triangles that overlap or leave a polygon would add area.
TEST(AssimpScene, ObjPolygonsKeepTheirArea) {
  SKIP_WITHOUT_ASSIMP();
  const TemporaryFolder folder;
  const std::string path = folder.file("x.obj");
  std::mt19937 bits(5);
  for (int i = 0; i < 1000; ++i) {
    const auto polygon = polygon_builders::random_simple_polygon(bits, i % 2 == 0);
    std::string text;
    for (const auto& [x, y, z] : polygon_builders::slanted(polygon)) text += fmt::format("v {} {} {}\n", x, y, z);
    text += "f";
    for (std::size_t k = 1; k <= polygon.size(); ++k) text += fmt::format(" {}", k);
    write_raw(path, text + "\n");
    const double area = std::abs(polygon_builders::signed_area(polygon));
    EXPECT_NEAR(area_of_triangles(read_scene_assimp(path)), area, 1e-6 * area) << "polygon " << i;
  }
}

TEST(AssimpScene, ObjThatAssimpRoundsIsRefused) {
  SKIP_WITHOUT_ASSIMP();
  const TemporaryFolder folder;
  const auto write = [&](double x) {
    write_raw(folder.file("x.obj"), fmt::format("v {} 0 0\nv {} 0 0\nv {} 1 0\nf 1 2 3\n", x, x + 1, x));
  };
  write(1e4);  // steps of 1/1024
  EXPECT_EQ(read_scene_assimp(folder.file("x.obj")).position.size(), 3u);
  write(1e5);
  const std::string text = error_of([&] { read_scene_guarded(folder.file("x.obj"), program); });
  EXPECT_MENTIONS(text, "x.obj: expected coordinates that float32 resolves to a thousandth of the scene's 1");
  EXPECT_MENTIONS(text, "got steps of 0.00781 at 100001");
}

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
  for (const std::string name :
       {"KHR_mesh_quantization", "EXT_meshopt_compression", "EXT_mesh_gpu_instancing", "VENDOR_unknown"}) {
    const std::string text = error_of([&] { (void)read(requiring(name)); });
    EXPECT_MENTIONS(text, "x.gltf: expected a scene without a required extension of its geometry, got '" + name + "'");
  }
  EXPECT_MENTIONS(error_of([&] { (void)read(gltf_square(6, "", 5123)); }),
                  "expected POSITION of mesh 0 as 32-bit floats, got 16-bit integers (KHR_mesh_quantization)");
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
