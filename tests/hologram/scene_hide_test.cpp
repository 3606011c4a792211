// Points hidden by nearer surface, against rays in float64 and closed forms; and the sample objects.
#include <cmath>
#include <holotone/hologram/sample_scene.hpp>
#include <holotone/hologram/scene.hpp>
#include <map>
#include <numbers>
#include <tests/reference/scene.hpp>
#include <tests/support/on_each_device.hpp>

namespace {

using holotone::ErrorCode;
using holotone::Mesh;
using holotone::PointCloud;
using holotone::Vec3f;

constexpr double pi = std::numbers::pi;

/// A sphere of triangles whose flat normals point outward.
Mesh sphere(int rings, double radius, const Vec3f& centre) {
  Mesh mesh;
  const int around = 2 * rings;
  for (int i = 0; i <= rings; ++i) {
    for (int j = 0; j < around; ++j) {
      const double theta = pi * i / rings;
      const double phi = 2 * pi * j / around;
      mesh.position.push_back({static_cast<float>(centre[0] + radius * std::sin(theta) * std::cos(phi)),
                               static_cast<float>(centre[1] + radius * std::cos(theta)),
                               static_cast<float>(centre[2] - radius * std::sin(theta) * std::sin(phi))});
    }
  }
  const auto at = [&](int i, int j) { return static_cast<std::uint32_t>(i * around + j % around); };
  for (int i = 0; i < rings; ++i) {
    for (int j = 0; j < around; ++j) {
      if (i > 0) mesh.triangle.push_back({at(i, j), at(i + 1, j), at(i, j + 1)});
      if (i + 1 < rings) mesh.triangle.push_back({at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)});
    }
  }
  return mesh;
}

PointCloud make_cloud(std::vector<Vec3f> positions) {
  PointCloud cloud;
  cloud.position = std::move(positions);
  cloud.amplitude.assign(cloud.position.size(), 1.0f);
  return cloud;
}

TEST(SceneHide, ASphereKeepsItsFrontHemisphere) {
  // behind the panel and in front of it alike: the viewer is at large z
  for (const float z : {-0.2f, 0.15f}) {
    const auto mesh = sphere(40, 4e-3, {1e-3f, -2e-3f, z});
    constexpr std::int64_t count = 20000;
    auto cloud = sample_surface(mesh, count, 5);
    const auto all = cloud;
    const auto dropped = hide_occluded(cloud, &mesh);
    EXPECT_EQ(static_cast<std::int64_t>(cloud.size()) + dropped, count);
    // A facet of a convex body is visible if and only if its normal faces the viewer. At the rim, where the covering
    // facet is nearly edge-on, the margin leaves a few others.
    const auto count_facing = [](const PointCloud& points) {
      std::size_t facing = 0;
      for (const auto& n : points.normal) facing += n[2] > 0 ? 1 : 0;
      return facing;
    };
    EXPECT_EQ(count_facing(cloud), count_facing(all));
    EXPECT_LE(cloud.size(), count_facing(all) + count / 1000);
    for (const auto& n : cloud.normal) EXPECT_GT(n[2], -0.05);
    EXPECT_NEAR(static_cast<double>(cloud.size()), count / 2.0, 30);  // the strata leave little randomness
  }
}

TEST(SceneHide, ASphereOfPointsHidesItsBack) {
  constexpr double radius = 4e-3;
  const auto mesh = sphere(60, radius, {0, 0, -0.2f});
  for (const std::int64_t count : {3000, 30000}) {
    auto cloud = sample_surface(mesh, count, 6);
    const auto all = cloud;
    hide_occluded(cloud);
    // Front and back meet at the rim: within a cell and its neighbours they are not distinguished.
    const double cell = 2 * 2 * radius / std::sqrt(static_cast<double>(count));
    const auto inside = [&](const Vec3f& p) { return std::hypot(p[0], p[1]) < radius - 2 * std::sqrt(2.0) * cell; };
    const auto count_points = [&](const PointCloud& points, bool front) {
      std::size_t number = 0;
      for (std::size_t i = 0; i < points.size(); ++i) {
        number += (points.normal[i][2] > 0) == front && (front || inside(points.position[i])) ? 1 : 0;
      }
      return number;
    };
    std::printf("%zu of %zu front points kept, %zu of %zu back points inside the rim\n", count_points(cloud, true),
                count_points(all, true), count_points(cloud, false), count_points(all, false));
    EXPECT_GE(static_cast<double>(count_points(cloud, true)), 0.995 * static_cast<double>(count_points(all, true)));
    EXPECT_EQ(count_points(cloud, false), 0u);
    EXPECT_GT(count_points(all, false), static_cast<std::size_t>(count / 8));
  }
}

