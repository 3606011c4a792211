#pragma once
#include <holotone/core/progress.hpp>
#include <string_view>

namespace holotone::cli {

/// From here on the first SIGINT, SIGTERM, SIGHUP or SIGQUIT only asks to stop (cancelled() turns true). The next one,
/// or the end of one second unless stopped_in_time() was called, removes temporary files and the run's new outputs and
/// ends the program with exit code 130. Writing beyond a file's size limit or to a closed pipe becomes an error of that
/// write.
void install_signal_handlers();

/// To be called when the work has stopped by itself and removed what it left: the second after a signal then ends
/// nothing.
void stopped_in_time() noexcept;

/// Whether a signal asked to stop.
bool cancelled() noexcept;

/// Throws Error{cancelled} naming what was going on if a signal asked to stop.
void check_cancelled(std::string_view stage);

/// Shows nothing and cancels on a signal.
class QuietProgress final : public Progress {
 public:
  bool update(std::string_view, std::int64_t, std::int64_t) override { return !cancelled(); }
};

}  // namespace holotone::cli
