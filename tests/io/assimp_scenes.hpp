#pragma once
// Scenes that assimp reads, and comparisons of meshes.
#include <gtest/gtest.h>
#include <holotone/io/points/points.hpp>
#include <tests/support/io_support.hpp>

namespace holotone::assimp_scenes {

// A triangle at (0 0 0) (1 0 0) (0 1 0), shifted by 5 along z and rotated by 90 degrees about z; colours (0.5 0.5 0.5)
// (1 0 0) (0 0 1). Three 16-bit indices, three positions, three colours.
inline const std::string gltf =
    R"({"asset":{"version":"2.0"},"scene":0,"scenes":[{"nodes":[0]}],
"nodes":[{"children":[1],"translation":[0,0,5]},{"mesh":0,"rotation":[0,0,0.7071067811865476,0.7071067811865476]}],
"meshes":[{"primitives":[{"attributes":{"POSITION":1,"COLOR_0":2},"indices":0}]}],
"buffers":[{"byteLength":80,"uri":"data:application/octet-stream;base64,)"
    "AAABAAIAAAAAAAAAAAAAAAAAAAAAAIA/AAAAAAAAAAAAAAAAAACAPwAAAAAAAAA/AAAAPwAAAD8AAIA/AAAAAAAAAAAAAAAAAA"
    "AAAAAAgD8="
    R"("}],
"bufferViews":[{"buffer":0,"byteOffset":0,"byteLength":6},{"buffer":0,"byteOffset":8,"byteLength":36},
{"buffer":0,"byteOffset":44,"byteLength":36}],
"accessors":[{"bufferView":0,"componentType":5123,"count":3,"type":"SCALAR"},
{"bufferView":1,"componentType":5126,"count":3,"type":"VEC3","min":[0,0,0],"max":[1,1,0]},
{"bufferView":2,"componentType":5126,"count":3,"type":"VEC3"}]})";

inline bool has_assimp() {
  const io_support::TemporaryFolder folder;
  io_support::write_raw(folder.file("x.gltf"), gltf);
  try {
    read_scene_assimp(folder.file("x.gltf"));
  } catch (const Error& error) {
    return error.code() != ErrorCode::unsupported;
  }
  return true;
}
#define SKIP_WITHOUT_ASSIMP() \
  if (!has_assimp()) GTEST_SKIP() << "built without assimp"

inline void expect_same(const Mesh& got, const Mesh& expected) {
  EXPECT_EQ(got.position, expected.position);
  EXPECT_EQ(got.colour, expected.colour);
  EXPECT_EQ(got.normal, expected.normal);
  EXPECT_EQ(got.amplitude, expected.amplitude);
  EXPECT_EQ(got.phase_rad, expected.phase_rad);
  EXPECT_EQ(got.triangle, expected.triangle);
  EXPECT_EQ(got.origin, expected.origin);
  EXPECT_EQ(got.ignored, expected.ignored);
}

inline void expect_near(const Vec3f& got, const Vec3f& expected) {
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(got[i], expected[i], 1e-6f) << "component " << i;
}

}  // namespace holotone::assimp_scenes
