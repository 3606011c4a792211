#pragma once
#include <array>
#include <cstdint>
#include <vector>

namespace holotone {

using Vec3f = std::array<float, 3>;

/// Points as a file or a sampler gives them: any length unit until placed, metres after.
/// World frame: right-handed, x right, y up, z toward the viewer, hologram panel at z = 0.
struct PointCloud {
  std::vector<Vec3f> position;
  std::vector<float> amplitude;  ///< as many as positions
  std::vector<Vec3f> colour;     ///< linear-light RGB in 0..1, or empty
  std::vector<Vec3f> normal;     ///< unit length, or empty
  std::vector<float> phase_rad;  ///< initial phase of each point, or empty for zero
  [[nodiscard]] std::size_t size() const { return position.size(); }
};

/// Triangles over vertices. Without triangles it is a point cloud in the file's clothes.
struct Mesh {
  std::vector<Vec3f> position;
  std::vector<Vec3f> colour;     ///< linear-light RGB per vertex in 0..1, or empty
  std::vector<Vec3f> normal;     ///< per vertex, or empty
  std::vector<float> amplitude;  ///< per vertex where the file states one, or empty
  std::vector<float> phase_rad;  ///< per vertex where the file states one, or empty
  std::vector<std::array<std::uint32_t, 3>> triangle;
};

}  // namespace holotone
