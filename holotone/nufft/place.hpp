#pragma once
// Position of a point on the oversampled grid, by the same arithmetic on every device. Not for users.
#include <cmath>
#include <cstdint>
#include <holotone/core/random.hpp>  // HOLOTONE_HOST_DEVICE

namespace holotone::nufft {

/// Coordinate x of a point, in periods, converted to grid steps: 0 <= result < extent. In float64, so that a float32
/// point loses no digits to the number of steps.
HOLOTONE_HOST_DEVICE inline double grid_coordinate(double x, std::int64_t extent) {
  const double coordinate = (x - std::floor(x)) * static_cast<double>(extent);
  return coordinate >= static_cast<double>(extent) ? 0 : coordinate;  // -1e-20 rounds to one period
}

/// Sets cell and place of one axis from a coordinate in grid steps, 0 <= coordinate < extent.
template <class Real>
HOLOTONE_HOST_DEVICE inline void place_on_axis(double coordinate, int width, std::int64_t extent, std::int32_t& cell,
                                               Real& place) {
  const double left = coordinate - 0.5 * width;
  const double first = std::ceil(left);
  place = static_cast<Real>(2 * (first - left) - 1);
  const auto start = static_cast<std::int64_t>(first);
  cell = static_cast<std::int32_t>(start < 0 ? start + extent : start);
}

}  // namespace holotone::nufft
