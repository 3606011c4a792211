#include <algorithm>
#include <cli/common/memory_limit.hpp>
#include <cli/common/paths.hpp>
#include <cli/common/values.hpp>
#include <cli/hologram/common/memory_estimate.hpp>
#include <cli/hologram/layers/layers_options.hpp>

namespace holotone::cli {
namespace {

constexpr const char* layer_option_names[] = {"--depth",     "--layers",     "--layer-spacing", "--depth-range",
                                              "--disparity", "--depth-hole", "--phase"};
constexpr const char* point_options[] = {
    "--keep-coordinates", "--turn",     "--tilt",   "--points", "--hide",      "--hide-cell",     "--light",
    "--random-phase",     "--skip-bad", "--method", "--wave",   "--tolerance", "--no-band-limit", "--spin",
    "--rows-at-once"};
/// Upper bound above the number of depths that a panel resolves.
constexpr Range layers_range = count_range(1, 4096);

bool is_picture(const std::string& path) {
  constexpr std::string_view known[] = {".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp"};
  return std::ranges::find(known, extension_of(path)) != std::end(known);
}

bool is_given(const LayerArguments& arguments, const char* option) { return arguments.given.contains(option); }

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

void refuse_unused(const LayerArguments& arguments) {
  if (!arguments.depth.empty()) return;
  for (const char* option : {"--layers", "--layer-spacing", "--depth-range", "--disparity", "--depth-hole"}) {
    if (is_given(arguments, option)) reject(option, "a depth map with --depth", "none");
  }
}

/// Bytes per pixel of the panel in addition to the written data: the field, its padded copy, the picture, the plane of
/// a layer in front, the codes.
constexpr double picture_bytes = 6;
constexpr double layer_bytes = 8 + 32 + picture_bytes + 8 + 2;

void require_memory_for_layers(const HologramJob& job, std::size_t pictures) {
  const auto& panel = job.panel;
  const double pixels = static_cast<double>(panel.nx) * static_cast<double>(panel.ny);
  const double others = picture_bytes * static_cast<double>(pictures - 1);
  const double layers = pixels * (others + (job.device.backend == Backend::cpu ? layer_bytes : 0));
  require_memory(panel.name == "custom" ? "--resolution" : "--panel", layers + written_bytes_for(job),
                 fmt::format("layers of {} x {} pixels", panel.nx, panel.ny),
                 pictures == 1 ? "--hogel 512 computes it hogel by hogel in little memory" : "");
}

/// Flat pictures, each at its distance.
std::vector<PictureJob> stack_jobs(const HologramArguments& arguments, const LayerArguments& layers) {
  constexpr std::string_view expected = "PICTURE@DISTANCE such as far.png@22cm";
  refuse_point_options(layers, "--stack");
  for (const char* option :
       {"--depth", "--layers", "--layer-spacing", "--depth-range", "--disparity", "--depth-hole", "--distance"}) {
    if (is_given(layers, option)) reject(option, "a picture with --image", "--stack");
  }
  std::vector<PictureJob> jobs;
  for (const auto& text : layers.stack) {
    const auto at = text.rfind('@');
    if (at == std::string::npos || at == 0) reject("--stack", expected, text);
    PictureJob job;
    job.image = text.substr(0, at);
    job.layers = 1;
    job.size_m = scene_options(arguments.scene).placement.size_m;
    job.distance_m = distance_of("--stack", text.substr(at + 1));
    jobs.push_back(std::move(job));
  }
  return jobs;
}

}  // namespace

std::vector<OptionRow> layer_options(LayerArguments& a) {
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
           .range = layers_range},
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
           .otherwise = "0; none if --depth-range decreases"},
          {.names = "--phase",
           .target = &a.phase,
           .value = "NAME",
           .help = "Phase of the layers: random (fills the pupil, with speckle) or smooth"}};
}

void refuse_layer_options(const LayerArguments& arguments, const std::string& input) {
  for (const char* option : layer_option_names) {
    if (is_given(arguments, option)) {
      reject(option, is_picture(input) ? "--image " + input : std::string("a picture with --image"),
             input.empty() ? "none" : "IN, " + input);
    }
  }
  if (is_picture(input)) reject("IN", "points or a mesh, or --image " + input, input);
}

void refuse_point_options(const LayerArguments& arguments, const std::string& source) {
  for (const char* option : point_options) {
    if (is_given(arguments, option)) reject(option, "points or a mesh", source);
  }
}

PictureJob picture_job(const HologramArguments& arguments, const LayerArguments& layers) {
  refuse_point_options(layers, "--image " + layers.image);
  refuse_unused(layers);
  PictureJob job;
  job.image = layers.image;
  job.depth = layers.depth;
  job.layers = static_cast<int>(whole_number("--layers", layers.layers, layers_range));
  static constexpr Choice<LayerSpacing> spacings[] = {{"inverse", LayerSpacing::inverse_distance},
                                                      {"distance", LayerSpacing::distance}};
  if (!layers.spacing.empty()) job.spacing = choose("--layer-spacing", layers.spacing, spacings);
  if (!layers.depth_range.empty()) job.depth_range_m = range_of(layers.depth_range);
  if (!layers.disparity.empty()) job.camera = camera_of(layers.disparity);
  job.hole = hole_of(layers.hole);
  const auto placement = scene_options(arguments.scene).placement;
  job.size_m = placement.size_m;
  job.distance_m = placement.distance_m;
  job.distance_given = is_given(layers, "--distance");
  return job;
}

LayerJob layer_job(const HologramArguments& arguments, const LayerArguments& layers) {
  LayerJob job;
  job.pictures = layers.stack.empty() ? std::vector{picture_job(arguments, layers)} : stack_jobs(arguments, layers);
  job.hologram = hologram_job(arguments);
  static constexpr Choice<LayerPhase> phases[] = {{"random", LayerPhase::random}, {"smooth", LayerPhase::smooth}};
  job.phase = choose("--phase", layers.phase, phases);
  require_memory_for_layers(job.hologram, job.pictures.size());
  return job;
}

}  // namespace holotone::cli
