// Options of `holotone quantize`.
#include <cli/common/device_option.hpp>
#include <cli/common/output_check.hpp>
#include <cli/options/compression_option.hpp>
#include <cli/options/panel_options.hpp>
#include <cli/options/viewer_option.hpp>
#include <cli/quantize/quantize_job.hpp>
#include <fmt/format.h>

namespace holotone::cli {
namespace {

std::optional<ReferenceBeam> parse_beam(std::string_view option, const std::string& text) {
  if (text == "auto") return std::nullopt;
  const auto [x, y] = angle_pair(option, text);
  return ReferenceBeam{x, y};
}

OptionValue kappa_value(WeightOptions& weights) {
  static constexpr Bounds bounds = bounds_of<&WeightOptions::kappa_x>;
  OptionValue value;
  value.store = [&weights](std::string_view option, const std::string& text) {
    constexpr std::string_view expected = "K or KX,KY";
    const auto pieces = list(option, text, expected);
    if (pieces.size() > 2) reject(option, expected, text);
    weights.kappa_x = parse_value(option, pieces.front(), ValueUnit::none, bounds);
    weights.kappa_y = parse_value(option, pieces.back(), ValueUnit::none, bounds);
  };
  value.standard = to_text(weights.kappa_x, ValueUnit::none);
  value.range = to_text(bounds, ValueUnit::none);
  return value;
}

Applies for_windows(QuantizeJob& job) {
  return {[&job] { return has_windows(chosen_method(job)); }, "--method swed or vded",
          [&job] {
            return fmt::format("{}{}", name_of(job.method), job.stated_method ? "" : ", the default without --viewer");
          }};
}

Applies for_eq1(QuantizeJob& job) {
  Applies applies = for_windows(job);
  applies.holds = [&job] { return has_windows(chosen_method(job)) && job.weights.rule == WeightRule::eq1; };
  applies.expected = "--rule eq1 with --method swed or vded";
  applies.got = [&job, other = applies.got] {
    return has_windows(job.method) ? fmt::format("--rule {}", name_of(job.weights.rule)) : other();
  };
  return applies;
}

Applies for_diffusion(QuantizeJob& job) {
  return {[&job] { return chosen_method(job) != QuantizeMethod::truncate; }, "a method that diffuses errors",
          [] { return std::string("truncate"); }};
}

std::vector<OptionRow> weight_options(QuantizeJob& job) {
  return {
      {.names = "--rule",
       .target = member<&WeightOptions::rule>(job.weights),
       .value = "NAME",
       .help = "Rule for the weights: least-squares, or eq1 (as published)",
       .applies = for_windows(job)},
      {.names = "--normalize",
       .target = member<&WeightOptions::normalization>(job.weights),
       .value = "NAME",
       .help = "Factor of --rule eq1: none, origin (1 / w(0, 0)) or modulus (--max-sum / sum of |weights|)",
       .applies = for_eq1(job)},
      {.names = "--weights",
       .target = member<&WeightOptions::taps>(job.weights),
       .value = "N",
       .help = "Number of weights selected for all hogels",
       .common = true,
       .feeds = "diffusion_weights.taps",
       .applies = for_windows(job)},
      {.names = "--kept",
       .target = member<&WeightOptions::kept>(job.weights, {1, bounds_of<&WeightOptions::taps>.high}),
       .value = "N",
       .help = "Number of largest weights kept in each hogel",
       .otherwise = "all",
       .applies = for_windows(job)},
      {.names = "--p",
       .target = number(job.weights.parallelism, ValueUnit::count, {1, bounds_of<&WeightOptions::parallelism>.high}),
       .value = "N",
       .help = "Minimum lead of each row over the next, in columns; smaller runs more rows in parallel",
       .otherwise = "as the weights need",
       .applies = for_windows(job)},
      {.names = "--kappa",
       .target = kappa_value(job.weights),
       .value = "K",
       .help = "Side, or sides KX,KY, of the rectangle of frequencies for the noise, in cycles a pixel; 1: all",
       .applies = for_windows(job)},
      {.names = "--max-sum",
       .target = member<&WeightOptions::max_sum>(job.weights),
       .value = "S",
       .help = "Upper limit of the sum of |weights|",
       .otherwise = "2.2, or 0.98 with --rule eq1 by modulus",
       .applies = for_windows(job)},
      {.names = "--hogel",
       .target = member<&QuantizeJob::hogel_px>(job, {1, largest_picture_side}),
       .value = "N",
       .help = "Side of a hogel in pixels; each hogel has its own weights",
       .otherwise = "the file's, or 64 to 2048 by the window; without vded the panel",
       .applies = for_diffusion(job)},
      {.names = "--borders",
       .target = member<&ErrorDiffusionOptions::borders>(job.diffusion),
       .value = "NAME",
       .help =
           "Errors at the borders of hogels: separate (dropped) or carry (cross; the panel in one piece, less noise)",
       .applies = for_diffusion(job)},
      {.names = "--order",
       .target = choice<bool>(job.diffusion.serpentine, {{"raster", false}, {"serpentine", true}}),
       .value = "NAME",
       .help = "Scan order: raster, or serpentine (every second row backward)",
       .feeds = "ErrorDiffusionOptions.serpentine"}};
}

std::vector<OptionRow> level_options(QuantizeJob& job) {
  return {
      {.names = "--panel",
       .target = parsed_member<&HologramOverrides::panel>(job.overrides, parse_panel),
       .value = "NAME",
       .help = "Preset that the field was computed for: its pitch, bits and levels; `holotone panels` lists them",
       .common = true},
      {.names = "--encode,--encoding,--modulation",
       .target = choice(job.modulation),
       .value = "NAME",
       .help = "Modulation of the panel: phase or amplitude",
       .otherwise = "phase",
       .common = true,
       .feeds = "code_levels.modulation"},
      {.names = "--bits",
       .target = member<&QuantizeJob::bits>(job, bounds_of<&ErrorDiffusionOptions::bits>),
       .value = "N",
       .help = "Bits of a code",
       .otherwise = "8, or as --panel or --lut state",
       .common = true,
       .feeds = "ErrorDiffusionPlan.bits|ErrorDiffusionPlan.levels|code_levels.bits"},
      {.names = "--lut,--levels",
       .target = &job.lut,
       .value = "FILE",
       .help = "Text file with the phase, or the amplitude from 0 to 1, of each code",
       .otherwise = "equal steps",
       .feeds = "ErrorDiffusionPlan.levels"},
      lut_unit_option(job.lut_unit, job.lut),
      {.names = "--reference-angle",
       .target = parsed_member<&QuantizeJob::beam>(job, parse_beam),
       .value = "X[,Y]|auto",
       .help =
           "Tilt of the beam that lights the panel; auto: the least without a twin image in the window, for codes that "
           "make one",
       .otherwise = "0deg",
       .feeds = "require_fringes.beam"},
      {.names = "--clip",
       .target = member<&ErrorDiffusionOptions::clip>(job.diffusion),
       .value = "F",
       .help = "Share of the pixels whose modulus is kept; larger moduli are clipped"},
      {.names = "--scale",
       .target = number(job.scale, ValueUnit::none, scale_bounds),
       .value = "S",
       .help = "Divisor of the field, such as that reported for another frame",
       .otherwise = "by --clip",
       .excludes = "--clip"},
      scale_codes_option(job.scale_codes, job.output),
      compression_option(job.writing.compression, &job.output)};
}

std::vector<OptionRow> override_options(QuantizeJob& job) {
  std::vector<OptionRow> rows{
      {.names = "--wavelength",
       .target = parsed_member<&HologramOverrides::wavelengths_m>(job.overrides, parse_wavelengths),
       .value = "LENGTH",
       .help = "Wavelength; R,G,B of three files",
       .otherwise = "the file's"},
      {.names = "--pitch",
       .target = parsed_member<&HologramOverrides::pitch_m>(job.overrides, pitch_of),
       .value = "LENGTH",
       .help = "Pixel pitch",
       .otherwise = "the file's"},
      {.names = "--distance",
       .target = number(job.distance_m, ValueUnit::length, {-max_distance_m, max_distance_m}),
       .value = "LENGTH",
       .help = "Distance stored for reconstruction",
       .otherwise = "the file's"}};
  append(rows, number_options(job.overrides));
  return rows;
}

}  // namespace

std::vector<OptionGroup> quantize_options(QuantizeJob& job) {
  return {{"",
           {{.names = "IN",
             .target = &job.inputs,
             .help = "HDF5, NPY or OHC field; three files for red, green and blue; a counter (spin/%04d.h5) for frames",
             .required = true},
            output_option({.target = &job.output, .help = "Codes: PNG, TIFF, BMP or NPY (uint8)"}),
            {.names = "--viewer",
             .target = parsed_member<&QuantizeJob::viewer>(job, viewer_of),
             .value = "WINDOW",
             .help = "Viewing window DISTANCE:SIZE[@X,Y] in front of the panel, such as 36mm:9.2mm@2,0mm",
             .otherwise = "the file's",
             .common = true,
             .feeds = "diffusion_weights.hogels"},
            {.names = "--method",
             .target = choice(job.stated_method),
             .value = "NAME",
             .help = "truncate, floyd-steinberg, swed (one set of weights) or vded (weights for each hogel)",
             .otherwise = "vded with a viewing window, else floyd-steinberg",
             .common = true},
            device_row({.target = &job.device_name,
                        .help = "auto, cpu or cuda:N; several, or all, for codes in a .tif or .npy",
                        .common = true})}},
          {"Levels of the panel", level_options(job)},
          {"Weights of the error diffusion", weight_options(job)},
          {"Values instead of the file's", override_options(job)},
          console_options(job.console)};
}

}  // namespace holotone::cli