TEST(SceneHide, RaysOfTheKnotAndTheTeapot) {
  for (auto mesh : {holotone::knot(96), holotone::teapot(5)}) {
    tilt(mesh, 0.4);
    turn(mesh, 0.3);
    place(mesh, {8e-3, 0.2});
    auto cloud = sample_surface(mesh, 3000, 7);
    const auto all = cloud;
    const auto dropped = hide_occluded(cloud, &mesh);
    // covers with heights below the margin (1e-5 of the size along the normal, so more along z on steep surface) belong
    // to the point's own surface
    std::size_t hidden = 0;
    std::size_t near = 0;
    std::size_t kept = 0;
    for (const auto& p : all.position) {
      const bool is_kept = kept < cloud.size() && cloud.position[kept] == p;
      kept += is_kept ? 1 : 0;
      const double height = reference::height_of_cover({p[0], p[1], p[2]}, mesh.position, mesh.triangle);
      if (height > 0 && height < 2e-5) {
        ++near;
        continue;
      }
      hidden += height > 0 ? 1 : 0;
      EXPECT_EQ(is_kept, !(height > 0)) << height;
    }
    EXPECT_EQ(kept, cloud.size());
    std::printf("%lld dropped, %zu surely hidden, %zu within the margin\n", static_cast<long long>(dropped), hidden,
                near);
    EXPECT_GT(hidden, all.size() / 3);
    EXPECT_LT(near, all.size() / 4);  // most are the points' own triangles, from just below
  }
}

TEST(SceneHide, APlateHidesWhatLiesBehindIt) {
  Mesh plate;
  plate.position = {{-1, -1, 0.5f}, {1, -1, 0.5f}, {1, 1, 0.5f}, {-1, 1, 0.5f}};
  plate.triangle = {{0, 1, 2}, {0, 3, 2}};  // one of each winding: both sides hide
  auto cloud = make_cloud(
      {{0.5f, -0.5f, 0}, {-0.5f, 0.5f, -3}, {0.5f, 0.5f, 1}, {1.5f, 0, 0}, {0, -1.01f, 0}, {0.25f, 0, 0.5f}});
  cloud.amplitude = {1, 2, 3, 4, 5, 6};
  EXPECT_EQ(hide_occluded(cloud, &plate), 2);
  EXPECT_EQ(cloud.amplitude, (std::vector<float>{3, 4, 5, 6}));
}

TEST(SceneHide, TwoSheetsOfPoints) {
  auto cloud = make_cloud({});
  for (int i = 0; i < 60; ++i) {
    for (int j = 0; j < 60; ++j) {
      const float x = 0.1f * static_cast<float>(i);
      const float y = 0.1f * static_cast<float>(j);
      cloud.position.push_back({x, y, 2});
      cloud.position.push_back({x + 0.03f, y + 0.05f, 0});
    }
  }
  for (int i = 0; i < 60; ++i) cloud.position.push_back({20, 0.1f * static_cast<float>(i), 0});  // off to the side
  cloud.amplitude.assign(cloud.position.size(), 1);
  EXPECT_EQ(hide_occluded(cloud, nullptr, 0.2), 3600);
  for (const auto& p : cloud.position) EXPECT_TRUE(p[2] == 2 || p[0] == 20);
}

TEST(SceneHide, EmptyOneAndEqualPoints) {
  auto empty = make_cloud({});
  EXPECT_EQ(hide_occluded(empty), 0);
  const auto mesh = sphere(8, 1, {0, 0, 0});
  EXPECT_EQ(hide_occluded(empty, &mesh), 0);
  auto one = make_cloud({{1, 2, 3}});
  EXPECT_EQ(hide_occluded(one), 0);
  auto equal = make_cloud({{1, 2, 3}, {1, 2, 3}, {1, 2, 3}});
  EXPECT_EQ(hide_occluded(equal), 0);
  auto line = make_cloud({{0, 0, 0}, {0.01f, 0, -9}, {1, 0, 0}, {2, 0, 0}});
  EXPECT_EQ(hide_occluded(line, nullptr, 0.1), 1);
  Mesh vertices_only = mesh;
  vertices_only.triangle.clear();
  EXPECT_EQ(hide_occluded(one, &vertices_only), 0);
  Mesh edge_on;  // seen edge-on: hides nothing
  edge_on.position = {{0, 0, 1}, {2, 4, 5}, {1, 2, 9}};
  edge_on.triangle = {{0, 1, 2}};
  EXPECT_EQ(hide_occluded(one, &edge_on), 0);
}

