#pragma once
#include <cmath>
#include <cstdint>
#include <holotone/core/array.hpp>
#include <holotone/core/dots.hpp>
#include <limits>
#include <vector>

// Inks and simple measures for tests of stippling.
namespace holotone::test {

inline Array<float, 2> even_ink(std::int64_t ny, std::int64_t nx, float value) {
  Array<float, 2> ink({ny, nx});
  for (std::int64_t i = 0; i < ink.size(); ++i) ink.data()[i] = value;
  return ink;
}

/// Dark in the middle, a white corner, a step.
inline Array<float, 2> uneven_ink(std::int64_t ny, std::int64_t nx) {
  Array<float, 2> ink({ny, nx});
  for (std::int64_t row = 0; row < ny; ++row) {
    for (std::int64_t col = 0; col < nx; ++col) {
      const double u = static_cast<double>(col) / static_cast<double>(nx) - 0.5;
      const double v = static_cast<double>(row) / static_cast<double>(ny) - 0.5;
      const bool corner = u < -0.2 && v < -0.2;
      ink(row, col) = corner ? 0 : static_cast<float>(std::exp(-8 * (u * u + v * v)) * (u > 0.25 ? 0.3 : 0.9));
    }
  }
  return ink;
}

/// Mean nearest-neighbour distance of dots at least `margin` from the page's edge, over that of a hexagonal lattice of
/// the same density, sqrt(2 / (sqrt(3) density)).
inline double relative_neighbour_distance(const Dots& dots, double margin) {
  double sum = 0;
  int count = 0;
  for (std::size_t i = 0; i < dots.position.size(); i += 2) {
    const auto x = static_cast<double>(dots.position[i]);
    const auto y = static_cast<double>(dots.position[i + 1]);
    if (x < margin || y < margin || x > dots.width - margin || y > dots.height - margin) continue;
    double nearest = std::numeric_limits<double>::infinity();
    for (std::size_t j = 0; j < dots.position.size(); j += 2) {
      if (j == i) continue;
      nearest = std::min(nearest, std::hypot(static_cast<double>(dots.position[j]) - x,
                                             static_cast<double>(dots.position[j + 1]) - y));
    }
    sum += nearest;
    ++count;
  }
  const double density = static_cast<double>(dots.count()) / (dots.width * dots.height);
  return sum / count / std::sqrt(2 / (std::sqrt(3.0) * density));
}

}  // namespace holotone::test
