#include <CLI/CLI.hpp>
#include <cli/common/command.hpp>
#include <cli/hologram/common/option_group.hpp>
#include <cli/hologram/layers/layers_run.hpp>
#include <cli/hologram/points/points_run.hpp>
#include <cli/hologram/stereogram/stereogram_run.hpp>
#include <memory>

namespace holotone::cli {
namespace {

void add_light_options(CLI::App& command, HologramArguments& arguments) {
  auto* wavelength =
      command.add_option("--wavelength", arguments.wavelength, "Wavelength of the light")->capture_default_str();
  command.add_option("--rgb", arguments.rgb, "Three wavelengths R,G,B: three holograms, one of each colour")
      ->excludes(wavelength);
  command.add_option("--device", arguments.device, "auto, cpu or cuda:N")->capture_default_str();
}

void add_sum_options(CLI::App& command, HologramArguments& arguments) {
  command.add_option("--method", arguments.method, "auto, direct, recurrence, separable or fast")
      ->capture_default_str();
  command.add_option("--wave", arguments.wave, "fresnel or spherical")->capture_default_str();
  command.add_option("--tolerance", arguments.tolerance, "Largest relative l2 error of the field")
      ->capture_default_str();
  command.add_flag("--no-band-limit", arguments.no_band_limit, "Let points ask for fringes finer than the pitch");
  command.add_option("--spin", arguments.spin, "Turn the object: angle and frames, such as 360deg:120");
  command.add_option("--rows-at-once", arguments.rows_at_once,
                     "Sum and write the complex field by bands of rows; default: where the whole takes much memory");
}

void add_encoding_options(CLI::App& command, HologramArguments& arguments) {
  command.add_option("--encode,--encoding", arguments.encoding,
                     "phase, amplitude, complex, double-phase, single-sideband or burckhardt");
  command.add_option("--bits", arguments.bits, "Bits of a code, 2 to 16 (amplitude: 1 to 16)");
  command.add_option("--lut,--levels", arguments.lut, "Text file: measured phase in radians of each code");
  command.add_option("--phase-range", arguments.phase_range, "Phase stroke of the modulator, such as 2pi or 1.8pi");
  command.add_option("--amplitude-range", arguments.amplitude_range,
                     "MIN,MAX of the field shown as darkest and brightest");
  command.add_option("--reference-angle", arguments.reference_angle,
                     "Tilt X[,Y] of the amplitude hologram's reference beam");
  command.add_option("--carrier", arguments.carrier, "Blazed grating X[,Y]: angles (0.5deg) or periods (64um, 8px)");
  command.add_option("--correction", arguments.correction,
                     "Wavefront map to add: image (full range 2 pi) or NPY (radians)");
  command.add_flag("--packed16", arguments.packed16, "16-bit codes as red (high byte) and green (low byte)");
}

}  // namespace

void add_hologram(CLI::App& application, Action& action) {
  const auto arguments = std::make_shared<HologramArguments>();
  const auto layers = std::make_shared<LayerArguments>();
  const auto stereogram = std::make_shared<StereogramArguments>();
  auto* command =
      application.add_subcommand("hologram", "Points, a mesh, a picture with depth or views to a hologram for a panel");
  auto* input = command->add_option("IN", arguments->input,
                                    "PLY, STL, XYZ, CSV, NPY, OBJ, glTF; frames/%04d.ply for moving pictures");
  input->required();
  command->add_option("-o,--output", arguments->output, "PNG, TIFF or BMP for codes; HDF5, NPY or OHC for the field")
      ->required();
  add_light_options(*command, *arguments);
  add_placement_options(*command, arguments->scene);
  add_console_options(*command, arguments->console);
  under(*command, "Panel", [&] { add_panel_options(*command, arguments->panel); });
  under(*command, "Points and meshes", [&] {
    add_scene_options(*command, arguments->scene);
    add_sum_options(*command, *arguments);
  });
  command->get_option("--seed")->group("Options");
  under(*command, "A picture with depth", [&] { add_layer_options(*command, *layers, *input); });
  under(*command, "Views, and pictures by hogels", [&] { add_stereogram_options(*command, *stereogram, *input); });
  under(*command, "What the panel shows", [&] { add_encoding_options(*command, *arguments); });
  command->callback([arguments, layers, stereogram, &action] {
    action = [arguments, layers, stereogram] {
      if (asks_for_hogels(*stereogram, *layers)) return run_stereogram(*arguments, *stereogram, *layers);
      refuse_stereogram_options(*stereogram);
      if (!layers->image.empty() || !layers->stack.empty()) return run_layers(*arguments, *layers);
      refuse_layer_options(*layers, arguments->input);
      return run_points(*arguments);
    };
  });
}

}  // namespace holotone::cli
