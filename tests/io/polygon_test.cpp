// Polygons to triangles: their areas against the shoelace formula.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <gtest/gtest.h>
#include <holotone/io/points/polygon_detail.hpp>
#include <numbers>
#include <random>
#include <tests/io/polygon_builders.hpp>

namespace holotone::io {
namespace {

using namespace polygon_builders;
using Triangle = std::array<std::uint32_t, 3>;

/// Sums of the triangles' areas, signed by the polygon's orientation, and of their sizes: equal to the polygon's area
/// only if the triangles neither overlap nor leave it.
std::array<double, 2> areas(const std::vector<Corner2>& polygon, const std::vector<Triangle>& triangles) {
  std::array<double, 2> sums{};
  for (const auto& t : triangles) {
    const double area = signed_area({polygon[t[0]], polygon[t[1]], polygon[t[2]]});
    sums[0] += area;
    sums[1] += std::abs(area);
  }
  return sums;
}

void expect_tiled(const std::vector<Corner2>& polygon, double tolerance = 1e-9) {
  std::vector<Triangle> triangles;
  ASSERT_TRUE(split_polygon(slanted(polygon), triangles));
  const double area = signed_area(polygon);
  const auto [sum, sizes] = areas(polygon, triangles);
  EXPECT_NEAR(sum, area, tolerance * std::abs(area)) << polygon.size() << " corners";
  EXPECT_NEAR(sizes, std::abs(area), tolerance * std::abs(area)) << polygon.size() << " corners";
}

TEST(Polygon, AThousandSimplePolygonsKeepTheirArea) {
  std::mt19937 bits(5);
  for (int i = 0; i < 1000; ++i) expect_tiled(random_simple_polygon(bits, i % 2 == 0));
}

TEST(Polygon, TheLetterCHasArea7) {
  const std::vector<Corner2> c = {{0, 0}, {3, 0}, {3, 1}, {1, 1}, {1, 2}, {3, 2}, {3, 3}, {0, 3}};
  EXPECT_EQ(signed_area(c), 7);
  for (std::size_t first = 0; first < c.size(); ++first) {
    auto turned = c;
    std::rotate(turned.begin(), turned.begin() + static_cast<std::ptrdiff_t>(first), turned.end());
    expect_tiled(turned);
    std::reverse(turned.begin(), turned.end());
    expect_tiled(turned);
  }
}

TEST(Polygon, ConvexOnesAreFans) {
  std::vector<Triangle> triangles;
  ASSERT_TRUE(split_polygon({{0, 0, 1}, {1, 0, 1}, {2, 0, 1}, {2, 2, 1}, {0, 2, 1}}, triangles));
  EXPECT_EQ(triangles, (std::vector<Triangle>{{0, 1, 2}, {0, 2, 3}, {0, 3, 4}}));
}

// A square with a square hole, joined by an edge that is used twice.
TEST(Polygon, HolesJoinedByAnEdge) {
  expect_tiled({{0, 0}, {4, 0}, {4, 4}, {0, 4}, {0, 0}, {1, 1}, {1, 3}, {3, 3}, {3, 1}, {1, 1}});
}

// An arrowhead whose tips are bent out of its plane: seen along its normal it is a simple polygon.
TEST(Polygon, NotPlanar) {
  const std::vector<Corner2> seen = {{0, 0}, {4, 0}, {4, 4}, {3, 1}};
  std::vector<Triangle> triangles;
  ASSERT_TRUE(split_polygon({{0, 0, 0.1}, {4, 0, -0.1}, {4, 4, 0.1}, {3, 1, -0.1}}, triangles));
  ASSERT_EQ(triangles.size(), 2u);
  EXPECT_DOUBLE_EQ(areas(seen, triangles)[0], signed_area(seen));
  EXPECT_DOUBLE_EQ(areas(seen, triangles)[1], signed_area(seen));
}

TEST(Polygon, DegenerateOnesEnd) {
  std::vector<Triangle> triangles;
  for (std::size_t count = 0; count < 3; ++count) {
    EXPECT_TRUE(split_polygon(std::vector<Corner>(count), triangles));
    EXPECT_TRUE(triangles.empty());
  }
  std::mt19937 bits(9);
  const std::vector<double> values = {0, 1, 2, -1, 1e300, -1e300, 1e-320, INFINITY, NAN};
  for (int i = 0; i < 20000; ++i) {
    std::vector<Corner> corners(3 + bits() % 12);
    const std::size_t most = i % 2 == 0 ? 4 : values.size();
    for (auto& corner : corners) corner = {values[bits() % most], values[bits() % most], values[bits() % most]};
    EXPECT_TRUE(split_polygon(corners, triangles));
    EXPECT_LE(triangles.size(), corners.size() - 2);
    for (const auto& t : triangles) EXPECT_LT(*std::max_element(t.begin(), t.end()), corners.size());
  }
}

TEST(Polygon, ManyCornersAreConvexOrRefusedQuickly) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<Corner> corners;
  std::vector<Triangle> triangles;
  const auto fill = [&](std::size_t count, double teeth) {
    corners.clear();
    for (std::size_t i = 0; i < count; ++i) {
      const double angle = 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(count);
      const auto [x, y] = place(i % 2 == 0 ? 1.0 : 1 - teeth, angle);
      corners.push_back({x, y, 0});
    }
  };
  fill(100000, 0);
  EXPECT_TRUE(split_polygon(corners, triangles));
  EXPECT_EQ(triangles.size(), corners.size() - 2);
  fill(max_concave_corners, 0.5);
  EXPECT_TRUE(split_polygon(corners, triangles));
  EXPECT_EQ(triangles.size(), corners.size() - 2);
  fill(max_concave_corners + 2, 0.5);
  EXPECT_FALSE(split_polygon(corners, triangles));
  std::mt19937 bits(3);
  for (auto& corner : corners) corner = {static_cast<double>(bits()), static_cast<double>(bits()), 0};
  corners.resize(max_concave_corners);
  EXPECT_TRUE(split_polygon(corners, triangles));  // cuts itself everywhere
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  std::printf("%zu corners: %.0f ms in total\n", max_concave_corners, 1e3 * seconds.count());
  EXPECT_LT(seconds.count(), 10);
}

}  // namespace
}  // namespace holotone::io
