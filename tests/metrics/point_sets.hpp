#pragma once
// Point sets shared by the tests of metrics.
#include <cmath>
#include <cstdint>
#include <holotone/core/array.hpp>
#include <holotone/core/random.hpp>
#include <vector>

namespace point_sets {

using Points = std::vector<float>;

inline holotone::View<const float, 2> view(const Points& points) {
  return {points.data(), {static_cast<std::int64_t>(points.size() / 2), 2}};
}

/// Independent uniform points of [x, x + width) x [y, y + height).
inline Points uniform(std::size_t count, double width, double height, std::uint64_t seed, double x = 0, double y = 0) {
  Points points;
  for (std::size_t i = 0; i < count; ++i) {
    points.push_back(static_cast<float>(x + width * holotone::random_uniform64(seed, 2 * i)));
    points.push_back(static_cast<float>(y + height * holotone::random_uniform64(seed, 2 * i + 1)));
  }
  return points;
}

/// columns x rows points with spacing `spacing`, the first half a spacing from the corner.
inline Points square_lattice(int columns, int rows, double spacing) {
  Points points;
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      points.push_back(static_cast<float>((column + 0.5) * spacing));
      points.push_back(static_cast<float>((row + 0.5) * spacing));
    }
  }
  return points;
}

inline std::vector<double> to_double(const Points& points) { return {points.begin(), points.end()}; }

}  // namespace point_sets
