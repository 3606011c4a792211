#include <algorithm>
#include <cmath>
#include <holotone/io/points/scene_formats_detail.hpp>
#include <limits>

namespace holotone::io {
namespace {

/// Middle of the finite positions, on the axes on which it is farther from zero than 4 sizes; zero on the others.
/// Within them float32 rounds by less than 2^-22 of the size.
Origin far_middle(const std::vector<Vec3f>& positions) {
  constexpr double near_sizes = 4;
  Origin low;
  Origin high;
  low.fill(std::numeric_limits<double>::infinity());
  high.fill(-std::numeric_limits<double>::infinity());
  for (const auto& p : positions) {
    if (!(std::isfinite(p[0]) && std::isfinite(p[1]) && std::isfinite(p[2]))) continue;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      low[axis] = std::min<double>(low[axis], p[axis]);
      high[axis] = std::max<double>(high[axis], p[axis]);
    }
  }
  Origin middle{};
  if (low[0] > high[0]) return middle;
  const double size = std::max({high[0] - low[0], high[1] - low[1], high[2] - low[2]});
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double at = (low[axis] + high[axis]) / 2;
    if (std::abs(at) > near_sizes * size) middle[axis] = at;
  }
  return middle;
}

}  // namespace

Mesh read_around(Coordinates coordinates, const std::function<Mesh(const Origin& origin)>& read) {
  // A cloud 1e9 sizes away is one position in float32, and a few hundred sizes from the middle that this gives.
  constexpr int max_readings = 4;
  Origin origin{};
  Mesh mesh = read(origin);
  for (int reading = 1; coordinates == Coordinates::centred && reading < max_readings; ++reading) {
    const Origin middle = far_middle(mesh.position);
    if (middle == Origin{}) break;
    for (std::size_t axis = 0; axis < 3; ++axis) origin[axis] += middle[axis];
    mesh = {};  // one mesh in memory at a time
    mesh = read(origin);
    mesh.origin = origin;
  }
  if (std::all_of(mesh.normal.begin(), mesh.normal.end(), [](const Vec3f& n) { return n == Vec3f{}; })) {
    mesh.normal = {};  // none of them has a direction
  }
  return mesh;
}

}  // namespace holotone::io
