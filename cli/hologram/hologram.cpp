#include <cli/common/command.hpp>
#include <cli/common/compression_option.hpp>
#include <cli/hologram/layers/layers_run.hpp>
#include <cli/hologram/points/points_run.hpp>
#include <cli/hologram/stereogram/stereogram_run.hpp>
#include <memory>
#include <utility>
#include <vector>

namespace holotone::cli {
namespace {

std::vector<OptionRow> light_options(HologramArguments& a) {
  return {{.names = "--wavelength",
           .target = &a.wavelength,
           .value = "LENGTH",
           .help = "Wavelength of the light",
           .common = true,
           .feeds = "PointCloudPlan.wavelength_m"},
          {.names = "--rgb",
           .target = &a.rgb,
           .value = "R,G,B",
           .help = "Three wavelengths for three colour holograms, such as 638nm,520nm,450nm",
           .common = true,
           .excludes = "--wavelength",
           .feeds = "PointCloudPlan.wavelength_m"},
          {.names = "--device",
           .target = &a.device,
           .value = "NAME",
           .help = "auto, cpu, cuda:N or opencl:N; all or several, with commas, for what is written by bands",
           .feeds = ".device"}};
}

std::vector<OptionRow> sum_options(HologramArguments& a) {
  return {{.names = "--method",
           .target = &a.method,
           .value = "NAME",
           .help = "Summation: auto, direct, recurrence, separable or fast",
           .feeds = "PointCloudPlan.method"},
          {.names = "--wave",
           .target = &a.wave,
           .value = "NAME",
           .help = "Wave of a point: fresnel, or spherical (exact, slower)",
           .feeds = "PointCloudPlan.method"},
          {.names = "--tolerance",
           .target = &a.tolerance,
           .value = "T",
           .help = "Maximum relative l2 error of the field",
           .feeds = "PointCloudPlan.tolerance"},
          {.names = "--no-band-limit",
           .target = &a.no_band_limit,
           .help = "Include fringes finer than two pixels, which alias"},
          {.names = "--deterministic",
           .target = &a.deterministic,
           .help = "Give the same bits in every run, with any number of threads and devices"},
          {.names = "--spin",
           .target = &a.spin,
           .value = "ANGLE:FRAMES",
           .help = "Turntable animation, such as 360deg:120",
           .feeds = "turn.angle_rad"},
          {.names = "--rows-at-once",
           .target = &a.rows_at_once,
           .value = "N",
           .help = "Rows of a field or of codes (.tif) that are summed and written at once",
           .otherwise = "all, fewer if memory is short"},
          {.names = "--block",
           .target = &a.block,
           .value = "K/N",
           .help = "Only part K of N of a field or of codes, of whole bands; holotone join makes them one"}};
}

std::vector<OptionRow> encoding_options(HologramArguments& a) {
  return {{.names = "--encode,--encoding",
           .target = &a.encoding,
           .value = "NAME",
           .help = "Encoding: phase, amplitude, complex, double-phase, single-sideband or burckhardt",
           .otherwise = "by OUT and the panel",
           .common = true},
          {.names = "--bits",
           .target = &a.bits,
           .value = "N",
           .help = "Bits of a code; phase encodings from 2",
           .range = code_bits_range,
           .otherwise = "the panel's",
           .feeds = "EncodePlan.bits|EncodePlan.level_phase_rad"},
          {.names = "--lut,--levels",
           .target = &a.lut,
           .value = "FILE",
           .help = "Text file with the measured phase in radians of each code",
           .feeds = "EncodePlan.level_phase_rad"},
          {.names = "--phase-range",
           .target = &a.phase_range,
           .value = "ANGLE",
           .help = "Phase stroke of the panel over all codes, such as 1.8pi",
           .otherwise = "2pi",
           .feeds = "EncodePlan.phase_range_rad|EncodePlan.level_phase_rad and phase_range_rad"},
          {.names = "--amplitude-range",
           .target = &a.amplitude_range,
           .value = "MIN,MAX",
           .help = "Field values of the lowest and highest code",
           .otherwise = "from the field",
           .feeds = "EncodePlan.amplitude_min"},
          {.names = "--reference-angle",
           .target = &a.reference_angle,
           .value = "X[,Y]",
           .help = "Tilt in x and y of the reference beam of --encode amplitude, such as 1.5deg",
           .otherwise = "0deg",
           .feeds = "EncodePlan.reference_angle"},
          {.names = "--carrier",
           .target = &a.carrier,
           .value = "X[,Y]",
           .help = "Blazed grating that steers the light: angles (0.5deg) or periods (64um, 8px)",
           .feeds = "EncodePlan.carrier|steering_angle_rad."},
          {.names = "--correction",
           .target = &a.correction,
           .value = "FILE",
           .help = "Wavefront map added to the phase: picture (full range 2 pi) or NPY (radians)",
           .feeds = "EncodePlan.correction_rad"},
          {.names = "--packed16",
           .target = &a.packed16,
           .help = "Write 16-bit codes as red (high byte) and green (low byte)"},
          compression_option(a.compression)};
}

}  // namespace

Command hologram_command() {
  const auto arguments = std::make_shared<HologramArguments>();
  const auto layers = std::make_shared<LayerArguments>();
  const auto stereogram = std::make_shared<StereogramArguments>();
  auto& a = *arguments;
  std::vector<OptionRow> general{
      {.names = "IN",
       .target = &a.input,
       .help = "Points or mesh: PLY, STL, XYZ, CSV, NPY, OBJ, glTF; a counter (frames/%04d.ply) for frames",
       .required = true},
      {.names = "-o,--output",
       .target = &a.output,
       .value = "FILE",
       .help =
           "Codes as PNG, TIFF or BMP; complex field as HDF5, NPY or OHC; or monitor:N, a panel that shows the codes",
       .required = true,
       .feeds = "find_monitor.monitor"}};
  append(general, placement_options(a.scene));
  append(general, light_options(a));
  general.push_back(seed_option(a.scene));
  auto points = scene_option_rows(a.scene);
  append(points, sum_options(a));
  return {.name = "hologram",
          .purpose = "Compute a hologram from points, a mesh, a picture with depth or the views of a light field",
          .examples = {"holotone hologram teapot.ply -o teapot.png --distance 20cm --size 8mm",
                       "holotone hologram --image left.png --depth depth.png --depth-range 18cm,22cm -o scene.h5",
                       "holotone hologram --views 'chess/view_%v_%u.png' -o chess.h5 --viewer 36mm:9.2mm"},
          .groups = {{"", std::move(general)},
                     {"Panel", panel_options(a.panel)},
                     {"Points and meshes", std::move(points)},
                     {"Pictures with depth", layer_options(*layers)},
                     {"Light fields, and pictures computed hogel by hogel", stereogram_options(*stereogram)},
                     {"Encoding for the panel", encoding_options(a)},
                     {"Shown on a panel (-o monitor:N)", panel_output_options(a.shown)},
                     console_options(a.console)},
          .run =
              [arguments, layers, stereogram] {
                stereogram->given = layers->given;
                if (asks_for_hogels(*stereogram, *layers)) return run_stereogram(*arguments, *stereogram, *layers);
                refuse_stereogram_options(*stereogram);
                if (!layers->image.empty() || !layers->stack.empty()) return run_layers(*arguments, *layers);
                refuse_layer_options(*layers, arguments->input);
                return run_points(*arguments);
              },
          .given = &layers->given,
          .by_ranks = true};
}

}  // namespace holotone::cli
