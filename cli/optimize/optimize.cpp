#include <cli/common/command.hpp>
#include <cli/common/picture_file.hpp>
#include <cli/optimize/optimize_run.hpp>
#include <cli/options/compression_option.hpp>
#include <cli/options/viewer_option.hpp>
#include <fmt/format.h>
#include <memory>

namespace holotone::cli {
namespace {

/// "80%" or "80": a part of the panel; "1600x880+160+100": columns x rows + first column + first row.
RegionChoice parse_choice(std::string_view option, const std::string& text) {
  if (text.find('x') != std::string::npos) {
    return {.region = parse_region(option, text, "a percentage or ")};
  }
  const auto& [low, high] = bounds_of<&PictureRetrievalOptions::part>;
  const auto percent = text.substr(0, text.find_last_not_of('%') + 1);
  return {.part = parse_value(option, percent, ValueUnit::none, {100 * low, 100 * high}) / 100, .region = {}};
}

/// A number whose default, 0, means none.
OptionValue number_or_none(double& place, ValueUnit unit, const Bounds& bounds) {
  auto value = number(place, unit, bounds);
  value.standard.clear();
  return value;
}

std::string none() { return "none"; }

std::vector<OptionRow> main_options(OptimizeJob& job) {
  auto& h = job.hologram;
  auto& model = job.options.model;
  auto iterations = member<&SolverOptions::iterations>(job.options.solver, {1, 100'000});
  iterations.standard.clear();
  std::vector<OptionRow> rows{
      {.names = "IN",
       .target = &h.input,
       .help = "Picture: PNG, JPEG, TIFF, BMP; a counter (frames/%04d.png) for a sequence",
       .required = true},
      {.names = "--target",
       .target = parsed(job.target, parse_target),
       .value = "BEAM",
       .help = "Beam instead of IN: flat-top:WIDTHxHEIGHT, disc:DIAMETER, ring:OUTERxINNER, line:LENGTHxWIDTH or "
               "gaussian:DIAMETER, with @X,Y from the axis",
       .common = true,
       .instead_of = "IN",
       .feeds = "draw_beam.target|draw_beam.width_m|draw_beam.height_m|draw_beam.x_m"},
      {.names = "-o,--output",
       .target = &h.output,
       .value = "FILE",
       .help = "Codes as PNG, TIFF or BMP; %c stands for the colour, %t for the subframe; or monitor:N",
       .required = true,
       .feeds = "find_monitor.monitor"},
      {.names = "--distance",
       .target = member<&Placement::distance_m>(h.scene.placement),
       .value = "LENGTH",
       .help = "Distance of the picture behind the panel; negative: in front; with --focal-length beyond the focal "
               "plane (0)",
       .common = true,
       .feeds = "PhaseRetrievalPlan.planes|transport_phase.planes"},
      {.names = "--focal-length",
       .target = number_or_none(model.focal_length_m, ValueUnit::length, {1e-3, 100}),
       .value = "LENGTH",
       .help = "Fourier hologram: focal length of the lens between panel and picture",
       .common = true,
       .feeds = "PhaseRetrievalPlan.focal_length_m"},
      {.names = "--signal-region",
       .target = parsed(job.region, parse_choice, "100%"),
       .value = "PERCENT",
       .help =
           "Part of the panel's sides that the picture fills, or COLUMNSxROWS+COLUMN+ROW; the light around it is free",
       .common = true,
       .excludes = "--target",
       .feeds = "PhaseRetrievalPlan.region|retrieve_picture.part"},
      {.names = "--phase",
       .target = choice(job.options.start),
       .value = "NAME",
       .help =
           "Start: transport (sharp, with most of the light), smooth (sharp, little defocus) or random (fills every "
           "pupil, with speckle)",
       .otherwise = "transport for one picture, smooth for several planes or subframes",
       .common = true},
      {.names = "--efficiency",
       .target = number_or_none(model.efficiency, ValueUnit::none, {0.01, 1}),
       .value = "SHARE",
       .help = "Share of the panel's light that the picture is to get",
       .otherwise = "as much as suits the picture; 0.97 for --target",
       .feeds = "PhaseRetrievalPlan.efficiency"},
      {.names = "--subframes",
       .target = member<&PhaseRetrievalOptions::frames>(model),
       .value = "N",
       .help = "Holograms shown in turn, whose light adds up",
       .common = true},
      {.names = "--aperture",
       .target = parsed_each(job.apertures, aperture_of),
       .value = "[X,Y:]DIAMETER ...",
       .help = "Pupils through which the picture is to be seen, at --viewer-distance",
       .otherwise = "all light",
       .feeds = "ReconstructionPlan.aperture",
       .applies = {[&model] { return model.focal_length_m == 0; }, "a picture without a lens",
                   [] { return "--focal-length"; }}},
      {.names = "--iterations",
       .target = iterations,
       .value = "N",
       .help = "Steps of the solver",
       .otherwise = "30; 200 for --target",
       .common = true},
      {.names = "--device",
       .target = &h.device_name,
       .value = "NAME",
       .help = "auto, cpu or cuda:N",
       .feeds = ".device"},
      scale_codes_option(h.scale_codes, h.output),
      compression_option(h.writing.compression, &h.output)};
  append(rows, wavelength_options(h));
  return rows;
}

std::vector<OptionRow> solver_options(OptimizeJob& job) {
  return {
      {.names = "--solver",
       .target = choice(job.solver),
       .value = "NAME",
       .help = "lbfgs, adam, gs (Gerchberg-Saxton) or wgs (weighted, for spots)",
       .otherwise = "lbfgs; adam with --camera"},
      {.names = "--rate",
       .target = member<&SolverOptions::rate_rad>(job.options.solver),
       .value = "ANGLE",
       .help = "Largest change of a phase by a step of adam",
       .applies = {[&job] { return chosen_solver(job) == RetrievalSolver::adam; }, "--solver adam",
                   [&job] { return fmt::format("--solver {}", name_of(chosen_solver(job))); }}},
      {.names = "--loss",
       .target = member<&PhaseRetrievalOptions::loss>(job.options.model),
       .value = "NAME",
       .help = "Errors to reduce: of the amplitude, or of the intensity (bright parts count more)"},
      {.names = "--rounding",
       .target = choice(job.options.rounding),
       .value = "NAME",
       .help = "Rounding to the codes: stages (in the second half of the steps) or last",
       .otherwise = "stages up to 4 bits",
       .feeds = "retrieve_picture.rounding"},
      seed_option(job.options.seed),
      {.names = "--start",
       .target = &job.start,
       .value = "FILE",
       .help = "Start from the phase of a hologram; %c and %t as in --output",
       .excludes = "--phase --seed"},
      {.names = "--keep-best", .target = &job.options.keeps_best, .help = "On Ctrl-C, write the phase reached so far"}};
}

std::vector<OptionRow> depth_options(OptimizeJob& job) {
  auto rows = picture_option_rows(job.input, bounds_of<&PhaseRetrievalOptions::planes>);
  append(rows, {{.names = "--pupil",
                 .target = number(job.eye.pupil_m, ValueUnit::length, {1e-6, 1}),
                 .value = "LENGTH",
                 .help = "Diameter of the pupil whose defocus the layers of --depth show",
                 .feeds = "focal_stack.pupil_m",
                 .applies = {[&job] { return !job.input.picture.depth.empty(); }, "a picture with --depth", none}},
                {.names = "--viewer-distance",
                 .target = number(job.eye.viewer_m, ValueUnit::length, {1e-3, max_distance_m}),
                 .value = "LENGTH",
                 .help = "From the panel to the pupils of --aperture and --pupil",
                 .feeds = "focal_stack.viewer_m|ReconstructionPlan.aperture.distance_m",
                 .applies = {[&job] { return !job.apertures.empty() || !job.input.picture.depth.empty(); },
                             "--aperture or --depth", none}}});
  return rows;
}

std::vector<OptionRow> light_options(OptimizeJob& job) {
  auto& response = job.options.model.response;
  std::vector<OptionRow> rows{
      {.names = "--source",
       .target = parsed(job.beam, parse_beam, "flat"),
       .value = "BEAM",
       .help = "Light on the panel: flat, gaussian:DIAMETER (1/e^2), or a picture whose codes are proportional to it",
       .feeds = "retrieve_picture.beam"},
      {.names = "--fill-factor",
       .target = number_or_none(response.fill_factor, ValueUnit::none, {0.01, 1}),
       .value = "SHARE",
       .help = "Share of a pixel's area that modulates; the picture darkens outwards",
       .otherwise = "pixels are points"},
      {.names = "--zero-order",
       .target = member<&PanelResponse::zero_order>(response),
       .value = "AMPLITUDE",
       .help = "Unmodulated light relative to the modulated"},
      bits_option(job.hologram)};
  append(rows, phase_code_options(job.hologram));
  return rows;
}

std::vector<OptionRow> comparison_options(OptimizeJob& job) {
  return {{.names = "--against",
           .target = &job.against,
           .value = "FILE",
           .help = "Picture that the light is compared with",
           .otherwise = "IN",
           .excludes = "--target"},
          {.names = "--difference",
           .target = &job.difference,
           .value = "FILE",
           .help = "Picture of the error at the pixels: grey where there is none; %c and a counter as in --output"}};
}

std::vector<OptionRow> camera_options(OptimizeJob& job) {
  return {{.names = "--camera",
           .target = &job.camera,
           .value = "COMMAND",
           .help = "Shell command that shows the codes of file %s and writes a picture of the light to standard output",
           .feeds = "PhaseRetrievalPlan.camera|retrieve_picture.camera"},
          {.names = "--camera-timeout",
           .target = number(job.camera_timeout_s, ValueUnit::none, {0.1, 86'400}),
           .value = "SECONDS",
           .help = "Maximum time of a picture",
           .applies = {[&job] { return !job.camera.empty(); }, "a command at --camera", none}}};
}

}  // namespace

Command optimize_command() {
  const auto shared = std::make_shared<OptimizeJob>();
  auto& job = *shared;
  job.input.picture.layers = 8;
  job.hologram.encoding = {true, Encoding::phase};
  return {
      .name = "optimize",
      .purpose = "Find the phase of a panel whose light is a picture",
      .examples = {"holotone optimize photo.png -o slm.png --distance 20cm",
                   "holotone optimize photo.png -o slm_%c.png --rgb 638nm,520nm,450nm --signal-region 80%",
                   "holotone optimize --image left.png --depth depth.png --depth-range 18cm,22cm -o slm.png",
                   "holotone optimize photo.png -o slm_%t.png --subframes 8 --bits 4 --phase random",
                   "holotone optimize --target flat-top:2x1mm -o slm.png --source gaussian:6mm --focal-length 25cm"},
      .groups = {{"", main_options(job)},
                 {"Solver", solver_options(job)},
                 {"Focal stack", depth_options(job)},
                 {"Light and codes", light_options(job)},
                 {"Comparison", comparison_options(job)},
                 {"Camera in the loop", camera_options(job)},
                 {"Panel", panel_options(job.hologram.panel_choice)},
                 monitor_output_options(job.hologram.showing, job.hologram.output),
                 console_options(job.hologram.console)},
      .run = [shared] { return run_optimize(*shared); },
      .given = &job.hologram.given};
}

}  // namespace holotone::cli
