// The files that a glTF scene names. Found without a JSON parser, which would build a tree of up to half a gigabyte.
#include <algorithm>
#include <bit>
#include <filesystem>
#include <holotone/core/error.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/file_format_detail.hpp>
#include <holotone/io/points/points.hpp>
#include <holotone/io/points/scene_formats_detail.hpp>

namespace holotone {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

void append_utf8(std::string& text, unsigned code) {
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += static_cast<char>(0xC0 | code >> 6);
    text += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    text += static_cast<char>(0xE0 | code >> 12);
    text += static_cast<char>(0x80 | (code >> 6 & 0x3F));
    text += static_cast<char>(0x80 | (code & 0x3F));
  }
}

// Iterates over the strings of a JSON text and their use as keys.
class JsonStrings {
 public:
  explicit JsonStrings(std::string_view text) : text_(text) {}

  // Moves past the next string; false at the end of the text.
  bool next() {
    at_ = text_.find('"', at_);
    if (at_ == std::string_view::npos) return false;
    begin_ = ++at_;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    if (at_ >= text_.size()) return false;
    raw_ = text_.substr(begin_, at_++ - begin_);
    return true;
  }
  // Moves past a colon. Returns true if there was one: the string was a key.
  bool is_key() {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != ':') return false;
    ++at_;
    skip_blanks();
    return true;
  }
  [[nodiscard]] bool at_string() const { return at_ < text_.size() && text_[at_] == '"'; }
  [[nodiscard]] std::string_view raw() const { return raw_; }
  [[nodiscard]] std::string value() const {
    std::string value;
    for (std::size_t i = 0; i < raw_.size(); ++i) {
      if (raw_[i] != '\\' || i + 1 == raw_.size()) {
        value += raw_[i];
        continue;
      }
      constexpr std::string_view letters = "bfnrt";
      constexpr std::string_view meant = "\b\f\n\r\t";
      const char letter = raw_[++i];
      if (const auto known = letters.find(letter); known != std::string_view::npos) {
        value += meant[known];
      } else if (letter == 'u' && i + 4 < raw_.size()) {
        unsigned code = 0;
        for (std::size_t k = 1; k <= 4; ++k)
          code = 16 * code + static_cast<unsigned>(std::max(0, hex_digit(raw_[i + k])));
        append_utf8(value, code);
        i += 4;
      } else {
        value += letter;
      }
    }
    return value;
  }

 private:
  void skip_blanks() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }
  std::string_view text_;
  std::string_view raw_;
  std::size_t at_ = 0;
  std::size_t begin_ = 0;
};

}  // namespace

std::string io::without_percents(const std::string& uri) {
  std::string plain;
  for (std::size_t i = 0; i < uri.size(); ++i) {
    const bool coded = uri[i] == '%' && i + 2 < uri.size() && hex_digit(uri[i + 1]) >= 0 && hex_digit(uri[i + 2]) >= 0;
    plain += coded ? static_cast<char>(16 * hex_digit(uri[i + 1]) + hex_digit(uri[i + 2])) : uri[i];
    if (coded) i += 2;
  }
  return plain;
}

std::string io::read_gltf_json(const std::string& path) {
  constexpr std::size_t head = 20;
  std::string first = io::read_first_bytes(path, head);
  if (!first.starts_with("glTF")) return io::read_bytes(path);
  if (first.size() < head) return {};
  const std::uint64_t length = io::load<std::uint32_t>(first.data() + 12, std::endian::little);
  return io::read_first_bytes(path, head + static_cast<std::size_t>(length)).substr(head);
}

std::vector<std::string> io::scene_side_names(const std::string& path) {
  if (!has_format(path, FileFormat::gltf)) return {};
  std::string json;
  try {
    json = read_gltf_json(path);
  } catch (const Error&) {
    return {};  // the reader reports the error
  }
  std::vector<std::string> names;
  const auto add = [&](std::string name) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  };
  JsonStrings strings(json);
  while (strings.next()) {
    constexpr std::size_t longest = 4 * 4096;  // a path in which every byte is an escape
    const bool named = strings.raw().size() <= 4 * 6 && strings.value() == "uri";
    if (!strings.is_key() || !named || !strings.at_string() || !strings.next()) continue;
    if (strings.raw().starts_with("data:") || strings.raw().size() > longest) continue;
    const std::string uri = strings.value();
    if (uri.empty() || uri.find('\0') != std::string::npos) continue;
    add(uri);
    add(without_percents(uri));
  }
  return names;
}

std::vector<std::string> scene_side_files(const std::string& path) {
  std::vector<std::string> files = io::scene_side_names(path);
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  for (auto& file : files) file = (folder / file).string();
  return files;
}

}  // namespace holotone
