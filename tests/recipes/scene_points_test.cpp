// Points of a scene's file and their small picture: what is dropped, chosen and refused, by hand.
#include <fstream>
#include <gtest/gtest.h>
#include <holotone/recipes/scenes/scene_points_detail.hpp>
#include <holotone/recipes/scenes/scene_thumbnail_detail.hpp>
#include <tests/support/io_support.hpp>
#include <tests/support/on_each_device.hpp>

namespace holotone {
namespace {

using support::expect_error;

class ScenePointsTest : public ::testing::Test {
 protected:
  /// A table of points x, y, z at their own places.
  PlacedScene placed(const std::string& rows, SceneOptions options = {}) {
    const auto path = folder_.file("points.csv");
    std::ofstream(path) << "x,y,z\n" << rows;
    options.placement.keep = true;
    return read_placed_scene(path, options, {});
  }

 private:
  io_support::TemporaryFolder folder_;
};

TEST_F(ScenePointsTest, BadPointsAreRefusedOrDropped) {
  const std::string rows = "0,0,-0.1\nnan,0,-0.1\n0,0,0\n1e-3,0,-0.3\n";
  expect_error(ErrorCode::invalid_argument, "point 1: expected finite numbers, got (nan, 0, -0.1)",
               [&] { (void)placed(rows); });
  SceneOptions options;
  options.skip_bad = true;
  const auto points = scene_points(placed(rows, options), options, 0);
  EXPECT_EQ(points.dropped, 2);
  ASSERT_EQ(points.cloud.size(), 2U);
  EXPECT_FLOAT_EQ(static_cast<float>(points.nearest_m), 0.1F);
  EXPECT_FLOAT_EQ(static_cast<float>(points.farthest_m), 0.3F);
  options.skip_bad = false;
  const auto scene = placed("0,0,-0.1\n0,0,0\n");
  expect_error(ErrorCode::invalid_argument, "point 1: expected a distance from the panel other than zero, got 0 m",
               [&] { (void)scene_points(scene, options, 0); });
}

TEST_F(ScenePointsTest, AChoiceOfPointsIsSeeded) {
  std::string rows;
  for (int i = 0; i < 50; ++i) rows += fmt::format("{},0,-0.1\n", 1e-4 * i);
  const auto scene = placed(rows);
  SceneOptions options;
  options.points = 20;
  const auto chosen = scene_points(scene, options, 0).cloud;
  EXPECT_EQ(chosen.size(), 20U);
  EXPECT_EQ(scene_points(scene, options, 0).cloud.position, chosen.position);
  options.seed = 1;
  EXPECT_NE(scene_points(scene, options, 0).cloud.position, chosen.position);
  options.points = 51;
  expect_error(ErrorCode::invalid_argument, "points: expected at most the 50 points of",
               [&] { (void)scene_points(scene, options, 0); });
}

TEST_F(ScenePointsTest, LightNeedsNormals) {
  SceneOptions options;
  options.light = {0, 0, 1};
  const auto scene = placed("0,0,-0.1\n");
  expect_error(ErrorCode::invalid_argument, "light: expected normals in",
               [&] { (void)scene_points(scene, options, 0); });
}

TEST(ScenePoints, SamplesThatNoMemoryHoldsAreRefused) {
  require_memory_for_points(1000);
  expect_error(ErrorCode::out_of_memory, "of memory for 1000000000000 points",
               [] { require_memory_for_points(max_samples); });
}

TEST(SceneThumbnail, TheNearerPointIsTheBrighter) {
  Mesh mesh;
  mesh.position = {{-1, -1, 0}, {1, 1, 2}, {NAN, 0, 0}};
  const auto extents = finite_extents("mesh", mesh);
  EXPECT_EQ(extents.not_finite, 1);
  EXPECT_EQ(extents.low, (Vec3f{-1, -1, 0}));
  EXPECT_EQ(extents.high, (Vec3f{1, 1, 2}));
  const Image image = scene_thumbnail(mesh, extents, 9);
  const auto& codes = std::get<Array<std::uint8_t, 3>>(image.pixels);
  for (std::int64_t i = 0; i < codes.size(); ++i) {
    const int expected = i == 8 ? 255 : i == 8 * 9 ? 70 : 0;  // right above, left below
    EXPECT_EQ(codes.data()[i], expected) << i;
  }
  mesh.position = {{NAN, 0, 0}};
  expect_error(ErrorCode::io, "mesh: expected at least one finite point", [&] { (void)finite_extents("mesh", mesh); });
}

}  // namespace
}  // namespace holotone
