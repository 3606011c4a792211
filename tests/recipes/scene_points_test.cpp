// Points of a scene's file and their small picture: what is dropped, chosen and refused, by hand.
#include <fstream>
#include <gtest/gtest.h>
#include <holotone/core/random.hpp>
#include <holotone/recipes/scenes/scene_points_detail.hpp>
#include <holotone/recipes/scenes/scene_thumbnail_detail.hpp>
#include <tests/io/scene_builders.hpp>
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

/// Text or bytes of a file with the points of `x`, in float64, for each reader; STL has 3 corners a triangle.
std::string make_file(const std::string& extension, const std::vector<std::array<double, 3>>& x) {
  std::string bytes;
  const auto append = [&](double value) { bytes.append(reinterpret_cast<const char*>(&value), sizeof value); };
  if (extension == ".npy") {
    bytes = scene_builders::npy_points("<f8", false, static_cast<int>(x.size()), 3);
    bytes.resize(bytes.size() - 24 * x.size());
    for (const auto& p : x) std::ranges::for_each(p, append);
  } else if (extension == ".ply") {
    bytes = fmt::format(
        "ply\nformat binary_little_endian 1.0\nelement vertex {}\nproperty double x\nproperty double y\n"
        "property double z\nend_header\n",
        x.size());
    for (const auto& p : x) std::ranges::for_each(p, append);
  } else if (extension == ".stl") {
    bytes = "solid\n";
    for (std::size_t i = 0; i + 2 < x.size(); i += 3) {
      bytes += "facet normal 0 0 1\nouter loop\n";
      for (std::size_t k = i; k < i + 3; ++k) bytes += fmt::format("vertex {} {} {}\n", x[k][0], x[k][1], x[k][2]);
      bytes += "endloop\nendfacet\n";
    }
    bytes += "endsolid\n";
  } else {
    const char* const comma = extension == ".csv" ? "," : " ";
    for (const auto& p : x) bytes += fmt::format("{}{}{}{}{}\n", p[0], comma, p[1], comma, p[2]);
  }
  return bytes;
}

// A cloud far from zero is placed as in float64, where its middle is subtracted before anything is rounded.
TEST(ScenePoints, CloudsAMillionSizesAwayArePlacedInFloat64) {
  const io_support::TemporaryFolder folder;
  for (const double away : {0.0, 1e3, 1e6, 1e9}) {
    std::vector<std::array<double, 3>> x(30);
    std::array<double, 3> low{INFINITY, INFINITY, INFINITY};
    std::array<double, 3> high{-INFINITY, -INFINITY, -INFINITY};
    for (std::size_t i = 0; i < x.size(); ++i) {
      for (std::size_t axis = 0; axis < 3; ++axis) {
        x[i][axis] = away * (axis == 1 ? -0.7 : 1) + static_cast<double>(random_uniform(7, 3 * i + axis));
        low[axis] = std::min(low[axis], x[i][axis]);
        high[axis] = std::max(high[axis], x[i][axis]);
      }
    }
    const double scale = 8e-3 / std::max(high[0] - low[0], high[1] - low[1]);
    for (const std::string extension : {".ply", ".npy", ".stl", ".csv", ".xyz"}) {
      const std::string path = folder.file("x" + extension);
      io_support::write_raw(path, make_file(extension, x));
      const PlacedScene scene = read_placed_scene(path, {}, {});
      ASSERT_EQ(scene.mesh.position.size(), x.size());
      for (std::size_t i = 0; i < x.size(); ++i) {
        for (std::size_t axis = 0; axis < 3; ++axis) {
          const double middle = (low[axis] + high[axis]) / 2;
          const double right = (x[i][axis] - middle) * scale - (axis == 2 ? 0.2 : 0);
          // Rounded once relative to the origin, which lies within 4 sizes, and once when placed.
          const double slack = 8e-3 * 4 * 0x1p-24 + std::abs(right) * 0x1p-24 + 8e-3 * away * 0x1p-52;
          EXPECT_NEAR(scene.mesh.position[i][axis], right, slack) << path << ", " << away << ", point " << i;
        }
      }
    }
  }
}

TEST_F(ScenePointsTest, KeptCoordinatesThatFloat32MovesAreRefused) {
  // 300 m away float32 has steps of 30.5 um: too coarse for an object of 8 mm, fine for one of 8 m.
  const auto rows = [](double size) { return fmt::format("300,0,-300\n{},0,-300\n", 300 + size); };
  expect_error(ErrorCode::io,
               "points.csv: expected coordinates that float32 holds to 8e-06 m, to keep them, got x = 300.00801 of "
               "point 1, which moves by 1.4e-05",
               [&] { (void)placed(rows(0.00801)); });
  EXPECT_EQ(placed(rows(8.01)).mesh.position[1][0], 308.01F);
  EXPECT_EQ(placed(rows(0x1p-7)).mesh.position[1][0], 300.0078125F);  // which float32 has
  expect_error(ErrorCode::io, "points.csv: expected coordinates that float32 holds to 1e-07 m",
               [&] { (void)placed("0,0,-300.00001\n"); });
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
