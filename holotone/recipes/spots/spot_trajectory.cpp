// Trajectories of spots: files, frames between key frames.
#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/units.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/recipes/spot_motion.hpp>
#include <holotone/recipes/spots/named_rows.hpp>
#include <holotone/recipes/spots/spot_columns.hpp>
#include <tuple>
#include <unordered_map>

namespace holotone {
namespace {

constexpr std::int64_t max_frames = 1'000'000;
/// Times nearer than this to a frame's, in frames, are that frame's.
constexpr double same_frame = 1e-6;

enum Column : std::size_t { frame_column, time_column, id_column, x_column, y_column, z_column, intensity_column };
constexpr std::array<std::string_view, 7> column_names{"frame", "time", "id", "x", "y", "z", "intensity"};
/// Without names a trajectory has no times.
constexpr std::array<std::size_t, 6> order_without_names{frame_column, id_column, x_column,
                                                         y_column,     z_column,  intensity_column};

struct Row {
  double time = 0;
  std::int64_t id = 0;
  std::array<float, 3> position_m{};
  float intensity = 1;
  std::uint64_t number = 0;
};

class Gatherer {
 public:
  Gatherer(const std::string& path, double unit_m) : path_(path), unit_m_(unit_m) {}

  void set_unit(const std::string& unit) {
    unit_m_ = length_unit(unit);
    states_unit_ = true;
  }

  void add(const NamedRow& row) {
    const auto need = [&](Column column) {
      const auto& value = row.value[column];
      if (!value) throw_io(path_, fmt::format("a column {} ({})", column_names[column], row.place()), "none");
      return *value;
    };
    Row& added = rows_.emplace_back();
    added.number = row.number;
    is_json_ = row.is_json;
    const bool timed = row.value[time_column].has_value();
    if (timed == row.value[frame_column].has_value()) {
      throw_io(path_, fmt::format("a column frame or time, with a unit such as time_ms ({})", row.place()),
               timed ? "both" : "none");
    }
    if (rows_.size() > 1 && timed != has_times_) {
      throw_io(path_, fmt::format("frame or time, one of them in all rows ({})", row.place()), "the other one");
    }
    has_times_ = timed;
    added.time = timed ? seconds(row) : static_cast<double>(whole(row, need(frame_column), frame_column, 1e9));
    added.id = whole(row, need(id_column), id_column, 9e15);
    const std::array<double, 3> place{need(x_column), need(y_column), row.value[z_column].value_or(0)};
    for (std::size_t axis = 0; axis < place.size(); ++axis) {
      const auto& unit = row.unit[x_column + axis];
      if (row.value[x_column + axis]) (unit.empty() && !states_unit_ ? lacks_units_ : has_units_) = true;
      added.position_m[axis] = static_cast<float>(place[axis] * unit_size(unit, place[axis]));
      if (!std::isfinite(added.position_m[axis])) {
        throw_io(path_, fmt::format("finite coordinates in metres within float32 ({})", row.place()),
                 fmt::format("{:g}", place[axis]));
      }
    }
    const double intensity = row.value[intensity_column].value_or(1);
    if (!(intensity >= 1e-30 && intensity <= 1e30)) {
      throw_io(path_, fmt::format("an intensity of 1e-30 to 1e30 ({})", row.place()), fmt::format("{:g}", intensity));
    }
    added.intensity = static_cast<float>(intensity);
  }

  SpotTrajectory take() {
    if (rows_.empty()) throw_io(path_, "at least 1 spot", "0");
    std::ranges::stable_sort(rows_, {}, [](const Row& row) { return std::tuple(row.time, row.id); });
    SpotTrajectory trajectory;
    trajectory.has_times = has_times_;
    trajectory.has_units = has_units_ && !lacks_units_;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const auto& row = rows_[i];
      if (i == 0 || row.time != rows_[i - 1].time) {
        trajectory.keys.push_back({row.time, {}, {}});
      } else if (row.id == rows_[i - 1].id) {
        const auto which = has_times_ ? fmt::format("the time {:g} s", row.time) : fmt::format("frame {}", row.time);
        throw_io(path_, fmt::format("each id once in a frame ({} {})", is_json_ ? "row" : "line", row.number),
                 fmt::format("id {} again at {}", row.id, which));
      }
      auto& key = trajectory.keys.back();
      key.id.push_back(row.id);
      key.spots.position_m.push_back(row.position_m);
      key.spots.intensity.push_back(row.intensity);
    }
    return trajectory;
  }

 private:
  [[nodiscard]] double length_unit(const std::string& unit) const {
    const auto column = spots::parse_unit(unit);
    if (column.unit != spots::ColumnUnit::length) throw_io(path_, "a unit of length such as um", io::in_quotes(unit));
    return column.size;
  }

