#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <holotone/core/crc32.hpp>
#include <holotone/core/kernel_cache.hpp>
#include <span>
#include <sstream>
#include <unistd.h>

namespace holotone {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view mark = "holotone kernel 1\n";

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

fs::path path_of(const std::string& folder, std::string_view name, const std::string& identity) {
  return fs::path(folder) / fmt::format("{}-{:08x}-{}.kernel", name, checksum(identity), identity.size());
}

/// Content of a file; empty if it is none, or larger than machine code gets.
std::string content_of(const fs::path& path) {
  constexpr std::uintmax_t most = std::uintmax_t{64} << 20;
  std::error_code failed;
  if (!fs::is_regular_file(path, failed) || fs::file_size(path, failed) > most || failed) return {};
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

void keep(const fs::path& path, const std::string& text) {
  std::error_code failed;
  fs::create_directories(path.parent_path(), failed);
  const fs::path temporary = path.string() + fmt::format(".{}", ::getpid());
  std::ofstream stream(temporary, std::ios::binary);
  stream.write(text.data(), static_cast<std::streamsize>(text.size()));
  stream.close();
  if (stream) fs::rename(temporary, path, failed);
  if (!stream || failed) fs::remove(temporary, failed);
}

}  // namespace

std::string kept_kernel(const std::string& folder, std::string_view name, const std::string& identity,
                        const std::function<std::string()>& compile) {
  if (folder.empty()) return compile();
  const fs::path path = path_of(folder, name, identity);
  std::string code = unpacked(content_of(path), identity);
  if (code.empty()) {
    code = compile();
    keep(path, packed(identity, code));
  }
  return code;
}

void forget_kernel(const std::string& folder, std::string_view name, const std::string& identity) noexcept {
  std::error_code ignored;
  if (!folder.empty()) fs::remove(path_of(folder, name, identity), ignored);
}

}  // namespace holotone
