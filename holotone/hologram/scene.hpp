#pragma once
#include <array>
#include <cstdint>
#include <holotone/core/geometry.hpp>

namespace holotone {

/// Where a scene goes in front of or behind the panel.
struct Placement {
  double size_m = 8e-3;       ///< the larger of the x and y extents after scaling
  double distance_m = 0.2;    ///< the centre's distance behind the panel; negative: in front
  bool keep = false;          ///< leave coordinates as they are (metres, world frame)
};

/// Centres the bounding box on the axis, scales it uniformly so that max(x extent, y extent) = size_m, and puts its
/// centre at z = -distance_m. Normals keep their direction. Throws invalid_argument if the cloud has no extent in x
/// and y and more than one point, or holds a non-finite position (naming its index).
void place(PointCloud& cloud, const Placement& placement);
void place(Mesh& mesh, const Placement& placement);

/// Uniform random points on the surface, `count` in all, each triangle getting its share by area; colour and normal
/// are interpolated (flat normals where the mesh has none). Same seed, same points. Cost O(triangles + count).
/// Throws invalid_argument for a mesh without area.
PointCloud sample_surface(const Mesh& mesh, std::int64_t count, std::uint64_t seed);

/// The vertices as a cloud; vertex colour becomes colour and, as luminance, amplitude (amplitude 1 without colour).
PointCloud vertices_of(const Mesh& mesh);

/// Keeps the points that no nearer surface hides from the panel (viewed along +z), by a depth buffer of the given
/// cell; returns how many were dropped. With triangles they are the occluder, else the points themselves.
std::int64_t hide_occluded(PointCloud& cloud, const Mesh* occluder, double cell_m);

/// Multiplies amplitudes by max(0, n . l)-style Lambert shading with light from `direction` (world frame, toward the
/// light) and an ambient part. Needs normals.
void shade(PointCloud& cloud, std::array<double, 3> direction, double ambient = 0.15);

/// Turns the cloud about the vertical axis through its bounding-box centre.
void turn(PointCloud& cloud, double angle_rad);

}  // namespace holotone
