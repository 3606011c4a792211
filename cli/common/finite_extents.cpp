#include <algorithm>
#include <cli/common/finite_extents.hpp>
#include <cli/common/values.hpp>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>

namespace holotone::cli {

bool is_finite(const Vec3f& v) { return std::isfinite(v[0]) && std::isfinite(v[1]) && std::isfinite(v[2]); }

FiniteExtents finite_extents(const std::string& path, const Mesh& mesh) {
  FiniteExtents extents;
  bool first = true;
  for (const auto& position : mesh.position) {
    if (!is_finite(position)) {
      ++extents.not_finite;
      continue;
    }
    for (std::size_t axis = 0; axis < 3; ++axis) {
      extents.low[axis] = first ? position[axis] : std::min(extents.low[axis], position[axis]);
      extents.high[axis] = first ? position[axis] : std::max(extents.high[axis], position[axis]);
    }
    first = false;
  }
  if (first) {
    throw_io(path, "at least one finite point", fmt::format("{}, none finite", counted(extents.not_finite, "point")));
  }
  return extents;
}

}  // namespace holotone::cli
