// Pacing by an injected clock.
#include <holotone/core/error.hpp>
#include <holotone/display/frame_pacer.hpp>
#include <tests/support/on_each_device.hpp>
#include <vector>

namespace {

using holotone::FramePacer;

/// A panel whose refreshes are at multiples of 1 / 60 s, and frames that take `work_s` to make.
std::vector<double> play(FramePacer& pacer, int frames, const std::vector<double>& work_s) {
  constexpr double period = 1.0 / 60;
  std::vector<double> times;
  double now = 0.3 * period;
  for (int i = 0; i < frames; ++i) {
    now += work_s[static_cast<std::size_t>(i) % work_s.size()];
    now = std::max(now, pacer.next(now).start_s);
    now = period * std::ceil(now / period + 1e-9);  // handed over, it appears at the next refresh
    pacer.shown(now);
    times.push_back(now / period);
  }
  return times;
}

TEST(FramePacer, ShowsAFrameARefresh) {
  FramePacer pacer({.refresh_hz = 60});
  const auto times = play(pacer, 5, {0.001});
  for (std::size_t i = 1; i < times.size(); ++i) EXPECT_NEAR(times[i] - times[i - 1], 1, 1e-9);
  EXPECT_EQ(pacer.counts().shown, 5);
  EXPECT_EQ(pacer.counts().late, 0);
}

TEST(FramePacer, HoldsFramesOfALowerRate) {
  FramePacer whole({.refresh_hz = 60, .fps = 20});
  const auto thirds = play(whole, 4, {0.001});
  for (std::size_t i = 1; i < thirds.size(); ++i) EXPECT_NEAR(thirds[i] - thirds[i - 1], 3, 1e-9);
  // 24 of 60: two and three refreshes in turn, which no frame makes late.
  FramePacer film({.refresh_hz = 60, .fps = 24});
  const auto times = play(film, 25, {0.001});
  EXPECT_NEAR(times.back() - times.front(), 60, 0.51);
  EXPECT_EQ(film.counts().late, 0);
}

TEST(FramePacer, WaitsForLateFramesOrDropsOthers) {
  const std::vector<double> work{0.001, 0.001, 0.060, 0.001};  // the third misses three refreshes
  FramePacer all({.refresh_hz = 60, .fps = 60});
  play(all, 4, work);
  EXPECT_EQ(all.counts().late, 1);
  EXPECT_EQ(all.counts().dropped, 0);
  FramePacer paced({.refresh_hz = 60, .fps = 60, .drop_late = true});
  play(paced, 4, work);
  EXPECT_EQ(paced.counts().dropped, 2);
  EXPECT_EQ(paced.next(0).frame, 6) << "the frame that is due, not the next one";
}

TEST(FramePacer, NamesWhatIsWrong) {
  using holotone::ErrorCode;
  support::expect_error(ErrorCode::invalid_argument, "FramePacer: refresh_hz: expected > 0, got 0",
                        [] { FramePacer({.refresh_hz = 0}); });
  support::expect_error(ErrorCode::invalid_argument,
                        "FramePacer: fps: expected above 0, up to the 60 Hz of the panel, got 61",
                        [] { FramePacer({.refresh_hz = 60, .fps = 61}); });
  support::expect_error(ErrorCode::invalid_argument, "FramePacer: fps",
                        [] { FramePacer({.refresh_hz = 60, .fps = -1}); });
  FramePacer({.refresh_hz = 59.94, .fps = 60});
}

}  // namespace
