#include <algorithm>
#include <holotone/io/dots/svg_conditions_detail.hpp>
#include <holotone/io/text_reader_detail.hpp>

namespace holotone::io {
namespace {

/// True if a list of languages such as "de, en-GB" has English.
bool has_english(std::string_view list) {
  while (!list.empty()) {
    const auto end = std::min(list.find(','), list.size());
    const auto language = trim(list.substr(0, end));
    if (language == "en" || language.starts_with("en-")) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

bool are_common(std::string_view extensions) {
  auto word = take_word(extensions);
  if (word.empty()) return false;
  for (; !word.empty(); word = take_word(extensions)) {
    if (word != "http://www.w3.org/1999/xhtml" && word != "http://www.w3.org/1998/Math/MathML") return false;
  }
  return true;
}

}  // namespace

SvgCondition condition_of(const SvgTag& tag) {
  std::string_view rest = tag.attributes;
  std::string_view name;
  std::string_view value;
  while (take_attribute(rest, name, value)) {
    if (name == "systemLanguage" && !has_english(value)) return SvgCondition::other_language;
    if (name == "requiredExtensions" && !are_common(value)) return SvgCondition::extension;
  }
  return SvgCondition::shown;
}

}  // namespace holotone::io
