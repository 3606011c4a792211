#include <cerrno>
#include <charconv>
#include <cli/common/new_folder.hpp>
#include <cli/common/output_check.hpp>
#include <cli/options/values.hpp>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <holotone/io/file_handle_detail.hpp>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace holotone::cli {
namespace fs = std::filesystem;
namespace {

/// "a/dice" for "a/dice/" and for "a/dice/.".
std::string without_slash(const std::string& path) {
  const fs::path clean = fs::path(path).lexically_normal();
  return clean.has_filename() ? clean.string() : clean.parent_path().string();
}

void make_folder(const std::string& path) {
  UnfinishedRun::will_write(path);
  if (mkdir(path.c_str(), 0777) != 0) throw_io(path, "a folder that can be made", std::strerror(errno));
}

/// Permissions of a new folder in `folder`, as the umask and a group's bit decide them.
mode_t usual_mode(const std::string& folder) {
  const std::string trial = folder + "/mode";
  struct stat status {};
  const bool made = mkdir(trial.c_str(), 0777) == 0 && stat(trial.c_str(), &status) == 0;
  rmdir(trial.c_str());
  return made ? status.st_mode & 07777 : 0700;
}

/// Opens a folder and locks it; -1 if another program holds the lock or it is no folder.
int locked(const std::string& folder) {
  const int file = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0 || flock(file, LOCK_EX | LOCK_NB) == 0) return file;
  close(file);
  return -1;
}

/// True if a name is `.NAME.PID-DIGITS.part` of a process that no longer runs; earlier versions wrote no digits.
bool is_left_over(const std::string& name, const std::string& of) {
  const std::string begin = fmt::format(".{}.", of);
  constexpr std::string_view end = ".part";
  if (!name.starts_with(begin) || !name.ends_with(end) || name.size() <= begin.size() + end.size()) return false;
  const char* const first = name.data() + begin.size();
  const char* const last = name.data() + name.size() - end.size();
  pid_t process = 0;
  const auto [stop, error] = std::from_chars(first, last, process);
  return error == std::errc() && (stop == last || *stop == '-') && process > 0 && kill(process, 0) != 0 &&
         errno == ESRCH;
}

/// Removes folders that killed programs left in `place` for the name `name`.
void remove_left_over(const fs::path& place, const std::string& name) {
  std::error_code error;
  std::vector<std::string> found;
  for (fs::directory_iterator entry(place.empty() ? "." : place, error), end; !error && entry != end;
       entry.increment(error)) {
    if (is_left_over(entry->path().filename().string(), name)) found.push_back(entry->path().string());
  }
  for (const auto& folder : found) {
    // The process may run in another container, where its number differs: the lock decides.
    const int lock = locked(folder);
    if (lock < 0) continue;
    fs::remove_all(folder, error);
    close(lock);
  }
}

}  // namespace

NewFolder::NewFolder(std::string_view option, const std::string& path) : path_(without_slash(path)) {
  struct stat status {};
  const fs::path place(path_);
  fs::path beside = place.parent_path();
  if (lstat(path_.c_str(), &status) == 0) {
    std::error_code error;
    if (S_ISLNK(status.st_mode)) reject(option, "the name of a new folder", path + ", which is a link");
    if (!S_ISDIR(status.st_mode)) reject(option, "the name of a new folder", path + ", which is a file");
    remove_left_over(place, place.filename().string());
    const bool empty = fs::is_empty(path_, error);
    if (!empty || error) reject(option, "a new or an empty folder", path + ", which holds files");
    existing_ = true;
    beside = place;
  } else {
    require_outputs({{option, 1, [&](std::int64_t) { return path_; }}}, {});
    remove_left_over(beside, place.filename().string());
  }
  const std::string name = fmt::format(".{}.{}-{}.part", place.filename().string(), getpid(), io::random_digits());
  temporary_ = (beside / name).string();
  UnfinishedRun::will_write(temporary_);
  // Closed to others until it is complete, so that they cannot place links under the names of its files.
  if (mkdir(temporary_.c_str(), 0700) != 0) throw_io(path_, "a folder that can be written", std::strerror(errno));
  lock_ = locked(temporary_);
  final_mode_ = usual_mode(temporary_);
}

NewFolder::~NewFolder() {
  if (lock_ >= 0) close(lock_);
}

void NewFolder::add_folder(const std::string& name) const { make_folder(temporary_ + "/" + name); }

std::string NewFolder::file(const std::string& name) const {
  std::string path = temporary_ + "/" + name;
  UnfinishedRun::will_write(path);
  return path;
}

void NewFolder::commit() {
  if (existing_) {
    for (const auto& entry : fs::directory_iterator(temporary_)) {
      const std::string target = (fs::path(path_) / entry.path().filename()).string();
      UnfinishedRun::will_write(target);
      if (std::rename(entry.path().c_str(), target.c_str()) != 0)
        throw_io(target, "a name to write", std::strerror(errno));
    }
    rmdir(temporary_.c_str());
  } else if (chmod(temporary_.c_str(), final_mode_) != 0 || std::rename(temporary_.c_str(), path_.c_str()) != 0) {
    throw_io(path_, "a folder that can take its name", std::strerror(errno));
  }
  UnfinishedRun::keep();
}

Error NewFolder::named(const Error& error) const {
  std::string text = error.what();
  if (const auto at = text.find(temporary_); at != std::string::npos) text.replace(at, temporary_.size(), path_);
  return {error.code(), text};
}

}  // namespace holotone::cli
