#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/display/frame_pacer.hpp>

namespace holotone {
namespace {

/// A refresh is late from here on, in refreshes: clocks and drivers report the same refresh a little apart.
constexpr double late_refreshes = 0.75;

}  // namespace

FramePacer::FramePacer(const PacerOptions& options) : options_(options) {
  require_positive("FramePacer", "refresh_hz", options.refresh_hz);
  if (options.fps == 0) options_.fps = options.refresh_hz;
  // A display of 59.94 Hz passes for one of 60.
  if (!(options_.fps > 0) || options_.fps > options.refresh_hz * 1.002) {
    throw_argument("FramePacer", "fps", fmt::format("above 0, up to the {:.4g} Hz of the panel", options.refresh_hz),
                   fmt::format("{:.6g}", options.fps));
  }
}

double FramePacer::due_s(std::int64_t frame) const { return start_s_ + static_cast<double>(frame) / options_.fps; }

FramePacer::Turn FramePacer::next(double now_s) {
  if (!started_) return {0, now_s};
  if (options_.drop_late) {
    while (now_s > due_s(frame_ + 1)) {
      ++frame_;
      ++counts_.dropped;
    }
  }
  return {frame_, due_s(frame_) - 0.5 / options_.refresh_hz};
}

void FramePacer::shown(double now_s) {
  if (!started_) {
    started_ = true;
    start_s_ = now_s;
  } else if (const double delay = now_s - due_s(frame_); delay > late_refreshes / options_.refresh_hz) {
    ++counts_.late;
    if (!options_.drop_late) start_s_ += delay;
  }
  ++counts_.shown;
  ++frame_;
}

}  // namespace holotone
