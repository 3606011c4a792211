#include <algorithm>
#include <cerrno>
#include <cli/common/cancel.hpp>
#include <cli/common/console.hpp>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/units.hpp>
#include <holotone/io/json_text_detail.hpp>
#include <holotone/io/printable_detail.hpp>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <unistd.h>
#include <vector>

namespace holotone::cli {
namespace {

constexpr double seconds_before_bar = 1.0;
/// Expected seconds of a stage above which a line announces them.
constexpr double seconds_to_announce = 10;

/// errno of a failed write to standard output. Long texts fail in put(), before check_output() flushes the rest.
int why_output_failed = 0;
bool silent = false;  ///< another process prints
/// What warn() was called with, each text once.
std::vector<std::string> warnings;
std::mutex warnings_mutex;

}  // namespace

std::string printable(std::string_view text) { return io::printable(text); }

void put(std::FILE* stream, std::string_view text) noexcept {
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stream) < text.size() && stream == stdout) why_output_failed = errno;
}

void check_output() {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return;
  const int failed = errno != 0 ? errno : why_output_failed;
  const int reason = failed != 0 ? failed : EIO;
  if (reason == EPIPE) return;  // `head` has read enough
  throw_io("standard output", "to take what the program prints", std::strerror(reason));
}

void warn(const ConsoleOptions& options, std::string_view text) {
  remark(options, fmt::format("warning: {}", text));
  const std::scoped_lock lock(warnings_mutex);
  if (std::ranges::find(warnings, text) == warnings.end()) warnings.emplace_back(text);
}

OptionGroup console_options(ConsoleOptions& options) {
  return {"Messages",
          {{.names = "--json", .target = &options.json, .help = "Print one JSON object and nothing else"},
           {.names = "-q,--quiet", .target = &options.quiet, .help = "Print errors only"},
           {.names = "--progress",
            .target = &options.progress,
            .help = "Print progress as lines even if standard error is not a terminal"}}};
}

void be_silent() noexcept { silent = true; }

void remark(const ConsoleOptions& options, std::string_view text) {
  if (!silent && !options.quiet && !options.json) put(stderr, fmt::format("holotone: {}\n", printable(text)));
}

void report(const ConsoleOptions& options, std::string_view text) {
  if (!silent && !options.quiet && !options.json) put(stdout, fmt::format("{}\n", printable(text)));
}

void report_json(const ConsoleOptions& options, nlohmann::json object) {
  if (silent || !options.json) return;
  const std::scoped_lock lock(warnings_mutex);
  object["warnings"] = warnings;
  put(stdout, io::json_text(object, 2) + "\n");
}

ProgressBar::ProgressBar(const ConsoleOptions& options) : style_(Style::none) {
  if (silent || options.json || options.quiet) return;
  if (isatty(STDERR_FILENO) != 0) {
    style_ = Style::bar;
  } else if (options.progress) {
    style_ = Style::lines;
  }
}

ProgressBar::~ProgressBar() { wipe(); }

bool ProgressBar::update(std::string_view stage, std::int64_t done, std::int64_t total) {
  if (cancelled()) return false;
  if (style_ == Style::none) return true;
  if (stage != stage_ || done < last_done_) {
    stage_ = stage;
    since_stage_ = Stopwatch();
    last_draw_ = 0;
  }
  last_done_ = done;
  const double seconds = since_stage_.seconds();
  const double interval = style_ == Style::bar ? 0.1 : 2.0;
  if (total > 0 && seconds >= seconds_before_bar && seconds - last_draw_ >= interval) {
    const double fraction = std::clamp(static_cast<double>(done) / static_cast<double>(total), 0.0, 1.0);
    if (last_draw_ == 0 && seconds > fraction * seconds_to_announce && fraction > 0) {
      wipe();
      put(stderr, fmt::format("{}: about {}\n", stage, format_duration(seconds / fraction)));
    }
    last_draw_ = seconds;
    draw(stage, fraction, seconds);
  }
  return true;
}

void ProgressBar::draw(std::string_view stage, double fraction, double seconds) {
  std::string left =
      fraction > 0 ? format_duration(seconds * (1 - fraction) / fraction) + " left" : std::string("starting");
  if (!detail_.empty()) left += ", " + detail_;
  if (style_ == Style::lines) {
    put(stderr, fmt::format("{}: {:.0f} %, {}\n", stage, 100 * fraction, left));
    return;
  }
  constexpr int width = 30;
  const int filled = static_cast<int>(fraction * width);
  put(stderr, fmt::format("\r\033[K{} [{:=<{}}{:<{}}] {:3.0f} %  {}", stage, "", filled, "", width - filled,
                          100 * fraction, left));
  std::fflush(stderr);
  drawn_ = true;
}

void ProgressBar::wipe() {
  if (drawn_) {
    put(stderr, "\r\033[K");
    std::fflush(stderr);
  }
  drawn_ = false;
}

}  // namespace holotone::cli
