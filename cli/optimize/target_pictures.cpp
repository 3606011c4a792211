#include <algorithm>
#include <cli/common/picture_file.hpp>
#include <cli/optimize/target_pictures.hpp>
#include <cli/options/values.hpp>
#include <holotone/recipes/retrieval/target_picture.hpp>

namespace holotone::cli {

TargetPictures::TargetPictures(const OptimizeJob& job, const std::string& image) : job_(job) {
  if (job.target) {
    distances_m_.push_back(job.pictures.front().distance_m);
    return;
  }
  for (const auto& picture : job.pictures) {
    paths_.push_back(job.pictures.size() == 1 ? image : picture.image);
    images_.push_back(read_picture_file(job.hologram.console, paths_.back()));
    distances_m_.push_back(picture.distance_m);
  }
  const auto& panel = job.hologram.panel;
  const auto pixels = sides(images_.front());
  region_ = job.region.region ? region_within(*job.region.region, pixels)
                              : region_in_middle({panel.ny, panel.nx}, pixels, job.region.part);
  PlacedPicture picture = job.pictures.front();
  if (picture.depth.empty()) return;
  picture.size_m = static_cast<double>(std::max(region_.columns, region_.rows)) * panel.pitch_m;
  const auto shape = shape_of(images_.front());
  depth_ = read_depth(picture, {shape[0], shape[1]});
  report_depth(job.hologram.console, picture, depth_);
  spacing_ = spacing_of(picture, depth_.nearest_m, depth_.farthest_m);
  const auto light = picture_intensity(paths_.front(), images_.front(), -1);
  distances_m_ = slice_picture(depth_picture(light), job.hologram.grid(job.hologram.channels.front())).distance_m;
  const double nearest_m = *std::ranges::min_element(distances_m_);
  const double viewer_m = job.eye.viewer_m;
  if (nearest_m <= -viewer_m) {
    reject("--viewer-distance", fmt::format("more than {}, where the nearest layer lies", format_length(-nearest_m)),
           format_length(viewer_m));
  }
}

Shape<2> TargetPictures::sides(const Image& image) const {
  const auto [ny, nx, channels] = shape_of(image);
  const auto& panel = job_.hologram.panel;
  const bool lens = job_.options.model.focal_length_m > 0;
  return lens ? sides_behind_lens({ny, nx}, {panel.ny, panel.nx}) : Shape<2>{ny, nx};
}

RgbdPicture TargetPictures::depth_picture(const Array<float, 2>& light) const {
  RgbdPicture picture = picture_in(region_, job_.hologram.grid(job_.hologram.channels.front()));
  picture.intensity = light.view();
  picture.distance_m = depth_.depth.view();
  picture.distance_offset_m = depth_.offset_m;
  picture.distance_scale = depth_.scale;
  picture.layers = job_.pictures.front().layers;
  picture.spacing = spacing_;
  return picture;
}

std::optional<DrawnBeam> TargetPictures::beam(const Channel& channel) const {
  if (!job_.target) return std::nullopt;
  PhaseRetrievalOptions model = job_.options.model;
  model.grid = job_.hologram.grid(channel);
  return draw_beam(job_.target->beam, model);
}

SignalRegion TargetPictures::region(const Channel& channel) const {
  if (const auto drawn = beam(channel)) return drawn->region;
  if (job_.options.model.focal_length_m == 0) return region_;
  const auto& hologram = job_.hologram;
  const double shortest_m = std::ranges::min(hologram.channels, {}, &Channel::wavelength_m).wavelength_m;
  return scaled_region(region_, shortest_m / channel.wavelength_m, {hologram.panel.ny, hologram.panel.nx});
}

std::vector<RetrievalPlane> TargetPictures::planes() const {
  std::vector<RetrievalPlane> planes;
  for (const double distance_m : distances_m_) {
    if (job_.apertures.empty()) planes.push_back({.distance_m = distance_m});
    for (const auto& aperture : job_.apertures) planes.push_back({.distance_m = distance_m, .pupil = aperture});
  }
  return planes;
}

std::vector<Array<float, 2>> TargetPictures::amplitudes(const Channel& channel, Progress& progress) const {
  if (!depth_.depth.empty()) {
    const auto light = picture_intensity(paths_.front(), images_.front(), channel.colour);
    return focused_amplitudes(paths_.front(), depth_picture(light), job_.hologram.grid(channel), job_.eye, progress);
  }
  std::vector<Array<float, 2>> amplitudes;
  if (auto drawn = beam(channel)) amplitudes.push_back(std::move(drawn->amplitude));
  for (std::size_t i = 0; i < images_.size(); ++i) amplitudes.push_back(amplitude(paths_[i], images_[i], channel));
  return amplitudes;
}

Array<float, 2> TargetPictures::amplitude(const std::string& path, const Image& image, const Channel& channel) const {
  const auto place = region_within(region(channel), sides(image));
  return target_amplitude(path, image, channel.colour, job_.hologram.grid(channel), place);
}

}  // namespace holotone::cli
