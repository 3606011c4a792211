#include <algorithm>
#include <holotone/core/error.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/images/png_text_detail.hpp>
#include <holotone/io/metadata_text_detail.hpp>

namespace holotone::io {
namespace {

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= 0x20 && c < 0x7f) || c == '\n' || c == '\t'; });
}

// Returns the PNG keyword of a key: at most 79 printable characters, blanks only single and inside.
std::string keyword_of(std::string_view where, const std::string& key) {
  std::string keyword =
      key.starts_with(foreign_prefix) ? key.substr(foreign_prefix.size()) : std::string(own_prefix) + key;
  const bool printable = std::all_of(keyword.begin(), keyword.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
  if (keyword.empty() || keyword.size() > 79 || !printable || keyword.front() == ' ' || keyword.back() == ' ' ||
      keyword.find("  ") != std::string::npos) {
    throw_argument(where, "metadata", "keys of at most 70 printable ASCII characters (PNG)", in_quotes(key));
  }
  return keyword;
}

}  // namespace

PngText::PngText(std::string_view where, const Metadata& metadata) {
  for (const auto& [key, value] : metadata) {
    text_.push_back(keyword_of(where, key));
    text_.push_back(value);
  }
  for (std::size_t i = 0; i < text_.size(); i += 2) {
    png_text chunk{};
    chunk.compression = is_ascii(text_[i + 1]) ? PNG_TEXT_COMPRESSION_NONE : PNG_ITXT_COMPRESSION_NONE;
    chunk.key = text_[i].data();
    chunk.text = text_[i + 1].data();
    chunk.text_length = text_[i + 1].size();
    chunks_.push_back(chunk);
  }
}

}  // namespace holotone::io
