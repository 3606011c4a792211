#include <algorithm>
#include <array>
#include <cli/common/cancel.hpp>
#include <cli/common/exit_codes.hpp>
#include <cli/common/paths.hpp>
#include <cli/options/error_words.hpp>
#include <cli/options/time_option.hpp>
#include <cli/spots/spots_frames.hpp>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/io/atomic_file.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/recipes/spots/spot_remarks.hpp>
#include <holotone/retrieval/spots/spot_limits.hpp>
#include <nlohmann/json.hpp>
#include <tuple>

namespace holotone::cli {
namespace {

/// What the run says at its end.
struct Totals {
  double efficiency = 1;  ///< the lowest
  double deviation = 0;
  double worst = 0;
  std::int64_t free_spots = 0;
  std::optional<double> mean_half_way;  ///< the lowest
  std::optional<double> lowest;
  std::int64_t lowest_frame = 0;
  std::int64_t lowest_id = 0;
  std::int64_t off_frames = 0;  ///< whose spots are far from their targets
  std::string first_off;
};

/// The warning of the first of `frames` that have it.
std::string with_others(const std::string& first, std::int64_t frames) {
  return frames > 1 ? fmt::format("{}; {} more so", first, counted(frames - 1, "frame")) : first;
}

nlohmann::json add_frame(std::int64_t number, const SpotFrame& frame, const SpotMotionFrame& made,
                         const SpotSteps& limits, Totals& totals) {
  const auto& light = made.report.light;
  totals.efficiency = std::min(totals.efficiency, light.efficiency);
  totals.deviation = std::max(totals.deviation, light.deviation);
  totals.worst = std::max(totals.worst, light.worst);
  totals.free_spots += made.report.free_spots;
  constexpr double far_off = 0.05;
  if (light.deviation > std::max(far_off, limits.max_deviation) && totals.off_frames++ == 0) {
    totals.first_off =
        fmt::format("frame {}: deviation {:.2g} % from the targets, worst spot {:.2g} % (more --motion-steps may help)",
                    number, 100 * light.deviation, 100 * light.worst);
  }
  nlohmann::json row{{"frame", number},
                     {"time", frame.time},
                     {"spots", frame.id.size()},
                     {"free_spots", made.report.free_spots},
                     {"efficiency", light.efficiency},
                     {"deviation", light.deviation},
                     {"worst", light.worst},
                     {"reached", spots::reaches(light, limits)}};
  if (!made.transient || made.transient->id.empty()) return row;
  const auto& seen = *made.transient;
  const auto dimmest = std::ranges::min_element(seen.lowest) - seen.lowest.begin();
  const double lowest = seen.lowest[static_cast<std::size_t>(dimmest)];
  row["transient"] = {{"time_s", seen.time_s},
                      {"mean", seen.mean},
                      {"min", seen.min},
                      {"mean_half_way", seen.mean_half_way},
                      {"lowest_half_way", *std::ranges::min_element(seen.half_way)},
                      {"lowest", lowest},
                      {"lowest_id", seen.id[static_cast<std::size_t>(dimmest)]}};
  totals.mean_half_way = std::min(totals.mean_half_way.value_or(seen.mean_half_way), seen.mean_half_way);
  if (lowest < totals.lowest.value_or(lowest + 1)) {
    totals.lowest = lowest;
    totals.lowest_frame = number;
    totals.lowest_id = seen.id[static_cast<std::size_t>(dimmest)];
  }
  return row;
}

/// A line for each kind of remark: that of the first frame that has it, and how many more have it.
void warn_of_frames(const SpotFramesJob& job, const SpotTrajectory& trajectory, const std::vector<double>& times) {
  spots::RemarksByKind first;
  std::array<std::int64_t, std::tuple_size_v<spots::RemarksByKind>> frames{};
  for (std::size_t i = 0; i < times.size(); ++i) {
    check_cancelled("checking frames");
    const auto remarks = spots::remarks_by_kind(spot_frame(trajectory, times[i]).spots, job.lens, job.light);
    for (std::size_t kind = 0; kind < remarks.size(); ++kind) {
      if (remarks[kind].empty()) continue;
      if (frames[kind]++ == 0) first[kind] = fmt::format("frame {}: {}", i, remarks[kind]);
    }
  }
  for (std::size_t kind = 0; kind < first.size(); ++kind) {
    if (frames[kind] > 0) warn(job.console, with_others(first[kind], frames[kind]));
  }
}

/// Steps of frames whose distance nobody chose.
void warn_of_steps(const SpotFramesJob& job, const SpotTrajectory& trajectory, const std::vector<double>& times) {
  constexpr double long_step = 0.5;
  const auto& frames = job.motion.frames;
  if (frames.frames_per_key || frames.max_step_widths) return;
  const double longest = longest_spot_step(trajectory, times, job.lens, job.light);
  if (longest <= long_step) return;
  warn(job.console,
       fmt::format("a spot jumps by {:.2g} widths from one frame to the next, and its light goes out between "
                   "them; --step 0.1 makes frames between",
                   longest));
}

void report_totals(const SpotFramesJob& job, const std::string& name, std::int64_t count, const Totals& totals,
                   double seconds) {
  std::string way;
  if (totals.lowest) {
    way = fmt::format(
        "; between frames the mean at least {:.3g} half way, the lowest {:.3g} of the mean (frame {}, id {})",
        *totals.mean_half_way, *totals.lowest, totals.lowest_frame, totals.lowest_id);
  }
  report(
      job.console,
      fmt::format("{}: {}, at least {:.1f} % of the light in the spots, deviation at most {:.2g} %, worst {:.2g} %{}; "
                  "{}",
                  name, counted(count, "frame"), 100 * totals.efficiency, 100 * totals.deviation, 100 * totals.worst,
                  way, format_duration(seconds)));
}

/// Looks after a panel's window, if there is one, between the steps of the first frame.
class WindowProgress final : public Progress {
 public:
  explicit WindowProgress(MonitorOutput* shown) : shown_(shown) {}
  bool update(std::string_view, std::int64_t, std::int64_t) override {
    if (shown_ != nullptr) shown_->poll();
    return !cancelled();
  }

