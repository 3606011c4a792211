#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/named_file_detail.hpp>
#include <sys/stat.h>
#include <system_error>
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#if defined(SYS_openat2)
#include <linux/openat2.h>
#endif
#endif

namespace holotone::io {
namespace {

namespace fs = std::filesystem;
constexpr int reading = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

std::string parent_folder(const std::string& file) {
  const auto folder = fs::path(file).parent_path().string();
  return folder.empty() ? "." : folder;
}

std::string describe_error(int reason) {
  if (reason == ENOENT || reason == ENOTDIR) return "no such file";
  if (reason == EXDEV) return "a link that leads out of it";
  if (reason == ELOOP) return "links in a circle";
  return std::strerror(reason);
}

// Opens the file, or returns the reason why not.
FileHandle open_or_explain(const std::string& naming, const std::string& name, std::string& got, struct stat& status) {
  const fs::path path(name);
  if (path.is_absolute()) got = "a path from the root";
  if (std::find(path.begin(), path.end(), "..") != path.end()) got = "a path with '..'";
  if (!got.empty()) return FileHandle();
  const std::string folder = parent_folder(naming);
  FileHandle file(open_beneath(folder, name));
  if (!file.valid() && errno == ENOSYS) file = FileHandle(open_compared(folder, name));
  if (!file.valid() || fstat(file.get(), &status) != 0) {
    got = describe_error(errno);
  } else if (!S_ISREG(status.st_mode)) {
    got = S_ISDIR(status.st_mode) ? "a folder" : "a device, pipe or socket";
  }
  return file;
}

}  // namespace

FileHandle open_named_file(const std::string& naming, const std::string& name, const std::string& what) {
  std::string got;
  struct stat status {};
  FileHandle file = open_or_explain(naming, name, got, status);
  if (got.empty()) return file;
  throw_io(naming, fmt::format("the {} {} to be a regular file in its folder or below", what, in_quotes(name)), got);
}

std::uint64_t named_file_bytes(const std::string& naming, const std::string& name) {
  std::string got;
  struct stat status {};
  const FileHandle file = open_or_explain(naming, name, got, status);
  return got.empty() ? static_cast<std::uint64_t>(status.st_size) : 0;
}

int open_beneath([[maybe_unused]] const std::string& folder, [[maybe_unused]] const std::string& name) {
#if defined(SYS_openat2)
  const FileHandle base(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!base.valid()) return -1;
  open_how how{};
  how.flags = reading;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  int file = -1;
  // EAGAIN: a folder was renamed during the look-up.
  for (int attempt = 0; attempt < 100; ++attempt) {
    file = static_cast<int>(syscall(SYS_openat2, base.get(), name.c_str(), &how, sizeof how));
    if (file >= 0 || (errno != EAGAIN && errno != EINTR)) break;
  }
  if (file < 0 && errno == EPERM) errno = ENOSYS;  // the answer of older container filters to an unknown call
  return file;
#else
  errno = ENOSYS;
  return -1;
#endif
}

int open_compared(const std::string& folder, const std::string& name) {
  std::error_code error;
  const auto base = fs::canonical(folder, error);
  const auto target = error ? fs::path() : fs::canonical(fs::path(folder) / name, error);
  if (error) {
    errno = error.value();
    return -1;
  }
  if (!lies_beneath(base, target)) {
    errno = EXDEV;
    return -1;
  }
  return open(target.c_str(), reading | O_NOFOLLOW);
}

bool lies_beneath(const fs::path& folder, const fs::path& file) {
  return std::mismatch(folder.begin(), folder.end(), file.begin(), file.end()).first == folder.end();
}

}  // namespace holotone::io
