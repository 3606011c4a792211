#pragma once
// Points of a scene's file: checked, placed, chosen, hidden and shaded. Not for users.
#include <array>
#include <cstdint>
#include <holotone/core/geometry.hpp>
#include <holotone/core/progress.hpp>
#include <holotone/hologram/scene.hpp>
#include <optional>
#include <string>

namespace holotone {

/// Placement of the object and choice of its points.
struct SceneOptions {
  Placement placement;
  double turn_rad = 0;      ///< about the vertical axis, before the object is placed
  double tilt_rad = 0;      ///< then about the horizontal one
  std::int64_t points = 0;  ///< 0: the file's own vertices
  bool hide = false;
  double hide_cell_m = 0;  ///< 0: from the number of points
  std::optional<std::array<double, 3>> light;
  bool skip_bad = false;
  bool random_phase = false;
  std::uint64_t seed = 0;

  [[nodiscard]] bool hides() const { return hide || hide_cell_m > 0; }
};

/// Bound beyond any memory; require_memory_for_points checks the memory of this machine when the work begins.
inline constexpr std::int64_t max_samples = 1'000'000'000'000;

/// Throws out_of_memory naming `points` if samples of a surface exceed the free memory; otherwise the system would kill
/// the program.
void require_memory_for_points(std::int64_t samples);

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

/// Placed vertices and triangles of a file: checked, without bad vertices, in metres relative to the panel.
struct PlacedScene {
  std::string path;
  Mesh mesh;
  std::int64_t dropped = 0;  ///< vertices dropped by skip_bad
};

/// Reads and places a scene; `program` as of read_scene_guarded. Throws io, or invalid_argument naming the file and its
/// first bad point unless skip_bad.
PlacedScene read_placed_scene(const std::string& path, const SceneOptions& options, const std::string& program);

/// Points ready for the sum.
struct ScenePoints {
  PointCloud cloud;
  std::int64_t dropped = 0;    ///< points dropped by skip_bad, in total
  std::int64_t hidden = 0;     ///< points dropped by hide
  std::int64_t triangles = 0;  ///< of the mesh whose vertices are the points; 0: a cloud, or sampled
  double nearest_m = 0;        ///< smallest distance behind the panel
  double farthest_m = 0;
  std::string ignored;     ///< Mesh::ignored
  std::string phase_note;  ///< of phases of the file beyond one turn, which may be in another unit; empty: none
};

/// Turns the scene about the vertical axis through its middle, then samples points, adds random phases, hides and
/// shades.
ScenePoints scene_points(const PlacedScene& scene, const SceneOptions& options, double turn_rad,
                         Progress& progress = Progress::none());

}  // namespace holotone
