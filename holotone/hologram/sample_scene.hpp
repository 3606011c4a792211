#pragma once
#include <holotone/core/geometry.hpp>
#include <string_view>
#include <vector>

namespace holotone {

/// The Utah teapot: 32 bicubic Bezier patches of Martin Newell's data set (University of Utah, 1975; public domain),
/// each divided into subdivisions x subdivisions quads of two triangles. Shared vertices are merged and have the
/// patches' analytic normals. World frame: y up, base at y = 0, spout toward +x; about 6.4 x 3.15 x 4 units. Triangles
/// are counter-clockwise seen from outside. Throws invalid_argument unless 1 <= subdivisions <= 256.
Mesh teapot(int subdivisions = 16);

/// Trefoil knot as a tube, P(t) = (sin t + 2 sin 2t, cos t - 2 cos 2t, -sin 3t): a closed surface that occludes parts
/// of itself, with analytic normals. Its hue runs once round the rainbow along the knot (linear light). `segments`
/// along the knot, segments / 8 (at least 6) around the tube. Throws invalid_argument unless 24 <= segments <= 4096.
Mesh knot(int segments = 384, double tube_radius = 0.5);

/// Names of sample_scene: "teapot", "knot".
const std::vector<std::string_view>& sample_scene_names();

/// A sample by name with its default resolution. Throws invalid_argument with the nearest known name.
Mesh sample_scene(std::string_view name);

}  // namespace holotone
