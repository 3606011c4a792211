// Depth maps from files: holes, codes, metres and disparities, placed by range and distance.
#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <holotone/io/images/image.hpp>
#include <holotone/io/npy_detail.hpp>
#include <holotone/io/npz_detail.hpp>
#include <holotone/recipes/scenes/depth_picture_detail.hpp>
#include <limits>
#include <tests/io/float_pictures.hpp>
#include <tests/io/tiff_directory.hpp>
#include <tests/support/io_support.hpp>
#include <tests/support/on_each_device.hpp>
#include <tuple>

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
  auto metres = job(npy({1, 2, 9, 1, 2, 1}));
  metres.hole = {.by_range = false, .code = 9};
  expect_distances(read_depth(metres, sides), {1, 2, 2, 1, 2, 1});
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

// Z = code unit: TUM's 5000 codes a metre, 0 unknown.
TEST_F(DepthPictureTest, AUnitMakesMetresOfCodesAndOfFloats) {
  auto codes = job(picture<std::uint16_t>({5000, 10000, 0, 2500, 7500, 5000}));
  codes.unit = parse_depth_unit("1/5000 m");
  const auto map = read_depth(codes, sides);
  expect_distances(map, {1, 2, 2, 0.5, 1.5, 1});
  EXPECT_EQ(map.of_holes.code, 1);
  EXPECT_NEAR(map.scale, 2e-4, 1e-12);
  codes.depth_range_m = {{0.2, 0.5}};  // least 0.5 m and largest 2 m
  expect_distances(read_depth(codes, sides), {0.3, 0.5, 0.5, 0.2, 0.4, 0.3});
  codes.depth_range_m = {{0.5, 0.2}};
  expect_error(ErrorCode::invalid_argument, "depth_range_m: expected NEAR before FAR",
               [&] { (void)read_depth(codes, sides); });
  auto floats = job(npy({100, 200, 300, 400, 200, 100}));
  floats.unit = parse_depth_unit("1mm");
  expect_distances(read_depth(floats, sides), {0.1, 0.2, 0.3, 0.4, 0.2, 0.1});
}

// KITTI: disparity = code / 256. Z = 0.1 100 / {5, 10, 20}.
TEST_F(DepthPictureTest, AUnitMakesPixelsOfCodesOfDisparity) {
  auto stereo = job(picture<std::uint16_t>({1280, 2560, 5120, 0, 2560, 5120}));
  stereo.camera = StereoCamera{.focal_px = 100, .baseline_m = 0.1};
  stereo.unit = parse_depth_unit("1/256 px");
  const auto map = read_depth(stereo, sides);
  const double scale = 6e-3 * 100 / (3 * 1.25);
  const auto placed = [&](double z) { return 0.3 + scale * (z - 1.25); };
  expect_distances(map, {placed(2), placed(1), placed(0.5), placed(1), placed(1), placed(0.5)});
  EXPECT_EQ(map.of_holes.code, 1);
  stereo.hole = {.by_range = false, .code = 5120};        // of the file, not of the distance
  EXPECT_EQ(read_depth(stereo, sides).of_holes.code, 3);  // a disparity of 0 has no distance
}

TEST_F(DepthPictureTest, UnitsThatDoNotFitAreRefused) {
  auto metres = job(npy({1, 2, 3, 4, 5, 6}));
  const auto refused = [&](const char* words) {
    expect_error(ErrorCode::invalid_argument, words, [&] { (void)read_depth(metres, sides); });
  };
  metres.unit = parse_depth_unit("1/256 px");
  refused("unit: expected a length such as 1mm, or --disparity for pixels, got '1/256 px'");
  metres.unit = parse_depth_unit("1/m");
  refused("unit: expected a length such as 1mm, or --depth-kind inverse, got '1/m'");
  metres.kind = DepthKind::inverse;
  metres.unit = parse_depth_unit("1mm");
  refused("unit: expected one over a length such as 1/m for inverse depths, got '1mm'");
  metres.unit.reset();
  refused("depth_range_m: expected NEAR,FAR for the inverse depths of");
  metres.depth_range_m = {{-0.1, 0.2}};
  refused("depth_range_m: expected distances on one side of the panel for inverse depths, got '-10 cm and 20 cm'");
  metres.camera = StereoCamera{.focal_px = 100, .baseline_m = 0.1};
  refused("kind: expected depth for the disparities of --disparity, got 'inverse'");
  metres.kind = DepthKind::depth;
  metres.unit = parse_depth_unit("1mm");
  refused("unit: expected pixels such as '1/256 px' for disparities, got '1mm'");
}

