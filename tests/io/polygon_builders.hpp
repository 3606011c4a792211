#pragma once
// Random simple polygons and their areas.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <random>
#include <vector>

namespace polygon_builders {

using Corner = std::array<double, 3>;
using Corner2 = std::array<double, 2>;

inline Corner2 place(double radius, double angle) { return {radius * std::cos(angle), radius * std::sin(angle)}; }

/// Shoelace formula.
inline double signed_area(const std::vector<Corner2>& polygon) {
  double twice = 0;
  for (std::size_t i = 0; i < polygon.size(); ++i) {
    const Corner2& a = polygon[i];
    const Corner2& b = polygon[(i + 1) % polygon.size()];
    twice += a[0] * b[1] - a[1] * b[0];
  }
  return twice / 2;
}

/// The polygon in a slanted plane: x and y along two unit vectors that are perpendicular.
inline std::vector<Corner> slanted(const std::vector<Corner2>& polygon) {
  std::vector<Corner> corners;
  for (const auto& [x, y] : polygon) corners.push_back({0.6 * x - 0.64 * y + 3, 0.8 * x + 0.48 * y, 0.6 * y - 2});
  return corners;
}

/// Corners around a centre, at any distance from it, in either orientation.
inline std::vector<Corner2> random_star(std::mt19937& bits) {
  std::uniform_real_distribution<double> draw(0, 1);
  const std::size_t count = 4 + bits() % 60;
  std::vector<Corner2> polygon;
  for (std::size_t i = 0; i < count; ++i) {
    const double angle =
        2 * std::numbers::pi * (static_cast<double>(i) + 0.9 * draw(bits)) / static_cast<double>(count);
    polygon.push_back(place(0.05 + draw(bits), angle));
  }
  if (bits() % 2 == 0) std::reverse(polygon.begin(), polygon.end());
  return polygon;
}

/// A ring cut open, its sides at random distances: no point of it sees all corners.
inline std::vector<Corner2> random_ring(std::mt19937& bits) {
  std::uniform_real_distribution<double> draw(0, 0.4);
  const int count = 4 + static_cast<int>(bits() % 40);
  std::vector<Corner2> polygon;
  for (int side = 0; side < 2; ++side) {
    for (int i = 0; i < count; ++i) {
      const int at = side == 0 ? i : count - 1 - i;
      const double angle = 9.0 * at / count;  // more than once around: a spiral, 1 wide for each turn
      polygon.push_back(place(1 + angle / (2 * std::numbers::pi) + (side == 0 ? 0.05 : -0.5) + draw(bits), angle));
    }
  }
  return polygon;
}

inline bool cross(const Corner2& a, const Corner2& b, const Corner2& c, const Corner2& d) {
  const auto side = [](const Corner2& p, const Corner2& q, const Corner2& r) { return signed_area({p, q, r}) > 0; };
  return side(a, b, c) != side(a, b, d) && side(c, d, a) != side(c, d, b);
}

inline bool is_simple(const std::vector<Corner2>& polygon) {
  const std::size_t count = polygon.size();
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t k = i + 2; k < count; ++k) {
      if (i == 0 && k + 1 == count) continue;
      if (cross(polygon[i], polygon[i + 1], polygon[k], polygon[(k + 1) % count])) return false;
    }
  }
  return true;
}

/// A star or a ring, cut again until no side crosses another.
inline std::vector<Corner2> random_simple_polygon(std::mt19937& bits, bool star) {
  for (;;) {
    auto polygon = star ? random_star(bits) : random_ring(bits);
    if (is_simple(polygon)) return polygon;
  }
}

}  // namespace polygon_builders
