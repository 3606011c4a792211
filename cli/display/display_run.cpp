#include <algorithm>
#include <cli/common/cancel.hpp>
#include <cli/common/command.hpp>
#include <cli/display/display_job.hpp>
#include <cli/options/values.hpp>
#include <deque>
#include <fmt/format.h>
#include <future>
#include <nlohmann/json.hpp>

namespace holotone::cli {
namespace {

/// Steps that are read while one is shown.
constexpr std::size_t steps_ahead = 4;
/// A loop of up to this many bytes is read once.
constexpr std::int64_t kept_bytes = std::int64_t{1} << 31;

using Pictures = std::vector<PanelPicture>;

std::int64_t count_bytes(const Pictures& pictures) {
  std::int64_t bytes = 0;
  for (const auto& picture : pictures) {
    for (const PanelCodes* codes : {&picture.codes, picture.lit ? &*picture.lit : nullptr}) {
      if (codes == nullptr) continue;
      bytes += std::visit([](const auto& array) { return static_cast<std::int64_t>(array.bytes()); }, *codes);
    }
  }
  return bytes;
}

/// Pictures of a source in order, and over again, a few steps ahead of their use.
class PictureStream {
 public:
  PictureStream(const PictureSource& source, bool loop, bool skip_bad)
      : source_(source), loop_(loop), skip_bad_(skip_bad) {}

  /// Reads the next picture. False: there is none.
  bool ready() {
    while (at_ == current_->size()) {
      if (!next_step()) return false;
      at_ = 0;
    }
    return true;
  }
  /// The picture that is next, once it is ready.
  [[nodiscard]] const PanelPicture& front() const { return (*current_)[at_]; }
  /// The next picture; null after the last.
  const PanelPicture* next() { return ready() ? &(*current_)[at_++] : nullptr; }
  /// Reasons of files that were left out.
  [[nodiscard]] const std::vector<std::string>& skipped() const { return skipped_; }

 private:
  bool next_step() {
    if (step_ == source_.steps()) {
      if (!loop_ || good_ == 0) return false;
      step_ = 0;
      laps_ += 1;
    }
    if (laps_ > 0 && keeps_) {
      current_ = &kept_[static_cast<std::size_t>(step_++)];
      return true;
    }
    fetch();
    return true;
  }

  void fetch() {
    while (ahead_.size() < steps_ahead && (asked_ < source_.steps() || (loop_ && !keeps_))) {
      ahead_.push_back(
          std::async(std::launch::async, [&source = source_, i = asked_ % source_.steps()] { return source.read(i); }));
      ++asked_;
    }
    auto reading = std::move(ahead_.front());
    ahead_.pop_front();
    ++step_;
    read_.clear();
    try {
      read_ = reading.get();
      ++good_;
    } catch (const Error& error) {
      if (!skip_bad_) throw;
      if (laps_ == 0) skipped_.emplace_back(error.what());
    }
    current_ = &read_;
    if (!loop_ || !keeps_) return;
    bytes_ += count_bytes(read_);
    keeps_ = bytes_ <= kept_bytes;
    if (!keeps_) {
      kept_.clear();
      return;
    }
    kept_.push_back(std::move(read_));
    current_ = &kept_.back();
  }