  /// Metres in the unit of a column, which the file's applies to if it has none; 0 needs no unit.
  [[nodiscard]] double unit_size(const std::string& unit, double value) {
    if (unit.empty()) {
      if (unit_m_ > 0 || value == 0) return unit_m_ > 0 ? unit_m_ : 1;
      throw_io(path_, "a unit of x, y and z, such as a column x_um, or one by option", "numbers without a unit");
    }
    if (unit != last_unit_) last_size_ = length_unit(unit);
    last_unit_ = unit;
    return last_size_;
  }

  [[nodiscard]] double seconds(const NamedRow& row) const {
    const double value = *row.value[time_column];
    const double unit = seconds_in(row.unit[time_column]);
    if (!(unit > 0)) {
      throw_io(path_, "a unit of time, s, ms, us or min, such as time_ms",
               row.unit[time_column].empty() ? "none" : io::in_quotes(row.unit[time_column]));
    }
    if (!(std::abs(value * unit) <= 1e9)) {
      throw_io(path_, fmt::format("a finite time ({})", row.place()), fmt::format("{:g}", value));
    }
    return value * unit;
  }

  [[nodiscard]] std::int64_t whole(const NamedRow& row, double value, Column column, double largest) const {
    if (!(std::abs(value) <= largest) || value != std::round(value)) {
      throw_io(path_, fmt::format("a whole number as {} ({})", column_names[column], row.place()),
               fmt::format("{}", value));
    }
    return static_cast<std::int64_t>(value);
  }

  const std::string& path_;
  double unit_m_;
  std::string last_unit_;
  double last_size_ = 0;
  bool has_times_ = false;
  bool is_json_ = false;
  bool states_unit_ = false;  ///< of numbers without one
  bool has_units_ = false;    ///< some coordinates
  bool lacks_units_ = false;
  std::vector<Row> rows_;
};

void require_trajectory(const char* where, const SpotTrajectory& trajectory) {
  if (trajectory.keys.empty()) throw_argument(where, "keys", "at least 1 key frame", "0");
  for (std::size_t k = 0; k < trajectory.keys.size(); ++k) {
    const auto& key = trajectory.keys[k];
    const auto count = key.id.size();
    if (key.spots.position_m.size() != count || key.spots.intensity.size() != count) {
      throw_argument(where, "keys", "a position and an intensity for each id",
                     fmt::format("{} ids, {} positions, {} intensities in key frame {}", count,
                                 key.spots.position_m.size(), key.spots.intensity.size(), k));
    }
    if (!std::isfinite(key.time) || (k > 0 && !(key.time > trajectory.keys[k - 1].time))) {
      throw_argument(where, "keys", "rising times", fmt::format("{:g} at key frame {}", key.time, k));
    }
  }
}

std::unordered_map<std::int64_t, std::size_t> index_ids(const SpotFrame& frame) {
  std::unordered_map<std::int64_t, std::size_t> index;
  for (std::size_t m = 0; m < frame.id.size(); ++m) index[frame.id[m]] = m;
  return index;
}

/// Longest way of a spot from one key frame to the next, in widths.
double longest_way(const SpotFrame& from, const SpotFrame& to, const std::array<double, 3>& width_m) {
  const auto next = index_ids(to);
  double longest = 0;
  for (std::size_t m = 0; m < from.id.size(); ++m) {
    const auto found = next.find(from.id[m]);
    if (found == next.end()) continue;
    double square = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const double way = static_cast<double>(to.spots.position_m[found->second][axis]) -
                         static_cast<double>(from.spots.position_m[m][axis]);
      square += way * way / (width_m[axis] * width_m[axis]);
    }
    longest = std::max(longest, std::sqrt(square));
  }
  return longest;
}

void require_few(const char* where, double count) {
  if (count > static_cast<double>(max_frames)) {
    throw_argument(where, "frames", fmt::format("at most {} frames", max_frames), fmt::format("{:.6g}", count));
  }
}

/// Times at equal distances, those of key frames exactly, and the last.
std::vector<double> even_times(const char* where, const std::vector<SpotFrame>& keys, double distance) {
  const double first = keys.front().time;
  const double last = keys.back().time;
  const double count = std::ceil((last - first) / distance - same_frame);
  require_few(where, count + 1);
  std::vector<double> times;
  auto key = keys.begin();
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(count); ++i) {
    const double time = first + distance * static_cast<double>(i);
    while (key->time < time - same_frame * distance) ++key;
    times.push_back(key->time < time + same_frame * distance ? key->time : time);
  }
  times.push_back(last);
  return times;
}

}  // namespace

SpotTrajectory read_spot_trajectory(const std::string& path, double unit_m) {
  Gatherer gatherer(path, unit_m);
  read_named_rows(
      path, column_names, order_without_names, "spots", [&](const std::string& unit) { gatherer.set_unit(unit); },
      [&](const NamedRow& row) { gatherer.add(row); });
  return gatherer.take();
}