TEST(SceneHide, Rejects) {
  const auto rejected = [](const std::string& text, const auto& call) {
    support::expect_error(ErrorCode::invalid_argument, text, call);
  };
  auto cloud = make_cloud({{0, 0, 0}, {1, 1, NAN}});
  rejected("hide_occluded: cloud: expected finite coordinates, got (1, 1, nan) at index 1",
           [&] { hide_occluded(cloud); });
  cloud = make_cloud({{0, 0, 0}, {1, 1, 1}});
  rejected("hide_occluded: cell_m: expected >= 0, got -1", [&] { hide_occluded(cloud, nullptr, -1); });
  rejected("hide_occluded: cell_m: expected a cell of which at most", [&] { hide_occluded(cloud, nullptr, 1e-6); });
  Mesh mesh;
  mesh.position = {{0, 0, 0}};
  mesh.triangle = {{0, 0, 1}};
  rejected("hide_occluded: occluder: expected vertex indices below 1, got 1 in triangle 0",
           [&] { hide_occluded(cloud, &mesh); });
}

// The sample objects.

struct Surface {
  double area = 0;
  double volume = 0;
  double worst_normal = 1;  // smallest cosine between a vertex's normal and its triangle's
  std::map<std::pair<std::uint32_t, std::uint32_t>, int> edges;  // directed
};

Surface measure(const Mesh& mesh) {
  Surface surface;
  for (const auto& t : mesh.triangle) {
    std::array<std::array<double, 3>, 3> p{};
    for (std::size_t k = 0; k < 3; ++k) {
      for (std::size_t axis = 0; axis < 3; ++axis) p[k][axis] = mesh.position[t[k]][axis];
      ++surface.edges[{t[k], t[(k + 1) % 3]}];
    }
    const auto cross = [](const std::array<double, 3>& a, const std::array<double, 3>& b) {
      return std::array<double, 3>{a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
    };
    const std::array<double, 3> u{p[1][0] - p[0][0], p[1][1] - p[0][1], p[1][2] - p[0][2]};
    const std::array<double, 3> v{p[2][0] - p[0][0], p[2][1] - p[0][1], p[2][2] - p[0][2]};
    const auto n = cross(u, v);
    const double length = std::hypot(n[0], n[1], n[2]);
    surface.area += length / 2;
    surface.volume += (p[0][0] * n[0] + p[0][1] * n[1] + p[0][2] * n[2]) / 6;
    for (const auto vertex : t) {
      const auto& m = mesh.normal[vertex];
      EXPECT_NEAR(std::hypot(m[0], m[1], m[2]), 1, 1e-6);
      surface.worst_normal = std::min(surface.worst_normal, (m[0] * n[0] + m[1] * n[1] + m[2] * n[2]) / length);
    }
  }
  return surface;
}

TEST(SampleScene, TheKnotIsAClosedTube) {
  constexpr double radius = 0.4;
  const auto mesh = holotone::knot(768, radius);
  const auto surface = measure(mesh);
  // Pappus: a tube of radius r about a curve of length l has area 2 pi r l and volume pi r^2 l.
  double length = 0;
  constexpr int steps = 20000;
  for (int i = 0; i < steps; ++i) {
    const double t = 2 * pi * i / steps;
    length += 2 * pi / steps *
              std::hypot(std::cos(t) + 4 * std::cos(2 * t), -std::sin(t) + 4 * std::sin(2 * t), -3 * std::cos(3 * t));
  }
  // the tube's polygon of 96 sides is smaller by (pi / 96)^2 / 6 and (2 pi / 96)^2 / 6
  EXPECT_NEAR(surface.area / (2 * pi * radius * length), 1, 5e-4);
  EXPECT_NEAR(surface.volume / (pi * radius * radius * length), 1, 1.2e-3);
  EXPECT_GT(surface.worst_normal, 0.99);
  for (const auto& [edge, times] : surface.edges) {
    EXPECT_EQ(times, 1);
    EXPECT_EQ(surface.edges.count({edge.second, edge.first}), 1u);
  }
  // torus: V - E + F = 0
  EXPECT_EQ(mesh.position.size() + mesh.triangle.size(), surface.edges.size() / 2);
  for (const auto& c : mesh.colour) {
    EXPECT_EQ(std::max({c[0], c[1], c[2]}), 1);
    EXPECT_EQ(std::min({c[0], c[1], c[2]}), 0);
  }
}

TEST(SampleScene, TheTeapotHasNewellsMeasures) {
  const auto mesh = holotone::teapot(16);
  const auto surface = measure(mesh);
  std::array<double, 3> low{9, 9, 9};
  std::array<double, 3> high{-9, -9, -9};
  for (const auto& p : mesh.position) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      low[axis] = std::min<double>(low[axis], p[axis]);
      high[axis] = std::max<double>(high[axis], p[axis]);
    }
  }
  EXPECT_EQ(low[1], 0);
  EXPECT_NEAR(high[1], 3.15, 1e-6);
  EXPECT_NEAR(high[2], 2.0, 1e-3);  // the body's widest ring
  EXPECT_NEAR(low[2], -high[2], 1e-6);
  EXPECT_NEAR(low[0], -3.0, 1e-6);    // the handle's corner, where two patches meet
  EXPECT_NEAR(high[0], 3.434, 2e-3);  // the spout's lip
  // both halves are mirror images
  double balance = 0;
  for (const auto& p : mesh.position) balance += p[2];
  EXPECT_NEAR(balance, 0, 1e-3);
  EXPECT_GT(surface.volume, 0);  // triangles face outward
  EXPECT_GT(surface.worst_normal, 0.6);
  for (const auto& [edge, times] : surface.edges)
    EXPECT_EQ(times, 1) << "an edge is used by two triangles the same way";
}

