#include <algorithm>
#include <holotone/core/error.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/metadata_text_detail.hpp>

namespace holotone::io {
namespace {

std::string escaped(std::string_view value) {
  std::string result;
  for (char c : value) {
    if (c == '\\') {
      result += "\\\\";
    } else if (c == '\n') {
      result += "\\n";
    } else {
      result += c;
    }
  }
  return result;
}

std::string unescaped(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      result += text[i];
    } else {
      ++i;
      result += text[i] == 'n' ? '\n' : text[i];
    }
  }
  return result;
}

}  // namespace

void require_metadata(std::string_view where, const Metadata& metadata) {
  for (const auto& [key, value] : metadata) {
    const bool control = std::any_of(key.begin(), key.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
    if (key.empty() || control || key.find(": ") != std::string::npos) {
      throw_argument(where, "metadata", "keys without control characters and ': '", in_quotes(key));
    }
    if (value.find('\0') != std::string::npos) {
      throw_argument(where, "metadata", "values without zero bytes", "one in " + in_quotes(key));
    }
  }
}

std::string metadata_lines(const Metadata& metadata) {
  std::string text(metadata_first_line);
  for (const auto& [key, value] : metadata) text += metadata_line(key, value) + "\n";
  return text;
}

std::string metadata_line(const std::string& key, std::string_view value) { return key + ": " + escaped(value); }

Metadata parse_metadata_line(std::string_view line) {
  const auto colon = line.find(": ");
  if (colon == std::string_view::npos || colon == 0) return {};
  return {{std::string(line.substr(0, colon)), unescaped(line.substr(colon + 2))}};
}

Metadata parse_metadata_lines(std::string_view text, std::string_view keyword) {
  Metadata metadata;
  if (!text.starts_with(metadata_first_line)) {
    metadata[std::string(foreign_prefix) + std::string(keyword)] = text;
    return metadata;
  }
  text.remove_prefix(metadata_first_line.size());
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    metadata.merge(parse_metadata_line(line));
  }
  return metadata;
}

}  // namespace holotone::io
