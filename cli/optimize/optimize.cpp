#include <cli/common/command.hpp>
#include <cli/optimize/optimize_run.hpp>
#include <memory>

namespace holotone::cli {

Command optimize_command() {
  const auto arguments = std::make_shared<OptimizeArguments>();
  auto& a = *arguments;
  auto& h = a.hologram;
  return {
      .name = "optimize",
      .purpose = "Find the phase of a panel whose light is a picture",
      .examples = {"holotone optimize photo.png -o slm.png --distance 20cm",
                   "holotone optimize photo.png -o slm_%c.png --rgb 638nm,520nm,450nm --signal-region 80%"},
      .groups =
          {{"",
            {{.names = "IN", .target = &h.input, .help = "Picture: PNG, JPEG, TIFF, BMP", .required = true},
             {.names = "-o,--output",
              .target = &h.output,
              .value = "FILE",
              .help = "Codes as PNG, TIFF or BMP",
              .required = true},
             {.names = "--distance",
              .target = &h.scene.distance,
              .value = "LENGTH",
              .help = "From the panel to the picture behind it; negative in front of the panel",
              .common = true,
              .feeds = "PhaseRetrievalPlan.distance_m"},
             {.names = "--wavelength",
              .target = &h.wavelength,
              .value = "LENGTH",
              .help = "Wavelength of the light",
              .common = true},
             {.names = "--rgb",
              .target = &h.rgb,
              .value = "R,G,B",
              .help = "Three wavelengths for the three colours of the picture, such as 638nm,520nm,450nm",
              .common = true,
              .excludes = "--wavelength"},
             {.names = "--signal-region",
              .target = &a.region,
              .value = "PERCENT",
              .help = "Part of the panel's width and height that the picture fills; light around it is free",
              .range = signal_region_range,
              .common = true},
             {.names = "--phase",
              .target = &a.phase,
              .value = "NAME",
              .help = "Start: smooth (sharp, little defocus) or random (fills every pupil, with speckle)"},
             {.names = "--iterations",
              .target = &a.iterations,
              .value = "N",
              .help = "Steps of the solver (L-BFGS)",
              .range = optimize_steps_range,
              .common = true},
             {.names = "--seed", .target = &h.scene.seed, .value = "N", .help = "Seed of the start"},
             {.names = "--bits",
              .target = &h.bits,
              .value = "N",
              .help = "Bits of a code",
              .range = count_range(2, 16),
              .otherwise = "the panel's",
              .feeds = "EncodePlan.bits|EncodePlan.level_phase_rad"},
             {.names = "--device", .target = &h.device, .value = "NAME", .help = "auto or cpu", .feeds = ".device"}}},
           {"Panel", panel_options(h.panel)},
           console_options(h.console)},
      .run = [arguments] { return run_optimize(*arguments); }};
}

}  // namespace holotone::cli