TEST(SampleScene, TheBodyIsRoundAndFilled) {
  // Newell's quarter arcs with 0.56 are circles to 0.41 %; the widest ring of the body, y = 0.9, has radius 2.
  const auto mesh = holotone::teapot(8);
  int ring = 0;
  for (std::size_t i = 0; i < mesh.position.size(); ++i) {
    const auto& p = mesh.position[i];
    const double radius = std::hypot(p[0], p[2]);
    if (std::abs(p[1] - 0.9) > 1e-6 || radius < 1.95) continue;
    if (p[0] < 0 && p[2] == 0 && mesh.normal[i][1] > 0.5) continue;  // the handle ends in the body's surface here
    ++ring;
    EXPECT_NEAR(radius, 2, 2 * 0.0041);
    EXPECT_NEAR(mesh.normal[i][0] * p[0] + mesh.normal[i][2] * p[2], radius, 0.01);
    EXPECT_NEAR(mesh.normal[i][1], 0, 1e-5);  // upright there
  }
  EXPECT_EQ(ring, 32);
  EXPECT_LT(mesh.position.size(), 32u * 81u);  // shared vertices are merged
  EXPECT_EQ(mesh.triangle.size(),
            2u * 32u * 64u - 8u * 8u);  // without those that end at the lid's top and the bottom's centre
}

TEST(SampleScene, NamesAndRanges) {
  for (const auto name : holotone::sample_scene_names())
    EXPECT_GT(holotone::sample_scene(name).triangle.size(), 1000u) << name;
  const auto rejected = [](const std::string& text, const auto& call) {
    support::expect_error(ErrorCode::invalid_argument, text, call);
  };
  rejected("sample_scene: name: expected teapot or knot, got 'teapto' (did you mean 'teapot'?)",
           [] { (void)holotone::sample_scene("teapto"); });
  rejected("teapot: subdivisions: expected 1 to 256, got 0", [] { (void)holotone::teapot(0); });
  rejected("knot: segments: expected 24 to 4096, got 5000", [] { (void)holotone::knot(5000); });
  rejected("knot: tube_radius: expected 0.01 to 0.8, got nan", [] { (void)holotone::knot(96, NAN); });
}

}  // namespace
