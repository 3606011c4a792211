#pragma once
#include <array>
#include <holotone/core/geometry.hpp>
#include <holotone/io/image.hpp>

namespace holotone::cli {

/// A mesh or points, seen along z from the front: the nearer, the brighter. `low`, `high`: the box of its finite
/// points; others are left out.
Image scene_thumbnail(const Mesh& mesh, const std::array<float, 3>& low, const std::array<float, 3>& high,
                      std::int64_t side);

}  // namespace holotone::cli
