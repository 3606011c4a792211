#pragma once
#include <cli/common/paths.hpp>
#include <fmt/format.h>
#include <string>
#include <vector>

namespace holotone::cli {

/// "f%d.png: no file with number 7", or "numbers 7 to 9", "and others", for a sequence with gaps; else empty.
inline std::string gaps_in(const std::vector<Frame>& frames, const std::string& as_typed) {
  std::string first;
  bool more = false;
  for (std::size_t i = 1; i < frames.size(); ++i) {
    const auto low = frames[i - 1].number + 1;
    const auto high = frames[i].number - 1;
    if (low > high) continue;
    more = !first.empty();
    if (more) break;
    first = low == high ? fmt::format("number {}", low) : fmt::format("numbers {} to {}", low, high);
  }
  if (first.empty()) return {};
  return fmt::format("{}: no file with {}{}", as_typed, first, more ? ", and others" : "");
}

}  // namespace holotone::cli
