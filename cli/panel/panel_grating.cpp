#include <cli/common/values.hpp>
#include <cli/panel/panel_command.hpp>
#include <cli/panel/panel_run.hpp>
#include <cli/panel/panel_values.hpp>
#include <cmath>
#include <holotone/optics/panel_patterns.hpp>
#include <memory>

namespace holotone::cli {
namespace {

struct GratingArguments {
  PanelPictureArguments shared;
  std::string period;
  std::string angle = "0deg";
  std::string depth;
  bool binary = false;
};

PhasePattern grating_pattern(const GratingArguments& arguments, const FieldGrid& grid) {
  GratingOptions options;
  options.period_m = period_of("--period", arguments.period, grid.pitch_m);
  if (options.period_m < 0) reject("--period", "a period above 0", arguments.period);
  options.angle_rad = angle_of("--angle", arguments.angle);
  options.binary = arguments.binary;
  if (!arguments.depth.empty()) options.depth_turns = depth_of("--depth", arguments.depth);
  PhasePattern pattern;
  pattern.name = "grating";
  pattern.options = {{"--period", arguments.period}, {"--angle", arguments.angle}};
  if (options.binary) pattern.options.emplace_back("--binary", "");
  if (!arguments.depth.empty()) pattern.options.emplace_back("--depth", arguments.depth);
  pattern.turns = [options](const FieldGrid& of, const RowRange& part) { return grating_turns(options, of, part); };
  pattern.facts = {{"period_m", options.period_m}, {"angle_rad", options.angle_rad}, {"binary", options.binary}};
  const double sine = grid.wavelength_m / options.period_m;
  if (sine <= 1) pattern.facts["steering_angle_rad"] = std::asin(sine);
  return pattern;
}

struct CheckerboardArguments {
  PanelPictureArguments shared;
  std::string cell = "8";
  std::string depth = "1pi";
};

PhasePattern checkerboard_pattern(const CheckerboardArguments& arguments) {
  CheckerboardOptions options;
  options.cell_px = whole_number("--cell", arguments.cell, 1, largest_grid_side);
  options.depth_turns = depth_of("--depth", arguments.depth);
  PhasePattern pattern;
  pattern.name = "checkerboard";
  pattern.options = {{"--cell", arguments.cell}, {"--depth", arguments.depth}};
  pattern.turns = [options](const FieldGrid& of, const RowRange& part) {
    return checkerboard_turns(options, of, part);
  };
  pattern.facts = {{"cell_px", options.cell_px}};
  return pattern;
}

}  // namespace

Command panel_grating_command() {
  const auto arguments = std::make_shared<GratingArguments>();
  auto& a = *arguments;
  return phase_pattern_command(
      "grating", "Make a blazed or binary grating",
      {"holotone panel grating --period 8 --angle 30deg -o grating.png",
       "holotone panel grating --period 64um --binary -o grating.png"},
      {{.names = "--period",
        .target = &a.period,
        .value = "LENGTH",
        .help = "Period across the lines: pixels (8) or a length (64um), at least two pixels",
        .common = true,
        .required = true,
        .feeds = "grating_turns.period_m"},
       {.names = "--angle",
        .target = &a.angle,
        .value = "ANGLE",
        .help = "Direction to which the light goes, counterclockwise from +x",
        .common = true,
        .feeds = "grating_turns.angle_rad"},
       {.names = "--binary", .target = &a.binary, .help = "Two phases instead of a blaze", .common = true},
       {.names = "--depth",
        .target = &a.depth,
        .value = "ANGLE",
        .help = "Phase depth, up to 2pi",
        .otherwise = "2pi; 1pi with --binary",
        .common = true}},
      a.shared, [arguments] {
        return run_phase_pattern(arguments->shared,
                                 [&](const FieldGrid& grid) { return grating_pattern(*arguments, grid); });
      });
}

Command panel_checkerboard_command() {
  const auto arguments = std::make_shared<CheckerboardArguments>();
  auto& a = *arguments;
  return phase_pattern_command(
      "checkerboard", "Make a checkerboard of two phases", {"holotone panel checkerboard --cell 4 -o board.png"},
      {{.names = "--cell",
        .target = &a.cell,
        .value = "N",
        .help = "Side of a cell in pixels",
        .range = count_range(1, largest_grid_side),
        .common = true},
       {.names = "--depth",
        .target = &a.depth,
        .value = "ANGLE",
        .help = "Phase between neighbouring cells, up to 2pi",
        .common = true}},
      a.shared, [arguments] {
        return run_phase_pattern(arguments->shared, [&](const FieldGrid&) { return checkerboard_pattern(*arguments); });
      });
}

}  // namespace holotone::cli
