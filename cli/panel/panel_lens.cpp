#include <algorithm>
#include <cli/options/values.hpp>
#include <cli/panel/panel_command.hpp>
#include <cli/panel/panel_run.hpp>
#include <cli/panel/panel_values.hpp>
#include <cmath>
#include <holotone/optics/panel_patterns.hpp>
#include <memory>
#include <numbers>

namespace holotone::cli {
namespace {

/// Of a pattern around a centre.
template <class Options>
struct CentredJob {
  PanelPictureJob shared;
  Options options;
  PanelPlace centre;
  PanelLength period{};  ///< of an axicon
};

double parse_focal_length(std::string_view option, const std::string& text) {
  const double length_m = parse_length(option, text);
  if (!(std::abs(length_m) >= min_length_m && std::abs(length_m) <= max_distance_m)) {
    reject(
        option,
        fmt::format("a length from {} to {}, or negative", format_length(min_length_m), format_length(max_distance_m)),
        text);
  }
  return length_m;
}

PhasePattern lens_pattern(const CentredJob<LensPatternOptions>& job, const FieldGrid& grid) {
  LensPatternOptions options = job.options;
  set_centre(options, job.centre, grid.pitch_m);
  const double shortest_m = shortest_focal_length_m(options, grid);
  const double focal_m = std::abs(options.focal_length_m);
  PhasePattern pattern;
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
        format_length(std::ceil(1e5 * shortest_m) / 1e5), length_text(options.focal_length_m), 1e3 * reach_m);
  }
  return pattern;
}

PhasePattern axicon_pattern(const CentredJob<AxiconOptions>& job, const FieldGrid& grid) {
  AxiconOptions options = job.options;
  options.period_m = job.period.metres(grid.pitch_m);
  set_centre(options, job.centre, grid.pitch_m);
  PhasePattern pattern;
  pattern.turns = [options](const FieldGrid& of, const RowRange& part) { return axicon_turns(options, of, part); };
  pattern.facts = {{"period_m", options.period_m}};
  const double sine = grid.wavelength_m / options.period_m;
  if (std::abs(sine) <= 1) pattern.facts["cone_angle_rad"] = std::asin(sine);
  return pattern;
}

PhasePattern vortex_pattern(const CentredJob<VortexOptions>& job, const FieldGrid& grid) {
  VortexOptions options = job.options;
  set_centre(options, job.centre, grid.pitch_m);
  PhasePattern pattern;
  pattern.turns = [options](const FieldGrid& of, const RowRange& part) { return vortex_turns(options, of, part); };
  pattern.facts = {{"charge", options.charge}};
  const double aliased_px = std::abs(options.charge) / std::numbers::pi;
  if (aliased_px > static_cast<double>(std::min(grid.nx, grid.ny)) / 20) {
    pattern.warning = fmt::format(
        "aliasing: less than two pixels a fringe within {:.0f} pixels of the centre; a smaller --charge", aliased_px);
  }
  return pattern;
}

}  // namespace

Command panel_lens_command() {
  const auto job = std::make_shared<CentredJob<LensPatternOptions>>();
  return phase_pattern_command("lens", "Make a lens",
                               {"holotone panel lens --focal-length 250mm --wavelength 532nm -o lens.png",
                                "holotone panel lens --focal-length 250mm --add hologram.png -o sum.png"},
                               {{.names = "--focal-length",
                                 .target = parsed(job->options.focal_length_m, parse_focal_length),
                                 .value = "LENGTH",
                                 .help = "Focal length; positive: converges, negative: diverges",
                                 .common = true,
                                 .required = true,
                                 .feeds = "lens_turns.focal_length_m"},
                                centre_option(job->centre)},
                               job, lens_pattern);
}

Command panel_axicon_command() {
  const auto job = std::make_shared<CentredJob<AxiconOptions>>();
  return phase_pattern_command("axicon", "Make an axicon, which forms a Bessel beam",
                               {"holotone panel axicon --period 12 -o axicon.png"},
                               {{.names = "--period",
                                 .target = parsed(job->period, parse_panel_length),
                                 .value = "LENGTH",
                                 .help = "Period of the rings: pixels (12) or a length (96um), at least two pixels; "
                                         "negative: the cone of light widens",
                                 .common = true,
                                 .required = true,
                                 .feeds = "axicon_turns.period_m"},
                                centre_option(job->centre)},
                               job, axicon_pattern);
}

Command panel_vortex_command() {
  const auto job = std::make_shared<CentredJob<VortexOptions>>();
  return phase_pattern_command("vortex", "Make a vortex, the phase of a Laguerre-Gaussian beam",
                               {"holotone panel vortex --charge 3 -o vortex.png",
                                "holotone panel vortex --charge -1 --add grating.png -o fork.png"},
                               {{.names = "--charge",
                                 .target = member<&VortexOptions::charge>(job->options),
                                 .value = "L",
                                 .help = "Turns of phase around the centre, counterclockwise, not 0",
                                 .common = true,
                                 .feeds = "vortex_turns.charge"},
                                centre_option(job->centre)},
                               job, vortex_pattern);
}

}  // namespace holotone::cli
