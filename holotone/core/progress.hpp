#pragma once
#include <cstdint>
#include <holotone/core/error.hpp>
#include <string_view>

namespace holotone {

/// Progress reports and cancellation of long work. The library never prints: the command line derives a progress bar
/// with an ETA from the reports.
class Progress {
 public:
  virtual ~Progress() = default;
  /// Called in the thread that called the library, at most a few hundred times a second. `stage` names the work
  /// ("summing points"). Return false to cancel: the library then throws Error{cancelled}.
  virtual bool update(std::string_view stage, std::int64_t done, std::int64_t total) = 0;
  /// Calls update; throws Error{cancelled} if update returns false.
  void step(std::string_view stage, std::int64_t done, std::int64_t total) {
    if (!update(stage, done, total)) {
      throw Error(ErrorCode::cancelled, std::string(stage) + ": cancelled");
    }
  }
  /// Ignores reports and never cancels.
  static Progress& none();
};

}  // namespace holotone
