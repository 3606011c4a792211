#pragma once
#include <cli/common/panel_player.hpp>
#include <functional>
#include <holotone/io/images/image.hpp>
#include <holotone/optics/panel.hpp>
#include <optional>
#include <string>
#include <vector>

namespace holotone::cli {

/// Options of `-o monitor:N`.
struct MonitorOutputOptions {
  std::optional<double> fps;           ///< none: the refresh rate
  std::optional<double> frame_time_s;  ///< in place of fps, by --frame-time
  bool loop = false;
  bool field_sequence = false;
};

/// They apply to an `output` that is a monitor.
OptionGroup monitor_output_options(MonitorOutputOptions& options, const std::string& output);

/// A panel as an output: shows holograms as they are made, or all of them in turn.
class MonitorOutput {
 public:
  /// Only checks: throws invalid_argument unless the monitor that `output` names has the panel's pixels.
  MonitorOutput(const std::string& output, const Panel& panel, const MonitorOutputOptions& options);
  /// Opens the window, which shows the safe pattern. To be called once everything typed and the input are checked, and
  /// before all that follows.
  void open();

  /// Shows the codes of a frame's one or three colours, on any device: one after the other with --field-sequence,
  /// otherwise in the channels of one picture.
  void show(const std::vector<View<const std::uint8_t, 2>>& colours, const Queue& queue);
  /// Shows codes on the host of at most 8 bits.
  void show(View<const std::uint16_t, 2> codes);
  /// Keeps the codes of a hologram of a colour for play.
  void add(std::size_t colour, const Image& codes);
  /// Shows what was added, in turn and again, until q, Escape or a signal; once, if `once`.
  void play(bool once);
  /// Looks after the window; to be called 20 times a second or so. Throws cancelled.
  void poll() { player_->wait(0); }
  /// Keeps the last picture until q, Escape or a signal.
  void stay() { player_->wait(-1); }
  /// Leaves the last picture of a sequence as long as the others.
  void finish() { player_->finish(); }

  [[nodiscard]] bool loops() const { return loops_; }
  [[nodiscard]] const PanelPlayer& player() const { return *player_; }

 private:
  PlayerOptions options_;
  std::optional<PanelPlayer> player_;
  bool loops_;
  bool field_sequence_;
  std::vector<std::vector<Array<std::uint8_t, 2>>> added_;  ///< of each colour
};

/// Runs `body`, which shows something on a panel: q and Escape are no failure. Returns the exit code.
int until_closed(const std::function<void()>& body);

}  // namespace holotone::cli
