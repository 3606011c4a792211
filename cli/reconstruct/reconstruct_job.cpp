#include <algorithm>
#include <cli/common/output_check.hpp>
#include <cli/common/values.hpp>
#include <cli/reconstruct/eye_view.hpp>
#include <cli/reconstruct/reconstruct_job.hpp>

namespace holotone::cli {
namespace {

constexpr std::int64_t most_distances = 10'000;

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

/// The viewer's pupil from "X,Y:DIAMETER" or "DIAMETER" and the viewer's distance.
Aperture aperture_of(const std::string& text, const std::string& viewer) {
  constexpr std::string_view expected = "X,Y:DIAMETER such as 5mm,0mm:3mm, or DIAMETER";
  Aperture aperture;
  if (!viewer.empty()) aperture.distance_m = length_between("--viewer", viewer, least_length_m, most_distance_m);
  const auto colon = text.find(':');
  if (colon == std::string::npos) {
    if (text.find(',') != std::string::npos) reject("--aperture", expected, text);
    aperture.diameter_m = length_between("--aperture", text, least_length_m, most_distance_m);
    return aperture;
  }
  const auto centre = list("--aperture", text.substr(0, colon), expected);
  if (centre.size() != 2) reject("--aperture", expected, text);
  aperture.x_m = distance_of("--aperture", centre[0]);
  aperture.y_m = distance_of("--aperture", centre[1]);
  aperture.diameter_m = length_between("--aperture", text.substr(colon + 1), least_length_m, most_distance_m);
  return aperture;
}

/// More than one picture of each hologram is asked for.
bool is_sweep(const ReconstructArguments& arguments) {
  return !arguments.sweep.empty() || !arguments.sweep_viewer.empty();
}

/// Numbered holograms become numbered pictures.
void check_sequence(const ReconstructJob& job, const ReconstructArguments& arguments) {
  const std::string_view sweep = arguments.sweep.empty() ? "--sweep-viewer" : "--sweep";
  if (is_sweep(arguments)) reject(sweep, "one hologram, not numbered ones", arguments.inputs.front());
  if (!arguments.frames.empty()) reject("--frames", "one hologram, not numbered ones", arguments.inputs.front());
  if (!job.frames) reject("--output", "a counter such as %04d for numbered holograms", arguments.output);
}

/// An intensity, or a rule by name.
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
  const auto frame_name = [&](std::int64_t i) {
    return job.frames->name(job.sequence.empty() ? i : job.sequence[static_cast<std::size_t>(i)].number);
  };
  if (job.frames) check(option, frame_name(0));
  if (job.linear && job.contact_sheet) {
    reject("--linear", "one distance or an output with a counter", "a contact sheet");
  }
  std::vector<OutputFiles> outputs;
  if (!job.sheet.empty()) outputs.push_back({"--output", 1, [&](std::int64_t) { return job.sheet; }});
  if (job.frames) outputs.push_back({option, count, frame_name});
  std::vector<InputFile> inputs{{"--correction", arguments.overrides.correction}, {"--lut", arguments.overrides.lut}};
  for (const auto& input : all_inputs) inputs.push_back({"IN", input});
  require_outputs(outputs, inputs);
}

}  // namespace

std::size_t frame_count(const ReconstructJob& job) {
  return std::max({job.distances_m.size(), job.pupils.size(), std::size_t{1}});
}

ReconstructJob reconstruct_job(const ReconstructArguments& arguments) {
  ReconstructJob job;
  job.console = arguments.console;
  job.overrides = arguments.overrides;
  job.linear = arguments.linear;
  if (!arguments.distance.empty()) job.distances_m = {distance_of("--distance", arguments.distance)};
  if (!arguments.sweep.empty()) job.distances_m = sweep_of(arguments.sweep);
  if (!arguments.aperture.empty()) job.aperture = aperture_of(arguments.aperture, arguments.viewer);
  set_eye(job, arguments);
  static constexpr Choice<PropagationMethod> methods[] = {{"auto", PropagationMethod::automatic},
                                                          {"angular-spectrum", PropagationMethod::angular_spectrum},
                                                          {"fresnel", PropagationMethod::fresnel}};
  job.method = choose("--method", arguments.method, methods);
  job.overrides.distance_given = !job.distances_m.empty();
  job.tile_width = whole_number("--tile-width", arguments.tile_width, tile_range);
  set_white(job, arguments.white);
  job.gamma = number_between("--gamma", arguments.gamma, gamma_range);
  auto [inputs, sequence] = hologram_inputs(arguments.inputs);
  job.inputs = std::move(inputs);
  job.sequence = std::move(sequence);
  set_outputs(job, arguments);
  job.device = parse_device(arguments.device);
  return job;
}

}  // namespace holotone::cli
