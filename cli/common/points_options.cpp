#include <cli/common/cancel.hpp>
#include <cli/common/points_options.hpp>
#include <cli/options/error_words.hpp>
#include <cli/options/values.hpp>
#include <holotone/core/error.hpp>
#include <holotone/io/guarded/guarded.hpp>

namespace holotone::cli {
namespace {

/// Calls work(); an error about one point names the option that drops such points.
template <class Work>
auto with_skip(const Work& work) {
  try {
    return work();
  } catch (const FileError& error) {
    if (!error.argument().starts_with("point ")) throw;
    throw FileError(error.path(), with_remark(error, "--skip-bad drops such points"));
  }
}

}  // namespace

std::vector<OptionRow> placement_options(Placement& placement) {
  return {{.names = "--distance",
           .target = member<&Placement::distance_m>(placement),
           .value = "LENGTH",
           .help = "Distance of the object's centre behind the panel; negative: in front",
           .common = true,
           .feeds = "place.distance_m"},
          {.names = "--size",
           .target = member<&Placement::size_m>(placement),
           .value = "LENGTH",
           .help = "Larger of the object's width and height",
           .common = true,
           .feeds = "place.size_m|slice_picture.picture"},
          {.names = "--keep-coordinates",
           .target = &placement.keep,
           .help = "Take the file's coordinates as metres: panel at z = 0, viewer at z > 0",
           .excludes = "--distance --size"}};
}

OptionRow seed_option(std::uint64_t& seed) {
  return {.names = "--seed",
          .target = number(seed, ValueUnit::count, {.low = 0}),
          .value = "N",
          .help = "Seed of every random choice"};
}

std::vector<OptionRow> scene_option_rows(SceneOptions& options) {
  return {{.names = "--points",
           .target = number(options.points, ValueUnit::count, {1, static_cast<double>(max_samples)}),
           .value = "N",
           .help = "Number of points, sampled on the surface of a mesh or chosen from a cloud, such as 200k",
           .otherwise = "the file's vertices",
           .common = true,
           .feeds = "sample_surface.count|scene_points.points"},
          {.names = "--turn",
           .target = number(options.turn_rad, ValueUnit::angle, {}),
           .value = "ANGLE",
           .help = "Rotation about the vertical axis; positive: the front turns to the right",
           .feeds = "turn.angle_rad"},
          {.names = "--tilt",
           .target = number(options.tilt_rad, ValueUnit::angle, {}),
           .value = "ANGLE",
           .help = "Rotation after --turn; positive: the top tips toward the viewer",
           .feeds = "tilt.angle_rad"},
          {.names = "--hide", .target = &options.hide, .help = "Drop points behind a nearer surface of the object"},
          {.names = "--hide-cell",
           .target = number(options.hide_cell_m, ValueUnit::length, {min_length_m, max_distance_m}),
           .value = "LENGTH",
           .help = "Cell of the depth buffer of --hide",
           .otherwise = "twice the mean spacing",
           .feeds = "hide_occluded.cell_m|visible_points.cell_m",
           .applies = {[&options] { return options.hide; }, "--hide", [] { return "none"; }}},
          {.names = "--light",
           .target = parsed(options.light, direction),
           .value = "X,Y,Z",
           .help = "Direction toward a light that shades the points by their normals, such as 1,1,1",
           .feeds = "shade.direction|scene_points.light"},
          {.names = "--random-phase",
           .target = &options.random_phase,
           .help = "Give each point a random phase: light fills the panel, with speckle",
           .common = true},
          {.names = "--skip-bad",
           .target = &options.skip_bad,
           .help = "Drop points that are not finite or lie in the panel's plane"}};
}

PlacedScene place_scene(const std::string& path, const SceneOptions& options) {
  return with_skip([&] { return read_placed_scene(path, options, current_program()); });
}

ScenePoints points_of(const PlacedScene& scene, const SceneOptions& options, double turn_rad) {
  QuietProgress progress;
  return with_skip([&] { return scene_points(scene, options, turn_rad, progress); });
}

}  // namespace holotone::cli
