#include <algorithm>
#include <cli/common/paths.hpp>
#include <cli/common/smoe_file.hpp>
#include <cli/common/smoe_views.hpp>
#include <cli/hologram/layers/layers_picture.hpp>
#include <cli/hologram/stereogram/stereogram_views.hpp>
#include <cli/options/values.hpp>
#include <cmath>
#include <holotone/bands/digest_detail.hpp>
#include <holotone/core/parallel.hpp>
#include <holotone/hologram/layer_views.hpp>
#include <holotone/hologram/view_grid.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/recipes/metadata_keys.hpp>
#include <holotone/smoe/light_field_views.hpp>
#include <span>

namespace holotone::cli {
namespace {

constexpr std::array<float, 3> luminance{0.2126F, 0.7152F, 0.0722F};

/// Index of a view in the files' order; with `up` the first row of files is the lowest.
std::size_t place_of(const CapturedViews& pictures, std::int64_t row, std::int64_t column) {
  return static_cast<std::size_t>((pictures.up ? pictures.rows - 1 - row : row) * pictures.columns + column);
}

/// Views as {V, U, ny, nx, channels}; frees each picture after its copy.
Array<float, 5> views_of(CapturedViews& pictures, bool colour) {
  const auto [ny, nx, channel_count] = pictures.images.front().shape();
  const bool has_colour = channel_count >= 3;
  const std::int64_t channels = has_colour && colour ? 3 : 1;
  Array<float, 5> views({pictures.rows, pictures.columns, ny, nx, channels});
  const std::int64_t pixels = ny * nx;
  for (std::int64_t row = 0; row < pictures.rows; ++row) {
    for (std::int64_t column = 0; column < pictures.columns; ++column) {
      auto& image = pictures.images[place_of(pictures, row, column)];
      float* const view = views.data() + (row * pictures.columns + column) * pixels * channels;
      const float* const from = image.data();
      parallel_for(0, ny, [&, stride = channel_count, width = nx](std::int64_t y) {
        for (std::int64_t i = y * width; i < (y + 1) * width; ++i) {
          const auto code = [&](std::int64_t c) {
            const float value = from[i * stride + c];
            return value > 0 ? value : 0.0F;
          };
          if (channels == 3) {
            for (std::int64_t c = 0; c < 3; ++c) view[i * 3 + c] = code(c);
          } else {
            view[i] = has_colour ? luminance[0] * code(0) + luminance[1] * code(1) + luminance[2] * code(2) : code(0);
          }
        }
      });
      image = {};
    }
  }
  return views;
}

/// Depth maps of the same grid and size; empty if there are none.
Array<float, 4> depths_of(const StereogramJob& job, const CapturedViews& views, const Shape<3>& shape) {
  if (job.depths.empty()) return {};
  auto maps = read_fit_pictures(
      job.depths, {.rows = views.up ? ViewRows::up : ViewRows::down, .grid = job.views_grid, .as_depth = true},
      "--view-depths");
  maps.up = views.up;
  if (maps.rows != views.rows || maps.columns != views.columns) {
    throw_io(job.depths, fmt::format("{} x {} depth maps, one for each view", views.columns, views.rows),
             fmt::format("{} x {}", maps.columns, maps.rows));
  }
  const Shape<3> expected{shape[0], shape[1], 1};
  if (maps.bits != 0 || maps.images.front().shape() != expected) {
    throw_io(maps.paths.front(), fmt::format("{} x {} pixels of one channel of floats, metres", shape[1], shape[0]),
             fmt::format("{} of {}", to_string<3>(maps.images.front().shape()), maps.bits == 0 ? "floats" : "codes"));
  }
  Array<float, 4> depths({maps.rows, maps.columns, shape[0], shape[1]});
  for (std::int64_t row = 0; row < maps.rows; ++row) {
    for (std::int64_t column = 0; column < maps.columns; ++column) {
      const auto place = place_of(maps, row, column);
      for (const float value : maps.images[place].host()) {
        if (!std::isfinite(value)) throw_io(maps.paths[place], "finite distances in metres", fmt::format("{}", value));
      }
      std::copy_n(maps.images[place].data(), shape[0] * shape[1],
                  depths.data() + (row * maps.columns + column) * shape[0] * shape[1]);
    }
  }
  return depths;
}

/// Width of a picture whose larger side is `size_m`.
double width_of(double size_m, double width, double height) { return size_m * width / std::max(width, height); }

/// Sets the metadata and the --json facts of captured or modelled views.
void describe(StereogramViews& views, const StereogramJob& job) {
  const auto& geometry = job.geometry;
  views.nearest_m = std::abs(geometry.distance_m);
  set_metadata(views.metadata, "distance_m", geometry.distance_m);
  set_metadata(views.metadata, "view_distance_m", geometry.view_distance_m);
  views.facts["distance_m"] = geometry.distance_m;
  views.facts["view_distance_m"] = geometry.view_distance_m;
  views.facts["size_m"] = geometry.size_m;
  if (views.camera_pitch_m > 0) {
    set_metadata(views.metadata, "camera_pitch_m", views.camera_pitch_m);
    views.facts["camera_pitch_m"] = views.camera_pitch_m;
  }
}

StereogramViews views_of_pictures(const StereogramJob& job) {
  StereogramViews views;
  auto pictures = read_fit_pictures(job.views, {.rows = job.rows, .linear = true, .grid = job.views_grid}, "--views");
  const Shape<3> shape = pictures.images.front().shape();
  views.warnings = pictures.notes;
  if (auto words = order_warning(pictures, "--views"); !words.empty()) views.warnings.push_back(std::move(words));
  for (const auto& path : pictures.paths) views.files.push_back({"--views", path});
  views.facts["cameras"] = {pictures.columns, pictures.rows};
  views.camera_pitch_m = job.geometry.camera_pitch_m > 0
                             ? job.geometry.camera_pitch_m
                             : job.geometry.camera_span_m / static_cast<double>(pictures.columns - 1);
  auto depths = depths_of(job, pictures, shape);
  auto colours = views_of(pictures, job.channels.size() > 1);
  views.digest = digest_of_pieces<float>(std::as_const(colours).host());
  views.digest = digest_of_pieces<float>(std::as_const(depths).host(), views.digest);
  double nearest_m = std::abs(job.geometry.distance_m);
  if (!depths.empty()) {
    nearest_m = static_cast<double>(
        std::abs(*std::ranges::min_element(depths.host(), {}, [](float d) { return std::abs(d); })));
  }
  const ViewGridOptions options{job.geometry.view_distance_m, views.camera_pitch_m, job.geometry.distance_m,
                                width_of(job.geometry.size_m, static_cast<double>(shape[1]),
                                         pictures.pixel_aspect * static_cast<double>(shape[0])),
                                pictures.pixel_aspect};
  auto grid = std::make_unique<ViewGrid>(std::move(colours), options, std::move(depths));
  views.missed_share = [views_grid = grid.get()] { return views_grid->missed_share(); };
  views.source = std::move(grid);
  describe(views, job);
  views.nearest_m = nearest_m;
  return views;
}

StereogramViews views_of_model(const StereogramJob& job) {
  io::require_input(job.views);
  const SmoeModel model = read_model(job.views, "--views").model;
  if (model.dimensions < 3 || model.channels == 2) {
    throw_io(job.views, "a light field's model, of 3 or 4 dimensions and 1, 3 or 4 channels",
             fmt::format("{} dimensions, {}", model.dimensions, counted(model.channels, "channel")));
  }
  LightFieldOptions options;
  options.luminance = job.channels.size() == 1;
  auto& geometry = options.geometry;
  geometry.view_distance_m = job.geometry.view_distance_m;
  geometry.width_m = geometry.height_m = job.geometry.camera_span_m;
  geometry.distance_m = job.geometry.distance_m;
  geometry.size_m = width_of(job.geometry.size_m, model.high[0] - model.low[0], model.high[1] - model.low[1]);
  StereogramViews views;
  views.files = {{"--views", job.views}};
  const auto bytes = io::read_bytes(job.views);
  views.digest = digest_of<char>({bytes.data(), bytes.size()}, first_digest);
  views.source = std::make_unique<LightFieldViews>(model, options, job.device);
  for (std::size_t i = 1; i < job.devices.size(); ++i) {
    views.on_others.push_back(std::make_unique<LightFieldViews>(model, options, job.devices[i]));
  }
  describe(views, job);
  return views;
}

/// Grid of the picture's own pixel pitch, but not finer than the panel's.
FieldGrid make_grid(const StereogramJob& job, const RgbdPicture& picture) {
  const auto [ny, nx] = picture.intensity.shape();
  const double pixel_m = picture.width_m / static_cast<double>(nx);
  const double pitch =
      std::max({pixel_m, job.panel.pitch_m, picture.width_m / static_cast<double>(largest_picture_side)});
  const auto pixels = [&](std::int64_t count) {
    return std::max<std::int64_t>(1, std::llround(static_cast<double>(count) * pixel_m / pitch));
  };
  return {pixels(nx), pixels(ny), pitch, job.options.grid.wavelength_m};
}

StereogramViews views_of_layers(const StereogramJob& job) {
  const auto& typed = *job.picture;
  const DepthPicture picture = read_picture(job.console, typed, job.channels);
  const auto& depth = picture.depth;
  std::vector<SlicedPicture> sliced;
  const FieldGrid grid = make_grid(job, picture.channel(typed, 0));
  for (std::size_t c = 0; c < job.channels.size(); ++c) {
    sliced.push_back(slice_picture(picture.channel(typed, c), grid));
  }
  StereogramViews views;
  views.files = {{"--image", typed.image}};
  if (!typed.depth.empty()) views.files.push_back({"--depth", typed.depth});
  views.nearest_m =
      std::abs(*std::ranges::min_element(sliced.front().distance_m, {}, [](double d) { return std::abs(d); }));
  views.metadata = depth_metadata(picture, sliced.front());
  views.facts = depth_facts(typed, picture, sliced.front().distance_m.size());
  if (auto words = far_warning(typed, depth, job.panel); !words.empty()) views.warnings.push_back(std::move(words));
  views.digest =
      digest_of<double>(sliced.front().distance_m, digest_of<double>(std::span(&grid.pitch_m, 1), first_digest));
  for (const auto& channel : sliced) {
    views.digest = digest_of<float>(channel.intensity.host(), views.digest);
    views.digest = digest_of<std::uint16_t>(channel.layer.host(), views.digest);
  }
  views.source = std::make_unique<LayerViews>(std::move(sliced), grid.pitch_m);
  return views;
}

}  // namespace

StereogramViews read_views(const StereogramJob& job) {
  if (job.picture) return views_of_layers(job);
  return job.model ? views_of_model(job) : views_of_pictures(job);
}

}  // namespace holotone::cli
