#pragma once
#include <chrono>
#include <cli/options/option_table.hpp>
#include <cstdio>
#include <holotone/core/progress.hpp>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>

namespace holotone::cli {

/// Verbosity and output format of a subcommand.
struct ConsoleOptions {
  bool json = false;      ///< one JSON object on standard output and nothing else
  bool quiet = false;     ///< nothing but errors
  bool progress = false;  ///< progress as lines even where standard error is not a terminal
};

/// --json, --quiet and --progress.
OptionGroup console_options(ConsoleOptions& options);

/// Prints nothing but errors from now on: another process prints for all.
void be_silent() noexcept;

/// Text safe for a terminal or a log: control characters and bytes that are not UTF-8, as file names may contain,
/// become \n, \t or \xNN.
std::string printable(std::string_view text);

/// Writes `text` unchanged. Ignores write errors: check_output reports those of standard output at the end.
void put(std::FILE* stream, std::string_view text) noexcept;

/// Flushes standard output. Throws io if any output could not be written.
void check_output();

/// Prints a warning on standard error ("holotone: warning: ..."), unless --quiet or --json, and keeps it for
/// report_json.
void warn(const ConsoleOptions& options, std::string_view text);

/// Prints a remark on standard error ("holotone: ..."), unless --quiet or --json.
void remark(const ConsoleOptions& options, std::string_view text);

/// Prints a result line on standard output, unless --quiet or --json.
void report(const ConsoleOptions& options, std::string_view text);

/// Prints the JSON object on standard output if --json, with all warnings so far as "warnings".
void report_json(const ConsoleOptions& options, nlohmann::json object);

/// Seconds since construction.
class Stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Progress bar with the remaining time on standard error, drawn once a stage has run for one second. A terminal shows
/// it in place; elsewhere --progress prints lines. Cancels on a signal. Its destructor erases it.
class ProgressBar final : public Progress {
 public:
  explicit ProgressBar(const ConsoleOptions& options);
  ~ProgressBar() override;
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  bool update(std::string_view stage, std::int64_t done, std::int64_t total) override;
  /// Sets the text beside the remaining time.
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