  const PictureSource& source_;
  bool loop_;
  bool skip_bad_;
  std::deque<std::future<Pictures>> ahead_;
  std::int64_t asked_ = 0;
  std::int64_t step_ = 0;  ///< of this lap
  std::int64_t laps_ = 0;
  std::int64_t good_ = 0;
  std::deque<Pictures> kept_;
  bool keeps_ = true;
  std::int64_t bytes_ = 0;
  Pictures read_;
  const Pictures* current_ = &read_;
  std::size_t at_ = 0;
  std::vector<std::string> skipped_;
};

int list_monitors(const ConsoleOptions& console) {
  auto list = nlohmann::json::array();
  for (const auto& monitor : monitors()) {
    report(console, to_string(monitor));
    list.push_back(make_json(monitor));
  }
  report_json(console, {{"monitors", list}});
  return exit_ok;
}

/// The monitor that was named, or the only one.
std::string chosen_monitor(const std::string& named) {
  if (!named.empty()) return named;
  const auto all = monitors();
  if (all.size() == 1) return "1";
  std::string list;
  for (const auto& monitor : all) list += (list.empty() ? "" : "; ") + to_string(monitor);
  throw Error(ErrorCode::invalid_argument, fmt::format("--monitor is required, one of: {}", list));
}

/// Without the name of the library's function.
std::string_view in_users_words(std::string_view text) {
  constexpr std::string_view where = "PanelWindow::show: ";
  return text.starts_with(where) ? text.substr(where.size()) : text;
}

/// True for a picture that --centre would show.
bool needs_centre(const DisplayJob& job, const PanelPicture& picture, const Monitor& monitor) {
  if (job.player.window.centre) return false;
  const auto [ny, nx] = panel_shape(picture.codes);
  return ny <= monitor.ny && nx <= monitor.nx && ny * nx < monitor.ny * monitor.nx;
}

/// Shows all pictures. Throws cancelled for a signal or a closed window.
void play(const DisplayJob& job, PictureStream& stream, PanelPlayer& player, bool single) {
  std::int64_t number = 0;
  for (const PanelPicture* picture = stream.next(); picture != nullptr; picture = stream.next()) {
    if (player.next() > number++) continue;
    try {
      player.show(picture->codes, picture->lit ? &*picture->lit : nullptr);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::invalid_argument) throw;
      throw Error(
          error.code(),
          fmt::format("{}: {}{}", picture->name, in_users_words(error.what()),
                      needs_centre(job, *picture, player.monitor()) ? "; --centre shows it in the middle" : ""));
    }
  }
  if (job.hold_s || single) {
    player.wait(job.hold_s.value_or(-1));
  } else {
    player.finish();
  }
}

}  // namespace

int run_display(DisplayJob& job) {
  if (job.files.empty()) {
    for (const auto& option : job.given) {
      if (option != "--json" && option != "--quiet" && option != "--progress") reject(option, "a FILE to show", "none");
    }
    return list_monitors(job.console);
  }
  complete(job);
  const PictureSource source(job.files, job.rules);
  for (const auto& warning : source.warnings()) warn(job.console, warning);
  job.player.window.monitor = chosen_monitor(job.player.window.monitor);
  PictureStream stream(source, job.loop, job.skip_bad);
  if (!stream.ready()) {  // an unreadable first file opens no window
    for (const auto& reason : stream.skipped()) remark(job.console, fmt::format("left out: {}", reason));
    reject("FILE", "a readable picture", counted(std::ssize(stream.skipped()), "unreadable one"));
  }
  for (const auto& note : stream.front().notes) remark(job.console, note);
  PanelPlayer player(job.player);
  int code = exit_ok;
  const auto keep_safe = [&] {
    player.show_safe();
    if (!job.keep_safe || cancelled()) return;
    remark(job.console, "the panel shows the safe pattern; q, Escape or Ctrl-C ends");
    try {
      player.wait(-1);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::cancelled) throw;
    }
  };
  try {
    play(job, stream, player, source.steps() * source.pictures_a_step() == 1);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::cancelled) {
      if (job.keep_safe && error.code() != ErrorCode::device) {
        put(stderr, fmt::format("holotone: {}\n", printable(error.what())));
        keep_safe();
        if (cancelled()) stopped_in_time();
        return exit_bad_input;
      }
      throw;
    }
    if (cancelled()) code = exit_cancelled;
  }
  keep_safe();
  if (cancelled()) stopped_in_time();
  for (const auto& reason : stream.skipped()) remark(job.console, fmt::format("left out: {}", reason));
  auto object = player.json();
  object["skipped"] = stream.skipped();
  report_json(job.console, object);
  report(job.console, fmt::format("monitor {}: {}", player.monitor().number, player.summary()));
  return code;
}

}  // namespace holotone::cli
