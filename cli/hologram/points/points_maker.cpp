#include <algorithm>
#include <cli/common/console.hpp>
#include <cli/hologram/points/empty_hologram.hpp>
#include <cli/hologram/points/panel_coverage.hpp>
#include <cli/hologram/points/points_maker.hpp>
#include <cmath>
#include <fmt/format.h>
#include <holotone/recipes/hologram_file.hpp>
#include <holotone/recipes/metadata_keys.hpp>
#include <utility>

namespace holotone::cli {
namespace {

PointHologramOptions plan_options(const HologramJob& job, const Channel& channel, Wave wave) {
  PointHologramOptions options{job.sum_options(channel), std::nullopt, 0};
  options.sum.wave = wave;
  if (!job.complex_field) options.encoding = job.encode_options(channel);
  return options;
}

}  // namespace

PreparedFrame prepare_frame(const HologramJob& job, const PlacedScene& scene, std::int64_t number, double turn_rad) {
  PreparedFrame frame;
  frame.number = number;
  frame.input = scene.path;
  frame.points = points_of(scene, job.scene, turn_rad);
  const auto& cloud = frame.points.cloud;
  for (std::size_t i = 0; i < cloud.size(); ++i) {
    const auto& p = cloud.position[i];
    const double farthest = std::max({std::abs(p[0]), std::abs(p[1]), std::abs(p[2])});
    if (farthest <= max_distance_m) continue;
    reject(job.scene.placement.keep ? "--keep-coordinates" : "--distance", "points within 100 km of the panel's middle",
           fmt::format("{}, point {}: {:.9g} m from it", scene.path, i, farthest));
  }
  const PointSources sources = CloudSources(cloud).sources();
  for (const auto& channel : job.channels) {
    frame.fresnel_deviation_rad.push_back(fresnel_deviation_rad(sources, job.sum_options(channel)));
    frame.unlit.push_back(unlit_points(sources, job.sum_options(channel)));
    frame.remedy.push_back(frame.unlit.back() > 0 ? remedy_of(job, cloud) : "");
    frame.dark.push_back(why_dark(job, channel, cloud));
    if (!frame.dark.back().empty()) frame.dark.back() += frame.remedy.back();
  }
  return frame;
}

Metadata scene_metadata(const HologramJob& job, std::size_t channel, const PreparedFrame& frame) {
  Metadata metadata = panel_metadata(job.panel, job.channels.at(channel));
  const auto& scene = frame.points;
  // Six digits: the float32 coordinates carry no more, and the flags that are printed repeat it.
  const double middle = std::stod(fmt::format("{:.6g}", (scene.nearest_m + scene.farthest_m) / 2));
  set_metadata(metadata, "distance_m", job.scene.placement.keep ? middle : job.scene.placement.distance_m);
  set_metadata(metadata, "distance_min_m", scene.nearest_m);
  set_metadata(metadata, "distance_max_m", scene.farthest_m);
  set_metadata(metadata, "fresnel_deviation_rad", frame.fresnel_deviation_rad[channel]);
  set_metadata(metadata, "seed", std::to_string(job.scene.seed));
  if (job.scene.random_phase) set_metadata(metadata, "random_phase", "1");
  return metadata;
}

Flags flags_of(const HologramJob& job, const Metadata& metadata) {
  return flags_for(job.output, metadata,
                   {job.lut, job.phase_range_rad.text, job.reference_angle_rad.text, job.carrier, job.lut_unit});
}

PointsMaker::PointsMaker(const HologramJob& job, std::size_t channel, Wave wave, const Queue& queue)
    : job_(job),
      channel_index_(channel),
      channel_(job.channels.at(channel)),
      plan_(plan_options(job, channel_, wave), queue) {
  const Shape<2> shape{job.panel.ny, job.panel.nx};
  if (job.complex_field) {
    field_ = Array<Complex, 2>(shape, queue);
  } else if (job.encode.bits <= 8 && !job.packed16) {
    bytes_ = Array<std::uint8_t, 2>(shape, queue);
  } else {
    words_ = Array<std::uint16_t, 2>(shape, queue);
  }
}

View<const std::uint8_t, 2> PointsMaker::codes(const PreparedFrame& frame, Progress& progress) {
  plan_.set_points(CloudSources(frame.points.cloud, channel_.colour).sources());
  plan_.execute({0, job_.panel.ny}, bytes_.view(), progress);
  return bytes_.view();
}

PointsHologram PointsMaker::make(const PreparedFrame& frame, Progress& progress) {
  const Stopwatch watch;
  PointsHologram made;
  const CloudSources points(frame.points.cloud, channel_.colour);
  const RowRange whole{0, job_.panel.ny};
  plan_.set_points(points.sources());
  if (!bytes_.empty()) {
    plan_.execute(whole, bytes_.view(), progress);
    made.image = Image{fetch(bytes_, queue()), {}};
  } else if (!words_.empty()) {
    plan_.execute(whole, words_.view(), progress);
    made.image = image_of_words(fetch(words_, queue()), job_.packed16);
  } else {
    plan_.execute(whole, field_.view(), progress);
    made.field = FieldFile{copy_of(std::as_const(field_).view(), Device{}), {}};
  }
  made.info = plan_.info();
  made.fresnel_deviation_rad = frame.fresnel_deviation_rad[channel_index_];
  made.compute_s = watch.seconds();
  auto& metadata = made.metadata();
  metadata = scene_metadata(job_, channel_index_, frame);
  describe_points(metadata, points.sources(), job_.sum_options(channel_), made.info, job_.channels.size() > 1);
  if (job_.complex_field) {
    set_metadata(metadata, "encoding", "complex");
  } else {
    describe_encoding(metadata, job_.encode_options(channel_), plan_.report(), job_.packed16);
  }
  if (!job_.correction.empty()) set_metadata(metadata, "correction", job_.correction);
  made.reconstruct_flags = flags_of(job_, metadata);
  return made;
}

}  // namespace holotone::cli
