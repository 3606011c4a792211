#include <algorithm>
#include <cli/common/device_option.hpp>
#include <cli/common/memory_limit.hpp>
#include <cli/common/output_check.hpp>
#include <cli/common/values.hpp>
#include <cli/common/viewer_option.hpp>
#include <cli/reconstruct/reconstruct_job.hpp>
#include <fmt/format.h>

namespace holotone::cli {
namespace {

/// Sets the aperture's distance, or the eye's position of each picture.
void set_pupils(ReconstructJob& job) {
  constexpr std::string_view option = "--viewer";
  const auto* const window = std::get_if<Viewer>(&job.viewer);
  const auto* const distance_m = std::get_if<double>(&job.viewer);
  if (job.viewing.aperture) {
    if (window != nullptr) reject(option, "DISTANCE alone with --aperture", text_of(*window));
    if (distance_m != nullptr) job.viewing.aperture->distance_m = *distance_m;
    return;
  }
  if (distance_m != nullptr) {
    reject(option, "DISTANCE:SIZE[@X,Y] such as 36mm:9.2mm@2,0mm, or DISTANCE with --aperture",
           length_text(*distance_m));
  }
  if (window == nullptr) return;
  if (job.viewing.method == PropagationMethod::fresnel) {
    reject("--method", "angular-spectrum with --viewer DISTANCE:SIZE", to_string(job.viewing.method));
  }
  const EyePupil pupil{window->width_m, window->height_m, window->distance_m,
                       window->x_m,     window->y_m,      job.pupil_shape};
  job.viewing.pupils.assign(std::max<std::size_t>(1, job.places_m.size()), pupil);
  for (std::size_t i = 0; i < job.places_m.size(); ++i) {
    job.viewing.pupils[i].x_m = job.places_m[i][0];
    job.viewing.pupils[i].y_m = job.places_m[i][1];
  }
}

void set_tones(ReconstructJob& job) {
  if (!job.viewing.pupils.empty()) job.tones.white_rule = WhiteRule::mean_and_deviation;
  if (const auto* const rule = std::get_if<WhiteRule>(&job.white)) job.tones.white_rule = *rule;
  if (const auto* const white = std::get_if<double>(&job.white)) job.tones.white = *white;
  constexpr double decades_of_a_spectrum = 4;
  if (job.tones.show == ShownLight::spectrum && !job.tones.decades) job.tones.decades = decades_of_a_spectrum;
}

/// Rejects what cannot be shown.
void check_shown(const ReconstructJob& job) {
  const ShownLight show = job.tones.show;
  if (show == ShownLight::intensity || show == ShownLight::amplitude) return;
  const auto refuse = [&](std::string_view with) {
    reject("--show", fmt::format("intensity or amplitude {}", with), name_of(show));
  };
  if (!job.viewing.pupils.empty()) refuse("through an eye at --viewer");
  if (job.holograms.inputs.size() > 1) refuse("of three colours");
  if (!job.holograms.subframes.empty()) refuse("of subframes");
  if (!job.against.empty()) refuse("with --against");
  if (!job.sweep_m.empty() && !frame_pattern("--output", job.output)) refuse("on a contact sheet");
}

/// Rejects options that numbered holograms exclude.
void check_sequence(const ReconstructJob& job) {
  const std::string_view sweep = job.sweep_m.empty() ? "--sweep-viewer" : "--sweep";
  constexpr std::string_view expected = "one hologram, not numbered ones";
  if (job.is_sweep()) reject(sweep, expected, job.names.front());
  if (!job.frame_names.empty()) reject("--frames", expected, job.names.front());
  if (!job.frames) reject("--output", "a counter such as %04d for numbered holograms", job.output);
}

/// Sets where the difference pictures of `count` pictures go.
void set_comparison(ReconstructJob& job, std::int64_t count) {
  if (job.against.empty()) return;
  constexpr std::string_view option = "--against";
  if (!job.viewing.pupils.empty()) reject(option, "pictures in a plane, without an eye at --viewer", job.against);
  if (!job.holograms.subframes.empty()) reject(option, "one hologram, not subframes", job.names.front());
  require_input(job.against);
  if (job.difference.empty()) return;
  constexpr std::string_view difference = "--difference";
  require_known_counters(difference, job.difference, false);
  job.differences = frame_pattern(difference, job.difference);
  if (!job.differences && (count > 1 || !job.holograms.sequence.empty())) {
    reject(difference, "a name with a counter such as difference_%03d.png for several pictures", job.difference);
  }
  const auto extension = extension_of(job.difference);
  if (extension != ".png" && extension != ".tif" && extension != ".tiff" && extension != ".bmp") {
    reject(difference, "a name ending in .png, .tif, .tiff or .bmp", job.difference);
  }
}

/// Sets the names of a sheet and of frames.
void set_names(ReconstructJob& job) {
  constexpr std::string_view option = "--frames";
  require_known_counters("--output", job.output, false);
  require_known_counters(option, job.frame_names, false);
  job.frames = frame_pattern("--output", job.output);
  if (!job.holograms.sequence.empty()) check_sequence(job);
  if (!job.frames) job.sheet = job.output;
  if (job.frame_names.empty()) return;
  if (!job.is_sweep()) reject(option, "--sweep or --sweep-viewer, whose pictures it writes", job.frame_names);
  if (job.frames) reject(option, "--output without a counter", job.output);
  job.frames = frame_pattern(option, job.frame_names);
  if (!job.frames) reject(option, "a name with a counter such as out_%03d.png", job.frame_names);
}

void check_picture_name(const ReconstructJob& job, std::string_view option, const std::string& path) {
  const auto extension = extension_of(path);
  const bool tiff = extension == ".tif" || extension == ".tiff";
  if (job.tones.linear) {
    if (!tiff && extension != ".npy") reject(option, "a name ending in .tif, .tiff or .npy for --linear", path);
  } else if (!tiff && extension != ".png" && extension != ".bmp") {
    reject(option, "a name ending in .png, .tif, .tiff or .bmp", path);
  }
}

std::vector<InputFile> all_inputs(const ReconstructJob& job) {
  std::vector<InputFile> inputs{
      {"--against", job.against}, {"--correction", job.overrides.correction}, {"--lut", job.overrides.lut}};
  const auto add = [&](const std::vector<std::string>& files) {
    for (const auto& file : files) inputs.push_back({"IN", file});
  };
  add(job.holograms.inputs);
  for (const auto& subframe : job.holograms.subframes) add(subframe);
  for (const auto& frame : job.holograms.sequence) add(frame.inputs);
  return inputs;
}

void set_outputs(ReconstructJob& job) {
  set_names(job);
  const auto& sequence = job.holograms.sequence;
  const std::string_view option = job.sheet.empty() ? "--output" : "--frames";
  const auto count = static_cast<std::int64_t>(sequence.empty() ? frame_count(job.viewing) : sequence.size());
  const auto number = [&](std::int64_t i) {
    return sequence.empty() ? i : sequence[static_cast<std::size_t>(i)].number;
  };
  const auto frame_name = [&](std::int64_t i) { return job.frames->name(number(i)); };
  if (!job.sheet.empty()) check_picture_name(job, "--output", job.sheet);
  if (job.frames) check_picture_name(job, option, frame_name(0));
  if (job.tones.linear && job.has_contact_sheet()) {
    reject("--linear", "one distance or an output with a counter", "a contact sheet");
  }
  std::vector<OutputFiles> outputs;
  if (!job.sheet.empty()) outputs.push_back({"--output", 1, [&](std::int64_t) { return job.sheet; }});
  if (job.frames) outputs.push_back({option, count, frame_name});
  set_comparison(job, count);
  if (!job.difference.empty()) {
    outputs.push_back({"--difference", job.differences ? count : 1, [&](std::int64_t i) {
                         return job.differences ? job.differences->name(number(i)) : job.difference;
                       }});
  }
  require_outputs(outputs, all_inputs(job));
}

/// Overrides of each of `count` files: three wavelengths for three files.
std::vector<HologramOverrides> overrides_of(const ReconstructJob& job, std::size_t count) {
  const auto& given = job.overrides;
  std::vector<HologramOverrides> overrides(count, given);
  constexpr std::string_view energy = "--object-energy";
  if (count == 1) {
    if (!given.object_energy.empty()) reject(energy, "three files", job.names.front());
    return overrides;
  }
  const auto share_out = [&](std::string_view option, std::string HologramOverrides::*member,
                             std::string_view expected) {
    const std::string& typed = given.*member;
    if (typed.empty()) return;
    const auto pieces = list(option, typed, expected);
    if (pieces.size() != count) reject(option, expected, typed);
    for (std::size_t i = 0; i < count; ++i) overrides[i].*member = pieces[i];
  };
  share_out("--wavelength", &HologramOverrides::wavelength,
            "three wavelengths such as 638nm,520nm,450nm for three files");
  share_out(energy, &HologramOverrides::object_energy, "three numbers for three files");
  if (!given.object_energy.empty() && std::ranges::all_of(overrides, [&](const HologramOverrides& one) {
        return number_between(energy, one.object_energy, 0, largest_energy) == 0;
      })) {
    reject(energy, "at least one energy above 0", given.object_energy);
  }
  constexpr std::string_view option = "--amplitude-range";
  constexpr std::string_view ranges = "MIN,MAX for all of three files, or three of them";
  if (!given.amplitude_range.empty()) {
    const auto pieces = list(option, given.amplitude_range, ranges);
    if (pieces.size() != 2 && pieces.size() != 6) reject(option, ranges, given.amplitude_range);
    for (std::size_t i = 0; pieces.size() == 6 && i < 3; ++i) {
      overrides[i].amplitude_range = pieces[2 * i] + "," + pieces[2 * i + 1];
    }
  }
  return overrides;
}

HologramSources sources_of(const ReconstructJob& job, const std::vector<std::string>& files) {
  const auto overrides = overrides_of(job, files.size());
  HologramSources sources;
  for (std::size_t i = 0; i < files.size(); ++i) sources.push_back(hologram_source(files[i], overrides[i]));
  return sources;
}

}  // namespace

void complete_light(ReconstructJob& job) {
  if (!job.sweep_m.empty()) job.viewing.distances_m = job.sweep_m;
  job.overrides.distance_given = !job.viewing.distances_m.empty();
  set_pupils(job);
  set_tones(job);
  job.holograms = hologram_inputs(job.names);
  check_shown(job);
  job.devices = devices_option(job.device_name, job.console);
  if (job.viewing.pupils.size() < 2) {
    require_one_device(job.devices, "one device, or several positions of an eye (--sweep-viewer)", "reconstruct");
  }
}

void complete(ReconstructJob& job) {
  complete_light(job);
  set_outputs(job);
}

std::unique_ptr<HologramView> open_holograms(const ReconstructJob& job) {
  std::vector<HologramSources> sources;
  for (const auto& files : job.holograms.subframes) sources.push_back(sources_of(job, files));
  if (sources.empty()) sources.push_back(sources_of(job, job.holograms.inputs));
  HologramViewOptions options;
  options.viewing = job.viewing;
  options.devices = job.devices;
  options.any_distance = job.any_distance;
  options.keeps_light = !job.against.empty();
  options.on_memory = [](double bytes, std::string_view what) { require_memory("--viewer", bytes, what); };
  auto view = with_remedy([&] { return open_hologram(sources, options); });
  if (has_lens(view->metadata())) (void)device_option(job.device_name, job.console, "focal plane of a lens");
  return view;
}

}  // namespace holotone::cli
