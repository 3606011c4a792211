#pragma once
#include <cstdint>
#include <holotone/recipes/spots.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

// Spots that move: trajectories with ids, frames of codes, and the spots' light while the panel goes from one frame to
// the next. What `holotone spots --trajectory` does.
namespace holotone {

/// Spots at one time of a trajectory.
struct SpotFrame {
  double time = 0;  ///< number of the frame, or seconds
  std::vector<std::int64_t> id{};
  SpotList spots{};  ///< one for each id
};

/// Spots at key frames of rising time. A spot is there at the key frames that have its id.
struct SpotTrajectory {
  std::vector<SpotFrame> keys{};
  bool has_times = false;  ///< time is in seconds; otherwise the number of a frame
  bool has_units = false;  ///< the file that was read states the units of all coordinates
};

/// Reads a trajectory: rows frame or time, id, x, y and, if any, z and intensity, in any order, as CSV or JSON, with
/// units as in read_spots. A time has its unit in the column's name, "time_ms" (s, ms, us or min). Columns without
/// names are frame, id, x, y, z, intensity. Throws io naming file and line (of JSON the number of the row) for what
/// read_spots refuses, a time without unit, numbers of frames and ids that are not whole, an id twice in a frame, and
/// more than 10 million rows.
SpotTrajectory read_spot_trajectory(const std::string& path, double unit_m = 0);

/// Frames between key frames. Without both, a trajectory of numbered frames has every number, one with times its key
/// frames.
struct SpotFrameOptions {
  std::optional<std::int64_t> frames_per_key{};  ///< from one key frame to the next; 1 to 1e6
  std::optional<double> max_step_widths{};       ///< largest step of a spot from frame to frame, in widths; 1e-3 to 1e3
  std::optional<double> frame_time_s{};          ///< instead, of a trajectory with times: frames at this distance
};
template <>
inline constexpr Bounds bounds_of<&SpotFrameOptions::frames_per_key>{1, 1e6};
template <>
inline constexpr Bounds bounds_of<&SpotFrameOptions::max_step_widths>{1e-3, 1e3};
template <>
inline constexpr Bounds bounds_of<&SpotFrameOptions::frame_time_s>{1e-7, 1e4};

/// Times of the frames, from the first key frame to the last. `lens` and `light` {ny, nx}: of the spots' width
/// (spot_width_m). Throws invalid_argument for options out of range or that exclude each other, more than a million
/// frames, and a trajectory without frames, of times that do not rise, or whose lists differ in length.
std::vector<double> spot_frame_times(const SpotTrajectory& trajectory, const SpotFrameOptions& frames,
                                     const SpotOptions& lens, View<const Complex, 2> light = {});

/// Longest step of a spot from a frame to the next of frames at `times`, in widths (spot_width_m) along the axes.
/// `light` as in spot_frame_times. Throws as spot_frame.
double longest_spot_step(const SpotTrajectory& trajectory, const std::vector<double>& times, const SpotOptions& lens,
                         View<const Complex, 2> light = {});

/// Throws invalid_argument naming key frame and id of a spot beyond the diffraction order of `lens`, which the plan
/// would refuse only at its frame.
void check_spot_trajectory(const SpotTrajectory& trajectory, const SpotOptions& lens);

/// Spots at a time: positions and intensities linear between key frames. A spot that the next key frame lacks stays
/// where it is until then. Throws invalid_argument for a time outside the trajectory.
SpotFrame spot_frame(const SpotTrajectory& trajectory, double time);

/// A panel's way from one phase to the next: a liquid crystal relaxes from the phase phi_0 of the old code to phi_1 of
/// the new one,   phi(t) = phi_0 + (phi_1 - phi_0) r(t),   r = 1 - exp(-t / time_constant_s), or by a table.
/// Phases are those of the codes, 0 to the panel's stroke: a step from 0.1 to 6.2 goes through all that is between.
struct PanelRelaxation {
  double time_constant_s = 0;    ///< 0: at once, unless there is a table
  std::vector<double> time_s{};  ///< of a table; rising, > 0
  std::vector<double> share{};   ///< r at these times, 0 to 2; linear between, from 0 at 0
};
template <>
inline constexpr Bounds bounds_of<&PanelRelaxation::time_constant_s>{0, 1e4};

/// Reads a table: CSV with columns time, with its unit ("time_ms"), and share. Throws io naming file and line.
PanelRelaxation read_panel_relaxation(const std::string& path);

/// r(t). Throws invalid_argument for members out of range.
double relaxed_share(const PanelRelaxation& relaxation, double time_s);

/// Light of the spots that are in two successive frames, while the panel goes from one to the other: |u|^2 / target at
/// the place and target between both, by the share r of the way, over the mean of these spots in both frames, by r too.
struct SpotTransient {
  std::vector<std::int64_t> id{};
  std::vector<double> half_way{};  ///< of each, when the panel has gone half of its way or, if it does not, at the end
  double mean_half_way = 0;
  std::vector<double> lowest{};  ///< of each, at 10, 25, 50, 75 and 90 % of the way and at the frame's end
  std::vector<double> time_s{};  ///< these times, as far as they are within the frame
  std::vector<double> mean{};    ///< of all at these times
  std::vector<double> min{};     ///< the lowest of all at these times
};

/// What SpotMotion does besides the spots themselves.
struct SpotMotionOptions {
  int motion_steps = 2;                  ///< locked steps of a frame, 1 to 1000
  PanelRelaxation relaxation{};          ///< of the panel; none: no transient
  std::optional<double> frame_time_s{};  ///< time of a frame; none: from one frame's `time` to the next one's
};
template <>
inline constexpr Bounds bounds_of<&SpotMotionOptions::motion_steps>{1, 1000};
template <>
inline constexpr Bounds bounds_of<&SpotMotionOptions::frame_time_s>{1e-7, 1e4};

struct SpotMotionFrame {
  Array<std::uint16_t, 2> codes;
  SpotReport report;                       ///< its light: that of the phases which the codes show
  std::optional<SpotTransient> transient;  ///< from the frame before; none of the first, and without a relaxation
};

/// Codes of a panel whose spots move: SpotPlan::solve for the first frame, then SpotPlan::move by ids. A panel that
/// lags behind its codes starts the next frame from the phase that it has reached.
class SpotMotion {
 public:
  /// options.levels is that of the encoding. Throws as SpotPlan, and invalid_argument for an encoding other than phase
  /// and for options out of range.
  SpotMotion(const SpotOptions& options, const EncodeOptions& encoding, const SpotMotionOptions& motion = {},
             const Queue& queue = {});
  ~SpotMotion();
  SpotMotion(SpotMotion&&) noexcept;
  SpotMotion& operator=(SpotMotion&&) noexcept;

  /// As SpotPlan::set_light. Starts anew.
  void set_light(View<const Complex, 2> light);

  /// Codes of the next frame; `steps`: of the first one. Throws as SpotPlan, and invalid_argument for lists of
  /// different lengths, and a time that is not later than the last frame's where it says the frame's duration.
  SpotMotionFrame show(const SpotFrame& frame, const SpotSteps& steps = {}, Progress& progress = Progress::none());

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Rows of a CSV for each spot of a frame: frame (`number`), time (of the trajectory: its frame or seconds), id, x_m,
/// y_m, z_m, intensity (asked for), share (of the light on the panel), ratio (share / intensity over its mean),
/// half_way and lowest (of the transient; empty without one). Number 0 has the names before.
std::string spot_frame_rows(std::int64_t number, const SpotFrame& frame, const SpotMotionFrame& made);

}  // namespace holotone
