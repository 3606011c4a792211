#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/io/numbered_files_detail.hpp>
#include <holotone/io/tiff_pages_detail.hpp>
#include <string_view>

namespace holotone::io {
namespace fs = std::filesystem;

namespace {

/// Pages of "s.tif:%d"; none for other patterns.
std::vector<Frame> pages_of_counter(const FramePattern& pattern) {
  std::vector<Frame> pages;
  std::error_code error;
  if (!pattern.after.empty() || !pattern.before.ends_with(':')) return pages;
  const std::string file = pattern.before.substr(0, pattern.before.size() - 1);
  if (!fs::is_regular_file(file, error)) return pages;
  const std::int64_t count = count_pages(file);
  for (std::int64_t page = 1; page <= count; ++page) pages.push_back({page, pattern.name(page)});
  return pages;
}

/// The name of a number, whose minus sign may count among the digits ("-001" of %04d) or not ("-0001").
std::string name_with_sign(const FramePattern& pattern, std::int64_t number, std::string_view text) {
  const bool is_longer = number < 0 && static_cast<std::int64_t>(text.size()) == pattern.digits + 1;
  return is_longer ? FramePattern{pattern.before, pattern.after, pattern.digits + 1}.name(number)
                   : pattern.name(number);
}

}  // namespace

std::string FramePattern::name(std::int64_t number) const {
  return fmt::format("{}{:0{}}{}", before, number, digits, after);
}

std::vector<Frame> find_frames(const FramePattern& pattern, const std::string& as_typed) {
  if (const auto pages = pages_of_counter(pattern); !pages.empty()) return pages;
  const std::string prefix = fs::path(pattern.before).filename().string();
  std::vector<Frame> frames;
  std::string other;  // a numbered file with another padding of its number
  std::string other_counter;
  std::error_code error;
  const auto folder = fs::path(pattern.before + "x").parent_path();
  for (fs::directory_iterator entry(folder.empty() ? "." : folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.size() <= prefix.size() + pattern.after.size() || name.compare(0, prefix.size(), prefix) != 0) continue;
    const char* const first = name.data() + prefix.size();
    const char* const last = name.data() + name.size() - pattern.after.size();
    std::int64_t number = 0;
    const auto [stop, failure] = std::from_chars(first, last, number);
    if (failure != std::errc() || stop != last) continue;
    const std::string path = name_with_sign(pattern, number, std::string_view(first, last));
    if (fs::path(path).filename() == name) {
      frames.push_back({number, path});
    } else if (other.empty() || name < other) {
      other = name;
      other_counter = *first == '0' && last - first > 1 ? fmt::format("%0{}d", last - first) : "%d";
    }
  }
  if (frames.empty()) {
    throw_io(as_typed, "files with a number in place of the counter",
             other.empty() ? "none" : fmt::format("{}, whose counter is {}", other, other_counter));
  }
  std::sort(frames.begin(), frames.end(), [](const Frame& a, const Frame& b) { return a.number < b.number; });
  // Behind a letter or digit a hyphen of all is more likely a part of the name.
  if (frames.back().number < 0 && !prefix.empty() && std::isalnum(static_cast<unsigned char>(prefix.back())) != 0) {
    throw_io(as_typed, "files with a number in place of the counter",
             fmt::format("{}, before whose number stands a hyphen", fs::path(frames.back().path).filename().string()));
  }
  return frames;
}

}  // namespace holotone::io
