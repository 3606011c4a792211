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

/// Where the object goes and which points stand for it, as typed.
struct SceneArguments {
  std::string distance = "20cm";
  std::string size = "8mm";
  std::string turn;
  std::string tilt;
  std::string points;
  std::string light;
  std::string hide_cell;
  std::string seed = "0";
  bool keep_coordinates = false;
  bool hide = false;
  bool skip_bad = false;
  bool random_phase = false;
};

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
};

/// More samples than any memory holds; what this machine holds is asked when the work begins.
inline constexpr std::int64_t most_samples = 1'000'000'000'000;

/// Throws out_of_memory for more samples of a surface than memory holds, before the system ends the program for trying.
void require_memory_for(std::int64_t samples);

/// --distance, --size and --keep-coordinates.
std::vector<OptionRow> placement_options(SceneArguments& arguments);
/// --seed.
OptionRow seed_option(SceneArguments& arguments);
/// The options that choose, turn, hide and light points.
std::vector<OptionRow> scene_option_rows(SceneArguments& arguments);
SceneOptions scene_options(const SceneArguments& arguments);

/// A file's vertices and triangles in place: checked, without bad vertices, in metres before or behind the panel.
struct PlacedScene {
  std::string path;
  Mesh mesh;
  std::int64_t dropped = 0;  ///< vertices --skip-bad left out
};

/// Reads and places. Throws io, or invalid_argument naming the first bad point unless skip_bad.
PlacedScene place_scene(const std::string& path, const SceneOptions& options);

/// Points ready for the sum.
struct ScenePoints {
  PointCloud cloud;
  std::int64_t dropped = 0;  ///< by --skip-bad, in all
  std::int64_t hidden = 0;   ///< by --hide
  double nearest_m = 0;      ///< smallest distance behind the panel
  double farthest_m = 0;
};

/// The scene turned about the vertical axis through its middle, then sampled, hidden, lit and given its phases.
ScenePoints points_of(const PlacedScene& scene, const SceneOptions& options, double turn_rad);

}  // namespace holotone::cli
