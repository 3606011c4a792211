#pragma once
#include <holotone/core/progress.hpp>
#include <string_view>

namespace holotone::cli {

/// From here on the first SIGINT or SIGTERM only asks to stop (cancelled() turns true); the second removes unfinished
/// output files and ends the program at once with exit code 130.
void install_signal_handlers();

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
