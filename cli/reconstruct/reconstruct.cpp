#include <algorithm>
#include <cli/common/cancel.hpp>
#include <cli/common/command.hpp>
#include <cli/common/compression_option.hpp>
#include <cli/common/device_option.hpp>
#include <cli/common/values.hpp>
#include <cli/common/viewer_option.hpp>
#include <cli/reconstruct/eye_view.hpp>
#include <cli/reconstruct/picture_maker.hpp>
#include <cli/reconstruct/reconstruct_run.hpp>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/units.hpp>
#include <memory>
#include <nlohmann/json.hpp>

namespace holotone::cli {
namespace {

std::vector<std::string> warnings_of(const Reconstruction& seen) {
  std::vector<std::string> warnings;
  if (auto words = wavelength_warning(seen.grid.wavelength_m); !words.empty()) warnings.push_back(std::move(words));
  if (!seen.dark.empty()) {
    const auto more = std::ssize(seen.dark) - 1;
    warnings.push_back(fmt::format("{}{} holds no light: its picture is black", seen.dark.front(),
                                   more > 0 ? fmt::format(" (and {})", counted(more, "other file")) : ""));
  }
  if (seen.beyond_float > 0) {
    warnings.push_back(
        fmt::format("intensities such as {:.3g} are beyond float32, 1.2e-38 to 3.4e38, in which --linear "
                    "writes them; a picture without --linear shows them",
                    seen.beyond_float));
  }
  return warnings;
}

/// The device that computed, which may be another than the one chosen, or several.
std::string device_text(const ReconstructJob& job) {
  return job.devices.size() > 1 ? names_of(job.devices) : to_string(device_in_use());
}

nlohmann::json json_of(const ReconstructJob& job, const Reconstruction& seen, double seconds) {
  nlohmann::json object{{"software", "holotone " HOLOTONE_VERSION},
                        {"inputs", seen.inputs},
                        {"outputs", seen.outputs},
                        {"device", device_text(job)},
                        {"wavelength_m", seen.grid.wavelength_m},
                        {"pitch_m", seen.grid.pitch_m},
                        {"distances_m", seen.distances_m},
                        {"methods", seen.methods},
                        {"method", seen.methods.front()},
                        {"encoding", seen.encoding},
                        {"filter", seen.filter},
                        {"warnings", warnings_of(seen)},
                        {"time_s", seconds}};
  if (job.aperture) {
    object["aperture"] = {{"x_m", job.aperture->x_m},
                          {"y_m", job.aperture->y_m},
                          {"diameter_m", job.aperture->diameter_m},
                          {"viewer_distance_m", job.aperture->distance_m}};
  }
  if (seen.focal_length_m) object["focal_length_m"] = *seen.focal_length_m;
  for (std::size_t i = 0; i < seen.light_shares.size(); ++i) {
    object["viewers"].push_back(json_of_eye(pupil_of(job, i), seen.light_shares[i]));
  }
  if (!seen.comparisons.empty()) {
    object["against"]["picture"] = job.against;
    for (const auto& own : seen.comparisons) object["against"]["pictures"].push_back(json_of(own));
  }
  if (job.show != Shown::intensity) object["show"] = name_of(job.show);
  if (!job.linear && job.show != Shown::phase) {
    object["tone"] = {{"curve", tone_curve(job)}, {"white", seen.white}, {"gamma", job.gamma}};
    if (job.decades > 0) object["tone"]["decades"] = job.decades;
  }
  return object;
}

/// "focus at 20 cm", "9 distances at 18 cm to 22 cm", "7 positions of the eye"
std::string distances_text(const ReconstructJob& job, const std::vector<double>& distances_m) {
  if (job.pupils.size() > 1) return fmt::format("{} positions of the eye", job.pupils.size());
  const auto [near, far] = std::minmax_element(distances_m.begin(), distances_m.end());
  if (*near == *far) return fmt::format("focus at {}", format_length(*near));
  return fmt::format("{} distances at {} to {}", distances_m.size(), format_length(distances_m.front()),
                     format_length(distances_m.back()));
}

/// Prints a line for each compared picture; of several with its file or distance.
void report_comparisons(const ReconstructJob& job, const std::vector<PictureComparison>& comparisons) {
  for (const auto& own : comparisons) {
    std::string which;
    if (comparisons.size() > 1) {
      which = job.sequence.empty() ? fmt::format("at {}, ", format_length(own.distance_m)) : own.input + " ";
    }
    report(job.console, fmt::format("{}against {}: {}", which, job.against, text_of(own)));
  }
}

/// True if an eye at the distance of the hologram's window reaches beyond that window.
bool leaves_window(const std::string& made_for, const std::vector<EyePupil>& pupils) {
  Viewer window;
  try {
    window = viewer_of("viewer", made_for);
  } catch (const Error&) {
    return false;  // no valid window
  }
  constexpr double alike = 0.05;
  return std::ranges::any_of(pupils, [&](const EyePupil& eye) {
    const auto leaves = [](double at, double size, double middle, double width) {
      return std::abs(at - middle) + size / 2 > width / 2 * (1 + 1e-9);
    };
    return std::abs(eye.distance_m - window.distance_m) <= alike * window.distance_m &&
           (leaves(eye.x_m, eye.width_m, window.x_m, window.width_m) ||
            leaves(eye.y_m, eye.height_m, window.y_m, window.height_m));
  });
}

/// Prints notes on viewing that follow from the files' metadata.
void report_file_notes(const ReconstructJob& job, const Reconstruction& seen) {
  if (job.pupils.empty() && !job.aperture && !seen.made_for.empty()) {
    remark(job.console, fmt::format("the hologram was computed for --viewer {}; without that option the picture "
                                    "includes the quantization noise "
                                    "outside the window",
                                    seen.made_for));
  }
  if (leaves_window(seen.made_for, job.pupils)) {
    remark(job.console,
           fmt::format(
               "the hologram was computed for --viewer {}; outside that window there is little light and much noise",
               seen.made_for));
  }
  if (seen.encoding == to_string(Encoding::amplitude) && !job.overrides.zero_order) {
    remark(job.console, "the zero order of the amplitude codes is left out; --zero-order includes it");
  }
  if (!seen.correction.empty() && job.overrides.correction.empty()) {
    remark(job.console,
           fmt::format("the codes contain the correction {}; --correction FILE subtracts it, as the panel does",
                       seen.correction));
  }
  if (seen.correction.empty() && !job.overrides.correction.empty() && seen.describes_itself) {
    remark(job.console, fmt::format("{} states no correction in its codes; --correction was subtracted nevertheless",
                                    job.inputs.front()));
  }
}

/// ", angular-spectrum", or the methods of several distances; empty with an eye, to which no plane is propagated.
std::string methods_text(const ReconstructJob& job, const Reconstruction& seen) {
  if (!job.pupils.empty()) return {};
  const std::set<std::string> all(seen.methods.begin(), seen.methods.end());
  return fmt::format(", {}", fmt::join(all, " and "));
}

int run_reconstruct(const ReconstructArguments& arguments) {
  const Stopwatch watch;
  const ReconstructJob job = reconstruct_job(arguments);
  const UnfinishedRun unfinished;
  const Reconstruction seen = reconstruct(job, [&](const Reconstruction& opened) { report_file_notes(job, opened); });
  check_cancelled("writing");
  UnfinishedRun::keep();
  report_json(job.console, json_of(job, seen, watch.seconds()));
  for (const auto& warning : warnings_of(seen)) warn(job.console, warning);
  const auto& outputs = seen.outputs;
  report(job.console, fmt::format("{}: {}{} on {}, {}",
                                  outputs.size() == 1 ? outputs.front() : outputs.front() + " to " + outputs.back(),
                                  distances_text(job, seen.distances_m), methods_text(job, seen), device_text(job),
                                  format_duration(watch.seconds())));
  report_comparisons(job, seen.comparisons);
  return exit_ok;
}

std::vector<OptionRow> focus_options(ReconstructArguments& a) {
  return {{.names = "--distance,--focus",
           .target = &a.distance,
           .value = "LENGTH",
           .help = "Distance of the focus plane behind the panel; negative: in front",
           .otherwise = "the file's",
           .common = true,
           .feeds = "ReconstructionPlan.distance_m|EyePlan.focus_m|EyePlan.focus_m, output_pitch_m|"
                    "PropagationPlan.distance_m|FourierLensPlan.plane.defocus_m"},
          {.names = "--sweep",
           .target = &a.sweep,
           .value = "FROM:TO:COUNT",
           .help = "Focal stack on a contact sheet, such as 18cm:22cm:9",
           .common = true,
           .excludes = "--distance",
           .feeds = "ReconstructionPlan.distance_m|EyePlan.focus_m|EyePlan.focus_m, output_pitch_m|"
                    "PropagationPlan.distance_m|FourierLensPlan.plane.defocus_m"},
          {.names = "--frames",
           .target = &a.frames,
           .value = "NAME",
           .help = "Pictures of a sweep, one file each beside the contact sheet, such as out_%03d.png"},
          {.names = "--tile-width",
           .target = &a.tile_width,
           .value = "N",
           .help = "Pixels across one picture of a contact sheet",
           .range = tile_range,
           .feeds = "contact_sheet.tile_width|area_average."},
          {.names = "--method",
           .target = &a.method,
           .value = "NAME",
           .help = "Propagation: auto, angular-spectrum or fresnel"},
          compression_option(a.compression),
          {.names = "--device",
           .target = &a.device,
           .value = "NAME",
           .help = "auto, cpu, cuda:N or opencl:N; several or all for --sweep-viewer",
           .common = true,
           .feeds = ".device"}};
}

std::vector<OptionRow> eye_options(ReconstructArguments& a) {
  return {{.names = "--aperture",
           .target = &a.aperture,
           .value = "PUPIL",
           .help = "Paraxial pupil X,Y:DIAMETER or DIAMETER, such as 5mm,0mm:3mm; --viewer is its distance",
           .common = true,
           .feeds = "ReconstructionPlan.aperture"},
          {.names = "--viewer",
           .target = &a.viewer,
           .value = "WINDOW",
           .help = "Pupil of an eye DISTANCE:SIZE[@X,Y] in front of the panel, such as 36mm:9.2mm@2,0mm; with "
                   "--aperture only the distance",
           .otherwise = "50cm with --aperture",
           .common = true,
           .feeds = "ReconstructionPlan.aperture.distance_m|EyePlan.pupil"},
          {.names = "--sweep-viewer",
           .target = &a.sweep_viewer,
           .value = "FROM:TO:COUNT",
           .help = "Positions of the eye on a contact sheet, such as -3,0mm:3,0mm:7",
           .excludes = "--sweep",
           .feeds = "EyePlan.pupil"},
          {.names = "--pupil-shape",
           .target = &a.pupil_shape,
           .value = "NAME",
           .help = "Shape of the eye's pupil: rectangle or ellipse",
           .otherwise = "rectangle"},
          {.names = "--picture-size",
           .target = &a.picture_size,
           .value = "SIZE",
           .help = "Part of the focus plane that the eye's picture shows, as width or WIDTHxHEIGHT, such as 20mm",
           .otherwise = "the panel's",
           .feeds = "EyePlan.focus_m, output_pitch_m"},
          {.names = "--output-pitch",
           .target = &a.output_pitch,
           .value = "LENGTH",
           .help = "Pixel pitch of the eye's picture",
           .otherwise = "the panel's, or a multiple for at most 2048 pixels",
           .feeds = "EyePlan.output_pitch_m|EyePlan.focus_m, output_pitch_m"}};
}

std::vector<OptionRow> comparison_options(ReconstructArguments& a) {
  return {{.names = "--against",
           .target = &a.against,
           .value = "FILE",
           .help = "Picture that the hologram is to show, fitted into its signal region: PSNR, SSIM and speckle "
                   "contrast at four half-pixel positions",
           .common = true},
          {.names = "--signal-region",
           .target = &a.region,
           .value = "REGION",
           .help = "Pixels that the picture of --against fills, COLUMNSxROWS+COLUMN+ROW",
           .otherwise = "as the file states, or the whole panel"},
          {.names = "--difference",
           .target = &a.difference,
           .value = "FILE",
           .help = "Picture of the error: 128 none, 1 and 255 half of the largest amplitude; a counter for several"}};
}

std::vector<OptionRow> tone_options(ReconstructArguments& a) {
  return {{.names = "--white",
           .target = &a.white,
           .value = "I",
           .help = "Intensity shown as white, or a rule: percentile (99.9 %) or mean+deviation",
           .otherwise = "percentile; mean+deviation through an eye's pupil",
           .common = true,
           .feeds = "tone_map.reference"},
          {.names = "--gamma",
           .target = &a.gamma,
           .value = "G",
           .help = "Exponent of the tones; above 1: lighter shadows",
           .range = gamma_range,
           .common = true,
           .feeds = "tone_map.gamma"},
          {.names = "--decades",
           .target = &a.decades,
           .value = "N",
           .help = "Logarithmic tones: black is 10^-N of white",
           .range = decades_range,
           .otherwise = "none; 4 for a spectrum",
           .excludes = "--gamma",
           .feeds = "tone_map.decades"},
          {.names = "--show",
           .target = &a.show,
           .value = "NAME",
           .help = "intensity, amplitude or phase of the light in focus, or spectrum, that of the light at the panel",
           .common = true},
          {.names = "--linear",
           .target = &a.linear,
           .help = "Write the values as float32 TIFF or NPY: intensity, amplitude, or phase in radians",
           .common = true}};
}

std::vector<OptionRow> file_options(ReconstructArguments& a) {
  auto& o = a.overrides;
  return {
      {.names = "--wavelength",
       .target = &o.wavelength,
       .value = "LENGTH",
       .help = "Wavelength; R,G,B of three files",
       .common = true,
       .feeds = "modulation_of.grid.wavelength_m"},
      {.names = "--pitch",
       .target = &o.pitch,
       .value = "LENGTH",
       .help = "Pixel pitch",
       .common = true,
       .feeds = "modulation_of.grid.pitch_m"},
      {.names = "--focal-length",
       .target = &o.focal_length,
       .value = "LENGTH",
       .help = "Lens before the panel: show its focal plane, and --distance beyond it (default 0)",
       .excludes = "--aperture --viewer"},
      {.names = "--panel", .target = &o.panel, .value = "NAME", .help = "Preset whose pitch, bits and levels are used"},
      {.names = "--encode,--encoding",
       .target = &o.encoding,
       .value = "NAME",
       .help = "Encoding: phase, amplitude, double-phase, single-sideband or burckhardt",
       .feeds = "parse_encoding.encoding"},
      {.names = "--bits",
       .target = &o.bits,
       .value = "N",
       .help = "Bits of a code",
       .range = code_bits_range,
       .feeds = "modulation_of.bits|modulation_of.codes"},
      {.names = "--phase-range", .target = &o.phase_range, .value = "ANGLE", .help = "Phase stroke over all codes"},
      {.names = "--lut,--levels",
       .target = &o.lut,
       .value = "FILE",
       .help = "Text file with the phase in radians of each code",
       .excludes = "--phase-range"},
      {.names = "--amplitude-range",
       .target = &o.amplitude_range,
       .value = "MIN,MAX",
       .help = "Field values of the lowest and highest code; one or three pairs of three files"},
      {.names = "--object-energy",
       .target = &o.object_energy,
       .value = "R,G,B",
       .help = "Energy of the object in each of three files, which balances the colours"},
      {.names = "--reference-angle",
       .target = &o.reference_angle,
       .value = "X[,Y]",
       .help = "Tilt of the reference beam in x and y, such as 1.5deg",
       .otherwise = "the file's"},
      {.names = "--carrier",
       .target = &o.carrier,
       .value = "X[,Y]",
       .help = "Blazed grating in the codes: angles (0.5deg) or periods (64um, 8px)",
       .feeds = "steering_angle_rad."},
      {.names = "--packed16",
       .target = &o.packed16,
       .help = "Read 16-bit codes as red (high byte) and green (low byte)"},
      {.names = "--correction",
       .target = &o.correction,
       .value = "FILE",
       .help = "Wavefront map to subtract, as the panel it was measured for does"},
      {.names = "--no-filter",
       .target = &o.no_filter,
       .help = "Show all diffraction orders, without the encoding's filter"},
      {.names = "--zero-order", .target = &o.zero_order, .help = "Include the zero order of amplitude holograms"}};
}

}  // namespace

Command reconstruct_command() {
  const auto arguments = std::make_shared<ReconstructArguments>();
  auto& a = *arguments;
  return {
      .name = "reconstruct",
      .purpose = "Reconstruct numerically what a camera or an eye sees of a hologram",
      .examples = {"holotone reconstruct teapot.png -o focus.png",
                   "holotone reconstruct teapot.png -o stack.png --sweep 18cm:22cm:9",
                   "holotone reconstruct teapot.png -o eye.png --viewer 50cm:4mm@5,0mm"},
      .groups =
          {{"",
            {{.names = "IN",
              .target = &a.inputs,
              .help = "Hologram; three for red, green and blue (or knot_%c.png); a counter (spin/%04d.png) for frames",
              .required = true},
             {.names = "-o,--output",
              .target = &a.output,
              .value = "FILE",
              .help = "PNG, TIFF or BMP; a counter such as %03d for one picture a distance or frame",
              .required = true}}},
           {"Focus", focus_options(a)},
           {"Pupil", eye_options(a)},
           {"Comparison", comparison_options(a)},
           {"Tones", tone_options(a)},
           {"Values instead of the file's", file_options(a)},
           console_options(a.console)},
      .run = [arguments] { return run_reconstruct(*arguments); }};
}

}  // namespace holotone::cli
