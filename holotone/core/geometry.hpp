#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace holotone {

using Vec3f = std::array<float, 3>;

/// Points of a file or a sampler: in any length unit before placement, in metres after it. World frame: right-handed,
/// x right, y up, z toward the viewer, hologram panel at z = 0.
struct PointCloud {
  std::vector<Vec3f> position;
  std::vector<float> amplitude;  ///< one per position
  std::vector<Vec3f> colour;     ///< linear-light RGB in 0..1, or empty
  std::vector<Vec3f> normal;     ///< unit length, or empty
  std::vector<float> phase_rad;  ///< initial phase of each point, or empty for zero
  [[nodiscard]] std::size_t size() const { return position.size(); }
};

/// Triangles over vertices. A mesh without triangles is a point cloud.
struct Mesh {
  std::vector<Vec3f> position;
  std::vector<Vec3f> colour;     ///< linear-light RGB per vertex in 0..1, or empty
  std::vector<Vec3f> normal;     ///< per vertex, or empty
  std::vector<float> amplitude;  ///< per vertex if in the file, or empty
  std::vector<float> phase_rad;  ///< per vertex if in the file, or empty
  std::vector<std::array<std::uint32_t, 3>> triangle;
  std::array<double, 3> origin{};  ///< position (0, 0, 0) in the file's coordinates
  std::string ignored;             ///< names of the file's properties of vertices that are not used, or empty
};

}  // namespace holotone