TEST(DepthUnit, TextsOfUnits) {
  using Of = DepthUnit::Of;
  const std::tuple<const char*, double, Of> known[] = {
      {"1mm", 1e-3, Of::length},          {"1/5000 m", 2e-4, Of::length},
      {"0.5cm", 5e-3, Of::length},        {"1/256 px", 1.0 / 256, Of::pixel},
      {"0.5px", 0.5, Of::pixel},          {"1/m", 1, Of::inverse_length},
      {"2/mm", 2000, Of::inverse_length}, {"1/1000/m", 1e-3, Of::inverse_length}};
  for (const auto& [text, size, of] : known) {
    const auto unit = parse_depth_unit(text);
    ASSERT_TRUE(unit) << text;
    EXPECT_NEAR(unit->size, size, 1e-12 * size) << text;
    EXPECT_EQ(unit->of, of) << text;
  }
  for (const char* bad : {"", "1", "mm", "1/0 m", "-1mm", "1 apple", "1/", "1/5000", "inf m", "1//m", "1mm2"}) {
    EXPECT_FALSE(parse_depth_unit(bad)) << bad;
  }
}

// 1/d = 1/R0 + code/255 (1/R1 - 1/R0): the codes of MPEG's depth maps, white is near.
TEST_F(DepthPictureTest, InverseDepthsAreEvenInOneOverDistance) {
  auto codes = job(picture<std::uint8_t>({0, 51, 102, 153, 204, 255}));
  codes.kind = DepthKind::inverse;
  codes.depth_range_m = {{0.4, 0.2}};
  const auto at = [](double share) { return 1 / (2.5 + share * (5 - 2.5)); };
  const auto map = read_depth(codes, sides);
  EXPECT_EQ(map.holes, 0);
  expect_distances(map, {at(0), at(0.2), at(0.4), at(0.6), at(0.8), at(1)});
  codes.distance_given = true;  // the middle of 0.2 and 0.4 is at 0.3 already
  expect_distances(read_depth(codes, sides), {at(0), at(0.2), at(0.4), at(0.6), at(0.8), at(1)});
  // Floats of any scale and offset, as networks estimate them: the largest is the nearest.
  auto floats = job(npy({0, 10, 20, 30, 40, 50}));
  floats.kind = DepthKind::inverse;
  floats.depth_range_m = {{0.2, 0.4}};
  expect_distances(read_depth(floats, sides), {at(0), at(0.2), at(0.4), at(0.6), at(0.8), at(1)});
  // With a unit, 1/Z in dioptres; 0 is infinitely far.
  auto dioptres = job(npy({1, 2, 4, 0, 2, 5}));
  dioptres.kind = DepthKind::inverse;
  dioptres.unit = parse_depth_unit("1/m");
  const auto absolute = read_depth(dioptres, sides);
  expect_distances(absolute, {1, 0.5, 0.25, 0.5, 0.5, 0.2});
  EXPECT_EQ(absolute.of_holes.code, 1);
}

TEST_F(DepthPictureTest, NegativeAndInfiniteValuesAreHolesOfTheirKind) {
  const float inf = std::numeric_limits<float>::infinity();
  const auto map = read_depth(job(npy({0.1F, -1, 0.3F, inf, 0.2F, none})), sides);
  expect_distances(map, {0.1, 0.3, 0.3, 0.2, 0.2, 0.2});
  EXPECT_EQ(map.of_holes.negative, 1);
  EXPECT_EQ(map.of_holes.not_finite, 2);
  EXPECT_EQ(map.holes, 3);
  expect_error(ErrorCode::io, "expected at least one pixel with a depth, got none", [&] {
    (void)read_depth(job(npy({-1, -1, -1, -2, -1, -1})), sides);
  });
}

