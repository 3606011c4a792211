#include <algorithm>
#include <atomic>
#include <cctype>
#include <charconv>
#include <cli/common/paths.hpp>
#include <cli/options/values.hpp>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <sys/stat.h>
#include <unistd.h>

namespace holotone::cli {
namespace fs = std::filesystem;

bool names_monitor(const std::string& output) { return output.starts_with("monitor:"); }

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

std::string numbered(const std::string& name, std::int64_t number) {
  const auto pattern = frame_pattern(name);
  return pattern ? pattern->name(number) : name;
}

void require_numbered_input(std::string_view option, const std::string& name, std::optional<std::int64_t> number) {
  if (!file_exists(name)) require_known_counters(option, name, false);
  const bool counted = frame_pattern(option, name).has_value();
  if (counted && !number) reject(option, "a name without a counter, as IN has none", name);
  io::require_input(counted ? numbered(name, *number) : name);
}

void require_known_counters(std::string_view option, const std::string& path, bool channels) {
  for (std::size_t at = path.find('%'); at != std::string::npos; at = path.find('%', at + 1)) {
    std::size_t end = at + 1;
    while (end < path.size() && std::isdigit(static_cast<unsigned char>(path[end])) != 0) ++end;
    if (end >= path.size() || std::isalpha(static_cast<unsigned char>(path[end])) == 0) continue;
    const bool counter = path[end] == 'd' && end - at <= 3;
    const bool channel = path[end] == 'c' && end == at + 1;
    if (channel && !channels) reject(option, "no %c, which stands for the colour of --rgb", path);
    if (channel && path.find("%c") != at) reject(option, "one %c", path);
    if (!counter && !channel) reject(option, "a counter such as %04d after %", path);
  }
}

std::optional<FramePattern> frame_pattern(const std::string& output) { return frame_pattern(output_name, output); }

void require_known_counters(const std::string& output, bool channels) {
  require_known_counters(output_name, output, channels);
}

std::optional<FramePattern> parse_counter(std::string_view option, const std::string& path) {
  require_known_counters(option, path, false);
  return frame_pattern(option, path);
}

std::string channel_path(const std::string& path, std::string_view channel) {
  if (const auto at = path.find("%c"); at != std::string::npos) {
    return path.substr(0, at) + std::string(channel) + path.substr(at + 2);
  }
  const std::string extension = fs::path(path).extension().string();
  return path.substr(0, path.size() - extension.size()) + "_" + std::string(channel) + extension;
}

namespace {

/// List of new files that a signal handler may walk: nodes are added and never freed, for the one run of the program.
struct NewFile {
  std::string path;
  NewFile* next;
};
std::atomic<NewFile*> new_files = nullptr;
std::atomic<bool> removing = false;
static_assert(std::atomic<NewFile*>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

}  // namespace

UnfinishedRun::UnfinishedRun() { removing = true; }

UnfinishedRun::~UnfinishedRun() { remove_unfinished_outputs(); }

void UnfinishedRun::will_write(const std::string& path) {
  struct stat existing {};
  if (lstat(path.c_str(), &existing) != 0) has_made(path);
}

void UnfinishedRun::has_made(const std::string& path) {
  auto* file = new NewFile{path, new_files.load()};
  while (!new_files.compare_exchange_weak(file->next, file)) {
  }
}

void UnfinishedRun::keep() { removing = false; }

void remove_unfinished_outputs() noexcept {
  if (!removing) return;
  for (const NewFile* file = new_files; file != nullptr; file = file->next) {
    if (unlink(file->path.c_str()) != 0) (void)rmdir(file->path.c_str());  // a folder comes after what is in it
  }
}

std::string cache_folder() {
  const auto variable = [](const char* name) {
    const char* const value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  if (const auto folder = variable("XDG_CACHE_HOME"); folder.starts_with('/')) return folder + "/holotone";
  const auto home = variable("HOME");
  return home.starts_with('/') ? home + "/.cache/holotone" : "";
}

bool file_exists(const std::string& path) noexcept {
  struct stat status {};
  return stat(path.c_str(), &status) == 0;
}

}  // namespace holotone::cli
