#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/io/file_handle_detail.hpp>
#include <unistd.h>
#if defined(__APPLE__)
#include <sys/random.h>
#endif

namespace holotone::io {
namespace {

// Repeats pread or pwrite until the whole range is done.
template <class Call, class T>
int complete(const Call& call, int file, T* data, std::uint64_t bytes, std::uint64_t position, int at_end) {
  while (bytes > 0) {
    const ssize_t count = call(file, data, bytes, static_cast<off_t>(position));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    if (count == 0) return at_end;
    data += count;
    position += static_cast<std::uint64_t>(count);
    bytes -= static_cast<std::uint64_t>(count);
  }
  return 0;
}

}  // namespace

FileHandle::~FileHandle() {
  if (file_ >= 0) close(file_);
}

std::string name_of_opened(int file, const std::string& name) {
  std::string path = fmt::format("/proc/self/fd/{}", file);
  return access(path.c_str(), F_OK) == 0 ? path : name;
}

std::string random_digits() {
  std::uint64_t number = 0;
  if (getentropy(&number, sizeof number) != 0) throw_io("temporary name", "random numbers", std::strerror(errno));
  return fmt::format("{:016x}", number);
}

int write_at(const FileHandle& file, const char* data, std::uint64_t bytes, std::uint64_t position) {
  return complete(pwrite, file.get(), data, bytes, position, ENOSPC);
}

void begin_flush([[maybe_unused]] const FileHandle& file, [[maybe_unused]] std::uint64_t bytes,
                 [[maybe_unused]] std::uint64_t position) {
#if defined(__linux__)
  (void)sync_file_range(file.get(), static_cast<off_t>(position), static_cast<off_t>(bytes), SYNC_FILE_RANGE_WRITE);
#endif
}

int read_at(const FileHandle& file, char* data, std::uint64_t bytes, std::uint64_t position) {
  return complete(pread, file.get(), data, bytes, position, -1);
}

}  // namespace holotone::io
