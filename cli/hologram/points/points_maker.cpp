#include <algorithm>
#include <cli/common/console.hpp>
#include <cli/hologram/points/empty_hologram.hpp>
#include <cli/hologram/points/panel_coverage.hpp>
#include <cli/hologram/points/points_maker.hpp>
#include <cmath>
#include <fmt/format.h>
#include <holotone/recipes/hologram_file.hpp>
#include <numbers>

namespace holotone::cli {
namespace {

View<const float, 2> positions_of(const PointCloud& cloud) {
  return {cloud.position.front().data(), {static_cast<std::int64_t>(cloud.size()), 3}};
}

View<const float, 1> values_of(const std::vector<float>& values) {
  return values.empty() ? View<const float, 1>{} : view_of(std::span<const float>(values));
}

}  // namespace

bool sum_gives_codes(const HologramJob& job, const EncodeOptions& encode) {
  return !job.complex_field && !job.packed16 && encode.encoding == Encoding::phase && encode.bits == 8 &&
         encode.level_phase_rad.empty() && encode.correction_rad.empty() && encode.carrier_x_rad == 0 &&
         encode.carrier_y_rad == 0 && encode.phase_range_rad == 2 * std::numbers::pi;
}

PreparedFrame prepare_frame(const HologramJob& job, const PlacedScene& scene, std::int64_t number, double turn_rad) {
  PreparedFrame frame;
  frame.number = number;
  frame.input = scene.path;
  frame.points = points_of(scene, job.scene, turn_rad);
  const auto& cloud = frame.points.cloud;
  const PointSources sources{positions_of(cloud), values_of(cloud.amplitude), {}};
  for (const auto& channel : job.channels) {
    frame.fresnel_deviation_rad.push_back(fresnel_deviation_rad(sources, job.sum_options(channel)));
    frame.unlit.push_back(unlit_points(sources, job.sum_options(channel)));
    frame.remedy.push_back(frame.unlit.back() > 0 ? remedy_of(job, cloud) : "");
    frame.dark.push_back(why_dark(job, channel, cloud));
    if (!frame.dark.back().empty()) frame.dark.back() += frame.remedy.back();
  }
  return frame;
}

ChannelPoints::ChannelPoints(const PointCloud& cloud, int colour) : cloud_(cloud), colour_(colour) {
  if (colour >= 0) own_ = channel_amplitude(cloud, colour);
}

PointSources ChannelPoints::sources() const {
  return {positions_of(cloud_), values_of(amplitude()), values_of(cloud_.phase_rad)};
}

double ChannelPoints::energy() const {
  double energy = 0;
  for (const float a : amplitude()) energy += static_cast<double>(a) * static_cast<double>(a);
  return energy;
}

Metadata points_metadata(const HologramJob& job, std::size_t channel, const PreparedFrame& frame,
                         const ChannelPoints& points, const PointCloudInfo& info) {
  Metadata metadata = panel_metadata(job.panel, job.channels.at(channel));
  const auto& scene = frame.points;
  // Six digits: the float32 coordinates carry no more, and the flags that are printed repeat it.
  const double middle = std::stod(fmt::format("{:.6g}", (scene.nearest_m + scene.farthest_m) / 2));
  set_metadata(metadata, "distance_m", job.scene.placement.keep ? middle : job.scene.placement.distance_m);
  set_metadata(metadata, "distance_min_m", scene.nearest_m);
  set_metadata(metadata, "distance_max_m", scene.farthest_m);
  set_metadata(metadata, "points", std::to_string(scene.cloud.size()));
  // Three colours are balanced by the light that each has on the panel, where points at its edges light fewer pixels.
  const bool colours = job.channels.size() > 1;
  const double energy =
      colours ? lit_energy(points.sources(), job.sum_options(job.channels.at(channel))) : points.energy();
  set_metadata(metadata, "object_energy", fmt::format("{:.9g}", energy));
  set_metadata(metadata, "method", to_string(info.method));
  set_metadata(metadata, "arithmetic", info.arithmetic);
  set_metadata(metadata, "tolerance", job.sum.tolerance);
  set_metadata(metadata, "wave", to_string(job.sum.wave));
  set_metadata(metadata, "band_limit", job.sum.band_limit ? "1" : "0");
  if (job.sum.deterministic) set_metadata(metadata, "deterministic", "1");
  if (colours && job.sum.band_limit) set_metadata(metadata, "cone_wavelength_m", job.sum.cone_wavelength_m);
  set_metadata(metadata, "fresnel_deviation_rad", frame.fresnel_deviation_rad[channel]);
  set_metadata(metadata, "seed", std::to_string(job.scene.seed));
  if (job.scene.random_phase) set_metadata(metadata, "random_phase", "1");
  return metadata;
}

PointsMaker::PointsMaker(const HologramJob& job, std::size_t channel, const Queue& queue)
    : job_(job),
      channel_index_(channel),
      channel_(job.channels.at(channel)),
      encode_options_(job.encode_options(channel_)),
      queue_(queue),
      plan_(job.sum_options(channel_), queue),
      phase_from_sum_(sum_gives_codes(job, encode_options_)) {
  const Shape<2> shape{job.panel.ny, job.panel.nx};
  if (phase_from_sum_) {
    phase_ = Array<std::uint8_t, 2>(shape, queue);
  } else {
    field_ = Array<Complex, 2>(shape, queue);
    encoder_.emplace(job, channel_, queue);
  }
}

void PointsMaker::sum_and_encode(const PointSources& points, PointsHologram& made, Progress& progress) {
  plan_.set_points(points);
  if (phase_from_sum_) {
    plan_.execute({{}, {}, phase_.view()}, progress);
    made.image = Image{fetch(phase_, queue_), {}};
  } else {
    plan_.execute({field_.view(), {}, {}}, progress);
    encoder_->encode(field_.view(), made);
  }
}

View<const std::uint8_t, 2> PointsMaker::codes(const PreparedFrame& frame, Progress& progress) {
  const ChannelPoints points(frame.points.cloud, channel_.colour);
  plan_.set_points(points.sources());
  if (phase_from_sum_) {
    plan_.execute({{}, {}, phase_.view()}, progress);
    return phase_.view();
  }
  plan_.execute({field_.view(), {}, {}}, progress);
  return encoder_->encode(field_.view());
}

PointsHologram PointsMaker::make(const PreparedFrame& frame, Progress& progress) {
  const Stopwatch watch;
  PointsHologram made;
  const ChannelPoints points(frame.points.cloud, channel_.colour);
  sum_and_encode(points.sources(), made, progress);
  made.info = plan_.info();
  made.fresnel_deviation_rad = frame.fresnel_deviation_rad[channel_index_];
  made.compute_s = watch.seconds();
  auto& metadata = made.metadata();
  metadata = points_metadata(job_, channel_index_, frame, points, made.info);
  if (encoder_) {
    encoder_->describe(metadata);
  } else {
    describe_encoding(metadata, encode_options_, {}, false);
  }
  made.reconstruct_flags = flags_for(
      job_.output, metadata, {job_.lut, job_.phase_range_rad.text, job_.reference_angle_rad.text, job_.carrier});
  return made;
}

}  // namespace holotone::cli
