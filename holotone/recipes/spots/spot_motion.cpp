// Codes of spots that move, and their light while the panel goes from one frame to the next.
#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/parallel.hpp>
#include <holotone/recipes/retrieval/panel_light.hpp>
#include <holotone/recipes/spot_motion.hpp>
#include <holotone/recipes/spots/even_levels.hpp>
#include <holotone/retrieval/spots/spot_limits.hpp>
#include <limits>
#include <numeric>
#include <unordered_map>
#include <utility>

namespace holotone {
namespace {

constexpr const char* where_made = "SpotMotion";
constexpr const char* where_show = "SpotMotion::show";
/// Shares of the way at which the light is looked at.
constexpr std::array<double, 5> looked_at{0.1, 0.25, 0.5, 0.75, 0.9};
constexpr double half = 0.5;

/// Earliest time at which the panel has gone a share of its way; none within the frame.
std::optional<double> time_of_share(const PanelRelaxation& relaxation, double share, double frame_time_s) {
  double time_s = 0;
  if (relaxation.time_s.empty()) {
    time_s = -relaxation.time_constant_s * std::log1p(-share);
  } else {
    double low_s = 0;
    double low = 0;
    std::size_t k = 0;
    for (; k < relaxation.time_s.size() && relaxation.share[k] < share; ++k) {
      low_s = relaxation.time_s[k];
      low = relaxation.share[k];
    }
    if (k == relaxation.time_s.size()) return {};
    time_s = low_s + (relaxation.time_s[k] - low_s) * (share - low) / (relaxation.share[k] - low);
  }
  return time_s < frame_time_s ? std::optional(time_s) : std::nullopt;
}

View<const float, 2> positions(const SpotList& spots) {
  const auto count = std::ssize(spots.position_m);
  return {count > 0 ? spots.position_m.front().data() : nullptr, {count, 3}};
}
View<const float, 1> intensities(const SpotList& spots) {
  return {spots.intensity.data(), {std::ssize(spots.intensity)}};
}

/// A frame's spots that another one has too: their numbers in both.
struct SharedSpots {
  std::vector<std::size_t> before;
  std::vector<std::size_t> after;
};
SharedSpots shared_spots(const SpotFrame& before, const SpotFrame& after) {
  std::unordered_map<std::int64_t, std::size_t> index;
  for (std::size_t m = 0; m < before.id.size(); ++m) index[before.id[m]] = m;
  SharedSpots shared;
  for (std::size_t m = 0; m < after.id.size(); ++m) {
    const auto found = index.find(after.id[m]);
    if (found == index.end()) continue;
    shared.before.push_back(found->second);
    shared.after.push_back(m);
  }
  return shared;
}

/// Mean of intensity / target of some spots.
double mean_ratio(const SpotFrame& frame, const std::vector<double>& intensity, const std::vector<std::size_t>& some) {
  double sum = 0;
  for (const auto m : some) sum += intensity[m] / static_cast<double>(frame.spots.intensity[m]);
  return sum / static_cast<double>(some.size());
}

/// Phase {ny, nx} that a panel is driven to by codes.
Array<float, 2> driven_phase(View<const std::uint16_t, 2> codes, const EncodeOptions& encoding) {
  const auto& levels = encoding.level_phase_rad;
  const double step = encoding.phase_range_rad / (1 << encoding.bits);
  Array<float, 2> phase_rad(codes.shape());
  parallel_blocks(codes.size(), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const auto code = codes.data()[i];
      phase_rad.data()[i] = static_cast<float>(levels.empty() ? step * code : levels[code]);
    }
  });
  return phase_rad;
}

Array<float, 2> copied(View<const float, 2> values) {
  return values.empty() ? Array<float, 2>() : copy_of(values, Device{});
}

void validate(const SpotMotionOptions& motion) {
  require_bounds(where_made, "motion_steps", motion.motion_steps, bounds_of<&SpotMotionOptions::motion_steps>);
  if (motion.frame_time_s) {
    require_bounds(where_made, "frame_time_s", *motion.frame_time_s, bounds_of<&SpotMotionOptions::frame_time_s>);
  }
  static_cast<void>(relaxed_share(motion.relaxation, 1));
}

}  // namespace

struct SpotMotion::State {
  State(const SpotOptions& options, const EncodeOptions& codes, SpotMotionOptions motion_options, const Queue& queue)
      : encoding(codes),
        motion(std::move(motion_options)),
        correction_rad(copied(codes.correction_rad)),
        added(added_phase(codes, options.grid)),
        plan(options, queue),
        relaxes(motion.relaxation.time_constant_s > 0 || !motion.relaxation.time_s.empty()) {
    if (!correction_rad.empty()) encoding.correction_rad = correction_rad.view();
    if (!relaxes) return;
    auto exact = options;
    exact.levels = 0;
    meter.emplace(exact, queue);
  }

