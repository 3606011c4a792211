#include "reconstruct_job.hpp"
#include "values.hpp"
#include <algorithm>
#include <filesystem>

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
  aperture.distance_m = length_between("--viewer", viewer, least_length_m, most_distance_m);
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

/// The files meant: as typed, or the three that a name with %c stands for.
std::vector<std::string> inputs_of(const std::vector<std::string>& typed) {
  std::vector<std::string> inputs = typed;
  if (typed.size() == 1 && typed.front().find("%c") != std::string::npos && !std::filesystem::exists(typed.front())) {
    inputs = {channel_path(typed.front(), "r"), channel_path(typed.front(), "g"), channel_path(typed.front(), "b")};
  }
  if (inputs.size() != 1 && inputs.size() != 3) {
    reject("IN", "one hologram, or three for red, green and blue", std::to_string(inputs.size()) + " files");
  }
  for (const auto& input : inputs) {
    require_input(input);
    if (std::count(inputs.begin(), inputs.end(), input) > 1) {
      throw Error(
          ErrorCode::invalid_argument,
          fmt::format("IN: expected three different files for red, green and blue, got {} more than once", input));
    }
  }
  return inputs;
}

void set_outputs(ReconstructJob& job, const ReconstructArguments& arguments) {
  job.frames = frame_pattern("--output", arguments.output);
  if (!job.frames) job.sheet = arguments.output;
  job.contact_sheet = !job.sheet.empty() && !arguments.sweep.empty();
  if (!arguments.frames.empty()) {
    if (job.frames) reject("--frames", "--output without a counter beside it", arguments.output);
    job.frames = frame_pattern("--frames", arguments.frames);
    if (!job.frames) reject("--frames", "a name with a counter such as out_%03d.png", arguments.frames);
  }
  const auto check = [&](std::string_view option, const std::string& path) {
    const auto extension = extension_of(path);
    const bool tiff = extension == ".tif" || extension == ".tiff";
    if (job.linear) {
      if (!tiff && extension != ".npy") reject(option, "a name ending in .tif or .npy for --linear", path);
    } else if (!tiff && extension != ".png" && extension != ".bmp")
      reject(option, "a name ending in .png, .tif or .bmp", path);
    require_output(option, path);
    require_distinct(option, {path}, job.inputs);
  };
  if (!job.sheet.empty()) check("--output", job.sheet);
  const std::string_view option = job.sheet.empty() ? "--output" : "--frames";
  const std::size_t count = std::max<std::size_t>(job.distances_m.size(), 1);
  for (std::size_t i = 0; job.frames && i < count; ++i) check(option, job.frames->name(static_cast<std::int64_t>(i)));
  if (job.linear && job.contact_sheet) {
    reject("--linear", "one distance or an output with a counter", "a contact sheet");
  }
}

}  // namespace

ReconstructJob reconstruct_job(const ReconstructArguments& arguments) {
  ReconstructJob job;
  job.console = arguments.console;
  job.overrides = arguments.overrides;
  job.linear = arguments.linear;
  if (!arguments.distance.empty()) job.distances_m = {distance_of("--distance", arguments.distance)};
  if (!arguments.sweep.empty()) job.distances_m = sweep_of(arguments.sweep);
  if (!arguments.aperture.empty()) job.aperture = aperture_of(arguments.aperture, arguments.viewer);
  static constexpr Choice<PropagationMethod> methods[] = {{"auto", PropagationMethod::automatic},
                                                          {"angular-spectrum", PropagationMethod::angular_spectrum},
                                                          {"fresnel", PropagationMethod::fresnel}};
  job.method = choose("--method", arguments.method, methods);
  job.overrides.distance_given = !job.distances_m.empty();
  job.tile_width = whole_number("--tile-width", arguments.tile_width, 32, 65536);
  if (!arguments.white.empty()) job.white = static_cast<float>(positive_number("--white", arguments.white));
  job.gamma = positive_number("--gamma", arguments.gamma);
  job.inputs = inputs_of(arguments.inputs);
  set_outputs(job, arguments);
  job.device = parse_device(arguments.device);
  return job;
}

}  // namespace holotone::cli
