#pragma once
#include <cstdint>
#include <holotone/core/error.hpp>
#include <string_view>

namespace holotone {

/// How long work tells how far it is and learns that it should stop. The library never prints: the command line
/// derives a bar with an ETA from this.
class Progress {
 public:
  virtual ~Progress() = default;
  /// Called from the thread that called the library, at most some hundred times a second. `stage` names the work
  /// ("summing points"). Return false to cancel: the library then throws Error{cancelled}.
  virtual bool update(std::string_view stage, std::int64_t done, std::int64_t total) = 0;
  /// Reports and throws Error{cancelled} if the answer is no.
  void step(std::string_view stage, std::int64_t done, std::int64_t total) {
    if (!update(stage, done, total)) {
      throw Error(ErrorCode::cancelled, std::string(stage) + ": cancelled");
    }
  }
  /// Says nothing and never cancels.
  static Progress& none();
};

}  // namespace holotone
