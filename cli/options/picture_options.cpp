#include <cli/options/picture_options.hpp>
#include <fmt/format.h>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/tiff_pages_detail.hpp>

namespace holotone::cli {
namespace {

constexpr std::string_view image_name = "--image";
constexpr std::string_view stack_name = "--stack";

std::array<double, 2> depth_range(std::string_view option, const std::string& text) {
  constexpr std::string_view expected = "two distances NEAR,FAR such as 18cm,22cm";
  const auto pieces = list(option, text, expected);
  if (pieces.size() != 2) reject(option, expected, text);
  const std::array<double, 2> range{distance_of(option, pieces[0]), distance_of(option, pieces[1])};
  if (range[0] == range[1]) reject(option, "two distances that differ", text);
  return range;
}

StereoCamera stereo_camera(std::string_view option, const std::string& text) {
  constexpr std::string_view expected = "FOCAL_PX,BASELINE[,DOFFS] such as 994.978,193mm,31.086";
  constexpr double max_px = 1e6;
  const auto pieces = list(option, text, expected);
  if (pieces.size() < 2 || pieces.size() > 3) reject(option, expected, text);
  StereoCamera camera;
  camera.focal_px = number_between(option, pieces[0], 1, max_px);
  camera.baseline_m = length_between(option, pieces[1], min_length_m, max_distance_m);
  if (pieces.size() == 3) camera.offset_px = number_between(option, pieces[2], -max_px, max_px);
  return camera;
}

HoleCode hole_code(std::string_view option, const std::string& text) {
  if (text == "none") return {.by_range = false};
  if (text == "far") return {.far = true};
  return {.by_range = false, .code = number_between(option, text, 0, 1e30)};
}

DepthUnit depth_unit(std::string_view option, const std::string& text) {
  if (const auto unit = parse_depth_unit(text)) return *unit;
  reject(option, "a length, pixels or one over a length, such as 1mm, '1/5000 m', '1/256 px' or 1/m", text);
}

/// Distances of `count` pages: one of each, or those of the first and the last of evenly spaced ones.
std::vector<double> page_distances(const std::string& text, const std::string& distances, std::size_t count) {
  std::vector<double> found_m;
  for (const auto& piece : list(stack_name, distances, "distances such as 18cm,22cm")) {
    found_m.push_back(distance_of(stack_name, piece));
  }
  if (found_m.size() == count) return found_m;
  if (found_m.size() != 2 || count < 2) {
    reject(stack_name,
           count == 1 ? std::string("one distance for one picture")
                      : fmt::format("distances of the first and the last of {} pages, or of each", count),
           text);
  }
  std::vector<double> spaced_m;
  const auto steps = static_cast<double>(count - 1);
  for (std::size_t i = 0; i < count; ++i) {
    const auto step = static_cast<double>(i);
    spaced_m.push_back((found_m[0] * (steps - step) + found_m[1] * step) / steps);
  }
  return spaced_m;
}

}  // namespace

std::vector<OptionRow> picture_option_rows(PictureOptions& options, const Bounds& layers) {
  auto& picture = options.picture;
  const auto got = [&options] { return std::string(options.stack.empty() ? "none" : stack_name); };
  const Applies with_depth{[&picture] { return !picture.depth.empty(); },
                           "a picture with --image and its depth map with --depth", got};
  return {
      {.names = image_name,
       .target = &picture.image,
       .value = "FILE",
       .help = "Picture instead of IN; flat, or in layers by --depth",
       .common = true,
       .instead_of = "IN"},
      {.names = stack_name,
       .target = &options.stack,
       .value = "FILE@DISTANCE ...",
       .help = "Flat pictures instead of IN, each at its distance: near.png@18cm far.png@22cm; pages of a TIFF from "
               "the first's to the last's: s.tif@18cm,22cm",
       .excludes = image_name,
       .instead_of = "IN"},
      {.names = "--depth",
       .target = &picture.depth,
       .value = "FILE",
       .help =
           "Depth map of --image: codes with --depth-range or --depth-unit, or metres in NPY, NPZ, PFM, EXR or float "
           "TIFF",
       .common = true,
       .applies = {[&options] { return options.stack.empty(); }, "a picture with --image", got}},
      {.names = "--depth-range",
       .target = parsed_member<&PlacedPicture::depth_range_m>(picture, depth_range),
       .value = "NEAR,FAR",
       .help = "Distances of code 0 (by default a hole) and the largest code, or of least and largest depth",
       .applies = with_depth},
      {.names = "--depth-unit",
       .target = parsed_member<&PlacedPicture::unit>(picture, depth_unit),
       .value = "UNIT",
       .help = "What the value 1 of --depth is: 1mm, '1/5000 m'; '1/256 px' with --disparity; 1/m with --depth-kind "
               "inverse",
       .otherwise = "as a TIFF states (GDAL, ImageJ), or metres; codes: by --depth-range",
       .applies = with_depth},
      {.names = "--depth-kind",
       .target = member<&PlacedPicture::kind>(picture),
       .value = "NAME",
       .help = "Values of --depth: depth, or inverse (1 / depth, larger is nearer)",
       .applies = with_depth},
      {.names = "--layers",
       .target = member<&PlacedPicture::layers>(picture, layers),
       .value = "N",
       .help = "Number of layers that the depth is divided into",
       .applies = with_depth},
      {.names = "--layer-spacing",
       .target = member<&PlacedPicture::spacing>(picture),
       .value = "NAME",
       .help = "Spacing of the layers: inverse (even in 1/distance) or distance",
       .otherwise = "inverse; distance if the scene touches the panel",
       .feeds = "slice_picture.spacing",
       .applies = with_depth},
      {.names = "--disparity",
       .target = parsed(picture.camera, stereo_camera),
       .value = "F,B[,DOFFS]",
       .help = "Stereo camera of a disparity map as --depth: focal length in pixels, baseline, offset in pixels",
       .applies = with_depth},
      {.names = "--depth-hole",
       .target = parsed_member<&PlacedPicture::hole>(picture, hole_code),
       .value = "CODE",
       .help = "Value of pixels without depth, none, or far: background that squeezes the rest into one layer",
       .otherwise = "0; none if --depth-range decreases",
       .applies = with_depth}};
}

std::vector<PlacedPicture> stack_jobs(const PictureOptions& options) {
  constexpr std::string_view expected = "PICTURE@DISTANCE such as far.png@22cm";
  if (options.picture.distance_given) reject("--distance", "a picture with --image", stack_name);
  std::vector<PlacedPicture> jobs;
  for (const auto& text : options.stack) {
    const auto at = text.rfind('@');
    if (at == std::string::npos || at == 0) reject(stack_name, expected, text);
    io::require_input(text.substr(0, at));
    const auto images = io::page_names(text.substr(0, at));
    const auto distances_m = page_distances(text, text.substr(at + 1), images.size());
    for (std::size_t i = 0; i < images.size(); ++i) {
      PlacedPicture job;
      job.image = images[i];
      job.distance_m = distances_m[i];
      jobs.push_back(std::move(job));
    }
  }
  return jobs;
}

}  // namespace holotone::cli
