#include <algorithm>
#include <cli/common/frame_gaps.hpp>
#include <cli/common/output_check.hpp>
#include <cli/hologram/points/panel_coverage.hpp>
#include <cli/hologram/points/points_frames.hpp>
#include <cli/options/values.hpp>
#include <cmath>
#include <holotone/io/file_bytes_detail.hpp>

namespace holotone::cli {

Wave wave_of_run(const HologramJob& job, const PreparedFrame& first) {
  const bool moving = job.spin.frames > 0 || !file_exists(job.input);
  if (job.sum.wave != Wave::automatic || (job.channels.size() == 1 && !moving)) return job.sum.wave;
  const auto shortest = std::ranges::min_element(job.channels, {}, &Channel::wavelength_m);
  const Wave wave =
      PointCloudPlan::find_wave(CloudSources(first.points.cloud).sources(), job.sum_options(*shortest), job.device);
  // Fresnel's may be wrong for a later frame.
  return moving && wave == Wave::fresnel ? Wave::automatic : wave;
}

Makers makers_of(const HologramJob& job, const PreparedFrame& first) {
  const Wave wave = wave_of_run(job, first);
  const Queue queue = Queue::create(job.device);
  Makers makers;
  for (std::size_t c = 0; c < job.channels.size(); ++c)
    makers.push_back(std::make_unique<PointsMaker>(job, c, wave, queue));
  return makers;
}

PointsRecord make_row(const PreparedFrame& frame, std::size_t channel, const PointsHologram& made) {
  PointsRecord row;
  row.input = frame.input;
  row.output = made.output;
  row.frame = frame.number;
  row.channel = channel;
  row.points = static_cast<std::int64_t>(frame.points.cloud.size());
  row.dropped = frame.points.dropped;
  row.ignored = frame.points.ignored;
  row.phase_note = frame.points.phase_note;
  row.hidden = frame.points.hidden;
  row.triangles = frame.points.triangles;
  row.dark = frame.dark[channel];
  row.info = made.info;
  row.fresnel_deviation_rad = made.fresnel_deviation_rad;
  row.compute_s = made.compute_s;
  row.unlit = frame.unlit[channel];
  row.remedy = frame.remedy[channel];
  row.extent_m = find_extent(frame.points.cloud);
  row.distance_m = std::min(std::abs(frame.points.nearest_m), std::abs(frame.points.farthest_m));
  row.reconstruct_flags = made.reconstruct_flags;
  return row;
}

std::vector<PointsRecord> rows_before_sum(const HologramJob& job, const FrameSource& source,
                                          const PreparedFrame& frame) {
  std::vector<PointsRecord> rows;
  for (std::size_t c = 0; c < job.channels.size(); ++c) {
    PointsHologram made;
    made.output = source.output(frame.number, job.channels[c]);
    rows.push_back(make_row(frame, c, made));
  }
  return rows;
}

FrameSource::FrameSource(const HologramJob& job) : job_(job) {
  std::optional<FramePattern> input_pattern;
  if (!file_exists(job.input)) input_pattern = frame_pattern("IN", job.input);
  require_known_counters(job.output, job.channels.size() > 1);
  output_pattern_ = frame_pattern(job.output);
  const bool moving = input_pattern.has_value() || job.spin.frames > 0;
  if (input_pattern && job.spin.frames > 0) reject("--spin", "one file to turn", job.input);
  if (moving && !output_pattern_ && !job.shown) reject_output("a counter such as %04d for moving pictures", job.output);
  if (!moving && output_pattern_) {
    reject_output("a name without a counter, as IN has none and there is no --spin", job.output);
  }
  if (input_pattern) {
    frames_ = find_frames(*input_pattern, job.input);
    if (const auto gaps = gaps_in(frames_, job.input); !gaps.empty()) warn(job.console, gaps);
    count_ = static_cast<std::int64_t>(frames_.size());
  } else {
    io::require_input(job.input);
    count_ = std::max<std::int64_t>(job.spin.frames, 1);
  }
  moving_ = moving;
  if (job.shown) return;
  auto inputs = code_inputs(job.lut, job.correction);
  if (!input_pattern) inputs.push_back({"IN", job.input});
  for (const auto& frame : frames_) inputs.push_back({"IN", frame.path});
  const auto channels = static_cast<std::int64_t>(job.channels.size());
  const auto name = [&](std::int64_t i) {
    return output(frame(i / channels).number, job.channels[static_cast<std::size_t>(i % channels)]);
  };
  require_outputs({{output_name, count_ * channels, name}}, inputs);
}

Frame FrameSource::frame(std::int64_t index) const {
  return frames_.empty() ? Frame{index, job_.input} : frames_.at(static_cast<std::size_t>(index));
}

std::string FrameSource::output(std::int64_t number, const Channel& channel) const {
  std::string path = output_pattern_ ? output_pattern_->name(number) : job_.output;
  return channel.name.empty() ? path : channel_path(path, channel.name);
}

PreparedFrame FrameSource::prepare(std::int64_t index) {
  const Frame frame = this->frame(index);
  if (job_.spin.frames == 0) return prepare_frame(job_, place_scene(frame.path, job_.scene), frame.number, 0);
  if (!turning_) turning_ = place_scene(frame.path, job_.scene);
  const double turn_rad = job_.spin.angle_rad * static_cast<double>(index) / static_cast<double>(job_.spin.frames);
  return prepare_frame(job_, *turning_, frame.number, turn_rad);
}

}  // namespace holotone::cli
