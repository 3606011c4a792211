#pragma once
#include <holotone/core/progress.hpp>
#include <string_view>

namespace holotone::cli {

/// Installs the handlers. The first SIGINT, SIGTERM, SIGHUP or SIGQUIT then only sets cancelled() and ends a guarded
/// command. The next one ends the program with exit code 130, and so does the end of one second unless
/// stopped_in_time() or stop_without_limit() was called. This end removes temporary files and the run's new outputs.
/// Writing beyond a file's size limit or to a closed pipe becomes an error of that write.
void install_signal_handlers();

/// Stops the one-second timer that a signal starts. Call when the work has stopped by itself and removed its files.
void stopped_in_time() noexcept;

/// Lets the work take any time to stop after a first signal. Call before work that then writes what it has.
void stop_without_limit() noexcept;

/// Lets a signal end the program without a word: another process speaks for all.
void end_silently() noexcept;

/// True after a signal to stop.
bool cancelled() noexcept;

/// Throws Error{cancelled} naming the stage after a signal to stop.
void check_cancelled(std::string_view stage);

/// Progress without display; cancels on a signal.
class QuietProgress final : public Progress {
 public:
  bool update(std::string_view, std::int64_t, std::int64_t) override { return !cancelled(); }
};

}  // namespace holotone::cli
