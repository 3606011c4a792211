#pragma once
// Names of numbered files: frames of a sequence. Not for users.
#include <cstdint>
#include <string>
#include <vector>

namespace holotone::io {

/// A file name with one counter such as %d or %04d, split at it.
struct FramePattern {
  std::string before;
  std::string after;
  int digits = 1;  ///< minimum number of digits; padded with zeros
  [[nodiscard]] std::string name(std::int64_t number) const;
};

struct Frame {
  std::int64_t number = 0;
  std::string path;
};

/// Files that match, sorted by number, which may be negative ("-001"); all pages for "s.tif:%d". Throws io if there are
/// none, and if all numbers seem negative since a hyphen stands between them and a word.
std::vector<Frame> find_frames(const FramePattern& pattern, const std::string& as_typed);

}  // namespace holotone::io
