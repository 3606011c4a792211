#include <cli/common/command.hpp>
#include <cli/common/compression_option.hpp>
#include <cli/optimize/optimize_run.hpp>
#include <memory>

namespace holotone::cli {
namespace {

std::vector<OptionRow> main_options(OptimizeArguments& a) {
  auto& h = a.hologram;
  std::vector<OptionRow> rows{
      {.names = "IN",
       .target = &h.input,
       .help = "Picture: PNG, JPEG, TIFF, BMP; a counter (frames/%04d.png) for a sequence",
       .required = true},
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
       .feeds = "PhaseRetrievalPlan.planes"},
      {.names = "--focal-length",
       .target = &a.focal_length,
       .value = "LENGTH",
       .help = "Fourier hologram: focal length of the lens between panel and picture (1 mm to 100 m)",
       .common = true,
       .feeds = "PhaseRetrievalPlan.focal_length_m"},
      {.names = "--signal-region",
       .target = &a.region,
       .value = "PERCENT",
       .help =
           "Part of the panel's sides that the picture fills, or COLUMNSxROWS+COLUMN+ROW; the light around it is free",
       .common = true,
       .feeds = "PhaseRetrievalPlan.region"},
      {.names = "--phase",
       .target = &a.phase,
       .value = "NAME",
       .help = "Start: smooth (sharp, little defocus) or random (fills every pupil, with speckle)",
       .common = true},
      {.names = "--subframes",
       .target = &a.subframes,
       .value = "N",
       .help = "Holograms shown in turn, whose light adds up",
       .range = subframes_range,
       .common = true},
      {.names = "--aperture",
       .target = &a.apertures,
       .value = "[X,Y:]DIAMETER ...",
       .help = "Pupils through which the picture is to be seen, at --viewer-distance",
       .otherwise = "all light",
       .feeds = "ReconstructionPlan.aperture"},
      {.names = "--iterations",
       .target = &a.iterations,
       .value = "N",
       .help = "Steps of the solver",
       .range = optimize_steps_range,
       .common = true},
      {.names = "--device",
       .target = &h.device_name,
       .value = "NAME",
       .help = "auto, cpu or cuda:N",
       .feeds = ".device"},
      compression_option(h.writing.compression)};
  append(rows, wavelength_options(h));
  return rows;
}

std::vector<OptionRow> solver_options(OptimizeArguments& a) {
  return {{.names = "--solver",
           .target = &a.solver,
           .value = "NAME",
           .help = "lbfgs, adam, gs (Gerchberg-Saxton) or wgs (weighted, for spots)",
           .otherwise = "lbfgs; adam with --camera"},
          {.names = "--loss",
           .target = &a.loss,
           .value = "NAME",
           .help = "Errors to reduce: of the amplitude, or of the intensity (bright parts count more)"},
          {.names = "--rounding",
           .target = &a.rounding,
           .value = "NAME",
           .help = "Rounding to the codes: stages (in the second half of the steps) or last",
           .otherwise = "stages up to 4 bits"},
          seed_option(a.hologram.scene.seed),
          {.names = "--start",
           .target = &a.start,
           .value = "FILE",
           .help = "Start from the phase of a hologram; %c and %t as in --output",
           .excludes = "--phase --seed"},
          {.names = "--keep-best", .target = &a.keep_best, .help = "On Ctrl-C, write the phase reached so far"}};
}

std::vector<OptionRow> depth_options(OptimizeArguments& a) {
  auto rows = picture_option_rows(a.pictures, {1, max_planes});
  append(rows, {{.names = "--pupil",
                 .target = &a.pupil,
                 .value = "LENGTH",
                 .help = "Diameter of the pupil whose defocus the layers of --depth show",
                 .range = length_range(1e-6, 1),
                 .needs = "--depth",
                 .feeds = "focal_stack.pupil_m"},
                {.names = "--viewer-distance",
                 .target = &a.viewer_distance,
                 .value = "LENGTH",
                 .help = "From the panel to the pupils of --aperture and --pupil",
                 .feeds = "focal_stack.viewer_m|ReconstructionPlan.aperture.distance_m"}});
  return rows;
}

std::vector<OptionRow> light_options(OptimizeArguments& a) {
  auto& h = a.hologram;
  std::vector<OptionRow> rows{
      {.names = "--source",
       .target = &a.source,
       .value = "BEAM",
       .help = "Light on the panel: flat, gaussian:DIAMETER (1/e^2), or a picture whose codes are proportional to it"},
      {.names = "--fill-factor",
       .target = &a.fill_factor,
       .value = "SHARE",
       .help = "Share of a pixel's area that modulates; the picture darkens outwards",
       .range = fill_factor_range,
       .otherwise = "pixels are points"},
      {.names = "--zero-order",
       .target = &a.zero_order,
       .value = "AMPLITUDE",
       .help = "Unmodulated light relative to the modulated",
       .range = zero_order_range},
      bits_option(h)};
  append(rows, phase_code_options(h));
  return rows;
}

std::vector<OptionRow> comparison_options(OptimizeArguments& a) {
  return {{.names = "--against",
           .target = &a.against,
           .value = "FILE",
           .help = "Picture that the light is compared with",
           .otherwise = "IN"},
          {.names = "--difference",
           .target = &a.difference,
           .value = "FILE",
           .help = "Picture of the error at the pixels: grey where there is none; %c and a counter as in --output"}};
}

std::vector<OptionRow> camera_options(OptimizeArguments& a) {
  return {
      {.names = "--camera",
       .target = &a.camera,
       .value = "COMMAND",
       .help = "Shell command that shows the codes of file %s and writes a picture of the light to standard output"},
      {.names = "--camera-timeout",
       .target = &a.camera_timeout,
       .value = "SECONDS",
       .help = "Maximum time of a picture",
       .range = camera_timeout_range,
       .needs = "--camera"}};
}

}  // namespace

Command optimize_command() {
  const auto arguments = std::make_shared<OptimizeArguments>();
  auto& a = *arguments;
  a.pictures.picture.layers = 8;
  a.hologram.encoding = {true, Encoding::phase};
  return {.name = "optimize",
          .purpose = "Find the phase of a panel whose light is a picture",
          .examples = {"holotone optimize photo.png -o slm.png --distance 20cm",
                       "holotone optimize photo.png -o slm_%c.png --rgb 638nm,520nm,450nm --signal-region 80%",
                       "holotone optimize --image left.png --depth depth.png --depth-range 18cm,22cm -o slm.png",
                       "holotone optimize photo.png -o slm_%t.png --subframes 8 --bits 4 --phase random"},
          .groups = {{"", main_options(a)},
                     {"Solver", solver_options(a)},
                     {"Focal stack", depth_options(a)},
                     {"Light and codes", light_options(a)},
                     {"Comparison", comparison_options(a)},
                     {"Camera in the loop", camera_options(a)},
                     {"Panel", panel_options(a.hologram.panel_choice)},
                     panel_output_options(a.hologram.showing, a.hologram.output),
                     console_options(a.hologram.console)},
          .run = [arguments] { return run_optimize(*arguments); },
          .given = &a.hologram.given};
}

}  // namespace holotone::cli
