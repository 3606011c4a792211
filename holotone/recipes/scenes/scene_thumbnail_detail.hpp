#pragma once
// Small pictures of scenes. Not for users.
#include <holotone/core/geometry.hpp>
#include <holotone/io/images/image.hpp>
#include <holotone/recipes/scenes/scene_points_detail.hpp>

namespace holotone {

/// A mesh or points, seen along z from the front: the nearer, the brighter. Points that are not finite are left out.
Image scene_thumbnail(const Mesh& mesh, const FiniteExtents& extents, std::int64_t side);

}  // namespace holotone
