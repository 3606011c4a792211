#include "paths.hpp"
#include "values.hpp"
#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <set>
#include <unistd.h>

namespace holotone::cli {
namespace fs = std::filesystem;
namespace {

std::string folder_of(const std::string& path) {
  const auto parent = fs::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

/// A format that this build was made without would otherwise be refused only when the work is done.
void require_known_format(std::string_view option, const std::string& path) {
  const std::string extension = extension_of(path);
  const bool tiff = extension == ".tif" || extension == ".tiff";
  const bool hdf5 = extension == ".h5" || extension == ".hdf5";
  if ((tiff && !HOLOTONE_TIFF) || (hdf5 && !HOLOTONE_HDF5)) {
    throw Error(ErrorCode::unsupported, fmt::format("{}: expected a format of this build, which has no {}, got '{}'",
                                                    option, tiff ? "TIFF" : "HDF5", path));
  }
}

std::string canonical_path(const std::string& path) {
  std::error_code error;
  const auto canonical = fs::weakly_canonical(fs::absolute(path, error), error);
  return error ? path : canonical.string();
}

}  // namespace

std::string extension_of(const std::string& path) {
  std::string extension = fs::path(path).extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return extension;
}

std::string FramePattern::name(std::int64_t number) const {
  return fmt::format("{}{:0{}}{}", before, number, digits, after);
}

std::optional<FramePattern> frame_pattern(std::string_view option, const std::string& path) {
  std::optional<FramePattern> found;
  for (std::size_t at = path.find('%'); at != std::string::npos; at = path.find('%', at + 1)) {
    std::size_t end = at + 1;
    while (end < path.size() && std::isdigit(static_cast<unsigned char>(path[end])) != 0) ++end;
    if (end >= path.size() || path[end] != 'd' || end - at > 3) continue;
    if (found) reject(option, "one counter such as %04d", path);
    int digits = 1;
    std::from_chars(path.data() + at + 1, path.data() + end, digits);
    found = FramePattern{path.substr(0, at), path.substr(end + 1), std::max(digits, 1)};
    if (found->after.find('/') != std::string::npos) reject(option, "the counter in the file's name", path);
  }
  return found;
}

std::vector<Frame> find_frames(const FramePattern& pattern, const std::string& as_typed) {
  const std::string prefix = fs::path(pattern.before).filename().string();
  std::vector<Frame> frames;
  std::string other;  // a numbered file whose number is padded otherwise
  std::string other_counter;
  std::error_code error;
  for (fs::directory_iterator entry(folder_of(pattern.before + "x"), error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.size() <= prefix.size() + pattern.after.size() || name.compare(0, prefix.size(), prefix) != 0) continue;
    const char* const first = name.data() + prefix.size();
    const char* const last = name.data() + name.size() - pattern.after.size();
    std::int64_t number = 0;
    const auto [stop, failure] = std::from_chars(first, last, number);
    if (failure != std::errc() || stop != last || number < 0) continue;
    const std::string path = pattern.name(number);
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
  return frames;
}

std::string channel_path(const std::string& path, std::string_view channel) {
  if (const auto at = path.find("%c"); at != std::string::npos) {
    return path.substr(0, at) + std::string(channel) + path.substr(at + 2);
  }
  const std::string extension = fs::path(path).extension().string();
  return path.substr(0, path.size() - extension.size()) + "_" + std::string(channel) + extension;
}

void require_output(std::string_view option, const std::string& path) {
  require_known_format(option, path);
  const std::string folder = folder_of(path);
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    throw Error(ErrorCode::io,
                fmt::format("{} {}: expected an existing folder, got '{}', which is none", option, path, folder));
  }
  if (fs::is_directory(path, error)) reject(option, "a file's name", path);
  if (access(folder.c_str(), W_OK | X_OK) != 0) {
    throw Error(ErrorCode::io,
                fmt::format("{} {}: expected a folder that can be written, got '{}'", option, path, folder));
  }
}

void require_distinct(std::string_view option, const std::vector<std::string>& outputs,
                      const std::vector<std::string>& inputs) {
  std::set<std::string> known;
  for (const auto& input : inputs) known.insert(canonical_path(input));
  for (const auto& output : outputs) {
    if (known.count(canonical_path(output)) != 0) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("{}: expected another file than the input, got '{}'", option, output));
    }
  }
}

UnfinishedRun::~UnfinishedRun() {
  for (const auto& path : paths_) {
    std::error_code error;
    fs::remove(path, error);
  }
}

void UnfinishedRun::wrote(const std::string& path) {
  const std::lock_guard lock(mutex_);
  paths_.push_back(path);
}

void UnfinishedRun::keep() {
  const std::lock_guard lock(mutex_);
  paths_.clear();
}

void require_input(const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error)) throw_io(path, "a file", "no such file");
  if (fs::is_directory(path, error)) throw_io(path, "a file", "a folder");
  if (access(path.c_str(), R_OK) != 0) throw_io(path, "a readable file", "no permission to read it");
}

}  // namespace holotone::cli
