#include <cli/panel/panel_command.hpp>
#include <cli/panel/panel_run.hpp>
#include <cli/panel/panel_values.hpp>
#include <cmath>
#include <holotone/optics/panel_patterns.hpp>
#include <memory>

namespace holotone::cli {
namespace {

struct GratingJob {
  PanelPictureJob shared;
  GratingOptions options;
  PanelLength period;
};

PhasePattern grating_pattern(const GratingJob& job, const FieldGrid& grid) {
  GratingOptions options = job.options;
  options.period_m = job.period.metres(grid.pitch_m);
  PhasePattern pattern;
  pattern.turns = [options](const FieldGrid& of, const RowRange& part) { return grating_turns(options, of, part); };
  pattern.facts = {{"period_m", options.period_m}, {"angle_rad", options.angle_rad}, {"binary", options.binary}};
  const double sine = grid.wavelength_m / options.period_m;
  if (sine <= 1) pattern.facts["steering_angle_rad"] = std::asin(sine);
  return pattern;
}

struct CheckerboardJob {
  PanelPictureJob shared;
  CheckerboardOptions options;
};

PhasePattern checkerboard_pattern(const CheckerboardJob& job, const FieldGrid&) {
  PhasePattern pattern;
  pattern.turns = [options = job.options](const FieldGrid& of, const RowRange& part) {
    return checkerboard_turns(options, of, part);
  };
  pattern.facts = {{"cell_px", job.options.cell_px}};
  return pattern;
}

}  // namespace

Command panel_grating_command() {
  const auto job = std::make_shared<GratingJob>();
  return phase_pattern_command(
      "grating", "Make a blazed or binary grating",
      {"holotone panel grating --period 8 --angle 30deg -o grating.png",
       "holotone panel grating --period 64um --binary -o grating.png"},
      {{.names = "--period",
        .target = parsed(job->period, parse_panel_length),
        .value = "LENGTH",
        .help = "Period across the lines: pixels (8) or a length (64um), at least two pixels",
        .common = true,
        .required = true,
        .feeds = "grating_turns.period_m"},
       {.names = "--angle",
        .target = parsed(job->options.angle_rad, parse_direction, "0deg"),
        .value = "ANGLE",
        .help = "Direction to which the light goes, counterclockwise from +x",
        .common = true,
        .feeds = "grating_turns.angle_rad"},
       {.names = "--binary", .target = &job->options.binary, .help = "Two phases instead of a blaze", .common = true},
       {.names = "--depth",
        .target = parsed(job->options.depth_turns, parse_depth),
        .value = "ANGLE",
        .help = "Phase depth, up to 2pi",
        .otherwise = "2pi; 1pi with --binary",
        .common = true}},
      job, grating_pattern);
}

Command panel_checkerboard_command() {
  const auto job = std::make_shared<CheckerboardJob>();
  return phase_pattern_command("checkerboard", "Make a checkerboard of two phases",
                               {"holotone panel checkerboard --cell 4 -o board.png"},
                               {{.names = "--cell",
                                 .target = member<&CheckerboardOptions::cell_px>(job->options),
                                 .value = "N",
                                 .help = "Side of a cell in pixels",
                                 .common = true,
                                 .feeds = "checkerboard_turns.cell_px"},
                                {.names = "--depth",
                                 .target = parsed(job->options.depth_turns, parse_depth, "1pi"),
                                 .value = "ANGLE",
                                 .help = "Phase between neighbouring cells, up to 2pi",
                                 .common = true}},
                               job, checkerboard_pattern);
}

}  // namespace holotone::cli
