// Placing, sampling, shading, turning: closed forms and statistics with fixed seeds.
#include <cmath>
#include <holotone/core/random.hpp>
#include <holotone/hologram/scene.hpp>
#include <numbers>
#include <tests/support/on_each_device.hpp>

namespace {

using holotone::ErrorCode;
using holotone::Mesh;
using holotone::PointCloud;
using holotone::Vec3f;

constexpr double pi = std::numbers::pi;

template <class Call>
void expect_rejected(const std::string& text, const Call& call) {
  support::expect_error(ErrorCode::invalid_argument, text, call);
}

PointCloud make_cloud(std::vector<Vec3f> positions) {
  PointCloud cloud;
  cloud.position = std::move(positions);
  cloud.amplitude.assign(cloud.position.size(), 1.0f);
  return cloud;
}

struct Extent {
  std::array<double, 3> low{1e30, 1e30, 1e30};
  std::array<double, 3> high{-1e30, -1e30, -1e30};
};

Extent find_extent(const std::vector<Vec3f>& positions) {
  Extent extent;
  for (const auto& p : positions) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      extent.low[axis] = std::min<double>(extent.low[axis], p[axis]);
      extent.high[axis] = std::max<double>(extent.high[axis], p[axis]);
    }
  }
  return extent;
}

TEST(ScenePlace, ScalesToTheLargerExtentAndCentres) {
  for (const double distance : {0.2, -0.05}) {
    auto cloud = make_cloud({{10, 100, -7}, {14, 102, 1}, {11, 101, -3}});
    place(cloud, {8e-3, distance});
    const auto extent = find_extent(cloud.position);
    // scale 2e-3: extents 8, 4 and 16 mm about (0, 0, -distance)
    const double expected[3][2] = {{-4e-3, 4e-3}, {-2e-3, 2e-3}, {-distance - 8e-3, -distance + 8e-3}};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      EXPECT_NEAR(extent.low[axis], expected[axis][0], 1e-8) << axis;
      EXPECT_NEAR(extent.high[axis], expected[axis][1], 1e-8) << axis;
    }
    EXPECT_NEAR(cloud.position[2][0], -2e-3, 1e-9);
    EXPECT_NEAR(cloud.position[2][1], 0, 1e-9);
  }
}

TEST(ScenePlace, TallObjectsAreScaledByTheirHeight) {
  Mesh mesh;
  mesh.position = {{0, 0, 0}, {1, 5, 0}};
  mesh.normal = {{0, 0, 1}, {1, 0, 0}};
  place(mesh, {10e-3, 0.3});
  EXPECT_NEAR(mesh.position[1][1] - mesh.position[0][1], 10e-3, 1e-9);
  EXPECT_NEAR(mesh.position[1][0] - mesh.position[0][0], 2e-3, 1e-9);
  EXPECT_FLOAT_EQ(mesh.position[0][2], -0.3f);
  EXPECT_EQ(mesh.normal[1], (Vec3f{1, 0, 0}));
}

TEST(ScenePlace, OnePointNoneAndKept) {
  auto one = make_cloud({{5, 6, 7}});
  place(one, {8e-3, 0.1});
  EXPECT_EQ(one.position[0], (Vec3f{0, 0, -0.1f}));
  auto none = make_cloud({});
  EXPECT_NO_THROW(place(none, {}));
  auto kept = make_cloud({{5, 6, 7}, {5, 6, 8}});
  place(kept, {8e-3, 0.1, true});
  EXPECT_EQ(kept.position[1], (Vec3f{5, 6, 8}));
}

TEST(ScenePlace, Rejects) {
  auto line = make_cloud({{1, 2, 3}, {1, 2, 5}});
  expect_rejected("place: position: expected points that differ in x or y, got 2 points at x = 1, y = 2",
                  [&] { place(line, {}); });
  auto bad = make_cloud({{1, 2, 3}, {4, 5, 6}, {1, NAN, 5}});
  expect_rejected("place: position: expected finite coordinates, got (1, nan, 5) at index 2", [&] { place(bad, {}); });
  expect_rejected("at index 2", [&] { place(bad, {1, 1, true}); });
  auto good = make_cloud({{1, 2, 3}, {4, 5, 6}});
  expect_rejected("place: size_m: expected 1e-09 to 100000, got 0", [&] { place(good, {0, 1}); });
  expect_rejected("place: distance_m: expected -100000 to 100000, got nan", [&] { place(good, {1, NAN}); });
}

