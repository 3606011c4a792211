// Depth maps from files: holes, codes, metres and disparities, placed by range and distance.
#include <algorithm>
#include <gtest/gtest.h>
#include <holotone/io/images/image.hpp>
#include <holotone/io/npy_detail.hpp>
#include <holotone/io/npz_detail.hpp>
#include <holotone/recipes/scenes/depth_picture_detail.hpp>
#include <limits>
#include <tests/support/io_support.hpp>
#include <tests/support/on_each_device.hpp>

namespace holotone {
namespace {

using support::expect_error;

constexpr Shape<2> sides{2, 3};
constexpr float none = std::numeric_limits<float>::quiet_NaN();

class DepthPictureTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::string npy(const std::vector<float>& values,
                                const std::vector<std::int64_t>& shape = {2, 3}) const {
    auto path = folder_.file("depth.npy");
    const std::string_view bytes(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
    io_support::write_raw(path, io::npy_header("<f4", shape) + std::string(bytes));
    return path;
  }
  template <class Code>
  std::string picture(const std::vector<Code>& codes, Shape<3> shape = {2, 3, 1}) const {
    Array<Code, 3> pixels(shape);
    std::copy(codes.begin(), codes.end(), pixels.data());
    auto path = folder_.file("depth.png");
    write_image(path, {std::move(pixels), {}});
    return path;
  }
  [[nodiscard]] PlacedPicture job(const std::string& depth) const {
    PlacedPicture placed;
    placed.image = folder_.file("image.png");
    placed.depth = depth;
    placed.size_m = 6e-3;
    placed.distance_m = 0.3;
    return placed;
  }

  io_support::TemporaryFolder folder_;
};

void expect_distances(const DepthMap& map, const std::vector<double>& expected) {
  ASSERT_EQ(map.depth.size(), std::ssize(expected));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double distance_m = map.offset_m + map.scale * static_cast<double>(map.depth.data()[i]);
    EXPECT_NEAR(distance_m, expected[i], 1e-7) << "pixel " << i;
  }
  EXPECT_NEAR(map.nearest_m, *std::ranges::min_element(expected), 1e-7);
  EXPECT_NEAR(map.farthest_m, *std::ranges::max_element(expected), 1e-7);
}

TEST_F(DepthPictureTest, WithoutADepthThePictureIsFlat) {
  const auto map = read_depth(job(""), sides);
  EXPECT_TRUE(map.depth.empty());
  EXPECT_EQ(map.offset_m, 0.3);  // not that of float32
  EXPECT_EQ(map.nearest_m, 0.3);
  EXPECT_EQ(map.farthest_m, 0.3);
  EXPECT_EQ(map.holes, 0);
  EXPECT_FALSE(map.codes);
}

TEST_F(DepthPictureTest, MetresAreDistancesUnlessOneIsGiven) {
  auto metres = job(npy({0.1F, 0.2F, 0.3F, 0.4F, 0.2F, 0.1F}));
  expect_distances(read_depth(metres, sides), {0.1, 0.2, 0.3, 0.4, 0.2, 0.1});
  metres.distance_given = true;  // the middle of 0.1 and 0.4 moves to 0.3
  expect_distances(read_depth(metres, sides), {0.15, 0.25, 0.35, 0.45, 0.25, 0.15});
  metres.distance_given = false;
  metres.depth_range_m = {{0.5, 0.8}};
  const auto ranged = read_depth(metres, sides);
  expect_distances(ranged, {0.5, 0.6, 0.7, 0.8, 0.6, 0.5});
  EXPECT_NEAR(ranged.scale, 1, 1e-6);
  metres.depth_range_m = {{0.8, 0.5}};
  expect_error(ErrorCode::invalid_argument, "depth_range_m: expected NEAR before FAR for depths in metres",
               [&] { (void)read_depth(metres, sides); });
}

TEST_F(DepthPictureTest, HolesTakeTheFartherOfTheirNeighbours) {
  const auto map = read_depth(job(npy({0.1F, none, 0.3F, 0.4F, 0, 0.2F})), sides);
  expect_distances(map, {0.1, 0.3, 0.3, 0.4, 0.4, 0.2});
  EXPECT_EQ(map.holes, 2);
  expect_error(ErrorCode::io, "expected at least one pixel with a depth, got none",
               [&] { (void)read_depth(job(npy(std::vector<float>(6, none))), sides); });
}

TEST_F(DepthPictureTest, CodesSpanTheRangeFromNoneToTheLargest) {
  auto codes = job(picture<std::uint8_t>({51, 102, 153, 204, 255, 51}));
  expect_error(ErrorCode::invalid_argument, "depth_range_m: expected NEAR,FAR for the codes of",
               [&] { (void)read_depth(codes, sides); });
  codes.depth_range_m = {{0.1, 0.6}};
  const auto map = read_depth(codes, sides);
  expect_distances(map, {0.2, 0.3, 0.4, 0.5, 0.6, 0.2});
  EXPECT_TRUE(map.codes);
  EXPECT_NEAR(map.scale, 0.5 / 255, 1e-12);
  auto wide = job(picture<std::uint16_t>({0, 65535, 65535, 13107, 65535, 65535}));
  wide.depth_range_m = {{0.1, 0.6}};
  wide.hole.by_range = false;
  expect_distances(read_depth(wide, sides), {0.1, 0.6, 0.6, 0.2, 0.6, 0.6});
}

// Falling ranges: code 0 is the farthest, no hole.
TEST_F(DepthPictureTest, AHoleIsCodeZeroUnlessTheRangeFallsOrACodeIsNamed) {
  auto codes = job(picture<std::uint8_t>({51, 0, 153, 255, 255, 255}));
  codes.depth_range_m = {{0.1, 0.6}};
  const auto rising = read_depth(codes, sides);
  EXPECT_EQ(rising.holes, 1);
  expect_distances(rising, {0.2, 0.4, 0.4, 0.6, 0.6, 0.6});
  codes.depth_range_m = {{0.6, 0.1}};
  const auto falling = read_depth(codes, sides);
  EXPECT_EQ(falling.holes, 0);
  expect_distances(falling, {0.5, 0.6, 0.3, 0.1, 0.1, 0.1});
  codes.hole = {.by_range = false, .code = 153};  // its neighbour to the left, code 0, is the only one and the farthest
  const auto named = read_depth(codes, sides);
  EXPECT_EQ(named.holes, 1);
  expect_distances(named, {0.5, 0.6, 0.6, 0.1, 0.1, 0.1});
  codes.hole.code = 256;
  expect_error(ErrorCode::invalid_argument, "hole: expected a code up to 255, got '256'",
               [&] { (void)read_depth(codes, sides); });
  auto metres = job(npy({1, 1, 1, 1, 1, 1}));
  metres.hole.code = 3;
  expect_error(ErrorCode::invalid_argument, "hole: expected a picture of codes",
               [&] { (void)read_depth(metres, sides); });
}

// Z = baseline f / d: 0.1 100 / {5, 10, 20} = {2, 1, 0.5} m; their middle 1.25 m. s = size f / (N Zm).
TEST_F(DepthPictureTest, DisparitiesKeepTheProportionsOfTheScene) {
  auto stereo = job(npy({5, 10, 20, 5, 10, 20}));
  stereo.camera = StereoCamera{.focal_px = 100, .baseline_m = 0.1};
  const auto map = read_depth(stereo, sides);
  const double scale = 6e-3 * 100 / (3 * 1.25);
  EXPECT_NEAR(map.scale, scale, 1e-9);
  const auto placed = [&](double z) { return 0.3 + scale * (z - 1.25); };
  expect_distances(map, {placed(2), placed(1), placed(0.5), placed(2), placed(1), placed(0.5)});
}

TEST_F(DepthPictureTest, AnArchiveHoldsOneMap) {
  const std::vector<float> values{1, 2, 3, 4, 5, 6};
  const std::string bytes(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  const auto path = folder_.file("depth.npz");
  io_support::write_raw(path, io::npz_bytes({{"z", {"<f4", {2, 3}, bytes}}}));
  expect_distances(read_depth(job(path), sides), {1, 2, 3, 4, 5, 6});
  io_support::write_raw(path, io::npz_bytes({{"a", {"<f4", {2, 3}, bytes}}, {"b", {"<f4", {2, 3}, bytes}}}));
  expect_error(ErrorCode::io, "depth.npz: expected one array, got 2", [&] { (void)read_depth(job(path), sides); });
  io_support::write_raw(path, io::npz_bytes({{"z", {"<f4", {6}, bytes}}}));
  expect_error(ErrorCode::io, "expected an array of shape {ny, nx}, got 1 dimension",
               [&] { (void)read_depth(job(path), sides); });
}

TEST_F(DepthPictureTest, RefusesOtherShapesColoursAndDistances) {
  expect_error(ErrorCode::io, "expected the 3 x 2 pixels of " + folder_.file("image.png") + ", got 2 x 3 pixels", [&] {
    (void)read_depth(job(npy({1, 2, 3, 4, 5, 6}, {3, 2})), sides);
  });
  auto coloured = job(picture<std::uint8_t>({1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9}, {2, 3, 3}));
  coloured.depth_range_m = {{0.1, 0.6}};
  expect_error(ErrorCode::io, "expected a grey picture of depth, got a coloured one",
               [&] { (void)read_depth(coloured, sides); });
  expect_error(ErrorCode::io, "expected distances up to", [&] {
    (void)read_depth(job(npy({1e9F, 1, 1, 1, 1, 1})), sides);
  });
  expect_error(ErrorCode::io, "file not found", [&] { (void)read_depth(job(folder_.file("absent.npy")), sides); });
}

TEST_F(DepthPictureTest, LayersAreSpacedInInverseDistanceUnlessTheSceneMeetsThePanel) {
  auto scene = job("");
  EXPECT_EQ(spacing_of(scene, 0.1, 0.2), LayerSpacing::inverse_distance);
  EXPECT_EQ(spacing_of(scene, -0.2, -0.1), LayerSpacing::inverse_distance);
  EXPECT_EQ(spacing_of(scene, -0.1, 0.2), LayerSpacing::distance);
  EXPECT_EQ(spacing_of(scene, 0, 0.2), LayerSpacing::distance);
  scene.spacing = LayerSpacing::distance;
  EXPECT_EQ(spacing_of(scene, 0.1, 0.2), LayerSpacing::distance);
  scene.spacing = LayerSpacing::inverse_distance;
  expect_error(ErrorCode::invalid_argument, "spacing: expected distance for a scene that touches",
               [&] { (void)spacing_of(scene, 0, 0.2); });
}

}  // namespace
}  // namespace holotone
