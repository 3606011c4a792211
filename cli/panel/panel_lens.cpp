#include <algorithm>
#include <cli/common/values.hpp>
#include <cli/panel/panel_command.hpp>
#include <cli/panel/panel_run.hpp>
#include <cli/panel/panel_values.hpp>
#include <cmath>
#include <holotone/optics/panel_patterns.hpp>
#include <memory>
#include <numbers>

namespace holotone::cli {
namespace {

/// Arguments of the patterns around a centre.
struct CentredArguments {
  PanelPictureArguments shared;
  std::string centre = "0,0";
  std::string value;  ///< focal length, period or charge
};

OptionRow centre_option(CentredArguments& arguments) {
  return {.names = "--centre,--center",
          .target = &arguments.centre,
          .value = "X,Y",
          .help = "Centre from the middle of the panel, x to the right and y up: lengths (1mm,0) or pixels",
          .common = true};
}

PhasePattern lens_pattern(const CentredArguments& arguments, const FieldGrid& grid) {
  LensPatternOptions options;
  options.focal_length_m = parse_length("--focal-length", arguments.value);
  if (!(std::abs(options.focal_length_m) >= least_length_m && std::abs(options.focal_length_m) <= most_distance_m)) {
    reject("--focal-length",
           fmt::format("a length from {} to {}, or negative", format_length(least_length_m),
                       format_length(most_distance_m)),
           arguments.value);
  }
  const auto [x, y] = centre_of("--centre", arguments.centre, grid.pitch_m);
  options.centre_x_m = x;
  options.centre_y_m = y;
  const double shortest_m = shortest_focal_length_m(options, grid);
  const double focal_m = std::abs(options.focal_length_m);
  PhasePattern pattern;
  pattern.name = "lens";
  pattern.options = {{"--focal-length", arguments.value}, {"--centre", arguments.centre}};
  pattern.turns = [options](const FieldGrid& of, const RowRange& part) { return lens_turns(options, of, part); };
  pattern.facts = {{"focal_length_m", options.focal_length_m},
                   {"shortest_focal_length_m", shortest_m},
                   {"aliased", focal_m < shortest_m * (1 - 1e-9)}};
  pattern.focal_length_m = options.focal_length_m;
  if (focal_m < shortest_m * (1 - 1e-9)) {
    const double reach_m = grid.wavelength_m * focal_m / (2 * grid.pitch_m);
    pattern.warning = fmt::format(
        "aliasing: the panel samples focal lengths of at least {} (half a turn a pixel at its rim); with {} the part "
        "beyond {:.3g} mm of the centre along x or y acts as further lenses",
        format_length(std::ceil(1e5 * shortest_m) / 1e5), arguments.value, 1e3 * reach_m);
  }
  return pattern;
}

PhasePattern axicon_pattern(const CentredArguments& arguments, const FieldGrid& grid) {
  AxiconOptions options;
  options.period_m = period_of("--period", arguments.value, grid.pitch_m);
  const auto [x, y] = centre_of("--centre", arguments.centre, grid.pitch_m);
  options.centre_x_m = x;
  options.centre_y_m = y;
  PhasePattern pattern;
  pattern.name = "axicon";
  pattern.options = {{"--period", arguments.value}, {"--centre", arguments.centre}};
  pattern.turns = [options](const FieldGrid& of, const RowRange& part) { return axicon_turns(options, of, part); };
  pattern.facts = {{"period_m", options.period_m}};
  const double sine = grid.wavelength_m / options.period_m;
  if (std::abs(sine) <= 1) pattern.facts["cone_angle_rad"] = std::asin(sine);
  return pattern;
}

PhasePattern vortex_pattern(const CentredArguments& arguments, const FieldGrid& grid) {
  VortexOptions options;
  const double charge = parse_number("--charge", arguments.value);
  if (!(std::abs(charge) >= 1 && std::abs(charge) <= 1000 && charge == std::round(charge))) {
    reject("--charge", "a whole number from -1000 to 1000, not 0", arguments.value);
  }
  options.charge = static_cast<int>(charge);
  const auto [x, y] = centre_of("--centre", arguments.centre, grid.pitch_m);
  options.centre_x_m = x;
  options.centre_y_m = y;
  PhasePattern pattern;
  pattern.name = "vortex";
  pattern.options = {{"--charge", arguments.value}, {"--centre", arguments.centre}};
  pattern.turns = [options](const FieldGrid& of, const RowRange& part) { return vortex_turns(options, of, part); };
  pattern.facts = {{"charge", options.charge}};
  const double aliased_px = std::abs(charge) / std::numbers::pi;
  if (aliased_px > static_cast<double>(std::min(grid.nx, grid.ny)) / 20) {
    pattern.warning = fmt::format(
        "aliasing: less than two pixels a fringe within {:.0f} pixels of the centre; a smaller --charge", aliased_px);
  }
  return pattern;
}

/// Command of a pattern with one value of its own.
Command centred_command(std::string_view name, std::string_view purpose, std::vector<std::string_view> examples,
                        const std::shared_ptr<CentredArguments>& arguments, OptionRow own,
                        PhasePattern (*make)(const CentredArguments&, const FieldGrid&)) {
  own.target = &arguments->value;
  own.common = true;
  own.required = arguments->value.empty();
  return phase_pattern_command(
      name, purpose, std::move(examples), {own, centre_option(*arguments)}, arguments->shared, [arguments, make] {
        return run_phase_pattern(arguments->shared, [&](const FieldGrid& grid) { return make(*arguments, grid); });
      });
}

}  // namespace

Command panel_lens_command() {
  return centred_command("lens", "Make a lens",
                         {"holotone panel lens --focal-length 250mm --wavelength 532nm -o lens.png",
                          "holotone panel lens --focal-length 250mm --add hologram.png -o sum.png"},
                         std::make_shared<CentredArguments>(),
                         {.names = "--focal-length",
                          .target = static_cast<std::string*>(nullptr),
                          .value = "LENGTH",
                          .help = "Focal length; positive: converges, negative: diverges",
                          .feeds = "lens_turns.focal_length_m"},
                         lens_pattern);
}

Command panel_axicon_command() {
  return centred_command("axicon", "Make an axicon, which forms a Bessel beam",
                         {"holotone panel axicon --period 12 -o axicon.png"}, std::make_shared<CentredArguments>(),
                         {.names = "--period",
                          .target = static_cast<std::string*>(nullptr),
                          .value = "LENGTH",
                          .help = "Period of the rings: pixels (12) or a length (96um), at least two pixels; negative: "
                                  "the cone of light widens",
                          .feeds = "axicon_turns.period_m"},
                         axicon_pattern);
}

Command panel_vortex_command() {
  const auto arguments = std::make_shared<CentredArguments>();
  arguments->value = std::string("1");
  return centred_command("vortex", "Make a vortex, the phase of a Laguerre-Gaussian beam",
                         {"holotone panel vortex --charge 3 -o vortex.png",
                          "holotone panel vortex --charge -1 --add grating.png -o fork.png"},
                         arguments,
                         {.names = "--charge",
                          .target = static_cast<std::string*>(nullptr),
                          .value = "L",
                          .help = "Turns of phase around the centre, counterclockwise (-1000 to 1000)",
                          .feeds = "vortex_turns.charge"},
                         vortex_pattern);
}

}  // namespace holotone::cli
