#include <algorithm>
#include <cli/common/compression_option.hpp>
#include <cli/common/device_option.hpp>
#include <cli/common/output_check.hpp>
#include <cli/common/target_picture.hpp>
#include <cli/common/values.hpp>
#include <cli/common/viewer_option.hpp>
#include <cli/reconstruct/reconstruct_job.hpp>
#include <fmt/format.h>

namespace holotone::cli {
namespace {

constexpr std::int64_t most_distances = 10'000;
constexpr std::int64_t most_places = 10'000;

/// Distances from "FROM:TO:COUNT", both ends included.
std::vector<double> sweep_of(const std::string& text) {
  constexpr std::string_view expected = "FROM:TO:COUNT such as 18cm:22cm:9";
  const auto first = text.find(':');
  const auto second = first == std::string::npos ? first : text.find(':', first + 1);
  if (second == std::string::npos) reject("--sweep", expected, text);
  const double from = distance_of("--sweep", text.substr(0, first));
  const double to = distance_of("--sweep", text.substr(first + 1, second - first - 1));
  const auto count = whole_number("--sweep", text.substr(second + 1), 1, most_distances);
  std::vector<double> distances;
  for (std::int64_t i = 0; i < count; ++i) {
    distances.push_back(count == 1 ? from
                                   : from + (to - from) * static_cast<double>(i) / static_cast<double>(count - 1));
  }
  return distances;
}

/// True if each hologram yields more than one picture.
bool is_sweep(const ReconstructArguments& arguments) {
  return !arguments.sweep.empty() || !arguments.sweep_viewer.empty();
}

/// Rejects options that numbered holograms exclude.
void check_sequence(const ReconstructJob& job, const ReconstructArguments& arguments) {
  const std::string_view sweep = arguments.sweep.empty() ? "--sweep-viewer" : "--sweep";
  if (is_sweep(arguments)) reject(sweep, "one hologram, not numbered ones", arguments.inputs.front());
  if (!arguments.frames.empty()) reject("--frames", "one hologram, not numbered ones", arguments.inputs.front());
  if (!job.frames) reject("--output", "a counter such as %04d for numbered holograms", arguments.output);
}

/// Sets white from an intensity or the name of a rule.
void set_white(ReconstructJob& job, const std::string& text) {
  if (text.empty()) return;
  if (text == "percentile") {
    job.white_rule = WhiteRule::percentile;
  } else if (text == "mean+deviation") {
    job.white_rule = WhiteRule::mean_and_deviation;
  } else if (text.find_first_of("0123456789") == std::string::npos) {
    reject("--white", "an intensity, percentile or mean+deviation", text);
  } else {
    job.white = number_between("--white", text, 1e-30, 1e30);
  }
}

/// Sets the picture to compare with, and where the difference pictures of `count` pictures go.
void set_comparison(ReconstructJob& job, const ReconstructArguments& arguments, std::int64_t count) {
  const auto& difference = arguments.difference;
  if (arguments.against.empty()) {
    if (!difference.empty()) reject("--difference", "--against, the picture to compare with", difference);
    if (!arguments.region.empty()) reject("--signal-region", "--against, the picture that fills it", arguments.region);
    return;
  }
  if (!job.pupils.empty()) reject("--against", "pictures in a plane, without an eye at --viewer", arguments.viewer);
  if (!job.subframes.empty()) reject("--against", "one hologram, not subframes", arguments.inputs.front());
  require_input(arguments.against);
  job.against = arguments.against;
  job.region = arguments.region;
  if (!job.region.empty()) (void)parse_region(job.region, region_words);
  if (difference.empty()) return;
  require_known_counters("--difference", difference, false);
  job.differences = frame_pattern("--difference", difference);
  if (!job.differences && (count > 1 || !job.sequence.empty())) {
    reject("--difference", "a name with a counter such as difference_%03d.png for several pictures", difference);
  }
  const auto extension = extension_of(difference);
  if (extension != ".png" && extension != ".tif" && extension != ".tiff" && extension != ".bmp") {
    reject("--difference", "a name ending in .png, .tif, .tiff or .bmp", difference);
  }
  if (!job.differences) job.difference = difference;
}

/// Sets what is shown, and rejects what shows it not.
void set_shown(ReconstructJob& job, const ReconstructArguments& arguments) {
  static constexpr Choice<Shown> names[] = {{"intensity", Shown::intensity},
                                            {"amplitude", Shown::amplitude},
                                            {"phase", Shown::phase},
                                            {"spectrum", Shown::spectrum}};
  job.show = choose("--show", arguments.show, names);
  constexpr double decades_of_a_spectrum = 4;
  if (!arguments.decades.empty()) {
    job.decades = number_between("--decades", arguments.decades, decades_range);
  } else if (job.show == Shown::spectrum) {
    job.decades = decades_of_a_spectrum;
  }
  if (job.show == Shown::intensity || job.show == Shown::amplitude) return;
  constexpr std::string_view expected = "intensity or amplitude";
  const auto refuse = [&](std::string_view with) {
    reject("--show", fmt::format("{} {}", expected, with), arguments.show);
  };
  if (!job.pupils.empty()) refuse("through an eye at --viewer");
  if (job.inputs.size() > 1) refuse("of three colours");
  if (!job.subframes.empty()) refuse("of subframes");
  if (!arguments.against.empty()) refuse("with --against");
  if (!arguments.sweep.empty() && !frame_pattern("--output", arguments.output)) refuse("on a contact sheet");
}

void set_outputs(ReconstructJob& job, const ReconstructArguments& arguments) {
  require_known_counters("--output", arguments.output, false);
  require_known_counters("--frames", arguments.frames, false);
  job.frames = frame_pattern("--output", arguments.output);
  if (!job.sequence.empty()) check_sequence(job, arguments);
  if (!job.frames) job.sheet = arguments.output;
  job.contact_sheet = !job.sheet.empty() && is_sweep(arguments);
  if (!arguments.frames.empty()) {
    if (!is_sweep(arguments))
      reject("--frames", "--sweep or --sweep-viewer, whose pictures it writes", arguments.frames);
    if (job.frames) reject("--frames", "--output without a counter", arguments.output);
    job.frames = frame_pattern("--frames", arguments.frames);
    if (!job.frames) reject("--frames", "a name with a counter such as out_%03d.png", arguments.frames);
  }
  std::vector<std::string> all_inputs = job.inputs;
  for (const auto& subframe : job.subframes) all_inputs.insert(all_inputs.end(), subframe.begin(), subframe.end());
  for (const auto& frame : job.sequence) all_inputs.insert(all_inputs.end(), frame.inputs.begin(), frame.inputs.end());
  const auto check = [&](std::string_view option, const std::string& path) {
    const auto extension = extension_of(path);
    const bool tiff = extension == ".tif" || extension == ".tiff";
    if (job.linear) {
      if (!tiff && extension != ".npy") reject(option, "a name ending in .tif, .tiff or .npy for --linear", path);
    } else if (!tiff && extension != ".png" && extension != ".bmp")
      reject(option, "a name ending in .png, .tif, .tiff or .bmp", path);
  };
  if (!job.sheet.empty()) check("--output", job.sheet);
  const std::string_view option = job.sheet.empty() ? "--output" : "--frames";
  const auto count = static_cast<std::int64_t>(job.sequence.empty() ? frame_count(job) : job.sequence.size());
  const auto number = [&](std::int64_t i) {
    return job.sequence.empty() ? i : job.sequence[static_cast<std::size_t>(i)].number;
  };
  const auto frame_name = [&](std::int64_t i) { return job.frames->name(number(i)); };
  if (job.frames) check(option, frame_name(0));
  if (job.linear && job.contact_sheet) {
    reject("--linear", "one distance or an output with a counter", "a contact sheet");
  }
  std::vector<OutputFiles> outputs;
  if (!job.sheet.empty()) outputs.push_back({"--output", 1, [&](std::int64_t) { return job.sheet; }});
  if (job.frames) outputs.push_back({option, count, frame_name});
  set_comparison(job, arguments, count);
  if (job.differences) {
    outputs.push_back({"--difference", count, [&](std::int64_t i) { return job.differences->name(number(i)); }});
  } else if (!job.difference.empty()) {
    outputs.push_back({"--difference", 1, [&](std::int64_t) { return job.difference; }});
  }
  std::vector<InputFile> inputs{{"--against", arguments.against},
                                {"--correction", arguments.overrides.correction},
                                {"--lut", arguments.overrides.lut}};
  for (const auto& input : all_inputs) inputs.push_back({"IN", input});
  require_outputs(outputs, inputs);
}

EyePupil pupil_at(const Viewer& viewer, PupilShape shape) {
  return {viewer.width_m, viewer.height_m, viewer.distance_m, viewer.x_m, viewer.y_m, shape};
}

/// {x, y} from "X,Y"; the last unit applies to a number without one.
std::array<double, 2> place_of(const std::string& text, std::string_view expected) {
  auto parts = list("--sweep-viewer", text, expected);
  if (parts.size() != 2) reject("--sweep-viewer", expected, text);
  if (parts[0].find_first_not_of("+-.0123456789eE") == std::string::npos) {
    const auto unit = parts[1].find_last_of("0123456789.");
    if (unit != std::string::npos) parts[0] += parts[1].substr(unit + 1);
  }
  return {distance_of("--sweep-viewer", parts[0]), distance_of("--sweep-viewer", parts[1])};
}

/// Eye positions on a line, both ends included.
std::vector<EyePupil> places_of(const std::string& text, const EyePupil& eye) {
  constexpr std::string_view expected = "X,Y:X,Y:COUNT such as -3,0mm:3,0mm:7";
  const auto first = text.find(':');
  const auto second = first == std::string::npos ? first : text.find(':', first + 1);
  if (second == std::string::npos) reject("--sweep-viewer", expected, text);
  const auto from = place_of(text.substr(0, first), expected);
  const auto to = place_of(text.substr(first + 1, second - first - 1), expected);
  const auto count = whole_number("--sweep-viewer", text.substr(second + 1), 1, most_places);
  std::vector<EyePupil> eyes(static_cast<std::size_t>(count), eye);
  for (std::size_t i = 0; i < eyes.size(); ++i) {
    const double part = count == 1 ? 0 : static_cast<double>(i) / static_cast<double>(count - 1);
    eyes[i].x_m = from[0] + (to[0] - from[0]) * part;
    eyes[i].y_m = from[1] + (to[1] - from[1]) * part;
  }
  return eyes;
}

/// Rejects options that require an eye, or exclude one.
void require_eye_options(const ReconstructArguments& arguments, bool eye) {
  constexpr std::string_view needed = "--viewer DISTANCE:SIZE[@X,Y], an eye";
  if (!eye) {
    if (!arguments.output_pitch.empty()) reject("--output-pitch", needed, arguments.output_pitch);
    if (!arguments.picture_size.empty()) reject("--picture-size", needed, arguments.picture_size);
    if (!arguments.pupil_shape.empty()) reject("--pupil-shape", needed, arguments.pupil_shape);
    if (!arguments.sweep_viewer.empty()) reject("--sweep-viewer", needed, arguments.sweep_viewer);
    return;
  }
  if (arguments.method == "fresnel") {
    reject("--method", "angular-spectrum with --viewer DISTANCE:SIZE", arguments.method);
  }
}

/// Sets the eye position of each frame and the options of its picture.
void set_eye(ReconstructJob& job, const ReconstructArguments& arguments) {
  const bool eye = !arguments.viewer.empty() && arguments.aperture.empty();
  require_eye_options(arguments, eye);
  if (!eye) return;
  if (arguments.viewer.find(':') == std::string::npos) {
    reject("--viewer", "DISTANCE:SIZE[@X,Y] such as 36mm:9.2mm@2,0mm, or DISTANCE with --aperture", arguments.viewer);
  }
  static constexpr Choice<PupilShape> shapes[] = {{"rectangle", PupilShape::rectangle},
                                                  {"ellipse", PupilShape::ellipse}};
  const auto shape =
      arguments.pupil_shape.empty() ? PupilShape::rectangle : choose("--pupil-shape", arguments.pupil_shape, shapes);
  const EyePupil pupil = pupil_at(viewer_of("--viewer", arguments.viewer), shape);
  job.pupils = {pupil};
  if (!arguments.sweep_viewer.empty()) job.pupils = places_of(arguments.sweep_viewer, pupil);
  if (!arguments.output_pitch.empty()) job.output_pitch_m = pitch_of("--output-pitch", arguments.output_pitch);
  if (!arguments.picture_size.empty()) {
    job.picture_size_m = window_size("--picture-size", arguments.picture_size, arguments.picture_size);
  }
  job.white_rule = WhiteRule::mean_and_deviation;
}

}  // namespace

std::size_t frame_count(const ReconstructJob& job) {
  return std::max({job.distances_m.size(), job.pupils.size(), std::size_t{1}});
}

const EyePupil& pupil_of(const ReconstructJob& job, std::size_t frame) {
  return job.pupils[job.pupils.size() == 1 ? 0 : frame];
}

ReconstructJob light_job(const ReconstructArguments& arguments) {
  ReconstructJob job;
  job.console = arguments.console;
  job.overrides = arguments.overrides;
  job.linear = arguments.linear;
  if (!arguments.distance.empty()) job.distances_m = {distance_of("--distance", arguments.distance)};
  if (!arguments.sweep.empty()) job.distances_m = sweep_of(arguments.sweep);
  if (!arguments.aperture.empty()) {
    job.aperture = aperture_of("--aperture", arguments.aperture);
    if (!arguments.viewer.empty()) {
      job.aperture->distance_m = length_between("--viewer", arguments.viewer, least_length_m, most_distance_m);
    }
  }
  set_eye(job, arguments);
  static constexpr Choice<PropagationMethod> methods[] = {{"auto", PropagationMethod::automatic},
                                                          {"angular-spectrum", PropagationMethod::angular_spectrum},
                                                          {"fresnel", PropagationMethod::fresnel}};
  job.method = choose("--method", arguments.method, methods);
  job.overrides.distance_given = !job.distances_m.empty();
  set_white(job, arguments.white);
  job.gamma = number_between("--gamma", arguments.gamma, gamma_range);
  auto [inputs, sequence, subframes] = hologram_inputs(arguments.inputs);
  job.inputs = std::move(inputs);
  job.subframes = std::move(subframes);
  job.sequence = std::move(sequence);
  set_shown(job, arguments);
  job.device_name = arguments.device;
  job.devices = devices_option(arguments.device, arguments.console);
  job.device = job.devices.front();
  if (job.pupils.size() < 2) {
    require_one_device(job.devices, "one device, or several positions of an eye (--sweep-viewer)", "reconstruct");
  }
  return job;
}

ReconstructJob reconstruct_job(const ReconstructArguments& arguments) {
  ReconstructJob job = light_job(arguments);
  job.tile_width = whole_number("--tile-width", arguments.tile_width, tile_range);
  set_outputs(job, arguments);
  job.writing.compression = compression_of(arguments.compression);
  return job;
}

}  // namespace holotone::cli
