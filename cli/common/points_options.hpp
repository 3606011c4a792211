#pragma once
#include <cli/options/option_table.hpp>
#include <cstdint>
#include <holotone/recipes/scenes/scene_points_detail.hpp>
#include <string>
#include <vector>

namespace holotone::cli {

/// --distance, --size and --keep-coordinates.
std::vector<OptionRow> placement_options(Placement& placement);
/// --seed.
OptionRow seed_option(std::uint64_t& seed);
/// Options that choose, turn, hide and light points.
std::vector<OptionRow> scene_option_rows(SceneOptions& options);

/// Reads and places a scene. Throws as read_placed_scene, with words about options.
PlacedScene place_scene(const std::string& path, const SceneOptions& options);

/// The points of a placed scene. Throws as scene_points, with words about options.
ScenePoints points_of(const PlacedScene& scene, const SceneOptions& options, double turn_rad);

}  // namespace holotone::cli
