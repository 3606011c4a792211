#pragma once
#include <cstdint>
#include <mutex>
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

/// Throws, before any long work is done, unless `path` can become a file: its folder exists and can be written, and it
/// is not a folder itself.
void require_output(std::string_view option, const std::string& path);

/// Throws invalid_argument if an output is one of the inputs.
void require_distinct(std::string_view option, const std::vector<std::string>& outputs,
                      const std::vector<std::string>& inputs);

/// Removes the files named to it unless told to keep them: a run that fails half way leaves none of its files.
class UnfinishedRun {
 public:
  UnfinishedRun() = default;
  ~UnfinishedRun();
  UnfinishedRun(const UnfinishedRun&) = delete;
  UnfinishedRun& operator=(const UnfinishedRun&) = delete;
  /// May be called from several threads.
  void wrote(const std::string& path);
  void keep();

 private:
  std::mutex mutex_;
  std::vector<std::string> paths_;
};

/// Throws io unless `path` is a readable file.
void require_input(const std::string& path);

}  // namespace holotone::cli
