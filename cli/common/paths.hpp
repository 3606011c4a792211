#pragma once
#include <cstdint>
#include <holotone/io/numbered_files_detail.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holotone::cli {

/// The option of every command's output.
inline constexpr std::string_view output_name = "--output";

/// True for "monitor:2", a panel that shows what would be written to a file.
bool names_monitor(const std::string& output);

using io::find_frames;
using io::Frame;
using io::FramePattern;

/// The pattern in a path, if it has one. Throws invalid_argument naming `option` for two counters, or one in a folder's
/// name.
std::optional<FramePattern> frame_pattern(std::string_view option, const std::string& path);

/// The same of --output.
std::optional<FramePattern> frame_pattern(const std::string& output);

/// A name with its counter, if it has one, filled in.
std::string numbered(const std::string& name, std::int64_t number);

/// Throws unless an option's input exists: one file for all frames or, with a counter, that of frame `number`; none:
/// IN is one file, and the name has no counter.
void require_numbered_input(std::string_view option, const std::string& name, std::optional<std::int64_t> number);

/// "out_r.png" from "out.png" or "out_%c.png".
std::string channel_path(const std::string& path, std::string_view channel);

/// As an option's value: a name, and its pattern if it has a counter. Throws as frame_pattern and
/// require_known_counters.
std::optional<FramePattern> parse_counter(std::string_view option, const std::string& path);

/// Throws invalid_argument if a % and letter in an output's name is neither a counter nor, with `channels`, the only
/// %c.
void require_known_counters(std::string_view option, const std::string& path, bool channels);

/// The same of --output.
void require_known_counters(const std::string& output, bool channels);

/// Removes the new files and folders of a run unless keep() was called: a run that fails or is cancelled leaves none.
/// Files that existed before stay, unchanged or completely replaced. A program has one run.
class UnfinishedRun {
 public:
  UnfinishedRun();
  ~UnfinishedRun();
  UnfinishedRun(const UnfinishedRun&) = delete;
  UnfinishedRun& operator=(const UnfinishedRun&) = delete;
  /// Call before a file or a folder appears under its name. Thread-safe.
  static void will_write(const std::string& path);
  /// Call at once after a file or folder was made under a name that was new.
  static void has_made(const std::string& path);
  static void keep();
};

/// Removes the new files and folders as ~UnfinishedRun does. Async-signal-safe.
void remove_unfinished_outputs() noexcept;

/// Folder of cached results: $XDG_CACHE_HOME/holotone or ~/.cache/holotone; empty: none.
std::string cache_folder();

/// True if the path exists and can be reached.
bool file_exists(const std::string& path) noexcept;

}  // namespace holotone::cli
