#include <algorithm>
#include <fmt/format.h>
#include <holotone/io/printable_detail.hpp>

namespace holotone::io {
namespace {

/// Bytes of the UTF-8 character that `text` begins with, 0 if it begins with none (Unicode 15, table 3-7).
std::size_t character_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const auto continues = [&](std::size_t i, unsigned low = 0x80, unsigned high = 0xbf) {
    return byte(i) >= low && byte(i) <= high;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return continues(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    const bool second = continues(1, first == 0xe0 ? 0xa0 : 0x80, first == 0xed ? 0x9f : 0xbf);
    return second && continues(2) ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    const bool second = continues(1, first == 0xf0 ? 0x90 : 0x80, first == 0xf4 ? 0x8f : 0xbf);
    return second && continues(2) && continues(3) ? 4 : 0;
  }
  return 0;
}

/// True for C0, DEL and C1; UTF-8 writes C1 as c2 80 to c2 9f.
bool is_control(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return first < 0x20 || first == 0x7f;
  return character.size() == 2 && first == 0xc2 && static_cast<unsigned char>(character[1]) < 0xa0;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t count = character_bytes(text);
    const auto character = text.substr(0, std::max<std::size_t>(count, 1));
    if (character == "\n") {
      result += "\\n";
    } else if (character == "\t") {
      result += "\\t";
    } else if (count == 0 || is_control(character)) {
      for (const char c : character) result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      result += character;
    }
    text.remove_prefix(character.size());
  }
  return result;
}

std::string with_short_value(std::string_view what) {
  constexpr std::size_t longest = 200;
  constexpr std::string_view before = ", got '";
  const auto begin = what.find(before) + before.size();
  const auto end = what.rfind('\'');
  if (what.find(before) == std::string_view::npos || end < begin + longest) return std::string(what);
  return fmt::format("{}...{}", what.substr(0, begin + longest / 2), what.substr(end - longest / 4));
}

}  // namespace holotone::io
