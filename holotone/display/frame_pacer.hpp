#pragma once
#include <cstdint>

namespace holotone {

/// What became of the frames of a sequence.
struct FrameCounts {
  std::int64_t shown = 0;
  std::int64_t late = 0;     ///< shown, but more than three quarters of a refresh after they were due
  std::int64_t dropped = 0;  ///< never shown, because a later one was already due
};

struct PacerOptions {
  double refresh_hz = 60;  ///< of the panel, > 0
  double fps = 0;          ///< frames a second, up to refresh_hz; 0: one a refresh
  /// Skips frames that are due no more, so that the sequence keeps its time. False: shows every frame, and those that
  /// follow a late one wait as long after it as they should.
  bool drop_late = false;
};

/// Times of a sequence's frames on a panel. Arithmetic alone: times come from the caller's clock, in seconds. Frame k
/// is due k / fps after the first; the refresh that is nearest shows it.
class FramePacer {
 public:
  /// Throws invalid_argument for a rate that is not above 0, or fps above refresh_hz.
  explicit FramePacer(const PacerOptions& options);

  /// The frame to show next: not `frame` itself, if others are skipped.
  struct Turn {
    std::int64_t frame;
    /// When to hand it to the panel: half a refresh before it is due, so that it is ready for its refresh.
    double start_s;
  };
  [[nodiscard]] Turn next(double now_s);
  /// The frame of the last `next` appeared at this time.
  void shown(double now_s);

  [[nodiscard]] const FrameCounts& counts() const { return counts_; }

 private:
  [[nodiscard]] double due_s(std::int64_t frame) const;

  PacerOptions options_;
  FrameCounts counts_;
  std::int64_t frame_ = 0;
  bool started_ = false;
  double start_s_ = 0;  ///< when frame 0 appeared, or would have, had later ones not been late
};

}  // namespace holotone
