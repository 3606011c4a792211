#include <algorithm>
#include <cli/common/device_option.hpp>
#include <cli/common/memory_limit.hpp>
#include <cli/common/output_check.hpp>
#include <cli/options/option_value.hpp>
#include <cli/options/values.hpp>
#include <cli/options/viewer_option.hpp>
#include <cli/reconstruct/reconstruct_job.hpp>
#include <fmt/format.h>
#include <holotone/io/file_format_detail.hpp>

namespace holotone::cli {
namespace {

/// Sets the aperture's distance, or the eye's position of each picture.
void set_pupils(ReconstructJob& job) {
  const auto* const window = std::get_if<Viewer>(&job.viewer);
  const auto* const distance_m = std::get_if<double>(&job.viewer);
  if (job.viewing.aperture) {
    if (window != nullptr) reject<&ReconstructJob::viewer>("DISTANCE alone with --aperture", to_text(*window));
    if (distance_m != nullptr) job.viewing.aperture->distance_m = *distance_m;
    return;
  }
  if (distance_m != nullptr) {
    reject<&ReconstructJob::viewer>("DISTANCE:SIZE[@X,Y] such as 36mm:9.2mm@2,0mm, or DISTANCE with --aperture",
                                    length_text(*distance_m));
  }
  if (window == nullptr) return;
  if (job.viewing.method == PropagationMethod::fresnel) {
    reject<&ViewingOptions::method>("angular-spectrum with --viewer DISTANCE:SIZE", to_string(job.viewing.method));
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
    reject<&PictureTones::show>(fmt::format("intensity or amplitude {}", with), name_of(show));
  };
  if (!job.viewing.pupils.empty()) refuse("through an eye at --viewer");
  if (job.holograms.inputs.size() > 1) refuse("of three colours");
  if (!job.holograms.subframes.empty()) refuse("of subframes");
  if (!job.against.empty()) refuse("with --against");
  if (!job.sweep_m.empty() && !frame_pattern(job.output)) refuse("on a contact sheet");
}

/// Rejects options that numbered holograms exclude.
void check_sequence(const ReconstructJob& job) {
  constexpr std::string_view expected = "one hologram, not numbered ones";
  if (!job.sweep_m.empty()) reject<&ReconstructJob::sweep_m>(expected, job.names.front());
  if (!job.places_m.empty()) reject<&ReconstructJob::places_m>(expected, job.names.front());
  if (job.frame_names.given()) reject<&ReconstructJob::frame_names>(expected, job.names.front());
  if (!job.frames) reject_output("a counter such as %04d for numbered holograms", job.output);
}

/// Sets where the difference pictures of `count` pictures go.
void set_comparison(ReconstructJob& job, std::int64_t count) {
  if (job.against.empty()) return;
  if (!job.viewing.pupils.empty()) {
    reject<&ReconstructJob::against>("pictures in a plane, without an eye at --viewer", job.against);
  }
  if (!job.holograms.subframes.empty()) {
    reject<&ReconstructJob::against>("one hologram, not subframes, whose figures optimize prints", job.names.front());
  }
  if (job.holograms.sequence.empty()) require_numbered_input("--against", job.against, {});
  for (const auto& frame : job.holograms.sequence) require_numbered_input("--against", job.against, frame.number);
  if (!job.difference.given()) return;
  const auto& [name, counter] = job.difference;
  if (!counter && (count > 1 || !job.holograms.sequence.empty())) {
    reject<&ReconstructJob::difference>("a name with a counter such as difference_%03d.png for several pictures", name);
  }
  constexpr auto formats = io::formats::written_pictures;
  if (!io::has_format(name, formats)) reject<&ReconstructJob::difference>(io::name_ending_in(formats), name);
}

/// Sets the names of a sheet and of frames.
void set_names(ReconstructJob& job) {
  job.frames = parse_counter(output_name, job.output);
  if (!job.holograms.sequence.empty()) check_sequence(job);
  if (!job.frames) job.sheet = job.output;
  if (!job.frame_names.given()) return;
  const auto& [name, counter] = job.frame_names;
  if (!job.is_sweep()) {
    reject<&ReconstructJob::frame_names>("--sweep or --sweep-viewer, whose pictures it writes", name);
  }
  if (job.frames) reject<&ReconstructJob::frame_names>("--output without a counter", job.output);
  if (!counter) reject<&ReconstructJob::frame_names>("a name with a counter such as out_%03d.png", name);
  job.frames = counter;
}

void check_picture_name(const ReconstructJob& job, std::string_view option, const std::string& path) {
  const bool linear = job.tones.linear;
  const auto formats = linear ? io::FileFormat::tiff | io::FileFormat::npy : io::formats::written_pictures;
  if (io::has_format(path, formats)) return;
  reject(option, io::name_ending_in(formats) + (linear ? " for --linear" : ""), path);
}

std::vector<InputFile> all_inputs(const ReconstructJob& job) {
  auto inputs = code_inputs(job.overrides.lut, job.overrides.correction);
  std::ranges::copy(number_inputs(job.overrides), std::back_inserter(inputs));
  if (job.holograms.sequence.empty()) inputs.push_back({"--against", job.against});
  const auto add = [&](const std::vector<std::string>& files) {
    for (const auto& file : files) inputs.push_back({"IN", file});
  };
  add(job.holograms.inputs);
  for (const auto& subframe : job.holograms.subframes) add(subframe);
  for (const auto& frame : job.holograms.sequence) {
    inputs.push_back({"--against", numbered(job.against, frame.number)});
    add(frame.inputs);
  }
  return inputs;
}

void set_outputs(ReconstructJob& job) {
  set_names(job);
  const auto& sequence = job.holograms.sequence;
  const std::string_view option = job.sheet.empty() ? output_name : "--frames";
  const auto count = static_cast<std::int64_t>(sequence.empty() ? frame_count(job.viewing) : sequence.size());
  const auto number = [&](std::int64_t i) {
    return sequence.empty() ? i : sequence[static_cast<std::size_t>(i)].number;
  };
  const auto frame_name = [&](std::int64_t i) { return job.frames->name(number(i)); };
  if (!job.sheet.empty()) check_picture_name(job, output_name, job.sheet);
  if (job.frames) check_picture_name(job, option, frame_name(0));
  if (job.tones.linear && job.has_contact_sheet()) {
    reject<&PictureTones::linear>("one distance or an output with a counter", "a contact sheet");
  }
  std::vector<OutputFiles> outputs;
  if (!job.sheet.empty()) outputs.push_back({output_name, 1, [&](std::int64_t) { return job.sheet; }});
  if (job.frames) outputs.push_back({option, count, frame_name});
  set_comparison(job, count);
  if (job.difference.given()) {
    outputs.push_back({"--difference", job.difference.value ? count : 1,
                       [&](std::int64_t i) { return job.difference_name(number(i)); }});
  }
  require_outputs(outputs, all_inputs(job));
}

HologramSources sources_of(const ReconstructJob& job, const std::vector<std::string>& files) {
  const auto overrides = overrides_of_files(job.overrides, files);
  HologramSources sources;
  for (std::size_t i = 0; i < files.size(); ++i) sources.push_back(hologram_source(files[i], overrides[i]));
  return sources;
}

}  // namespace

void complete_light(ReconstructJob& job) {
  if (!job.sweep_m.empty()) job.viewing.distances_m = job.sweep_m;
  job.overrides.distance_given = !job.viewing.distances_m.empty();
  warn_of_notes(job.overrides, job.console);
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
  if (has_lens(view->metadata())) (void)device_option(job.device_name, job.console, OperationId::fourier_lens);
  return view;
}

}  // namespace holotone::cli
