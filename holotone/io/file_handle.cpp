#include <cerrno>
#include <holotone/io/file_handle_detail.hpp>
#include <unistd.h>

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

int write_at(const FileHandle& file, const char* data, std::uint64_t bytes, std::uint64_t position) {
  return complete(pwrite, file.get(), data, bytes, position, ENOSPC);
}

int read_at(const FileHandle& file, char* data, std::uint64_t bytes, std::uint64_t position) {
  return complete(pread, file.get(), data, bytes, position, -1);
}

}  // namespace holotone::io