/// Triangles of many sizes in planes z = 0, 1, 2, ..., which identify the triangle of a sample.
Mesh stairs() {
  Mesh mesh;
  for (int i = 0; i < 40; ++i) {
    const auto z = static_cast<float>(i);
    const float size = 0.2f + 0.05f * static_cast<float>((i * 7) % 40);
    const auto base = static_cast<std::uint32_t>(mesh.position.size());
    mesh.position.insert(mesh.position.end(), {{0, 0, z}, {size, 0, z}, {0.3f * size, 1.5f * size, z}});
    mesh.triangle.push_back({base, base + 1, base + 2});
  }
  return mesh;
}

TEST(SceneSample, EveryTriangleGetsItsShareByArea) {
  const auto mesh = stairs();
  std::vector<double> area;
  double total = 0;
  for (const auto& t : mesh.triangle) {
    const double side = mesh.position[t[1]][0];
    area.push_back(side * 1.5 * side / 2);
    total += area.back();
  }
  constexpr std::int64_t count = 20000;
  const auto cloud = sample_surface(mesh, count, 11);
  ASSERT_EQ(cloud.size(), static_cast<std::size_t>(count));
  std::vector<double> got(area.size());
  for (const auto& p : cloud.position) ++got[static_cast<std::size_t>(std::lround(p[2]))];
  for (std::size_t i = 0; i < area.size(); ++i) EXPECT_NEAR(got[i], area[i] / total * count, 2) << i;
}

TEST(SceneSample, UniformInsideATriangle) {
  Mesh mesh;
  mesh.position = {{0, 0, 0}, {3, 1, 0}, {1, 2, 5}};
  mesh.triangle = {{0, 1, 2}};
  constexpr std::int64_t count = 32000;
  // Sixteen equal parts: the triangle divided in four along each side.
  double worst = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const auto cloud = sample_surface(mesh, count, seed);
    std::vector<double> bins(16);
    for (const auto& p : cloud.position) {
      // barycentric coordinates from x and y: p = b B + c C
      const double b = (2.0 * p[0] - 1.0 * p[1]) / 5;
      const double c = (3.0 * p[1] - 1.0 * p[0]) / 5;
      ASSERT_GE(b, -1e-6);
      ASSERT_GE(c, -1e-6);
      ASSERT_LE(b + c, 1 + 1e-6);
      EXPECT_NEAR(p[2], 5 * c, 1e-5);
      const double a4 = 4 * (1 - b - c);
      const int row = std::clamp(static_cast<int>(std::floor(a4)), 0, 3);  // 0 at the side BC
      const int column = std::clamp(static_cast<int>(std::floor(4 * b)), 0, 3 - row);
      const bool second = (4 * b - column) + (a4 - row) > 1;
      const int cells_before[] = {0, 7, 12, 15};
      ++bins[static_cast<std::size_t>(std::min(15, cells_before[row] + 2 * column + (second ? 1 : 0)))];
    }
    double chi_square = 0;
    for (const double bin : bins) chi_square += (bin - 2000) * (bin - 2000) / 2000;
    worst = std::max(worst, chi_square);
  }
  std::printf("chi square at most %.1f for 15 degrees of freedom, five seeds (99.99 %%: 44.3)\n", worst);
  EXPECT_LT(worst, 44.3);
}

TEST(SceneSample, SameSeedSamePoints) {
  const auto mesh = stairs();
  const auto first = sample_surface(mesh, 500, 3);
  EXPECT_EQ(first.position, sample_surface(mesh, 500, 3).position);
  EXPECT_NE(first.position, sample_surface(mesh, 500, 4).position);
}