  EncodeOptions encoding;
  SpotMotionOptions motion;
  Array<float, 2> correction_rad;  ///< copy of the caller's
  Array<float, 2> added;           ///< by carrier and correction; empty: none
  SpotPlan plan;
  std::optional<SpotPlan> meter;  ///< of spots between frames
  bool relaxes;
  std::optional<SpotFrame> last;       ///< the frame before
  std::vector<double> last_intensity;  ///< of its spots
  Array<float, 2> reached_rad;         ///< phase that the panel has reached by its end

  SpotTransient transit(const SpotFrame& frame, const SpotLight& light, View<const float, 2> driven_rad,
                        double frame_time_s);
  [[nodiscard]] Array<float, 2> on_the_way(View<const float, 2> driven_rad, double share) const;
};

/// Phase when the panel has gone a share of its way from the one that it had reached.
Array<float, 2> SpotMotion::State::on_the_way(View<const float, 2> driven_rad, double share) const {
  Array<float, 2> phase_rad(driven_rad.shape());
  const auto r = static_cast<float>(share);
  parallel_blocks(phase_rad.size(), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const float from = reached_rad.data()[i];
      phase_rad.data()[i] = from + r * (driven_rad.data()[i] - from);
    }
  });
  return phase_rad;
}

SpotTransient SpotMotion::State::transit(const SpotFrame& frame, const SpotLight& light,
                                         View<const float, 2> driven_rad, double frame_time_s) {
  SpotTransient seen;
  const auto shared = shared_spots(*last, frame);
  if (shared.after.empty()) return seen;
  const auto count = shared.after.size();
  for (const auto m : shared.after) seen.id.push_back(frame.id[m]);
  seen.lowest.assign(count, std::numeric_limits<double>::max());
  const double mean_before = mean_ratio(*last, last_intensity, shared.before);
  const double mean_after = mean_ratio(frame, light.intensity, shared.after);
  for (const double wanted : looked_at) {
    if (const auto time = time_of_share(motion.relaxation, wanted, frame_time_s)) seen.time_s.push_back(*time);
  }
  seen.time_s.push_back(frame_time_s);
  for (const double time_s : seen.time_s) {
    const double share = relaxed_share(motion.relaxation, time_s);
    SpotList between;
    for (std::size_t k = 0; k < count; ++k) {
      const auto b = shared.before[k];
      const auto a = shared.after[k];
      const auto mix = [share](float from, float to) {
        return static_cast<float>((1 - share) * static_cast<double>(from) + share * static_cast<double>(to));
      };
      auto& place = between.position_m.emplace_back();
      for (std::size_t axis = 0; axis < 3; ++axis) {
        place[axis] = mix(last->spots.position_m[b][axis], frame.spots.position_m[a][axis]);
      }
      between.intensity.push_back(std::max(mix(last->spots.intensity[b], frame.spots.intensity[a]),
                                           std::numeric_limits<float>::min()));  // by a share above 1
    }
    meter->set_spots(positions(between), intensities(between));
    auto phase_rad = on_the_way(driven_rad, share);
    if (!added.empty()) {
      for (std::int64_t i = 0; i < phase_rad.size(); ++i) phase_rad.data()[i] -= added.data()[i];
    }
    const auto now = meter->light_in_spots(phase_rad.view());
    const double mean = (1 - share) * mean_before + share * mean_after;
    std::vector<double> ratio(count);
    double sum = 0;
    for (std::size_t k = 0; k < count; ++k) {
      ratio[k] = now.intensity[k] / static_cast<double>(between.intensity[k]) / mean;
      seen.lowest[k] = std::min(seen.lowest[k], ratio[k]);
      sum += ratio[k];
    }
    seen.mean.push_back(sum / static_cast<double>(count));
    seen.min.push_back(*std::ranges::min_element(ratio));
    // The half way, or as much as the panel goes.
    if (seen.half_way.empty() && (share >= half - 1e-9 || time_s == frame_time_s)) {
      seen.half_way = std::move(ratio);
      seen.mean_half_way = seen.mean.back();
    }
  }
  return seen;
}

