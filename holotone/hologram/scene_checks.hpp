#pragma once
// Shared by the scene_*.cpp files. Not for users.
#include <array>
#include <holotone/core/geometry.hpp>
#include <string_view>
#include <vector>

namespace holotone::scene {

using Vec3d = std::array<double, 3>;

/// Throws invalid_argument naming the first position that is not finite.
void check_finite(std::string_view where, std::string_view argument, const std::vector<Vec3f>& positions);
/// Throws invalid_argument unless positions are finite, attributes one per vertex or empty, vertex indices in range.
void check_mesh(std::string_view where, std::string_view argument, const Mesh& mesh);
/// Throws invalid_argument unless positions are finite, amplitudes one per point, other attributes one per point or
/// empty (compact clouds of one size).
void check_cloud(std::string_view where, std::string_view argument, const PointCloud& cloud);

/// v / |v|, or zero if v has no finite direction.
Vec3d unit(const Vec3d& v);
/// (b - a) x (c - a): along the outward normal of a counter-clockwise triangle, twice its area long.
Vec3d edge_product(const Mesh& mesh, const std::array<std::uint32_t, 3>& triangle);

}  // namespace holotone::scene