TEST(SceneSample, AttributesAreInterpolated) {
  Mesh mesh;
  mesh.position = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  mesh.triangle = {{0, 1, 2}};
  auto flat = sample_surface(mesh, 100, 1);
  EXPECT_TRUE(flat.colour.empty() && flat.phase_rad.empty());
  for (std::size_t i = 0; i < 100; ++i) {
    EXPECT_EQ(flat.normal[i], (Vec3f{0, 0, 1}));
    EXPECT_EQ(flat.amplitude[i], 1);
  }
  mesh.colour = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0.5f}};
  mesh.normal = {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}};
  mesh.phase_rad = {0, 2, 4};
  auto cloud = sample_surface(mesh, 100, 1);
  for (std::size_t i = 0; i < 100; ++i) {
    const double x = cloud.position[i][0];
    const double y = cloud.position[i][1];
    EXPECT_NEAR(cloud.colour[i][0], x, 1e-6);
    EXPECT_NEAR(cloud.colour[i][2], 0.5 * y, 1e-6);
    EXPECT_NEAR(cloud.phase_rad[i], 2 * x + 4 * y, 1e-5);
    EXPECT_NEAR(cloud.amplitude[i], std::sqrt(0.2126 * x + 0.7152 * y + 0.0722 * 0.5 * y), 1e-6);
    const double length = std::hypot(x, y, 1 - x - y);
    EXPECT_NEAR(cloud.normal[i][0], x / length, 1e-6);
    EXPECT_NEAR(cloud.normal[i][2], (1 - x - y) / length, 1e-6);
  }
  mesh.amplitude = {1, 2, 3};
  cloud = sample_surface(mesh, 100, 1);
  for (std::size_t i = 0; i < 100; ++i) {
    EXPECT_NEAR(cloud.amplitude[i], 1 + cloud.position[i][0] + 2 * cloud.position[i][1], 1e-5);
  }
}

TEST(SceneSample, Rejects) {
  auto mesh = stairs();
  expect_rejected("sample_surface: count: expected >= 1, got 0", [&] { (void)sample_surface(mesh, 0, 1); });
  expect_rejected("sample_surface: mesh: expected triangles with a finite area > 0, got 0 triangles, area 0",
                  [] { (void)sample_surface(Mesh{}, 10, 1); });
  Mesh needle;
  needle.position = {{0, 0, 0}, {1, 1, 1}, {2, 2, 2}};
  needle.triangle = {{0, 1, 2}};
  expect_rejected("got 1 triangles, area 0", [&] { (void)sample_surface(needle, 10, 1); });
  mesh.triangle[7][1] = 120;
  expect_rejected("mesh: expected vertex indices below 120, got 120 in triangle 7",
                  [&] { (void)sample_surface(mesh, 10, 1); });
  mesh = stairs();
  mesh.position[5][0] = INFINITY;
  expect_rejected("mesh: expected finite coordinates, got (inf, 0.82", [&] { (void)sample_surface(mesh, 10, 1); });
  mesh = stairs();
  mesh.colour.resize(7);
  expect_rejected("mesh.colour: expected 120 or none, one a vertex, got 7", [&] { (void)sample_surface(mesh, 10, 1); });
}

TEST(SceneVertices, ColourGivesAmplitudeAndTrianglesGiveNormals) {
  Mesh mesh;
  mesh.position = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 3}, {9, 9, 9}};
  const auto bare = vertices_of(mesh);
  EXPECT_EQ(bare.amplitude, (std::vector<float>{1, 1, 1, 1, 1}));
  EXPECT_TRUE(bare.normal.empty() && bare.colour.empty());
  mesh.triangle = {{0, 1, 2}, {0, 2, 3}};  // normals (0, 0, 1) of area 1/2 and (1, 0, 0) of area 3/2
  mesh.colour = {{1, 1, 1}, {1, 0, 0}, {0, 0.25f, 0}, {0, 0, 0}, {0, 0, 1}};
  const auto cloud = vertices_of(mesh);
  EXPECT_NEAR(cloud.amplitude[0], 1, 1e-6);
  EXPECT_NEAR(cloud.amplitude[1], std::sqrt(0.2126), 1e-6);
  EXPECT_NEAR(cloud.amplitude[2], std::sqrt(0.7152 * 0.25), 1e-6);
  EXPECT_EQ(cloud.amplitude[3], 0);
  EXPECT_NEAR(cloud.normal[0][0], 3 / std::sqrt(10), 1e-6);
  EXPECT_NEAR(cloud.normal[0][2], 1 / std::sqrt(10), 1e-6);
  EXPECT_EQ(cloud.normal[1], (Vec3f{0, 0, 1}));
  EXPECT_EQ(cloud.normal[4], (Vec3f{0, 0, 0}));
  mesh.amplitude = {1, 2, 3, 4, 5};
  EXPECT_EQ(vertices_of(mesh).amplitude, mesh.amplitude);
}

