#include <cli/common/picture_options.hpp>

namespace holotone::cli {
namespace {

/// Upper bound above the number of depths that a panel resolves.

bool is_given(const PictureArguments& arguments, const char* option) { return arguments.given.contains(option); }

std::array<double, 2> range_of(const std::string& text) {
  constexpr std::string_view expected = "two distances NEAR,FAR such as 18cm,22cm";
  const auto pieces = list("--depth-range", text, expected);
  if (pieces.size() != 2) reject("--depth-range", expected, text);
  const std::array<double, 2> range{distance_of("--depth-range", pieces[0]), distance_of("--depth-range", pieces[1])};
  if (range[0] == range[1]) reject("--depth-range", "two distances that differ", text);
  return range;
}

StereoCamera camera_of(const std::string& text) {
  constexpr std::string_view expected = "FOCAL_PX,BASELINE[,DOFFS] such as 994.978,193mm,31.086";
  constexpr double most_px = 1e6;
  const auto pieces = list("--disparity", text, expected);
  if (pieces.size() < 2 || pieces.size() > 3) reject("--disparity", expected, text);
  StereoCamera camera;
  camera.focal_px = number_between("--disparity", pieces[0], 1, most_px);
  camera.baseline_m = length_between("--disparity", pieces[1], least_length_m, most_distance_m);
  if (pieces.size() == 3) camera.offset_px = number_between("--disparity", pieces[2], -most_px, most_px);
  return camera;
}

HoleCode hole_of(const std::string& text) {
  if (text.empty()) return {};
  if (text == "none") return {false, std::nullopt};
  constexpr std::int64_t largest_code = 65535;
  return {false, whole_number("--depth-hole", text, 0, largest_code)};
}

void refuse_unused(const PictureArguments& arguments) {
  if (!arguments.depth.empty()) return;
  for (const char* option : {"--layers", "--layer-spacing", "--depth-range", "--disparity", "--depth-hole"}) {
    if (is_given(arguments, option)) reject(option, "a depth map with --depth", "none");
  }
}

}  // namespace

std::vector<OptionRow> picture_option_rows(PictureArguments& a) {
  return {{.names = "--image",
           .target = &a.image,
           .value = "FILE",
           .help = "Picture instead of IN; flat, or in layers by --depth",
           .common = true,
           .instead_of = "IN"},
          {.names = "--stack",
           .target = &a.stack,
           .value = "FILE@DISTANCE ...",
           .help = "Flat pictures instead of IN, each at its distance: near.png@18cm far.png@22cm",
           .excludes = "--image",
           .instead_of = "IN"},
          {.names = "--depth",
           .target = &a.depth,
           .value = "FILE",
           .help = "Depth map of --image: 8 or 16-bit codes with --depth-range, or metres in NPY, NPZ or float TIFF",
           .common = true},
          {.names = "--depth-range",
           .target = &a.depth_range,
           .value = "NEAR,FAR",
           .help = "Distances of code 0 (by default a hole) and the largest code, or of least and largest depth"},
          {.names = "--layers",
           .target = &a.layers,
           .value = "N",
           .help = "Number of layers that the depth is divided into",
           .range = count_range(1, a.most_layers)},
          {.names = "--layer-spacing",
           .target = &a.spacing,
           .value = "NAME",
           .help = "Spacing of the layers: inverse (even in 1/distance) or distance",
           .otherwise = "inverse; distance if the scene touches the panel",
           .feeds = "slice_picture.spacing"},
          {.names = "--disparity",
           .target = &a.disparity,
           .value = "F,B[,DOFFS]",
           .help = "Stereo camera of a disparity map as --depth: focal length in pixels, baseline, offset in pixels"},
          {.names = "--depth-hole",
           .target = &a.hole,
           .value = "CODE",
           .help = "Code of pixels without depth, or none",
           .otherwise = "0; none if --depth-range decreases"}};
}

PictureJob picture_job(const PictureArguments& arguments) {
  refuse_unused(arguments);
  PictureJob job;
  job.image = arguments.image;
  job.depth = arguments.depth;
  job.layers = static_cast<int>(whole_number("--layers", arguments.layers, 1, arguments.most_layers));
  static constexpr Choice<LayerSpacing> spacings[] = {{"inverse", LayerSpacing::inverse_distance},
                                                      {"distance", LayerSpacing::distance}};
  if (!arguments.spacing.empty()) job.spacing = choose("--layer-spacing", arguments.spacing, spacings);
  if (!arguments.depth_range.empty()) job.depth_range_m = range_of(arguments.depth_range);
  if (!arguments.disparity.empty()) job.camera = camera_of(arguments.disparity);
  job.hole = hole_of(arguments.hole);
  job.distance_given = is_given(arguments, "--distance");
  return job;
}

std::vector<PictureJob> stack_jobs(const PictureArguments& arguments) {
  constexpr std::string_view expected = "PICTURE@DISTANCE such as far.png@22cm";
  for (const char* option :
       {"--depth", "--layers", "--layer-spacing", "--depth-range", "--disparity", "--depth-hole", "--distance"}) {
    if (is_given(arguments, option)) reject(option, "a picture with --image", "--stack");
  }
  std::vector<PictureJob> jobs;
  for (const auto& text : arguments.stack) {
    const auto at = text.rfind('@');
    if (at == std::string::npos || at == 0) reject("--stack", expected, text);
    PictureJob job;
    job.image = text.substr(0, at);
    job.distance_m = distance_of("--stack", text.substr(at + 1));
    jobs.push_back(std::move(job));
  }
  return jobs;
}

LayerSpacing spacing_of(const PictureJob& job, double nearest_m, double farthest_m) {
  const bool crosses = nearest_m <= 0 && farthest_m >= 0;
  if (crosses && job.spacing == LayerSpacing::inverse_distance) {
    reject("--layer-spacing", "distance for a scene that touches or crosses the panel's plane", "inverse");
  }
  return job.spacing.value_or(crosses ? LayerSpacing::distance : LayerSpacing::inverse_distance);
}

}  // namespace holotone::cli
