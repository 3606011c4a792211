#pragma once
#include <cli/common/console.hpp>
#include <holotone/display/frame_pacer.hpp>
#include <holotone/display/panel_window.hpp>
#include <holotone/recipes/codes/panel_pictures_detail.hpp>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace holotone::cli {

struct PlayerOptions {
  PanelWindowOptions window;
  double fps = 0;              ///< pictures a second, each of `fields`; 0: one field a refresh
  bool by_frame_time = false;  ///< fps is that of --frame-time
  int fields = 1;              ///< 3 for --field-sequence
  double settle_s = 0;
  bool keep_pace = false;
};

/// Throws invalid_argument unless the monitor is there and refreshes as often as the pictures change.
void require_rate(const PlayerOptions& options);

/// Shows pictures on a panel at their times and counts them.
class PanelPlayer {
 public:
  /// Opens the window, which shows the safe pattern. Throws invalid_argument or unsupported.
  explicit PanelPlayer(const PlayerOptions& options);

  /// The number of the picture to show next: later than the one after the last, if --keep-pace leaves some out.
  [[nodiscard]] std::int64_t next();
  /// Waits for its time and shows it; then, when the panel has settled, `lit` if there is one. Throws cancelled on a
  /// signal, and what PanelWindow throws.
  void show(const PanelCodes& codes, const PanelCodes* lit = nullptr);
  /// Codes of one channel on any device.
  void show(View<const std::uint8_t, 2> codes, const Queue& queue);
  /// Leaves the last picture, or the safe pattern, where it is. Ends after `seconds`, or never if negative.
  void wait(double seconds);
  /// Leaves the last picture of a sequence as long as the others.
  void finish();
  void show_safe() { window_.show_safe(); }

  [[nodiscard]] const Monitor& monitor() const { return window_.monitor(); }
  /// "600 pictures, 2 late, 0 dropped, 59.9 a second"
  [[nodiscard]] std::string summary() const;
  [[nodiscard]] nlohmann::json json() const;

 private:
  template <class Show>
  void show_in_time(const Show& show);
  void wait_until(double time_s);
  [[nodiscard]] double rate() const;

  PanelWindow window_;
  FramePacer pacer_;
  double settle_s_;
  double start_s_ = 0;  ///< of the next picture
  std::optional<double> first_s_;
  double last_s_ = 0;
};

nlohmann::json make_json(const Monitor& monitor);

}  // namespace holotone::cli
