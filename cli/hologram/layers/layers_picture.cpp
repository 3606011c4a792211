#include <algorithm>
#include <cli/common/picture_file.hpp>
#include <cli/hologram/layers/layers_picture.hpp>
#include <cli/options/values.hpp>
#include <holotone/recipes/metadata_keys.hpp>
#include <holotone/recipes/retrieval/target_picture.hpp>

namespace holotone::cli {
DepthPicture read_picture(const ConsoleOptions& console, const PlacedPicture& job,
                          const std::vector<Channel>& channels) {
  const Image image = read_picture_file(console, job.image);
  DepthPicture picture;
  picture.depth = read_depth(job, {shape_of(image)[0], shape_of(image)[1]});
  report_depth(console, job, picture.depth);
  picture.spacing = spacing_of(job, picture.depth.nearest_m, picture.depth.farthest_m);
  for (const auto& channel : channels) {
    picture.intensity.push_back(picture_intensity(job.image, image, channel.colour));
    picture.dark.push_back(
        std::ranges::all_of(picture.intensity.back().host(), [](float value) { return value == 0; }));
  }
  return picture;
}

RgbdPicture DepthPicture::channel(const PlacedPicture& job, std::size_t number) const {
  const auto [ny, nx] = intensity[number].shape();
  RgbdPicture picture;
  picture.intensity = intensity[number].view();
  picture.distance_m = depth.depth.view();
  picture.distance_offset_m = depth.offset_m;
  picture.distance_scale = depth.scale;
  picture.width_m = job.size_m * static_cast<double>(nx) / static_cast<double>(std::max(nx, ny));
  picture.layers = job.layers;
  picture.spacing = spacing;
  return picture;
}

Metadata depth_metadata(const DepthPicture& picture, const SlicedPicture& sliced) {
  // Six digits: float32 distances carry no more, and the flags that are printed repeat it.
  const double middle = std::stod(fmt::format("{:.6g}", (picture.depth.nearest_m + picture.depth.farthest_m) / 2));
  Metadata metadata;
  set_metadata(metadata, "distance_m", middle);
  set_metadata(metadata, "distance_min_m", sliced.distance_m.back());
  set_metadata(metadata, "distance_max_m", sliced.distance_m.front());
  set_metadata(metadata, "layers", static_cast<double>(sliced.distance_m.size()));
  set_metadata(metadata, "layer_spacing", to_string(picture.spacing));
  return metadata;
}

nlohmann::json depth_facts(const PlacedPicture& job, const DepthPicture& picture, std::size_t layers) {
  const auto& depth = picture.depth;
  nlohmann::json facts{{"layers", layers},
                       {"layer_spacing", to_string(picture.spacing)},
                       {"holes", depth.holes},
                       {"distance_min_m", depth.nearest_m},
                       {"distance_max_m", depth.farthest_m},
                       {"depth_scale", depth.scale}};
  if (!job.depth.empty()) facts["depth"] = job.depth;
  return facts;
}

std::string far_warning(const PlacedPicture& job, const DepthMap& depth, const Panel& panel) {
  constexpr double far = 50;  // times the panel's larger side
  const double across = static_cast<double>(std::max(panel.nx, panel.ny)) * panel.pitch_m;
  if (depth.farthest_m <= far * across) return {};
  const std::string metres =
      job.camera || job.depth_range_m || job.unit || job.depth.empty()
          ? ""
          : fmt::format("unless {} holds metres, give --depth-unit, --depth-range or --disparity; ", job.depth);
  return fmt::format("the scene extends to {} behind a panel {} wide; {}--distance moves it nearer",
                     short_length(depth.farthest_m), format_length(across), metres);
}

}  // namespace holotone::cli
