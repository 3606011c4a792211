#pragma once
#include <array>
#include <cli/common/option_table.hpp>
#include <cstdint>
#include <holotone/core/geometry.hpp>
#include <holotone/hologram/scene.hpp>
#include <optional>
#include <string>
#include <vector>

namespace holotone::cli {

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

/// Bound beyond any memory; require_memory_for checks the memory of this machine when the work begins.
inline constexpr std::int64_t max_samples = 1'000'000'000'000;

/// Throws out_of_memory if samples of a surface exceed the free memory; otherwise the system would kill the program.
void require_memory_for(std::int64_t samples);

/// --distance, --size and --keep-coordinates.
std::vector<OptionRow> placement_options(Placement& placement);
/// --seed.
OptionRow seed_option(std::uint64_t& seed);
/// Options that choose, turn, hide and light points.
std::vector<OptionRow> scene_option_rows(SceneOptions& options);

/// Placed vertices and triangles of a file: checked, without bad vertices, in metres relative to the panel.
struct PlacedScene {
  std::string path;
  Mesh mesh;
  std::int64_t dropped = 0;  ///< vertices dropped by --skip-bad
};

/// Reads and places a scene. Throws io, or invalid_argument naming the first bad point unless skip_bad.
PlacedScene place_scene(const std::string& path, const SceneOptions& options);

/// Points ready for the sum.
struct ScenePoints {
  PointCloud cloud;
  std::int64_t dropped = 0;    ///< points dropped by --skip-bad, in total
  std::int64_t hidden = 0;     ///< points dropped by --hide
  std::int64_t triangles = 0;  ///< of the mesh whose vertices are the points; 0: a cloud, or sampled
  double nearest_m = 0;        ///< smallest distance behind the panel
  double farthest_m = 0;
};

/// Turns the scene about the vertical axis through its middle, then samples points, adds random phases, hides and
/// shades.
ScenePoints points_of(const PlacedScene& scene, const SceneOptions& options, double turn_rad);

}  // namespace holotone::cli
