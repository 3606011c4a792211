#include <charconv>
#include <filesystem>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/file_part_detail.hpp>

namespace holotone::io {

FilePart split_part(const std::string& path) {
  std::error_code error;
  auto colon = path.find(':', 1);
  if (colon == std::string::npos || std::filesystem::exists(path, error)) return {path};
  for (; colon != std::string::npos; colon = path.find(':', colon + 1)) {
    const std::string file = path.substr(0, colon);
    if (colon + 1 < path.size() && std::filesystem::is_regular_file(file, error)) {
      return {file, path.substr(colon + 1)};
    }
  }
  return {path};
}

std::int64_t part_index(std::string_view part, std::int64_t count, std::string_view things, std::string_view path) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), number);
  if (error != std::errc() || end != part.data() + part.size() || number < 1 || number > count) {
    throw_io(path, fmt::format("one of the {} 1 to {} as the part", things, count), in_quotes(part));
  }
  return number - 1;
}

void require_no_part(const std::string& path) {
  const FilePart named = split_part(path);
  if (named.part.empty()) return;
  throw_io(path, "a file's name", fmt::format("that of a part of {}", named.file));
}

}  // namespace holotone::io
