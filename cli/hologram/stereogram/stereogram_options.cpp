#include <algorithm>
#include <cli/common/code_levels.hpp>
#include <cli/common/device_option.hpp>
#include <cli/common/output_check.hpp>
#include <cli/common/paths.hpp>
#include <cli/common/smoe_views.hpp>
#include <cli/hologram/stereogram/stereogram_options.hpp>
#include <cli/options/compression_option.hpp>
#include <cli/options/values.hpp>
#include <cli/options/viewer_option.hpp>
#include <cmath>
#include <holotone/io/file_format_detail.hpp>
#include <holotone/recipes/codes/codes_writer_detail.hpp>
#include <holotone/recipes/mixture_files.hpp>
#include <holotone/recipes/panel_limits.hpp>
#include <span>

namespace holotone::cli {
namespace {

/// Options of codes of a whole field: not for holograms that are written row by row.
constexpr const char* whole_options[] = {"--lut",     "--phase-range", "--amplitude-range", "--reference-angle",
                                         "--carrier", "--correction",  "--packed16"};

/// A field, or codes quantized hogel by hogel if --scale is given. A monitor shows either, the field encoded as that of
/// points is; hologram_job checks its options.
void check_output(const SceneJob& scene) {
  const auto& output = scene.hologram.output;
  const bool codes = io::has_format(output, io::formats::pictures_with_metadata);
  const bool shown = names_monitor(output);
  if (scene.views.scale) {
    if (!codes && !shown) {
      reject<&ViewOptions::scale>(io::name_ending_in(io::formats::pictures_with_metadata) + " for codes after -o",
                                  output);
    }
    if (!scene.views.viewer) reject<&ViewOptions::viewer>("a viewing window such as 36mm:9.2mm for codes", "none");
  } else if (const auto& wanted = scene.hologram.encoding; !shown && wanted.encoding) {
    reject<&HologramJob::encoding>(
        "complex for holograms computed hogel by hogel; `holotone quantize` converts the field to codes",
        to_string(*wanted.encoding));
  } else if (!shown && !io::has_format(output, io::formats::fields_by_rows)) {
    reject_output(
        fmt::format("{} for holograms computed hogel by hogel; `holotone quantize` converts the field to codes{}",
                    io::name_ending_in(io::formats::fields_by_rows),
                    codes ? ", or --scale and --viewer do so in one pass" : ""),
        output);
  }
  require_known_counters(output, scene.hologram.rgb_m.has_value());
  if (frame_pattern(output)) reject_output("a name without a counter for one stereogram", output);
}

/// Defaults follow from the panel and the viewing window: docs/stereograms.md.
ViewGeometry geometry_of(const StereogramJob& job, const SceneJob& scene) {
  const double width = static_cast<double>(job.panel.nx) * job.panel.pitch_m;
  const auto& viewer = job.options.viewer;
  ViewGeometry geometry = scene.views.geometry;
  geometry.distance_m = scene.hologram.scene.placement.distance_m;
  if (geometry.camera_span_m == 0) {
    // Centred on the axis, out to the far side of the window.
    geometry.camera_span_m =
        viewer ? 2 * std::max(std::abs(viewer->x_m) + viewer->width_m / 2, std::abs(viewer->y_m) + viewer->height_m / 2)
               : width / 2;
  }
  if (geometry.camera_pitch_m > 0 && job.model) {
    reject<&ViewGeometry::camera_pitch_m>("--camera-span for a model, which has no number of cameras",
                                          length_text(geometry.camera_pitch_m));
  }
  if (geometry.view_distance_m == 0 && viewer) geometry.view_distance_m = viewer->distance_m;
  if (geometry.view_distance_m == 0) {
    // Smallest distance at which every hogel's light reaches every camera.
    double sine = 1;
    const double fringe = job.options.fringe_m > 0 ? job.options.fringe_m : 2 * job.panel.pitch_m;
    for (const auto& channel : job.channels) sine = std::min(sine, channel.wavelength_m / fringe);
    const double slope = sine < 0.9999 ? sine / std::sqrt(1 - sine * sine) : 70;
    geometry.view_distance_m = (width + geometry.camera_span_m) / (2 * slope);
  }
  if (!(geometry.distance_m > -geometry.view_distance_m)) {
    reject<&Placement::distance_m>(
        fmt::format("more than {}, behind the cameras' plane", format_length(-geometry.view_distance_m)),
        length_text(geometry.distance_m));
  }
  // As wide as the panel, seen from the middle camera.
  geometry.size_m = scene.hologram.given.contains("--size")
                        ? scene.hologram.scene.placement.size_m
                        : width * (geometry.view_distance_m + geometry.distance_m) / geometry.view_distance_m;
  return geometry;
}

void set_hogels(StereogramJob& job, const SceneJob& scene) {
  auto& options = job.options;
  options.grid = {job.panel.nx, job.panel.ny, job.panel.pitch_m, job.channels.front().wavelength_m};
  // A larger hogel would only compute more pixels beyond the panel.
  const std::int64_t most = 2 * std::max<std::int64_t>({job.panel.nx, job.panel.ny, 2});
  job.hogel_given = scene.views.hogel_px.has_value();
  options.hogel_px = scene.views.hogel_px.value_or(options.hogel_px);
  if (job.hogel_given && options.hogel_px > most) {
    reject<&ViewOptions::hogel_px>(fmt::format("2 to {}, twice the panel", most), std::to_string(options.hogel_px));
  }
  options.fringe_m = scene.views.fringe_m.value_or(0);
  // Tolerance for rounding: 1.5um is two pixels of 750nm.
  if (scene.views.fringe_m && options.fringe_m < 2 * job.panel.pitch_m * (1 - 1e-9)) {
    reject<&ViewOptions::fringe_m>(fmt::format("at least {}, two pixels", format_length(2 * job.panel.pitch_m)),
                                   length_text(options.fringe_m));
  }
  options.viewer = scene.views.viewer;
  options.seed = scene.hologram.scene.seed;
}

constexpr auto max_hogel_layers = static_cast<std::int64_t>(bounds_of<&StereogramOptions::layers>.high);

void set_layers(StereogramOptions& options, std::int64_t count) {
  options.method = count > 0 ? StereogramMethod::layered : StereogramMethod::flat;
  options.layers = static_cast<int>(std::clamp<std::int64_t>(count, 1, max_hogel_layers));
}

void set_views(StereogramJob& job, const SceneJob& scene) {
  job.views = scene.views.names;
  job.depths = scene.views.depths;
  job.model = is_mixture_name(job.views);
  job.rows = scene.views.rows;
  job.views_grid = scene.views.grid;
  if (!job.model && !for_option("--views", [&] { return holds_views(job.views, job.views_grid); })) {
    reject<&ViewOptions::names>("a name with %u, or %u and %v, a quilt or --grid, or a model (.smoe, .json, .npz)",
                                job.views);
  }
  if (job.model && job.views_grid) reject("--grid", "pictures as --views", job.views);
  if (job.model && !job.depths.empty()) reject<&ViewOptions::depths>("pictures as --views", job.views);
  job.geometry = geometry_of(job, scene);
  std::int64_t count = job.options.layers;
  if (scene.hologram.given.contains("--layers")) {
    count = scene.pictures.picture.layers;
    if (count > max_hogel_layers)
      reject<&PlacedPicture::layers>(fmt::format("0 to {}", max_hogel_layers), std::to_string(count));
  } else if (job.geometry.distance_m == 0 && job.depths.empty()) {
    count = 0;  // a picture in the panel's own plane has no depth within a hogel
  }
  set_layers(job.options, count);
}

void set_picture(StereogramJob& job, const SceneJob& scene) {
  job.picture = placed_picture(scene);
  job.views = job.picture->image;
  set_layers(job.options, job.picture->depth.empty() && job.picture->distance_m == 0 ? 0 : max_hogel_layers);
}

}  // namespace

bool StereogramJob::writes_rows() const { return !shown && (!codes || CodesWriter::takes_any_order(output, writing)); }

StereogramOptions StereogramJob::options_for(const Channel& channel) const {
  StereogramOptions adapted = options;
  adapted.grid.wavelength_m = channel.wavelength_m;
  return adapted;
}

std::int64_t StereogramJob::hogel_for(double nearest_m) const {
  FieldGrid grid = options.grid;
  grid.wavelength_m = std::ranges::min(channels, {}, &Channel::wavelength_m).wavelength_m;
  return suited_hogel_px(grid, nearest_m);
}

std::string StereogramJob::output_of(const Channel& channel) const {
  return channel.name.empty() || shown ? output : channel_path(output, channel.name);
}

std::vector<OptionRow> stereogram_options(SceneJob& scene) {
  auto& views = scene.views;
  auto grid = grid_row(views.grid);
  grid.applies = scene.for_views();
  constexpr Bounds lengths{min_length_m, max_distance_m};
  return {
      {.names = "--views",
       .target = member<&ViewOptions::names>(views),
       .value = "NAMES",
       .help = "Light field instead of IN: pictures by a name with %u and %v, or a model (.smoe)",
       .common = true,
       .excludes = "--image --stack",
       .instead_of = "IN"},
      {.names = "--viewer",
       .target = parsed_member<&ViewOptions::viewer>(views, viewer_of),
       .value = "WINDOW",
       .help = "Viewing window DISTANCE:SIZE[@X,Y], such as 36mm:9.2mm; computes hogel by hogel, only the light to it",
       .common = true,
       .feeds = "StereogramPlan.viewer|window_weights.viewer",
       .applies = scene.for_views_or_image()},
      {.names = "--scale",
       .target = member<&ViewOptions::scale>(views, scale_bounds),
       .value = "S",
       .help = "Divisor of the field, as quantize reports it; writes codes instead of the field, with --viewer",
       .applies = scene.for_views_or_image()},
      {.names = "--hogel",
       .target = member<&ViewOptions::hogel_px>(views, bounds_of<&StereogramOptions::hogel_px>),
       .value = "N",
       .help = "Side of a hogel in pixels; with --image: computes hogel by hogel instead of layer by layer",
       .otherwise = "16 to 1024 by the nearest distance",
       .applies = scene.for_views_or_image()},
      {.names = "--fringe",
       .target = member<&ViewOptions::fringe_m>(views, {min_length_m, max_length_m}),
       .value = "LENGTH",
       .help = "Smallest fringe period, which limits the diffraction angle; computes hogel by hogel",
       .otherwise = "2 pixels",
       .feeds = "StereogramPlan.fringe_m",
       .applies = scene.for_views_or_image()},
      {.names = "--view-depths",
       .target = member<&ViewOptions::depths>(views),
       .value = "NAMES",
       .help = "Depth maps of the views: distances behind the panel in metres, float TIFF",
       .applies = scene.for_views()},
      {.names = "--rows",
       .target = member<&ViewOptions::rows>(views),
       .value = "NAME",
       .help = "Direction in which %v counts: down, up or auto (by the parallax)",
       .applies = scene.for_views()},
      std::move(grid),
      {.names = "--view-distance",
       .target = number(views.geometry.view_distance_m, ValueUnit::length, lengths),
       .value = "LENGTH",
       .help = "Distance of the camera plane in front of the panel",
       .otherwise = "that of --viewer",
       .applies = scene.for_views()},
      {.names = "--camera-pitch",
       .target = member<&ViewGeometry::camera_pitch_m>(views.geometry, lengths),
       .value = "LENGTH",
       .help = "Distance between neighbouring cameras",
       .otherwise = "from --camera-span",
       .applies = scene.for_views()},
      {.names = "--camera-span",
       .target = number(views.geometry.camera_span_m, ValueUnit::length, lengths),
       .value = "LENGTH",
       .help = "Distance between the first and the last camera of a row",
       .otherwise = "the width of --viewer, else half the panel's",
       .excludes = "--camera-pitch",
       .applies = scene.for_views()}};
}

/// The modulation that --encode names.
std::optional<Modulation> chosen_modulation(const EncodingChoice& choice) {
  if (!choice.given) return std::nullopt;
  const std::string_view name = choice.encoding ? to_string(*choice.encoding) : "complex";
  const auto modulation = find_value<Modulation>(name);
  if (!modulation) reject<&HologramJob::encoding>("phase or amplitude", name);
  return modulation;
}

StereogramJob stereogram_job(SceneJob& scene) {
  auto& hologram = scene.hologram;
  const bool shown = names_monitor(hologram.output);
  const bool quantized = scene.views.scale.has_value();
  if (quantized || !shown) {
    for (const char* option : whole_options) {
      if (hologram.given.contains(option)) {
        reject(option, "a hologram that is not computed hogel by hogel", scene.source());
      }
    }
  }
  check_output(scene);
  StereogramJob job;
  job.output = hologram.output;
  job.panel = chosen_panel(hologram.panel_choice);
  if (quantized) {
    job.codes = code_levels(job.panel, chosen_modulation(hologram.encoding), hologram.bits);
    job.codes->scale = *scene.views.scale;
  } else if (!shown && hologram.bits) {
    reject<&HologramJob::bits>("--scale for codes of holograms computed hogel by hogel", scene.source());
  }
  job.channels = channels_of(hologram);
  job.devices = devices_option(hologram.device_name, hologram.console,
                               job.codes ? OperationId::error_diffusion : OperationId::stereogram);
  job.device = job.devices.front();
  job.console = hologram.console;
  job.writing = hologram.writing;
  if (job.codes) job.writing.scaled_bits = scaled_bits_of(hologram.scale_codes, job.codes->bits);
  if (shown || !job.writes_rows()) {
    require_one_device(
        job.devices, "a field in a file .h5 or .npy, codes in a .tif without --compression, or one device", job.output);
  }
  set_hogels(job, scene);
  if (scene.of_views()) {
    set_views(job, scene);
  } else {
    set_picture(job, scene);
  }
  if (!shown) return job;
  if (quantized) {
    job.shown = std::make_shared<MonitorOutput>(job.output, job.panel, hologram.showing);
  } else {
    complete(hologram);
    hologram.device = job.device;
    job.encoding = &hologram;
    job.shown = hologram.shown;
  }
  return job;
}

}  // namespace holotone::cli