TEST(SceneColour, ChannelsOfWhiteGreyAndRed) {
  auto cloud = make_cloud({{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {3, 0, 0}});
  EXPECT_EQ(channel_amplitude(cloud, 1), cloud.amplitude);  // without colour
  cloud.colour = {{1, 1, 1}, {0.25f, 0.25f, 0.25f}, {1, 0, 0}, {0, 0, 0}};
  cloud.amplitude = {1, 0.5f, std::sqrt(0.2126f), 0};  // as from vertices_of
  const float expected[3][4] = {{1, 0.5f, 1, 0}, {1, 0.5f, 0, 0}, {1, 0.5f, 0, 0}};
  for (int channel = 0; channel < 3; ++channel) {
    const auto got = channel_amplitude(cloud, channel);
    for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(got[i], expected[channel][i], 1e-6) << channel << " " << i;
  }
  // Luminance-weighted, the channels sum to the light of the cloud.
  const Vec3f weight = {0.2126f, 0.7152f, 0.0722f};
  cloud.colour[1] = {0.1f, 0.7f, 0.4f};
  double light = 0;
  for (int channel = 0; channel < 3; ++channel) {
    light += weight[static_cast<std::size_t>(channel)] * std::pow(channel_amplitude(cloud, channel)[1], 2);
  }
  EXPECT_NEAR(light, 0.25, 1e-6);
  expect_rejected("channel_amplitude: channel: expected 0 to 2, got 3", [&] { (void)channel_amplitude(cloud, 3); });
}

TEST(SceneShade, LambertAndAmbientAreFactorsOfIntensity) {
  auto cloud = make_cloud({{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {3, 0, 0}});
  cloud.amplitude = {1, 2, 1, -3};
  cloud.normal = {{0, 0, 1}, {0, 0.8f, 0.6f}, {0, 0, -1}, {1, 0, 0}};
  shade(cloud, {0, 0, 7}, 0.2);
  EXPECT_NEAR(cloud.amplitude[0], 1, 1e-6);
  EXPECT_NEAR(cloud.amplitude[1], 2 * std::sqrt(0.6 * (0.2 + 0.8 * 0.6)), 1e-6);
  EXPECT_NEAR(cloud.amplitude[2], std::sqrt(0.2), 1e-6);
  EXPECT_EQ(cloud.amplitude[3], 0);  // edge-on
  auto dark = cloud;
  shade(dark, {0, 0, -1}, 0);
  EXPECT_EQ(dark.amplitude[0], 0);
  EXPECT_NEAR(dark.amplitude[2], std::sqrt(0.2), 1e-6);
  expect_rejected("shade: direction: expected a finite vector that is not zero, got (0, 0, 0)", [&] {
    shade(cloud, {0, 0, 0});
  });
  expect_rejected("shade: direction", [&] { shade(cloud, {NAN, 0, 1}); });
  expect_rejected("shade: direction", [&] { shade(cloud, {INFINITY, 0, 1}); });
  expect_rejected("shade: ambient: expected 0 to 1, got 1.5", [&] { shade(cloud, {0, 0, 1}, 1.5); });
  cloud.normal.clear();
  expect_rejected("shade: cloud.normal: expected 4 normals, one a point, got 0", [&] { shade(cloud, {0, 0, 1}); });
}

// A ball sampled evenly by area and lit from the viewer: by Lambert's law its brightness rises toward the middle as n .
// l. A ball of equal points would be brighter at its rim.
TEST(SceneShade, ASampledBallShowsLambertsBrightness) {
  PointCloud ball;
  constexpr int count = 200'000;
  for (std::uint64_t i = 0; i < count; ++i) {
    const double z = 2 * holotone::random_uniform64(1, 2 * i) - 1;
    const double angle = 2 * pi * holotone::random_uniform64(1, 2 * i + 1);
    const double radius = std::sqrt(1 - z * z);
    ball.normal.push_back({static_cast<float>(radius * std::cos(angle)), static_cast<float>(radius * std::sin(angle)),
                           static_cast<float>(z)});
  }
  ball.position = ball.normal;
  ball.amplitude.assign(count, 1);
  shade(ball, {0, 0, 1}, 0);
  constexpr int rings = 4;  // of equal projected area: light in each over the mean cosine there
  double light[rings] = {};
  for (std::size_t i = 0; i < ball.size(); ++i) {
    const auto& p = ball.position[i];
    const double seen = p[0] * p[0] + p[1] * p[1];
    if (p[2] > 0 && seen < 1) light[static_cast<int>(seen * rings)] += std::pow(ball.amplitude[i], 2);
  }
  for (int ring = 0; ring < rings; ++ring) {
    const double inner = 1 - ring / 4.0;  // cosine^2 at the ring's two boundaries
    const double outer = 1 - (ring + 1) / 4.0;
    const double cosine = 2.0 / 3 * (std::pow(inner, 1.5) - std::pow(outer, 1.5)) * rings;
    const double points = count / 2.0 * (std::sqrt(inner) - std::sqrt(outer));
    const double expected = count / 4.0 / rings * cosine;
    EXPECT_NEAR(light[ring] / expected, 1, 5 / std::sqrt(points)) << ring;
  }
}

TEST(SceneTurn, AQuarterBringsTheFrontToTheRight) {
  auto cloud = make_cloud({{-1, 0, 0}, {1, 4, 2}, {0, 2, 2}});  // box centre (0, 2, 1)
  cloud.normal = {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}};
  turn(cloud, pi / 2);
  const Vec3f expected[] = {{-1, 0, 2}, {1, 4, 0}, {1, 2, 1}};
  const Vec3f normals[] = {{1, 0, 0}, {0, 0, -1}, {0, 1, 0}};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      EXPECT_NEAR(cloud.position[i][axis], expected[i][axis], 1e-6) << i << axis;
      EXPECT_NEAR(cloud.normal[i][axis], normals[i][axis], 1e-6) << i << axis;
    }
  }
}

