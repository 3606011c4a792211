#include <algorithm>
#include <cctype>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <holotone/core/device.hpp>
#include <holotone/core/error.hpp>
#include <holotone/core/units.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <sys/stat.h>
#include <unistd.h>

namespace holotone::io {
namespace {

class Descriptor {
 public:
  explicit Descriptor(const std::string& path) : file_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (file_ < 0) throw_io(path, "a readable file", errno == ENOENT ? "none" : std::strerror(errno));
  }
  ~Descriptor() { close(file_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return file_; }

 private:
  int file_;
};

/// Before the system ends the program for trying.
void require_memory(const std::string& path, std::size_t size) {
  constexpr std::size_t small = std::size_t{64} << 20;
  if (size <= small) return;
  const std::size_t free = describe(Device{}).free_bytes;
  if (size <= free) return;
  throw_io(path, fmt::format("a file that the {} of free memory hold", format_bytes(static_cast<double>(free))),
           format_bytes(static_cast<double>(size)));
}

std::string read_at_most(const std::string& path, std::size_t most) {
  const Descriptor file(path);
  struct stat information {};
  if (fstat(file.get(), &information) != 0) throw_io(path, "a readable file", std::strerror(errno));
  if (S_ISDIR(information.st_mode)) throw_io(path, "a file", "a folder");
  if (!S_ISREG(information.st_mode)) throw_io(path, "a regular file", "a device, pipe or socket");
  if (information.st_size == 0) throw_io(path, "content", "an empty file");
  const auto size = std::min(static_cast<std::size_t>(information.st_size), most);
  require_memory(path, size);
  std::string bytes(size, '\0');
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = read(file.get(), bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw_io(path, "a readable file", std::strerror(errno));
    if (count == 0) throw_io(path, counted(bytes.size(), "byte"), counted(done, "byte"));
    done += static_cast<std::size_t>(count);
  }
  return bytes;
}

}  // namespace

std::string read_bytes(const std::string& path) { return read_at_most(path, SIZE_MAX); }

std::string read_bytes_if(const std::string& path, bool (*accept)(std::string_view)) {
  constexpr std::size_t enough = 512;
  std::string first = read_first_bytes(path, enough);
  return first.size() < enough || !accept(first) ? first : read_bytes(path);
}

std::string read_first_bytes(const std::string& path, std::size_t count) { return read_at_most(path, count); }

std::string extension_of(std::string_view path) {
  std::string extension = std::filesystem::path(path).extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return extension;
}

std::string counted(std::uint64_t count, std::string_view singular) {
  return fmt::format("{} {}{}", count, singular, count == 1 ? "" : "s");
}

std::string quoted(std::string_view text) {
  constexpr std::size_t longest = 40;
  std::string result = "'";
  for (char c : text.substr(0, longest)) {
    const auto code = static_cast<unsigned char>(c);
    result += code >= 0x20 && code < 0x7f ? std::string(1, c) : fmt::format("\\x{:02x}", code);
  }
  return result + (text.size() > longest ? "...'" : "'");
}

void ByteReader::fail_short(std::size_t count, std::string_view what) const {
  throw_io(path_, fmt::format("{} ({} at byte {})", what, counted(count, "byte"), position_),
           fmt::format("{} left", counted(remaining(), "byte")));
}

}  // namespace holotone::io
