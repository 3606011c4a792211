#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/io/atomic_file.hpp>
#include <holotone/io/atomic_file_detail.hpp>
#include <holotone/io/file_part_detail.hpp>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

namespace holotone {
namespace {

// The names of unfinished files are in fixed memory, because a signal handler must not read memory that another thread
// may be freeing.
constexpr int slot_count = 64;
constexpr std::size_t slot_bytes = 4096;  // PATH_MAX
enum SlotState : int { slot_free, slot_filling, slot_armed };
struct Slot {
  std::atomic<int> state{slot_free};
  char path[slot_bytes] = {};
};
Slot slots[slot_count];
std::atomic<bool> closing{false};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

std::string temporary_name(const std::string& target) {
  const std::filesystem::path path(target);
  // A name of the longest permitted length must leave room for the rest.
  const std::string stem = path.filename().string().substr(0, 200);
  return (path.parent_path() / fmt::format(".{}.{}.part", stem, io::random_digits())).string();
}

// Creates the file exclusively; the umask decides the permissions, unless there is a file to follow.
int create(const std::string& temporary, const std::string& target) {
  const int file = open(temporary.c_str(), O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR | O_CLOEXEC, 0666);
  if (file < 0) return -1;
  struct stat existing {};
  if (stat(target.c_str(), &existing) == 0) (void)!fchmod(file, existing.st_mode & 0777);
  return file;
}

}  // namespace

namespace io {

int arm_name(const std::string& path) {
  if (path.size() >= slot_bytes) throw_io(path, "a path of fewer than 4096 bytes", "a longer one");
  for (int i = 0; i < slot_count; ++i) {
    int expected = slot_free;
    if (!slots[i].state.compare_exchange_strong(expected, slot_filling)) continue;
    std::memcpy(slots[i].path, path.c_str(), path.size() + 1);
    slots[i].state = slot_armed;
    return i;
  }
  throw_io(path, fmt::format("at most {} files being written at once", slot_count), "one more");
}

void disarm_name(int slot) noexcept { slots[slot].state = slot_free; }

void require_not_ending(const std::string& path) {
  if (closing) throw Error(ErrorCode::cancelled, path + ": not written: the program is ending");
}

std::string output_target(const std::string& path) {
  if (path.empty()) throw_io("output file", "a name", "an empty one");
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (std::filesystem::is_directory(status)) throw_io(path, "a file name", "a folder");
  if (std::filesystem::exists(status)) {
    if (!std::filesystem::is_regular_file(status)) throw_io(path, "a regular file", "a device, pipe or socket");
    auto target = std::filesystem::canonical(path, error);
    return error ? path : target.string();
  }
  require_no_part(path);
  std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (folder.empty()) folder = ".";
  if (!std::filesystem::is_directory(folder, error)) {
    throw_io(path, fmt::format("folder '{}' to exist", folder.string()), "none");
  }
  return path;
}

}  // namespace io

AtomicFile::AtomicFile(const std::string& path) : path_(io::output_target(path)) {
  temporary_path_ = temporary_name(path_);
  slot_ = io::arm_name(temporary_path_);  // before the file exists, so that no moment is uncovered
  file_ = closing ? -1 : create(temporary_path_, path_);
  if (file_ >= 0) return;
  const int reason = errno;
  io::disarm_name(slot_);
  io::require_not_ending(path);
  const auto folder = std::filesystem::path(path_).parent_path().string();
  // A file system without files of its own, such as /proc, reports that the new file does not exist.
  throw_io(path, fmt::format("folder '{}' to take new files", folder.empty() ? "." : folder),
           reason == ENOENT ? "one in which none can be made" : std::strerror(reason));
}

AtomicFile::~AtomicFile() {
  close(file_);
  if (slot_ < 0) return;
  unlink(temporary_path_.c_str());
  io::disarm_name(slot_);
}

void AtomicFile::commit() {
  if (slot_ < 0) throw_argument("AtomicFile::commit", "calls", "one", "two");
  io::require_not_ending(path_);
  if (std::rename(temporary_path_.c_str(), path_.c_str()) != 0) {
    throw_io(path_, "to be replaceable", std::strerror(errno));
  }
  io::disarm_name(slot_);
  slot_ = -1;
}

namespace io {

AppendedFile::AppendedFile(const std::string& path)
    : path_(path), target_(path), file_(fcntl(target_.descriptor(), F_DUPFD_CLOEXEC, 0)) {
  if (!file_.valid()) throw_io(path, "to be writable", std::strerror(errno));
}

void AppendedFile::append(std::string_view bytes) {
  const int reason = write_at(file_, bytes.data(), bytes.size(), position_);
  if (reason != 0) {
    throw_io(path_, fmt::format("{} bytes to be written after the first {}", bytes.size(), position_),
             std::strerror(reason));
  }
  position_ += bytes.size();
}

void AppendedFile::flush() {
  if (fsync(file_.get()) != 0) throw_io(path_, fmt::format("{} bytes to be written", position_), std::strerror(errno));
}

}  // namespace io

namespace {

struct CloseFile {
  void operator()(std::FILE* stream) const { (void)!std::fclose(stream); }
};
using Stream = std::unique_ptr<std::FILE, CloseFile>;

void append(std::FILE* stream, const std::string& path, std::string_view bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), stream) != bytes.size()) {
    throw_io(path, fmt::format("{} bytes to be written", bytes.size()), std::strerror(errno));
  }
}

void write_with(const std::string& path, const std::function<void(std::FILE*)>& work) {
  AtomicFile file(path);
  io::FileHandle handle(fcntl(file.descriptor(), F_DUPFD_CLOEXEC, 0));
  Stream stream(handle.valid() ? fdopen(handle.get(), "wb") : nullptr);
  if (stream) (void)handle.release();
  if (!stream) throw_io(path, "to be writable", std::strerror(errno));
  work(stream.get());
  if (std::fclose(stream.release()) != 0) throw_io(path, "all bytes to be written", std::strerror(errno));
  file.commit();
}

}  // namespace

void write_file(const std::string& path, std::string_view bytes) {
  write_with(path, [&](std::FILE* stream) { append(stream, path, bytes); });
}

void write_file(const std::string& path, const std::function<bool(std::string&)>& next) {
  write_with(path, [&](std::FILE* stream) {
    std::string piece;
    for (bool more = true; more;) {
      piece.clear();
      more = next(piece);
      append(stream, path, piece);
    }
  });
}

void remove_pending_files() noexcept {
  closing = true;
  for (auto& slot : slots) {
    if (slot.state == slot_armed) unlink(slot.path);
  }
}

}  // namespace holotone
