#include <cerrno>
#include <cstdint>
#include <exception>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <holotone/core/crc32.hpp>
#include <holotone/core/kernel_cache.hpp>
#include <span>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#if defined(__APPLE__)
#include <sys/random.h>
#endif

namespace holotone {
namespace {

constexpr std::string_view mark = "holotone kernel 1\n";
constexpr std::string_view extension = ".kernel";

std::uint32_t checksum(std::string_view text) { return crc32(std::as_bytes(std::span(text.data(), text.size()))); }

/// Identity and machine code, each with its length, then a checksum of both.
std::string packed(const std::string& identity, const std::string& code) {
  const std::string body = fmt::format("{} {}\n", identity.size(), code.size()) + identity + code;
  return fmt::format("{}{:08x}\n", mark, checksum(body)) + body;
}

/// Machine code in a cache file; empty if the file is damaged or has another identity.
std::string unpacked(const std::string& file, const std::string& identity) {
  const std::size_t head = mark.size() + 9;
  if (file.size() <= head || !file.starts_with(mark)) return {};
  const std::string body = file.substr(head);
  if (file.substr(mark.size(), 9) != fmt::format("{:08x}\n", checksum(body))) return {};
  const std::string lengths = body.substr(0, body.find('\n') + 1);
  const std::size_t rest = lengths.size() + identity.size();
  if (body.size() <= rest || body.compare(lengths.size(), identity.size(), identity) != 0) return {};
  return lengths == fmt::format("{} {}\n", identity.size(), body.size() - rest) ? body.substr(rest) : std::string();
}

std::string file_name(std::string_view name, const std::string& identity) {
  return fmt::format("{}-{:08x}-{}{}", name, checksum(identity), identity.size(), extension);
}

/// Closes a file or folder when it goes out of scope.
class Descriptor {
 public:
  explicit Descriptor(int file) : file_(file) {}
  ~Descriptor() {
    if (file_ >= 0) ::close(file_);
  }
  Descriptor(Descriptor&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  Descriptor& operator=(Descriptor&&) = delete;
  [[nodiscard]] int get() const { return file_; }
  [[nodiscard]] bool valid() const { return file_ >= 0; }

 private:
  int file_;
};

/// Why others may have decided what a file or folder holds; empty: only this user can have.
std::string foreign(const struct stat& status) {
  if (status.st_uid != ::geteuid()) return fmt::format("one of user {}", status.st_uid);
  constexpr unsigned others_write = S_IWGRP | S_IWOTH;
  return (status.st_mode & others_write) == 0 ? "" : fmt::format("mode {:o}", status.st_mode & 07777U);
}

/// Opens a folder. The opened one is checked, so that none can take its place later.
Descriptor open_folder(const std::string& folder, std::string& refusal) {
  Descriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct stat status {};
  if (!opened.valid() || ::fstat(opened.get(), &status) != 0) return Descriptor(-1);
  refusal = foreign(status);
  return refusal.empty() ? std::move(opened) : Descriptor(-1);
}

/// Makes a folder and those above it, for this user alone.
void make_folder(const std::string& folder) {
  for (std::size_t end = folder.find('/', 1); end != std::string::npos; end = folder.find('/', end + 1)) {
    (void)::mkdir(folder.substr(0, end).c_str(), 0700);
  }
  (void)::mkdir(folder.c_str(), 0700);
}

/// Content of a file of this user; empty if it is none, or larger than machine code gets.
std::string read_content(const Descriptor& folder, const std::string& name) {
  constexpr off_t most = off_t{64} << 20;
  // Not blocking: the name may be a pipe's.
  const Descriptor file(::openat(folder.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status {};
  if (!file.valid() || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  if (status.st_size > most || !foreign(status).empty()) return {};
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t count = ::read(file.get(), text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return {};
    done += static_cast<std::size_t>(count);
  }
  return text;
}

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(file, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

void keep(const Descriptor& folder, const std::string& name, const std::string& text) {
  std::uint64_t random = 0;
  if (::getentropy(&random, sizeof random) != 0) return;
  const std::string temporary = fmt::format(".{}.{:016x}", name, random);
  bool written = false;
  {
    const Descriptor file(
        ::openat(folder.get(), temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file.valid()) return;
    written = write_all(file.get(), text);
  }
  if (!written || ::renameat(folder.get(), temporary.c_str(), folder.get(), name.c_str()) != 0) {
    (void)::unlinkat(folder.get(), temporary.c_str(), 0);
  }
}

}  // namespace

std::string kept_kernel(const std::string& folder, std::string_view name, const std::string& identity,
                        const std::function<std::string()>& compile) {
  if (folder.empty()) return compile();
  const std::string file = file_name(name, identity);
  std::string refusal;
  if (const Descriptor kept = open_folder(folder, refusal); kept.valid()) {
    if (std::string code = unpacked(read_content(kept, file), identity); !code.empty()) return code;
  }
  std::string code = compile();
  if (!refusal.empty()) return code;
  make_folder(folder);
  if (const Descriptor kept = open_folder(folder, refusal); kept.valid()) keep(kept, file, packed(identity, code));
  return code;
}

void forget_kernel(const std::string& folder, std::string_view name, const std::string& identity) noexcept try {
  std::string refusal;
  if (folder.empty()) return;
  if (const Descriptor kept = open_folder(folder, refusal); kept.valid()) {
    (void)::unlinkat(kept.get(), file_name(name, identity).c_str(), 0);
  }
} catch (const std::exception&) {  // no memory: the file stays
}

std::string kernel_cache_refusal(const std::string& folder) {
  std::string refusal;
  if (!folder.empty()) (void)open_folder(folder, refusal);
  return refusal;
}

std::pair<std::string, std::string> find_refused_kernel(const std::string& folder) {
  std::string refusal;
  const Descriptor opened = open_folder(folder, refusal);
  std::error_code failed;
  if (!opened.valid()) return {};
  for (std::filesystem::directory_iterator file(folder, failed), end; file != end; file.increment(failed)) {
    struct stat status {};
    const auto name = file->path().filename().string();
    if (!name.ends_with(extension) || ::fstatat(opened.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0)
      continue;
    const std::string why = S_ISREG(status.st_mode) ? foreign(status) : "no regular file";
    if (!why.empty()) return {name, why};
  }
  return {};
}

}  // namespace holotone
