#pragma once
#include <holotone/core/geometry.hpp>
#include <string_view>
#include <vector>

namespace holotone {

/// The Utah teapot: 32 bicubic Bezier patches of Martin Newell's data set (University of Utah, 1975; public domain),
/// each cut into subdivisions x subdivisions quads of two triangles; shared vertices are merged and carry the
/// patches' analytic normals. World frame: y up, base at y = 0, spout toward +x; about 6.4 x 3.15 x 4 units.
/// Triangles are counter-clockwise seen from outside. Throws invalid_argument unless 1 <= subdivisions <= 256.
Mesh teapot(int subdivisions = 16);

/// A trefoil knot as a tube, P(t) = (sin t + 2 sin 2t, cos t - 2 cos 2t, -sin 3t), with a hue that runs once round the
/// rainbow along it (linear light) and analytic normals: a closed surface that hides parts of itself.
/// `segments` along the knot, segments / 8 (at least 6) around the tube. Throws invalid_argument unless
/// 24 <= segments <= 4096.
Mesh knot(int segments = 384, double tube_radius = 0.5);

/// The names `sample_scene` takes: "teapot", "knot".
const std::vector<std::string_view>& sample_scene_names();

/// A sample by name with its default resolution. Throws invalid_argument with the nearest known name.
Mesh sample_scene(std::string_view name);

}  // namespace holotone