TEST_F(DepthPictureTest, ATailThatSqueezesTheRestIsFound) {
  auto metres = job(npy({1, 1.1F, 1.2F, 1.3F, 1.2F, 60000}));
  metres.spacing = LayerSpacing::distance;
  const auto squeezed = read_depth(metres, sides);
  ASSERT_TRUE(squeezed.tail);
  EXPECT_NEAR(squeezed.tail->share, 1.0 / 6, 1e-12);
  EXPECT_EQ(squeezed.tail->values, (std::array<double, 2>{60000, 60000}));
  EXPECT_NEAR(squeezed.tail->rest[1], 1.3, 1e-6);
  EXPECT_NEAR(squeezed.farthest_m, 60000, 1e-2);
  metres.hole = {.by_range = false};  // none: kept, and decided
  EXPECT_FALSE(read_depth(metres, sides).tail);
  metres.hole = {.far = true};
  const auto freed = read_depth(metres, sides);
  EXPECT_FALSE(freed.tail);
  EXPECT_EQ(freed.of_holes.far, 1);
  expect_distances(freed, {1, 1.1, 1.2, 1.3, 1.2, 1.2});
  metres.hole = {.by_range = false, .code = 60000};
  EXPECT_EQ(read_depth(metres, sides).of_holes.code, 1);
  // Layers that are even in 1/distance leave room for what is far.
  metres.hole = {};
  metres.spacing.reset();
  EXPECT_FALSE(read_depth(metres, sides).tail);
  // Squeezed into a range, they are even in distance.
  metres.depth_range_m = {{0.18, 0.22}};
  EXPECT_TRUE(read_depth(metres, sides).tail);
  // Beyond 100 km nothing is computed.
  auto sky = job(npy({1, 1.1F, 1.2F, 1.3F, 1e10F, 1e10F}));
  expect_error(ErrorCode::io, "expected distances up to 100000 m, or --depth-hole far, got 1 to 1e+10 m (33.3 %",
               [&] { (void)read_depth(sky, sides); });
  sky.hole.far = true;
  expect_distances(read_depth(sky, sides), {1, 1.1, 1.2, 1.3, 1.3, 1.3});
}

// One value at the near end: code 1 of an unknown depth, all others within a layer at the far end.
TEST_F(DepthPictureTest, OneNearValueSqueezesToo) {
  auto codes = job(picture<std::uint16_t>({1, 60001, 60010, 1, 60005, 60002}));
  codes.depth_range_m = {{0.1, 0.2}};
  const auto map = read_depth(codes, sides);
  ASSERT_TRUE(map.tail);
  EXPECT_EQ(map.tail->values, (std::array<double, 2>{1, 1}));
  EXPECT_NEAR(map.tail->share, 1.0 / 3, 1e-12);
  // Two planes are two values: nothing is squeezed. Nor is a scene with depth everywhere.
  auto planes = job(picture<std::uint16_t>({1, 60001, 60001, 1, 60001, 60001}));
  planes.depth_range_m = {{0.1, 0.2}};
  EXPECT_FALSE(read_depth(planes, sides).tail);
  auto ramp = job(picture<std::uint16_t>({1, 13000, 26000, 39000, 52000, 65000}));
  ramp.depth_range_m = {{0.1, 0.2}};
  EXPECT_FALSE(read_depth(ramp, sides).tail);
}

TEST_F(DepthPictureTest, FloatPicturesAreMetres) {
  const auto path = folder_.file("depth.pfm");
  io_support::write_raw(path, io_fixtures::pfm_of(3, 2, 1, {1, 2, 3, 4, 5, 6}, "-2"));
  const auto map = read_depth(job(path), sides);
  expect_distances(map, {1, 2, 3, 4, 5, 6});
  ASSERT_EQ(map.notes.size(), 1U);
  EXPECT_NE(map.notes.front().find("its scale 2 is not applied"), std::string::npos);
  const io_fixtures::Exr exr{{{"B", 1}, {"G", 1}, {"R", 1}, {"Z", 2}}, {0, 0, 2, 0}, {0, 0, 2, 1}, 2};
  const auto exr_path = folder_.file("depth.exr");
  io_support::write_raw(exr_path, io_fixtures::exr_of(exr, [](std::size_t c, int x, int) {
                          return static_cast<float>(c) + 0.25F * static_cast<float>(x);
                        }));
  try {
    const auto rendered = read_depth(job(exr_path), sides);  // the second row lies outside the data window
    expect_distances(rendered, {3, 3.25, 3.5, 3, 3.25, 3.5});
    EXPECT_EQ(rendered.of_holes.not_finite, 3);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unsupported) << error.what();
  }
}