std::vector<double> spot_frame_times(const SpotTrajectory& trajectory, const SpotFrameOptions& frames,
                                     const SpotOptions& lens, View<const Complex, 2> light) {
  constexpr const char* where = "spot_frame_times";
  require_trajectory(where, trajectory);
  const auto check = [&](const char* name, const auto& value, const Bounds& bounds) {
    if (value) require_bounds(where, name, static_cast<double>(*value), bounds);
  };
  check("frames_per_key", frames.frames_per_key, bounds_of<&SpotFrameOptions::frames_per_key>);
  check("max_step_widths", frames.max_step_widths, bounds_of<&SpotFrameOptions::max_step_widths>);
  check("frame_time_s", frames.frame_time_s, bounds_of<&SpotFrameOptions::frame_time_s>);
  if (frames.frames_per_key && frames.max_step_widths) {
    throw_argument(where, "max_step_widths", "no frames_per_key beside it", "both");
  }
  const auto& keys = trajectory.keys;
  if (frames.frame_time_s) {
    if (!trajectory.has_times) throw_argument(where, "frame_time_s", "a trajectory with times", "one of frames");
    if (frames.frames_per_key || frames.max_step_widths) {
      throw_argument(where, "frame_time_s", "no frames_per_key and no max_step_widths beside it", "both");
    }
    return even_times(where, keys, *frames.frame_time_s);
  }
  if (!frames.frames_per_key && !frames.max_step_widths && !trajectory.has_times) {
    return even_times(where, keys, 1);
  }
  const auto width_m = spot_width_m(lens, light);
  std::vector<double> times;
  for (std::size_t k = 0; k + 1 < keys.size(); ++k) {
    double count = static_cast<double>(frames.frames_per_key.value_or(1));
    if (frames.max_step_widths) {
      count = std::max(1.0, std::ceil(longest_way(keys[k], keys[k + 1], width_m) / *frames.max_step_widths - 1e-4));
    }
    require_few(where, static_cast<double>(times.size()) + count + 1);
    const double way = keys[k + 1].time - keys[k].time;
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(count); ++i) {
      times.push_back(keys[k].time + way * static_cast<double>(i) / count);
    }
  }
  times.push_back(keys.back().time);
  return times;
}

double longest_spot_step(const SpotTrajectory& trajectory, const std::vector<double>& times, const SpotOptions& lens,
                         View<const Complex, 2> light) {
  const auto width_m = spot_width_m(lens, light);
  double longest = 0;
  for (std::size_t i = 1; i < times.size(); ++i) {
    longest =
        std::max(longest, longest_way(spot_frame(trajectory, times[i - 1]), spot_frame(trajectory, times[i]), width_m));
  }
  return longest;
}

void check_spot_trajectory(const SpotTrajectory& trajectory, const SpotOptions& lens) {
  constexpr double far = 100;  // times the limit: of another unit
  const double limit_m = 0.5 * lens.grid.wavelength_m * lens.focal_length_m / lens.grid.pitch_m;
  for (const auto& key : trajectory.keys) {
    for (std::size_t m = 0; m < key.spots.position_m.size(); ++m) {
      const double x = key.spots.position_m[m][0];
      const double y = key.spots.position_m[m][1];
      if (std::max(std::abs(x), std::abs(y)) <= limit_m * (1 + 1e-9)) continue;
      throw_argument("check_spot_trajectory",
                     fmt::format("{} {:g}{}, id {}", trajectory.has_times ? "time" : "frame", key.time,
                                 trajectory.has_times ? " s" : "", key.id.at(m)),
                     fmt::format("|x| and |y| of at most {:g} m, half the diffraction order", limit_m),
                     fmt::format("x = {:g}, y = {:g}{}", x, y,
                                 std::max(std::abs(x), std::abs(y)) > far * limit_m ? "; is their unit right?" : ""));
    }
  }
}

SpotFrame spot_frame(const SpotTrajectory& trajectory, double time) {
  constexpr const char* where = "spot_frame";
  if (trajectory.keys.empty()) throw_argument(where, "keys", "at least 1 key frame", "0");
  const auto& keys = trajectory.keys;
  if (!(time >= keys.front().time && time <= keys.back().time)) {
    throw_argument(where, "time", fmt::format("{:g} to {:g}", keys.front().time, keys.back().time),
                   fmt::format("{:g}", time));
  }
  const auto after = std::ranges::upper_bound(keys, time, {}, &SpotFrame::time);
  const auto& from = *std::prev(after);
  if (from.time == time) return from;
  const auto& to = *after;
  const double share = (time - from.time) / (to.time - from.time);
  const auto next = index_ids(to);
  SpotFrame frame = from;
  frame.time = time;
  const auto between = [share](float a, float b) {
    return static_cast<float>((1 - share) * static_cast<double>(a) + share * static_cast<double>(b));
  };
  for (std::size_t m = 0; m < frame.id.size(); ++m) {
    const auto found = next.find(frame.id[m]);
    if (found == next.end()) continue;
    auto& position = frame.spots.position_m[m];
    for (std::size_t axis = 0; axis < 3; ++axis) {
      position[axis] = between(position[axis], to.spots.position_m[found->second][axis]);
    }
    frame.spots.intensity[m] = between(frame.spots.intensity[m], to.spots.intensity[found->second]);
  }
  return frame;
}

}  // namespace holotone
