#include <cerrno>
#include <cli/common/output_check.hpp>
#include <cli/common/values.hpp>
#include <cli/scene/new_folder.hpp>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace holotone::cli {
namespace fs = std::filesystem;
namespace {

/// "a/dice" of "a/dice/", and of "a/dice/." alike.
std::string without_slash(const std::string& path) {
  const fs::path clean = fs::path(path).lexically_normal();
  return clean.has_filename() ? clean.string() : clean.parent_path().string();
}

void make_folder(const std::string& path) {
  UnfinishedRun::will_write(path);
  if (mkdir(path.c_str(), 0777) != 0) throw_io(path, "a folder that can be made", std::strerror(errno));
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
    const bool empty = fs::is_empty(path_, error);
    if (!empty || error) reject(option, "a new or an empty folder", path + ", which holds files");
    existing_ = true;
    beside = place;
  } else {
    require_outputs({{option, 1, [&](std::int64_t) { return path_; }}}, {});
  }
  const std::string name = fmt::format(".{}.{}.part", place.filename().string(), getpid());
  temporary_ = (beside / name).string();
  UnfinishedRun::will_write(temporary_);
  if (mkdir(temporary_.c_str(), 0777) != 0) throw_io(path_, "a folder that can be written", std::strerror(errno));
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
      const std::string own = (fs::path(path_) / entry.path().filename()).string();
      UnfinishedRun::will_write(own);
      if (std::rename(entry.path().c_str(), own.c_str()) != 0) throw_io(own, "a name to write", std::strerror(errno));
    }
    rmdir(temporary_.c_str());
  } else if (std::rename(temporary_.c_str(), path_.c_str()) != 0) {
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
