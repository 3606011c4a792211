#include <algorithm>
#include <cli/common/depth_file.hpp>
#include <cli/common/picture_light.hpp>
#include <cli/common/target_picture.hpp>
#include <cli/common/values.hpp>
#include <cli/optimize/camera_program.hpp>
#include <cli/optimize/optimize_light.hpp>
#include <cmath>
#include <holotone/core/units.hpp>
#include <holotone/hologram/focal_stack.hpp>
#include <limits>
#include <numbers>

namespace holotone::cli {
namespace {

/// Sides of a picture in pixels of the light.
Shape<2> sides_of(const OptimizeJob& job, const Image& image) {
  const auto [ny, nx, channels] = shape_of(image);
  const auto& panel = job.hologram.panel;
  return job.model.focal_length_m > 0 ? sides_behind_lens({ny, nx}, {panel.ny, panel.nx}) : Shape<2>{ny, nx};
}

/// Scales pictures to a largest value of 1, because squares of very dim or bright light leave the range of float32.
/// Returns the largest value before. Throws io naming `path` for pictures that are black.
float scale_to_one(const std::string& path, std::vector<Array<float, 2>>& pictures) {
  float largest = 0;
  for (const auto& picture : pictures) largest = std::max(largest, *std::ranges::max_element(picture.host()));
  if (largest == 0) throw_io(path, "a picture with some light", "a black one");
  for (auto& picture : pictures) {
    for (float& value : picture.host()) value /= largest;
  }
  return largest;
}

}  // namespace

TargetPictures::TargetPictures(const OptimizeJob& job, const std::string& image) : job_(job) {
  for (const auto& picture : job.pictures) {
    paths_.push_back(job.pictures.size() == 1 ? image : picture.image);
    images_.push_back(read_picture_file(paths_.back()));
  }
  const auto& panel = job.hologram.panel;
  const auto sides = sides_of(job, images_.front());
  region_ = job.region ? region_within(*job.region, sides) : region_in_middle({panel.ny, panel.nx}, sides, job.part);
  PictureJob picture = job.pictures.front();
  if (picture.depth.empty()) return;
  picture.size_m = static_cast<double>(std::max(region_.columns, region_.rows)) * panel.pitch_m;
  const auto shape = shape_of(images_.front());
  auto depth = read_depth(picture, {shape[0], shape[1]});
  holes_ = depth.holes;
  distance_m_ = std::move(depth.distance_m);
  spacing_ = spacing_of(picture, depth.nearest_m, depth.farthest_m);
  const auto light = intensity_of(paths_.front(), images_.front(), -1);
  layer_distances_m_ = slice_picture(depth_picture(light), job.hologram.grid(job.hologram.channels.front())).distance_m;
  const double nearest_m = *std::ranges::min_element(layer_distances_m_);
  if (nearest_m <= -job.viewer_m) {
    reject("--viewer-distance", fmt::format("more than {}, where the nearest layer lies", format_length(-nearest_m)),
           format_length(job.viewer_m));
  }
}

RgbdPicture TargetPictures::depth_picture(const Array<float, 2>& light) const {
  RgbdPicture picture = picture_in(region_, job_.hologram.grid(job_.hologram.channels.front()));
  picture.intensity = light.view();
  picture.distance_m = distance_m_.view();
  picture.layers = job_.pictures.front().layers;
  picture.spacing = spacing_;
  return picture;
}

SignalRegion TargetPictures::region(const Channel& channel) const {
  if (job_.model.focal_length_m == 0) return region_;
  double shortest_m = channel.wavelength_m;
  for (const auto& own : job_.hologram.channels) shortest_m = std::min(shortest_m, own.wavelength_m);
  const double scale = shortest_m / channel.wavelength_m;
  const auto scaled = [scale](std::int64_t& first, std::int64_t& count, std::int64_t all) {
    const double middle = scale * (static_cast<double>(first) + static_cast<double>(count - all) / 2);
    count = std::max<std::int64_t>(1, std::llround(scale * static_cast<double>(count)));
    first = std::clamp<std::int64_t>(std::llround(middle + static_cast<double>(all - count) / 2), 0, all - count);
  };
  SignalRegion region = region_;
  scaled(region.row, region.rows, job_.hologram.panel.ny);
  scaled(region.column, region.columns, job_.hologram.panel.nx);
  return region;
}

std::vector<RetrievalPlane> TargetPictures::planes() const {
  std::vector<double> distances = layer_distances_m_;
  if (distances.empty()) {
    for (const auto& picture : job_.pictures) distances.push_back(picture.distance_m);
  }
  std::vector<RetrievalPlane> planes;
  for (const double distance : distances) {
    if (job_.apertures.empty()) planes.push_back({.distance_m = distance});
    for (const auto& aperture : job_.apertures) planes.push_back({.distance_m = distance, .pupil = aperture});
  }
  return planes;
}

Targets TargetPictures::targets(const Channel& channel, Progress& progress) const {
  const auto grid = job_.hologram.grid(channel);
  Targets targets;
  auto& amplitudes = targets.amplitudes;
  if (distance_m_.empty()) {
    for (std::size_t i = 0; i < images_.size(); ++i) {
      const auto own = region_within(region(channel), sides_of(job_, images_[i]));
      amplitudes.push_back(target_amplitude(paths_[i], images_[i], channel.colour, grid, own));
    }
    targets.largest = scale_to_one(paths_.front(), amplitudes);
    return targets;
  }
  const auto light = intensity_of(paths_.front(), images_.front(), channel.colour);
  const auto sliced = slice_picture(depth_picture(light), grid);
  amplitudes = focal_stack(
      sliced, grid, {.focus_m = sliced.distance_m, .pupil_m = job_.pupil_m, .viewer_m = job_.viewer_m}, progress);
  for (auto& plane : amplitudes) {
    for (float& value : plane.host()) value = std::sqrt(value);
  }
  targets.largest = scale_to_one(paths_.front(), amplitudes);
  return targets;
}

Array<float, 2> TargetPictures::against(const Channel& channel) const {
  const Image image = read_picture_file(job_.against);
  const auto own = region_within(region(channel), sides_of(job_, image));
  return target_amplitude(job_.against, image, channel.colour, job_.hologram.grid(channel), own);
}

Array<Complex, 2> beam_light(const OptimizeJob& job, const Channel& channel) {
  const auto grid = job.hologram.grid(channel);
  if (std::holds_alternative<FlatBeam>(job.beam)) return {};
  Array<Complex, 2> light(grid.shape());
  if (const auto* const measured = std::get_if<MeasuredBeam>(&job.beam)) {
    const auto image = read_picture_file(measured->path);
    const auto [ny, nx, channels] = shape_of(image);
    if (Shape<2>{ny, nx} != grid.shape()) {
      throw_io(measured->path, fmt::format("the panel's {} x {} pixels", grid.nx, grid.ny),
               fmt::format("{} x {}", nx, ny));
    }
    const auto amplitude = camera_amplitude(measured->path, image, channel.colour);
    const float largest = *std::ranges::max_element(amplitude.host());
    if (largest == 0) throw_io(measured->path, "a beam with some light", "a black picture");
    std::ranges::transform(amplitude.host(), light.data(), [largest](float value) { return value / largest; });
    return light;
  }
  // exp(-2 r^2 / w^2) is the intensity: exp(-r^2 / w^2) the amplitude.
  const double radius = std::get<GaussianBeam>(job.beam).diameter_m / 2 / grid.pitch_m;
  for (std::int64_t row = 0; row < grid.ny; ++row) {
    for (std::int64_t column = 0; column < grid.nx; ++column) {
      const double x = (static_cast<double>(column) - static_cast<double>(grid.nx - 1) / 2) / radius;
      const double y = (static_cast<double>(row) - static_cast<double>(grid.ny - 1) / 2) / radius;
      light(row, column) = static_cast<float>(std::exp(-x * x - y * y));
    }
  }
  if (light(grid.ny / 2, grid.nx / 2).real() < std::numeric_limits<float>::min()) {
    reject("--source", fmt::format("a beam that lights a pixel of {}", format_length(grid.pitch_m)),
           format_length(2 * radius * grid.pitch_m));
  }
  return light;
}

Array<float, 2> added_phase(const OptimizeJob& job, const Channel& channel) {
  if (!job.has_offset()) return {};
  const auto grid = job.hologram.grid(channel);
  const auto options = job.hologram.encode_options(channel);
  const double wave_number = 2 * std::numbers::pi / grid.wavelength_m;
  const double step_x = wave_number * grid.pitch_m * std::sin(options.carrier_x_rad);
  const double step_y = wave_number * grid.pitch_m * std::sin(options.carrier_y_rad);
  Array<float, 2> phase(grid.shape());
  for (std::int64_t row = 0; row < grid.ny; ++row) {
    const double y = static_cast<double>(grid.ny - 1) / 2 - static_cast<double>(row);
    for (std::int64_t column = 0; column < grid.nx; ++column) {
      const double x = static_cast<double>(column) - static_cast<double>(grid.nx - 1) / 2;
      double own = x * step_x + y * step_y;
      if (!options.correction_rad.empty()) own += static_cast<double>(options.correction_rad(row, column));
      phase(row, column) = static_cast<float>(std::remainder(own, 2 * std::numbers::pi));
    }
  }
  return phase;
}

}  // namespace holotone::cli