TEST(SceneTurn, TiltTipsTheTopTowardTheViewer) {
  Mesh mesh;
  mesh.position = {{0, -1, 0}, {3, 1, 0}};
  mesh.normal = {{0, 1, 0}, {1, 0, 0}};
  tilt(mesh, pi / 2);
  EXPECT_NEAR(mesh.position[1][2], 1, 1e-6);
  EXPECT_NEAR(mesh.position[1][1], 0, 1e-6);
  EXPECT_EQ(mesh.position[1][0], 3);
  EXPECT_NEAR(mesh.normal[0][2], 1, 1e-6);
  EXPECT_EQ(mesh.normal[1], (Vec3f{1, 0, 0}));
}

TEST(SceneTurn, AFullTurnInStepsComesBack) {
  auto cloud = make_cloud({});
  for (int i = 0; i < 64; ++i) {  // a ring, whose box is invariant under rotations by 1/64 turn
    const double angle = 2 * pi * i / 64;
    cloud.position.push_back(
        {static_cast<float>(std::cos(angle)), 0.1f * static_cast<float>(i), static_cast<float>(std::sin(angle))});
    cloud.amplitude.push_back(1);
  }
  const auto start = cloud.position;
  for (int i = 0; i < 16; ++i) turn(cloud, 2 * pi / 16);
  for (std::size_t i = 0; i < start.size(); ++i) {
    for (std::size_t axis = 0; axis < 3; ++axis) EXPECT_NEAR(cloud.position[i][axis], start[i][axis], 16 * 2e-7);
  }
  auto empty = make_cloud({});
  EXPECT_NO_THROW(turn(empty, 1));
  expect_rejected("turn: angle_rad: expected a finite angle", [&] { turn(cloud, NAN); });
}

TEST(SceneSelect, EveryAttributeFollows) {
  auto cloud = make_cloud({{0, 0, 0}, {1, 0, 0}, {2, 0, 0}});
  cloud.amplitude = {5, 6, 7};
  cloud.colour = {{0, 0, 0}, {0.1f, 0, 0}, {0.2f, 0, 0}};
  cloud.phase_rad = {1, 2, 3};
  select(cloud, {true, false, true});
  EXPECT_EQ(cloud.position, (std::vector<Vec3f>{{0, 0, 0}, {2, 0, 0}}));
  EXPECT_EQ(cloud.amplitude, (std::vector<float>{5, 7}));
  EXPECT_EQ(cloud.colour[1][0], 0.2f);
  EXPECT_EQ(cloud.phase_rad, (std::vector<float>{1, 3}));
  EXPECT_TRUE(cloud.normal.empty());
  expect_rejected("select: keep: expected 2, one a point, got 3", [&] { select(cloud, {true, true, true}); });
  cloud.amplitude.clear();
  expect_rejected("select: cloud.amplitude: expected 2, one a point, got 0", [&] { select(cloud, {true, true}); });
}

}  // namespace
