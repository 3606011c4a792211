#include "console.hpp"
#include "cancel.hpp"
#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <holotone/core/units.hpp>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace holotone::cli {
namespace {

constexpr double seconds_before_bar = 1.0;

}  // namespace

void add_console_options(CLI::App& command, ConsoleOptions& options) {
  command.add_flag("--json", options.json, "Print one JSON object and nothing else");
  command.add_flag("-q,--quiet", options.quiet, "Print nothing but errors");
  command.add_flag("--progress", options.progress, "Report progress as lines even if standard error is no terminal");
}

void remark(const ConsoleOptions& options, std::string_view text) {
  if (!options.quiet && !options.json) fmt::print(stderr, "holotone: {}\n", text);
}

void report(const ConsoleOptions& options, std::string_view text) {
  if (!options.quiet && !options.json) fmt::print("{}\n", text);
}

void report_json(const ConsoleOptions& options, const nlohmann::json& object) {
  if (options.json) fmt::print("{}\n", object.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

ProgressBar::ProgressBar(const ConsoleOptions& options) : style_(Style::none) {
  if (options.json || options.quiet) return;
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
    last_draw_ = seconds;
    draw(stage, std::clamp(static_cast<double>(done) / static_cast<double>(total), 0.0, 1.0), seconds);
  }
  return true;
}

void ProgressBar::draw(std::string_view stage, double fraction, double seconds) {
  const std::string left =
      fraction > 0 ? format_duration(seconds * (1 - fraction) / fraction) + " left" : std::string("starting");
  if (style_ == Style::lines) {
    fmt::print(stderr, "{}: {:.0f} %, {}\n", stage, 100 * fraction, left);
    return;
  }
  constexpr int width = 30;
  const int filled = static_cast<int>(fraction * width);
  fmt::print(stderr, "\r\033[K{} [{:=<{}}{:<{}}] {:3.0f} %  {}", stage, "", filled, "", width - filled, 100 * fraction,
             left);
  std::fflush(stderr);
  drawn_ = true;
}

void ProgressBar::wipe() {
  if (drawn_) {
    fmt::print(stderr, "\r\033[K");
    std::fflush(stderr);
  }
  drawn_ = false;
}

}  // namespace holotone::cli