TEST_F(DepthPictureTest, AnArchiveHoldsOneMap) {
  const std::vector<float> values{1, 2, 3, 4, 5, 6};
  const std::string bytes(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  const auto path = folder_.file("depth.npz");
  io_support::write_raw(path, io::npz_bytes({{"z", {"<f4", {2, 3}, bytes}}}));
  expect_distances(read_depth(job(path), sides), {1, 2, 3, 4, 5, 6});
  io_support::write_raw(path, io::npz_bytes({{"a", {"<f4", {2, 3}, bytes}}, {"b", {"<f4", {2, 3}, bytes}}}));
  expect_error(ErrorCode::io, "depth.npz: expected one array, or its name as FILE:NAME, got arrays 'a, b'",
               [&] { (void)read_depth(job(path), sides); });
  expect_distances(read_depth(job(path + ":b"), sides), {1, 2, 3, 4, 5, 6});
  const float scale = 0.5F;
  const std::string number(reinterpret_cast<const char*>(&scale), sizeof scale);
  io_support::write_raw(path, io::npz_bytes({{"z", {"<f4", {2, 3}, bytes}}, {"depth_scale", {"<f4", {}, number}}}));
  EXPECT_EQ(read_depth(job(path + ":z"), sides).notes,
            std::vector{path + ":z: its depth_scale 0.5 is not applied to the values"});
  io_support::write_raw(path, io::npz_bytes({{"a", {"<f4", {2, 3}, bytes}}, {"b", {"<f4", {2, 3}, bytes}}}));
  expect_error(ErrorCode::io, "depth.npz:c: expected one array, or its name as FILE:NAME, got 'c' of arrays 'a, b'",
               [&] { (void)read_depth(job(path + ":c"), sides); });
  io_support::write_raw(path, io::npz_bytes({{"z", {"<f4", {6}, bytes}}}));
  expect_error(ErrorCode::io, "expected an array of shape {ny, nx}, got 1 dimension",
               [&] { (void)read_depth(job(path), sides); });
}

TEST_F(DepthPictureTest, TransparentPixelsHaveNoDepth) {
  // The hole takes the farther of its neighbours.
  auto masked = job(picture<std::uint8_t>({51, 255, 51, 1, 255, 0, 51, 255, 51, 255, 51, 255}, {2, 3, 2}));
  masked.depth_range_m = {{1, 2}};
  masked.hole.by_range = false;
  const auto map = read_depth(masked, sides);
  EXPECT_EQ(map.holes, 1);
  expect_distances(map, {1.2, 1.2, 1.2, 1.2, 1.2, 1.2});
}

TEST_F(DepthPictureTest, ValuesWithoutDataHaveNoDepth) {
  const auto path = folder_.file("depth.tif");
  const std::vector<float> values{0.2F, -9999, 0.2F, 0.4F, 0.2F, 0.2F};
  std::string pixels(4 * values.size(), '\0');
  std::memcpy(pixels.data(), values.data(), pixels.size());
  io_support::write_raw(path,
                        io_fixtures::tiff_file({{3, 2, 32, 1, 1, {pixels}, {{339, 3, {3}}, {42113, 2, {}, "-9999"}}}}));
  try {
    (void)read_image(path);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::unsupported) GTEST_SKIP() << "built without libtiff";
    throw;
  }
  const auto map = read_depth(job(path), sides);
  EXPECT_EQ(map.holes, 1);
  EXPECT_NEAR(map.nearest_m, 0.2, 1e-7);
  EXPECT_NEAR(map.farthest_m, 0.4, 1e-7);
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