 private:
  MonitorOutput* shown_;
};

SpotMotionOptions motion_of(const SpotFramesJob& job, bool has_times) {
  auto motion = job.motion.motion;
  if (!job.motion.response.empty()) motion.relaxation = read_panel_relaxation(job.motion.response);
  const bool relaxes = motion.relaxation.time_constant_s > 0 || !motion.relaxation.time_s.empty();
  const bool stated = job.motion.frames.frame_time_s.has_value();
  if (relaxes && !has_times && !stated) reject("--frame-time", "the time of a frame for a file without times", "none");
  if (!relaxes && !has_times && stated && job.shown == nullptr) {
    reject("--frame-time", "--response-time or --response, a file with times, or -o monitor:N", "none of them");
  }
  if (job.shown != nullptr && has_times && !stated) {
    reject("--frame-time", "the time of a frame on the panel for a file with times", "none");
  }
  if (stated) motion.frame_time_s = job.motion.frames.frame_time_s;
  return motion;
}

/// Refuses what the file does not fit.
void check_trajectory(const SpotFramesJob& job, const SpotTrajectory& trajectory) {
  const auto& path = job.motion.trajectory;
  const auto& frames = job.motion.frames;
  if (job.unit_m > 0 && trajectory.has_units) reject("--unit", "no unit beside those that the file states", path);
  if (trajectory.has_times && frames.frame_time_s && (frames.frames_per_key || frames.max_step_widths)) {
    reject("--frame-time", "no --frames and no --step beside it for a file with times", path);
  }
  try {
    check_spot_trajectory(trajectory, job.lens);
  } catch (const Error& error) {
    throw_of(path, error);
  }
}

}  // namespace

int run_spot_frames(const SpotFramesJob& job) {
  const Stopwatch watch;
  io::require_input(job.motion.trajectory);
  const auto trajectory = read_spot_trajectory(job.motion.trajectory, job.unit_m);
  auto frames = job.motion.frames;
  if (!trajectory.has_times) frames.frame_time_s.reset();
  const auto motion_options = motion_of(job, trajectory.has_times);
  check_trajectory(job, trajectory);
  const auto times = spot_frame_times(trajectory, frames, job.lens, job.light);
  const auto count = std::ssize(times);
  std::optional<FramePattern> pattern;
  std::vector<OutputFiles> outputs;
  if (job.shown == nullptr) {
    require_known_counters(job.output, false);
    pattern = frame_pattern(job.output);
    if (!pattern) reject_output("a counter such as %04d for moving spots, or monitor:N", job.output);
    outputs.push_back({output_name, count, [&](std::int64_t i) { return pattern->name(i); }});
  }
  if (!job.table.empty()) outputs.push_back({"--table", 1, [&](std::int64_t) { return job.table; }});
  auto inputs = job.inputs;
  inputs.push_back({"--trajectory", job.motion.trajectory});
  inputs.push_back({"--response", job.motion.response});
  require_outputs(outputs, inputs);
  warn_of_frames(job, trajectory, times);
  warn_of_steps(job, trajectory, times);
  if (job.shown != nullptr) job.shown->open();
  ProgressBar bar(job.console);
  const UnfinishedRun unfinished;
  SpotMotion motion(job.lens, job.encoding, motion_options, Queue::create(job.device));
  if (job.light.data() != nullptr) motion.set_light(job.light);
  WindowProgress watching(job.shown);
  Totals totals;
  auto rows = nlohmann::json::array();
  std::string table;
  const auto make_all = [&](bool is_first) {
    for (std::int64_t i = 0; i < count; ++i) {
      if (is_first) bar.step("frames", i, count);
      const auto frame = spot_frame(trajectory, times[static_cast<std::size_t>(i)]);
      const auto made = motion.show(frame, job.steps, watching);
      if (job.shown != nullptr) {
        job.shown->show(made.codes.view());
      } else {
        const auto path = pattern->name(i);
        UnfinishedRun::will_write(path);
        job.write(path, made.codes.view());
      }
      if (!is_first) continue;
      if (!job.table.empty()) table += spot_frame_rows(i, frame, made);
      rows.push_back(add_frame(i, frame, made, job.steps, totals));
    }
  };
  const auto show_all = [&] {
    make_all(true);
    while (job.shown->loops()) make_all(false);
    job.shown->finish();
  };
  int code = exit_ok;
  if (job.shown != nullptr) {
    code = until_closed(show_all);
  } else {
    make_all(true);
    check_cancelled("writing");
  }
  if (!job.table.empty()) {
    UnfinishedRun::will_write(job.table);
    write_file(job.table, table);
  }
  UnfinishedRun::keep();
  if (totals.off_frames > 0) warn(job.console, with_others(totals.first_off, totals.off_frames));
  auto object = job.describe();
  object["outputs"] = {job.output};
  object["frames"] = std::move(rows);
  object["efficiency"] = totals.efficiency;
  object["deviation"] = totals.deviation;
  object["worst"] = totals.worst;
  object["free_spots"] = totals.free_spots;
  if (totals.lowest) {
    object["lowest_transient"] = *totals.lowest;
    object["mean_half_way"] = *totals.mean_half_way;
  }
  object["time_s"] = watch.seconds();
  if (job.shown != nullptr) object.update(job.shown->player().json());
  report_json(job.console, object);
  const auto name = job.shown != nullptr ? fmt::format("{}, {}", job.output, job.shown->player().summary())
                                         : fmt::format("{} to {}", pattern->name(0), pattern->name(count - 1));
  report_totals(job, name, std::ssize(object["frames"]), totals, watch.seconds());
  return code;
}

std::vector<OptionRow> motion_options(MotionChoice& choice) {
  const auto moves = [&choice] {
    return Applies{[&choice] { return !choice.trajectory.empty(); }, "--trajectory",
                   [] { return std::string("no motion"); }};
  };
  return {{.names = "--trajectory",
           .target = &choice.trajectory,
           .value = "FILE",
           .help = "Spots that move, in place of SPOTS: CSV or JSON with frame or time, id, x, y and, if any, z and "
                   "intensity, a row for each spot and key frame; --output has a counter",
           .common = true},
          {.names = "--frames",
           .target = member<&SpotFrameOptions::frames_per_key>(choice.frames),
           .value = "N",
           .help = "Frames from one key frame to the next",
           .otherwise = "all numbers of frames, or the times of the file",
           .feeds = "spot_frame_times.frames_per_key",
           .applies = moves()},
          {.names = "--step",
           .target = member<&SpotFrameOptions::max_step_widths>(choice.frames),
           .value = "WIDTHS",
           .help = "As many frames that no spot goes farther from one to the next, in widths; 0.1 is good",
           .excludes = "--frames",
           .feeds = "spot_frame_times.max_step_widths",
           .applies = moves()},
          {.names = "--motion-steps",
           .target = member<&SpotMotionOptions::motion_steps>(choice.motion),
           .value = "N",
           .help = "Steps a frame that keep the spots' phases",
           .feeds = "SpotMotion.motion_steps",
           .applies = moves()},
          {.names = "--frame-time",
           .target = parsed(choice.frames.frame_time_s, parse_time),
           .value = "TIME",
           .help = "Time of a frame, such as 10ms; of a file with times the frames' distance",
           .otherwise = "that of the file",
           .feeds = "spot_frame_times.frame_time_s|SpotMotion.frame_time_s",
           .applies = moves()},
          {.names = "--response-time",
           .target = parsed(choice.motion.relaxation.time_constant_s, parse_time),
           .value = "TIME",
           .help = "Time constant with which the panel's phase follows the codes: the spots' light between frames is "
                   "predicted",
           .feeds = "relaxed_share.time_constant_s",
           .applies = moves()},
          {.names = "--response",
           .target = &choice.response,
           .value = "FILE",
           .help = "The same by a CSV of time_ms and share, the way that the phase has gone",
           .excludes = "--response-time",
           .applies = moves()}};
}

}  // namespace holotone::cli
