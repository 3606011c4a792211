#pragma once
#include <chrono>
#include <cli/common/option_table.hpp>
#include <cstdio>
#include <holotone/core/progress.hpp>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>

namespace holotone::cli {

/// How much a subcommand says.
struct ConsoleOptions {
  bool json = false;      ///< one JSON object on standard output and nothing else
  bool quiet = false;     ///< nothing but errors
  bool progress = false;  ///< progress as lines even where standard error is not a terminal
};

/// --json, --quiet and --progress.
OptionGroup console_options(ConsoleOptions& options);

/// Text that may go to a terminal or into a log: control characters and bytes that are not UTF-8, which file names and
/// files bring along, become \n, \t or \xNN.
std::string printable(std::string_view text);

/// Writes `text` as it is. A stream that cannot be written is no error here: check_output says so at the end.
void put(std::FILE* stream, std::string_view text) noexcept;

/// Writes what standard output still holds. Throws io if any of it could not be written.
void check_output();

/// A warning on standard error ("holotone: warning: ..."), unless --quiet or --json.
void warn(const ConsoleOptions& options, std::string_view text);

/// A remark on standard error ("holotone: ..."), unless --quiet or --json.
void remark(const ConsoleOptions& options, std::string_view text);

/// A result line on standard output, unless --quiet or --json.
void report(const ConsoleOptions& options, std::string_view text);

/// The JSON object on standard output, if --json.
void report_json(const ConsoleOptions& options, const nlohmann::json& object);

/// Seconds since construction.
class Stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// A bar with the time left, drawn on standard error once work has taken a second: on a terminal in place, with
/// --progress elsewhere as lines. Cancels on a signal. Wipes itself when destroyed.
class ProgressBar final : public Progress {
 public:
  explicit ProgressBar(const ConsoleOptions& options);
  ~ProgressBar() override;
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  bool update(std::string_view stage, std::int64_t done, std::int64_t total) override;
  /// Words beside the time left from now on.
  void set_detail(std::string detail) { detail_ = std::move(detail); }

 private:
  void draw(std::string_view stage, double fraction, double seconds);
  void wipe();

  enum class Style { none, bar, lines } style_;
  Stopwatch since_stage_;
  std::string stage_;
  std::string detail_;
  double last_draw_ = 0;
  std::int64_t last_done_ = 0;
  bool drawn_ = false;
};

}  // namespace holotone::cli
