#include <algorithm>
#include <chrono>
#include <cli/common/cancel.hpp>
#include <cli/common/command.hpp>
#include <cli/common/panel_player.hpp>
#include <cli/options/values.hpp>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <thread>

namespace holotone::cli {
namespace {

/// A slow panel has fewer pictures than refreshes.
PacerOptions pacer_options(const PlayerOptions& options, const Monitor& monitor) {
  double fps = options.fps * options.fields;
  if (options.by_frame_time && fps > monitor.refresh_hz * 1.002) {
    reject("--frame-time",
           fmt::format("at least {:.4g} ms, {} of the panel at {:.4g} Hz", 1e3 * options.fields / monitor.refresh_hz,
                       options.fields == 1 ? "a refresh" : "three refreshes", monitor.refresh_hz),
           fmt::format("{:.4g} ms", 1e3 / options.fps));
  }
  if (options.fields > 1 && fps > monitor.refresh_hz * 1.002) {  // as FramePacer, in the user's numbers
    reject("--fps",
           fmt::format("at most {:.4g} with --field-sequence, a third of the {:.4g} Hz of the panel",
                       monitor.refresh_hz / options.fields, monitor.refresh_hz),
           fmt::format("{:.6g}", options.fps));
  }
  if (fps == 0 && options.settle_s > 0) fps = std::min(monitor.refresh_hz, 1 / options.settle_s);
  return {.refresh_hz = monitor.refresh_hz, .fps = fps, .drop_late = options.keep_pace};
}

PanelWindowOptions checked(const PlayerOptions& options) {
  require_rate(options);
  return options.window;
}

/// When the X server goes, Xlib ends the process: with a line and a code of ours.
void name_a_lost_display() {
  using Handler = int (*)(void*);
  void* const library = dlopen("libX11.so.6", RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) return;
  auto* const set = reinterpret_cast<Handler (*)(Handler)>(dlsym(library, "XSetIOErrorHandler"));
  if (set == nullptr) return;
  set([](void*) -> int {
    std::fputs("holotone: the display of the panel is gone: its X server has ended\n", stderr);
    std::_Exit(exit_bad_input);
  });
}

void sleep(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

}  // namespace

nlohmann::json make_json(const Monitor& monitor) {
  return {{"number", monitor.number},
          {"name", monitor.name},
          {"resolution", {monitor.nx, monitor.ny}},
          {"refresh_hz", monitor.refresh_hz},
          {"refresh_rates_hz", monitor.refresh_rates_hz},
          {"place_px", {monitor.x_px, monitor.y_px}},
          {"size_m", {monitor.width_m, monitor.height_m}}};
}

void require_rate(const PlayerOptions& options) {
  Monitor monitor = find_monitor(options.window.monitor, monitors());
  for (const double rate : monitor.refresh_rates_hz) {
    if (std::abs(rate - options.window.refresh_hz) <= 0.5) monitor.refresh_hz = rate;
  }
  static_cast<void>(FramePacer(pacer_options(options, monitor)));
}

PanelPlayer::PanelPlayer(const PlayerOptions& options)
    : window_(checked(options)), pacer_(pacer_options(options, window_.monitor())), settle_s_(options.settle_s) {
  name_a_lost_display();
}

std::int64_t PanelPlayer::next() {
  const auto turn = pacer_.next(window_.now_s());
  start_s_ = turn.start_s;
  return turn.frame;
}

template <class Show>
void PanelPlayer::show_in_time(const Show& show) {
  wait_until(start_s_);
  last_s_ = show();
  pacer_.shown(last_s_);
  if (!first_s_) first_s_ = last_s_;
}

void PanelPlayer::show(const PanelCodes& codes, const PanelCodes* lit) {
  const auto show = [&](const PanelCodes& which) {
    return std::visit([&](const auto& shown) { return window_.show(shown.view()); }, which);
  };
  show_in_time([&] { return show(codes); });
  if (settle_s_ > 0 || lit != nullptr) wait_until(last_s_ + settle_s_);
  if (lit != nullptr) last_s_ = show(*lit);
}

void PanelPlayer::show(View<const std::uint8_t, 2> codes, const Queue& queue) {
  show_in_time([&] { return window_.show(codes, queue); });
}

void PanelPlayer::finish() {
  if (first_s_) wait_until(pacer_.next(last_s_).start_s);
}

void PanelPlayer::wait(double seconds) {
  const double end_s = window_.now_s() + seconds;
  for (bool ends = false; !ends; ends = seconds >= 0 && window_.now_s() >= end_s) {
    check_cancelled("panel");
    window_.poll();
    sleep(seconds < 0 ? 0.02 : std::clamp(end_s - window_.now_s(), 0.0, 0.02));
  }
}

void PanelPlayer::wait_until(double time_s) {
  check_cancelled("panel");
  while (window_.now_s() < time_s) {
    check_cancelled("panel");
    window_.poll();
    sleep(std::clamp(time_s - window_.now_s(), 0.0, 0.005));
  }
}

double PanelPlayer::rate() const {
  const double seconds = first_s_ ? last_s_ - *first_s_ : 0;
  return seconds > 0 ? static_cast<double>(pacer_.counts().shown - 1) / seconds : 0;
}

std::string PanelPlayer::summary() const {
  const auto& counts = pacer_.counts();
  std::string text = counted(counts.shown, "picture");
  if (counts.shown > 1) {
    text += fmt::format(", {} late, {} dropped, {:.4g} a second", counts.late, counts.dropped, rate());
  }
  return text;
}

nlohmann::json PanelPlayer::json() const {
  const auto& counts = pacer_.counts();
  return {{"monitor", make_json(window_.monitor())},
          {"shown", counts.shown},
          {"late", counts.late},
          {"dropped", counts.dropped},
          {"pictures_per_s", rate()},
          {"without_host", window_.direct()}};
}

}  // namespace holotone::cli
