#include <algorithm>
#include <cctype>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <holotone/core/device.hpp>
#include <holotone/core/error.hpp>
#include <holotone/core/parallel.hpp>
#include <holotone/core/units.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/file_part_detail.hpp>
#include <holotone/io/text_reader_detail.hpp>
#include <sys/stat.h>

namespace holotone::io {
namespace {

/// Throws io if a large file exceeds free memory, before the system ends the program for the allocation.
void require_memory(const std::string& path, std::size_t size) {
  constexpr std::size_t small = std::size_t{64} << 20;
  if (size <= small) return;
  const std::size_t free = describe(Device{}).free_bytes;
  if (size <= free) return;
  throw_io(path, fmt::format("a file that the {} of free memory hold", format_bytes(static_cast<double>(free))),
           format_bytes(static_cast<double>(size)));
}

std::string read_at_most(const std::string& path, std::size_t most) {
  std::uint64_t file_bytes = 0;
  const FileHandle file = open_file(path, file_bytes);
  const auto size = std::min(static_cast<std::size_t>(file_bytes), most);
  require_memory(path, size);
  std::string bytes(size, '\0');
  require_bytes_by_all(file, bytes.data(), size, 0, path);
  return bytes;
}

}  // namespace

FileHandle open_file(const std::string& path, std::uint64_t& bytes) {
  FileHandle file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.valid()) throw_io(path, "a readable file", errno == ENOENT ? "none" : std::strerror(errno));
  struct stat information {};
  if (fstat(file.get(), &information) != 0) throw_io(path, "a readable file", std::strerror(errno));
  if (S_ISDIR(information.st_mode)) throw_io(path, "a file", describe_folder(path));
  if (!S_ISREG(information.st_mode)) throw_io(path, "a regular file", "a device, pipe or socket");
  if (information.st_size == 0) throw_io(path, "content", "an empty file");
  bytes = static_cast<std::uint64_t>(information.st_size);
  return file;
}

void require_bytes(const FileHandle& file, char* data, std::uint64_t bytes, std::uint64_t position,
                   const std::string& path) {
  const int reason = read_at(file, data, bytes, position);
  if (reason > 0) throw_io(path, "a readable file", std::strerror(reason));
  if (reason < 0) throw_io(path, fmt::format("{} from byte {}", counted(bytes, "byte"), position), "a shorter file");
}

void require_bytes_by_all(const FileHandle& file, char* data, std::uint64_t bytes, std::uint64_t position,
                          const std::string& path) {
  constexpr std::uint64_t piece = std::uint64_t{4} << 20;
  if (bytes <= piece) return require_bytes(file, data, bytes, position, path);
  parallel_for(0, static_cast<std::int64_t>((bytes + piece - 1) / piece), [&](std::int64_t i) {
    const std::uint64_t first = static_cast<std::uint64_t>(i) * piece;
    require_bytes(file, data + first, std::min(piece, bytes - first), position + first, path);
  });
}

std::string read_bytes(const std::string& path) { return read_at_most(path, SIZE_MAX); }

std::string read_text(const std::string& path) {
  constexpr std::uintmax_t longest_bytes = 4 << 20;  // at most one line for each of 2^16 codes
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  if (!error && size > longest_bytes) {
    throw_io(path, "a text file of at most 4 MiB", format_bytes(static_cast<double>(size)));
  }
  std::string bytes = read_bytes(path);
  require_text(path, bytes);
  return bytes;
}

std::string read_bytes_if(const std::string& path, bool (*accept)(std::string_view)) {
  constexpr std::size_t enough = 512;
  std::string first = read_first_bytes(path, enough);
  return first.size() < enough || !accept(first) ? first : read_bytes(path);
}

std::string read_first_bytes(const std::string& path, std::size_t count) { return read_at_most(path, count); }

std::string describe_folder(const std::string& path) {
  std::size_t files = 0;
  std::string first;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(path, error), end; !error && entry != end; entry.increment(error)) {
    const auto name = entry->path().filename().string();
    if (first.empty() || name < first) first = name;
    ++files;
  }
  if (error) return "a folder";
  return files == 0 ? "a folder without files"
                    : fmt::format("a folder of {} such as {}", counted(files, "file"), in_quotes(first));
}

void require_input(const std::string& name) {
  const std::string path = split_part(name).file;
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) throw Error(ErrorCode::io, path + ": file not found");
    throw_io(path, "a readable file", std::strerror(errno));
  }
  if (S_ISDIR(status.st_mode)) throw_io(path, "a file", describe_folder(path));
  if (access(path.c_str(), R_OK) != 0) throw_io(path, "a readable file", "no permission to read it");
}

std::string counted(std::uint64_t count, std::string_view singular) {
  return fmt::format("{} {}{}", count, singular, count == 1 ? "" : "s");
}

std::string in_quotes(std::string_view text) {
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