SpotMotion::SpotMotion(const SpotOptions& options, const EncodeOptions& encoding, const SpotMotionOptions& motion,
                       const Queue& queue) {
  if (encoding.encoding != Encoding::phase) {
    throw_argument(where_made, "encoding", "phase", to_string(encoding.encoding));
  }
  validate(motion);
  auto rounded = options;
  rounded.levels = even_levels(encoding);
  state_ = std::make_unique<State>(rounded, encoding, motion, queue);
}

SpotMotion::~SpotMotion() = default;
SpotMotion::SpotMotion(SpotMotion&&) noexcept = default;
SpotMotion& SpotMotion::operator=(SpotMotion&&) noexcept = default;

void SpotMotion::set_light(View<const Complex, 2> light) {
  state_->plan.set_light(light);
  if (state_->meter) state_->meter->set_light(light);
  state_->last.reset();
}

SpotMotionFrame SpotMotion::show(const SpotFrame& frame, const SpotSteps& steps, Progress& progress) {
  auto& state = *state_;
  const auto count = frame.id.size();
  if (count == 0 || frame.spots.position_m.size() != count || frame.spots.intensity.size() != count) {
    throw_argument(where_show, "frame", "at least 1 spot, with an id, a position and an intensity each",
                   fmt::format("{} ids, {} positions, {} intensities", count, frame.spots.position_m.size(),
                               frame.spots.intensity.size()));
  }
  double frame_time_s = state.motion.frame_time_s.value_or(0);
  if (state.relaxes && state.last && !state.motion.frame_time_s) {
    frame_time_s = frame.time - state.last->time;
    if (!(frame_time_s > 0)) {
      throw_argument(where_show, "frame", fmt::format("a time later than {:g}", state.last->time),
                     fmt::format("{:g}", frame.time));
    }
  }
  const View<const std::int64_t, 1> id(frame.id.data(), {std::ssize(frame.id)});
  SpotMotionFrame made;
  if (state.last) {
    made.report = state.plan.move(positions(frame.spots), id, intensities(frame.spots), state.motion.motion_steps);
  } else {
    state.plan.set_spots(positions(frame.spots), intensities(frame.spots), id);
    made.report = state.plan.solve(steps, progress);
  }
  const auto& grid = state.plan.options().grid;
  Array<float, 2> phase_rad(grid.shape());
  state.plan.phase(phase_rad.view());
  auto shown = phase_codes(phase_rad.view(), state.encoding, grid);
  made.codes = std::move(shown.codes);
  // The plan has rounded to these very codes, unless something is added to them.
  if (state.plan.options().levels == 0 || !state.added.empty()) {
    made.report.light = state.plan.light_in_spots(shown.shown_rad.view());
  }
  const auto& seen = made.report.light;
  made.report.reached = spots::reaches(seen, steps);
  if (state.relaxes) {
    auto driven_rad = driven_phase(made.codes.view(), state.encoding);
    if (state.last) {
      made.transient = state.transit(frame, seen, driven_rad.view(), frame_time_s);
      state.reached_rad = state.on_the_way(driven_rad.view(), relaxed_share(state.motion.relaxation, frame_time_s));
    } else {
      state.reached_rad = std::move(driven_rad);
    }
  }
  state.last = frame;
  state.last_intensity = seen.intensity;
  return made;
}

std::string spot_frame_rows(std::int64_t number, const SpotFrame& frame, const SpotMotionFrame& made) {
  std::string text = number == 0 ? "frame,time,id,x_m,y_m,z_m,intensity,share,ratio,half_way,lowest\n" : "";
  std::vector<std::size_t> all(frame.id.size());
  std::iota(all.begin(), all.end(), std::size_t{});
  const auto& share = made.report.light.intensity;
  const double mean = mean_ratio(frame, share, all);
  std::unordered_map<std::int64_t, std::size_t> index;
  if (made.transient) {
    for (std::size_t k = 0; k < made.transient->id.size(); ++k) index[made.transient->id[k]] = k;
  }
  for (const auto m : all) {
    const auto& [x, y, z] = frame.spots.position_m[m];
    const float target = frame.spots.intensity[m];
    text += fmt::format("{},{:.9g},{},{:.9g},{:.9g},{:.9g},{:.9g},{:.9g},{:.9g},", number, frame.time, frame.id[m], x,
                        y, z, target, share[m], share[m] / static_cast<double>(target) / mean);
    const auto found = index.find(frame.id[m]);
    if (found == index.end()) {
      text += ",\n";
    } else {
      const auto& seen = *made.transient;
      text += fmt::format("{:.9g},{:.9g}\n", seen.half_way[found->second], seen.lowest[found->second]);
    }
  }
  return text;
}

}  // namespace holotone
