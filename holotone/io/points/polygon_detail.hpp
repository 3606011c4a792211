#pragma once
// Polygons to triangles. Not for users.
#include <array>
#include <cstdint>
#include <vector>

namespace holotone::io {

/// Concave polygons of more corners are refused: the cost grows with the square of their number.
inline constexpr std::size_t max_concave_corners = 4000;

/// Splits the polygon into triangles of corner numbers, in its orientation: a fan if it is convex as seen along its
/// normal (Newell's: the sum of the cross products of its edges), otherwise by cutting ears (Meisters, "Polygons have
/// ears", 1975). Triangles without area may be left out. The rest of a polygon that cuts itself is a fan. Fewer than
/// three corners give none. Returns false, without triangles, for a concave one of more than max_concave_corners. Cost
/// O(corners) if convex, else O(corners * reflex corners).
bool split_polygon(const std::vector<std::array<double, 3>>& corners,
                   std::vector<std::array<std::uint32_t, 3>>& triangles);

}  // namespace holotone::io
