#pragma once
#include <array>
#include <cstdint>
#include <holotone/core/geometry.hpp>
#include <string>

namespace holotone::cli {

/// Whether no coordinate is NaN or infinite.
bool is_finite(const Vec3f& v);

/// The box of a scene's finite vertices, and the number of others.
struct FiniteExtents {
  Vec3f low{};
  Vec3f high{};
  std::int64_t not_finite = 0;
};

/// Extents of the scene of a file. Throws io if no vertex is finite.
FiniteExtents finite_extents(const std::string& path, const Mesh& mesh);

}  // namespace holotone::cli
