#pragma once
// Scene geometry in float64 without any acceleration. Includes nothing of the library.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace reference {

using Point = std::array<double, 3>;

/// Largest height above p, along +z, of a triangle's intersection with the ray from p (minus infinity without any
/// intersection): Moller and Trumbore 1997 with the direction (0, 0, 1). Triangles edge-on to the ray are ignored.
template <class Position, class Triangle>
double height_of_cover(const Point& p, const std::vector<Position>& positions, const std::vector<Triangle>& triangles) {
  double best = -std::numeric_limits<double>::infinity();
  for (const auto& triangle : triangles) {
    std::array<Point, 3> v{};
    for (std::size_t k = 0; k < 3; ++k) {
      for (std::size_t axis = 0; axis < 3; ++axis) v[k][axis] = double{positions[triangle[k]][axis]} - p[axis];
    }
    const double e1x = v[1][0] - v[0][0];
    const double e1y = v[1][1] - v[0][1];
    const double e2x = v[2][0] - v[0][0];
    const double e2y = v[2][1] - v[0][1];
    const double determinant = e1x * e2y - e1y * e2x;
    if (std::abs(determinant) < 1e-12 * std::hypot(e1x, e1y) * std::hypot(e2x, e2y) || determinant == 0) continue;
    const double a = (v[0][1] * e2x - v[0][0] * e2y) / determinant;
    const double b = (v[0][0] * e1y - v[0][1] * e1x) / determinant;
    if (a < 0 || b < 0 || a + b > 1) continue;
    best = std::max(best, v[0][2] + a * (v[1][2] - v[0][2]) + b * (v[2][2] - v[0][2]));
  }
  return best;
}

}  // namespace reference
