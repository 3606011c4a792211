#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holotone::cli {

/// ".png" in lower case, or "".
std::string extension_of(const std::string& path);

/// A file name with one counter such as %d or %04d, split at it.
struct FramePattern {
  std::string before;
  std::string after;
  int digits = 1;  ///< zero-padded to this many
  [[nodiscard]] std::string name(std::int64_t number) const;
};

/// The pattern in a path, if it has one. Throws invalid_argument naming `option` for two counters, or one in a folder's
/// name.
std::optional<FramePattern> frame_pattern(std::string_view option, const std::string& path);

struct Frame {
  std::int64_t number = 0;
  std::string path;
};

/// The files that match, by number. Throws io if there is none.
std::vector<Frame> find_frames(const FramePattern& pattern, const std::string& as_typed);

/// "out_r.png" from "out.png" or "out_%c.png".
std::string channel_path(const std::string& path, std::string_view channel);

/// Throws invalid_argument for an output's name with a % and letter that mean nothing: only counters do, and %c where
/// there are channels.
void require_known_counters(std::string_view option, const std::string& path, bool channels);

/// Removes the files and folders that a run makes anew unless told to keep them: a run that fails or is cancelled
/// leaves none. What was there before is not removed: it stays whole, as it was or replaced. There is one run in a
/// program.
class UnfinishedRun {
 public:
  UnfinishedRun();
  ~UnfinishedRun();
  UnfinishedRun(const UnfinishedRun&) = delete;
  UnfinishedRun& operator=(const UnfinishedRun&) = delete;
  /// Comes before a file, or a folder, appears under its name. May be called from several threads.
  static void will_write(const std::string& path);
  static void keep();
};

/// What ~UnfinishedRun does. Async-signal-safe.
void remove_unfinished_outputs() noexcept;

/// Where the program keeps what it would otherwise compute anew: $XDG_CACHE_HOME/holotone or ~/.cache/holotone; empty:
/// nowhere.
std::string cache_folder();

/// Whether there is something under this name that can be reached.
bool file_exists(const std::string& path) noexcept;

/// Throws io unless `path` is a readable file.
void require_input(const std::string& path);

}  // namespace holotone::cli
