#include <algorithm>
#include <cli/common/code_levels.hpp>
#include <cli/common/codes_writer.hpp>
#include <cli/common/compression_option.hpp>
#include <cli/common/device_option.hpp>
#include <cli/common/paths.hpp>
#include <cli/common/smoe_views.hpp>
#include <cli/common/values.hpp>
#include <cli/common/viewer_option.hpp>
#include <cli/hologram/stereogram/stereogram_options.hpp>
#include <cmath>
#include <span>

namespace holotone::cli {
namespace {

constexpr const char* hogel_options[] = {"--hogel", "--fringe", "--viewer", "--scale"};
constexpr const char* view_options[] = {"--view-depths", "--rows", "--view-distance", "--camera-pitch",
                                        "--camera-span"};
constexpr const char* picture_options[] = {"--depth", "--layer-spacing", "--depth-range", "--disparity",
                                           "--depth-hole"};
/// Options of waves through whole layers.
constexpr const char* wave_options[] = {"--phase"};
/// Options of codes of a whole field: not for holograms that are written row by row.
constexpr const char* whole_options[] = {"--lut",     "--phase-range", "--amplitude-range", "--reference-angle",
                                         "--carrier", "--correction",  "--packed16"};

bool is_given(const StereogramArguments& arguments, const char* option) { return arguments.given.contains(option); }

bool is_model_name(const std::string& path) {
  const auto extension = extension_of(path);
  return extension == ".smoe" || extension == ".json" || extension == ".npz";
}

/// Names of pictures with metadata.
bool is_name_of_codes(const std::string& path) {
  const auto extension = extension_of(path);
  return extension == ".png" || extension == ".tif" || extension == ".tiff";
}

/// A field, or codes quantized hogel by hogel if --scale is given. A monitor shows either, the field encoded as that of
/// points is; hologram_job checks its options.
void check_output(const HologramArguments& arguments, const StereogramArguments& stereogram) {
  const bool codes = is_name_of_codes(arguments.output);
  const bool shown = names_monitor(arguments.output);
  const auto extension = extension_of(arguments.output);
  if (!stereogram.scale.empty()) {
    if (!codes && !shown)
      reject("--scale", "a name ending in .png, .tif or .tiff for codes after -o", arguments.output);
    if (stereogram.viewer.empty()) reject("--viewer", "a viewing window such as 36mm:9.2mm for codes", "none");
  } else if (!shown && !arguments.encoding.empty() && arguments.encoding != "complex") {
    reject("--encode", "complex for holograms computed hogel by hogel; `holotone quantize` converts the field to codes",
           arguments.encoding);
  } else if (!shown && extension != ".h5" && extension != ".hdf5" && extension != ".npy") {
    reject("--output",
           fmt::format("a name ending in .h5, .hdf5 or .npy for holograms computed hogel by hogel; `holotone quantize` "
                       "converts the field to codes{}",
                       codes ? ", or --scale and --viewer do so in one pass" : ""),
           arguments.output);
  }
  require_known_counters("--output", arguments.output, !arguments.rgb.empty());
  if (frame_pattern("--output", arguments.output)) {
    reject("--output", "a name without a counter for one stereogram", arguments.output);
  }
}

/// Limit of StereogramOptions::layers.
constexpr std::int64_t most_hogel_layers = 255;

/// Defaults follow from the panel and the viewing window: docs/stereograms.md.
ViewGeometry geometry_of(const StereogramJob& job, const HologramArguments& arguments,
                         const StereogramArguments& stereogram) {
  const double width = static_cast<double>(job.panel.nx) * job.panel.pitch_m;
  const auto& viewer = job.options.viewer;
  ViewGeometry geometry;
  geometry.distance_m = distance_of("--distance", arguments.scene.distance);
  // Centred on the axis, out to the far side of the window.
  geometry.camera_span_m =
      viewer ? 2 * std::max(std::abs(viewer->x_m) + viewer->width_m / 2, std::abs(viewer->y_m) + viewer->height_m / 2)
             : width / 2;
  if (!stereogram.camera_span.empty()) {
    geometry.camera_span_m = length_between("--camera-span", stereogram.camera_span, least_length_m, most_distance_m);
  }
  if (!stereogram.camera_pitch.empty()) {
    if (job.model)
      reject("--camera-pitch", "--camera-span for a model, which has no number of cameras", stereogram.camera_pitch);
    geometry.camera_pitch_m =
        length_between("--camera-pitch", stereogram.camera_pitch, least_length_m, most_distance_m);
  }
  if (!stereogram.view_distance.empty()) {
    geometry.view_distance_m =
        length_between("--view-distance", stereogram.view_distance, least_length_m, most_distance_m);
  } else if (viewer) {
    geometry.view_distance_m = viewer->distance_m;
  } else {
    // Smallest distance at which every hogel's light reaches every camera.
    double sine = 1;
    const double fringe = job.options.fringe_m > 0 ? job.options.fringe_m : 2 * job.panel.pitch_m;
    for (const auto& channel : job.channels) sine = std::min(sine, channel.wavelength_m / fringe);
    const double slope = sine < 0.9999 ? sine / std::sqrt(1 - sine * sine) : 70;
    geometry.view_distance_m = (width + geometry.camera_span_m) / (2 * slope);
  }
  if (!(geometry.distance_m > -geometry.view_distance_m)) {
    reject("--distance",
           fmt::format("more than {}, behind the cameras' plane", format_length(-geometry.view_distance_m)),
           arguments.scene.distance);
  }
  // As wide as the panel, seen from the middle camera.
  geometry.size_m = is_given(stereogram, "--size")
                        ? length_between("--size", arguments.scene.size, least_length_m, most_distance_m)
                        : width * (geometry.view_distance_m + geometry.distance_m) / geometry.view_distance_m;
  return geometry;
}

void set_hogels(StereogramJob& job, const HologramArguments& arguments, const StereogramArguments& stereogram) {
  auto& options = job.options;
  options.grid = {job.panel.nx, job.panel.ny, job.panel.pitch_m, job.channels.front().wavelength_m};
  // A larger hogel would only compute more pixels beyond the panel.
  constexpr std::int64_t largest_hogel = 32768;
  const std::int64_t most = std::min(largest_hogel, 2 * std::max<std::int64_t>({job.panel.nx, job.panel.ny, 2}));
  job.hogel_given = !stereogram.hogel.empty();
  if (job.hogel_given) options.hogel_px = whole_number("--hogel", stereogram.hogel, 2, most);
  if (!stereogram.fringe.empty()) {
    // Tolerance for rounding: 1.5um is two pixels of 750nm.
    options.fringe_m = length_between("--fringe", stereogram.fringe, 2 * job.panel.pitch_m * (1 - 1e-9), most_length_m);
  }
  if (!stereogram.viewer.empty()) options.viewer = viewer_of("--viewer", stereogram.viewer);
  options.seed = scene_options(arguments.scene).seed;
}

void set_layers(StereogramOptions& options, std::int64_t count) {
  options.method = count > 0 ? StereogramMethod::layered : StereogramMethod::flat;
  options.layers = static_cast<int>(std::clamp<std::int64_t>(count, 1, most_hogel_layers));
}

void set_views(StereogramJob& job, const HologramArguments& arguments, const StereogramArguments& stereogram,
               const LayerArguments& layers) {
  job.views = stereogram.views;
  job.depths = stereogram.depths;
  job.model = is_model_name(job.views);
  job.rows = stereogram.rows;
  (void)view_rows(job.rows);
  if (!job.model && !names_views(job.views, "--views")) {
    reject("--views", "a name with %u, or %u and %v, or a model (.smoe, .json, .npz)", job.views);
  }
  if (job.model && !job.depths.empty()) reject("--view-depths", "pictures as --views", job.views);
  job.geometry = geometry_of(job, arguments, stereogram);
  std::int64_t count = job.options.layers;
  if (is_given(stereogram, "--layers")) {
    count = whole_number("--layers", layers.layers, 0, most_hogel_layers);
  } else if (job.geometry.distance_m == 0 && job.depths.empty()) {
    count = 0;  // a picture in the panel's own plane has no depth within a hogel
  }
  set_layers(job.options, count);
}

void set_picture(StereogramJob& job, const HologramArguments& arguments, const LayerArguments& layers) {
  job.picture = picture_job(arguments, layers);
  job.views = job.picture->image;
  set_layers(job.options, job.picture->depth.empty() && job.picture->distance_m == 0 ? 0 : most_hogel_layers);
}

}  // namespace

bool StereogramJob::writes_rows() const { return !shown && (!codes || CodesWriter::takes_any_order(output, writing)); }

StereogramOptions StereogramJob::options_for(const Channel& channel) const {
  StereogramOptions own = options;
  own.grid.wavelength_m = channel.wavelength_m;
  return own;
}

std::int64_t StereogramJob::hogel_for(double nearest_m) const {
  constexpr std::int64_t least = 16;
  constexpr std::int64_t most = 1024;
  double wavelength_m = channels.front().wavelength_m;
  for (const auto& channel : channels) wavelength_m = std::min(wavelength_m, channel.wavelength_m);
  // At least four hogels across the panel.
  const double limit = std::min(wavelength_m * std::abs(nearest_m) / (4 * panel.pitch_m * panel.pitch_m),
                                static_cast<double>(std::max(panel.nx, panel.ny)) / 4);
  std::int64_t side = least;
  while (side < most && static_cast<double>(2 * side) <= limit) side *= 2;
  return side;
}

std::string StereogramJob::output_of(const Channel& channel) const {
  return channel.name.empty() || shown ? output : channel_path(output, channel.name);
}

std::vector<OptionRow> stereogram_options(StereogramArguments& a) {
  return {
      {.names = "--views",
       .target = &a.views,
       .value = "NAMES",
       .help = "Light field instead of IN: pictures by a name with %u and %v, or a model (.smoe)",
       .common = true,
       .excludes = "--image --stack",
       .instead_of = "IN"},
      {.names = "--viewer",
       .target = &a.viewer,
       .value = "WINDOW",
       .help = "Viewing window DISTANCE:SIZE[@X,Y], such as 36mm:9.2mm; computes hogel by hogel, only the light to it",
       .common = true,
       .feeds = "StereogramPlan.viewer|window_weights.viewer"},
      {.names = "--scale",
       .target = &a.scale,
       .value = "S",
       .help = "Divisor of the field, as quantize reports it; writes codes instead of the field, with --viewer",
       .range = scale_range},
      {.names = "--hogel",
       .target = &a.hogel,
       .value = "N",
       .help = "Side of a hogel in pixels; with --image: computes hogel by hogel instead of layer by layer",
       .otherwise = "16 to 1024 by the nearest distance"},
      {.names = "--fringe",
       .target = &a.fringe,
       .value = "LENGTH",
       .help = "Smallest fringe period, which limits the diffraction angle; computes hogel by hogel",
       .otherwise = "2 pixels",
       .feeds = "StereogramPlan.fringe_m"},
      {.names = "--view-depths",
       .target = &a.depths,
       .value = "NAMES",
       .help = "Depth maps of the views: distances behind the panel in metres, float TIFF"},
      {.names = "--rows",
       .target = &a.rows,
       .value = "NAME",
       .help = "Direction in which %v counts: down, up or auto (by the parallax)"},
      {.names = "--view-distance",
       .target = &a.view_distance,
       .value = "LENGTH",
       .help = "Distance of the camera plane in front of the panel",
       .otherwise = "that of --viewer"},
      {.names = "--camera-pitch",
       .target = &a.camera_pitch,
       .value = "LENGTH",
       .help = "Distance between neighbouring cameras"},
      {.names = "--camera-span",
       .target = &a.camera_span,
       .value = "LENGTH",
       .help = "Distance between the first and the last camera of a row",
       .otherwise = "the width of --viewer, else half the panel's",
       .excludes = "--camera-pitch"}};
}

bool asks_for_hogels(const StereogramArguments& arguments, const LayerArguments& layers) {
  return !arguments.views.empty() ||
         (!layers.image.empty() &&
          std::ranges::any_of(hogel_options, [&](const char* option) { return is_given(arguments, option); }));
}

void refuse_stereogram_options(const StereogramArguments& arguments) {
  for (const char* option : view_options) {
    if (is_given(arguments, option)) reject(option, "views with --views", "none");
  }
  for (const char* option : hogel_options) {
    if (is_given(arguments, option)) reject(option, "views with --views or a picture with --image", "none");
  }
}

StereogramJob stereogram_job(const HologramArguments& arguments, const StereogramArguments& stereogram,
                             const LayerArguments& layers) {
  const bool of_views = !stereogram.views.empty();
  const std::string source = of_views ? "--views " + stereogram.views : "--image " + layers.image;
  const auto refuse = [&](std::span<const char* const> options, std::string_view expected) {
    for (const char* option : options) {
      if (is_given(stereogram, option)) reject(option, expected, source);
    }
  };
  refuse_point_options(layers, source);
  refuse(wave_options, "a hologram that is not computed hogel by hogel");
  const bool shown = names_monitor(arguments.output);
  const bool quantized = !stereogram.scale.empty();
  if (quantized || !shown) refuse(whole_options, "a hologram that is not computed hogel by hogel");
  refuse(of_views ? std::span<const char* const>(picture_options) : view_options,
         of_views ? "a picture with --image" : "views with --views");
  check_output(arguments, stereogram);
  StereogramJob job;
  job.output = arguments.output;
  job.panel = chosen_panel(arguments.panel);
  if (quantized) {
    job.codes = code_levels(job.panel, arguments.encoding, arguments.bits);
    job.codes->scale = number_between("--scale", stereogram.scale, scale_range);
  } else if (!shown && !arguments.bits.empty()) {
    reject("--bits", "--scale for codes of holograms computed hogel by hogel", source);
  }
  job.channels = channels_of(arguments);
  job.devices = devices_option(arguments.device, arguments.console,
                               job.codes ? "field to codes: error diffusion" : "light field to field");
  job.device = job.devices.front();
  job.console = arguments.console;
  job.writing.compression = compression_of(arguments.compression);
  if (shown || !job.writes_rows()) {
    require_one_device(
        job.devices, "a field in a file .h5 or .npy, codes in a .tif without --compression, or one device", job.output);
  }
  set_hogels(job, arguments, stereogram);
  if (of_views) {
    set_views(job, arguments, stereogram, layers);
  } else {
    set_picture(job, arguments, layers);
  }
  if (!shown) {
    refuse_panel_output_options(arguments.shown);
  } else if (quantized) {
    job.shown = std::make_shared<PanelOutput>(job.output, job.panel, arguments.shown);
  } else {
    job.encoding = hologram_job(arguments);
    job.encoding->device = job.device;
    job.shown = job.encoding->shown;
  }
  return job;
}

}  // namespace holotone::cli
