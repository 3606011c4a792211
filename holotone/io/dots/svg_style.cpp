// Source: CSS 2.2, "Syntax" and "The cascade", for the selectors `.class`.
#include <algorithm>
#include <holotone/io/dots/svg_style_detail.hpp>
#include <holotone/io/text_reader_detail.hpp>
#include <iterator>

namespace holotone::io {
namespace {

std::string without_remarks(std::string_view css) {
  std::string text;
  for (;;) {
    const auto begin = css.find("/*");
    text += css.substr(0, begin);
    if (begin == std::string_view::npos) return text;
    const auto end = css.find("*/", begin + 2);
    if (end == std::string_view::npos) return text;
    css.remove_prefix(end + 2);
  }
}

SvgStyle parse_declarations(std::string_view css) {
  constexpr std::string_view moving[] = {"transform", "translate", "rotate",           "scale",       "cx",  "cy", "r",
                                         "rx",        "ry",        "transform-origin", "offset-path", "zoom"};
  SvgStyle style;
  while (!css.empty()) {
    const auto end = std::min(css.find(';'), css.size());
    const auto one = css.substr(0, end);
    css.remove_prefix(std::min(end + 1, css.size()));
    const auto colon = one.find(':');
    if (colon == std::string_view::npos) continue;
    const auto name = trim(one.substr(0, colon));
    auto value = one.substr(colon + 1);
    value = take_word(value);
    value = value.substr(0, value.find('!'));
    if (name == "display") style.display = value;
    if (name == "visibility") style.visibility = value;
    if (std::ranges::find(moving, name) != std::end(moving) && value != "none" && value != "auto")
      style.geometry = name;
  }
  return style;
}

/// The class of a selector ".name"; empty for another.
std::string_view class_in(std::string_view selector) {
  const auto name = selector.substr(std::min<std::size_t>(1, selector.size()));
  const bool plain = selector.starts_with('.') && name.find_first_of(" .#:>+~[*\t\r\n\f") == std::string_view::npos;
  return plain ? name : std::string_view{};
}

}  // namespace

void SvgStyle::override_by(const SvgStyle& stronger) {
  if (!stronger.display.empty()) display = stronger.display;
  if (!stronger.visibility.empty()) visibility = stronger.visibility;
  if (!stronger.geometry.empty()) geometry = stronger.geometry;
}

std::string SvgStyles::add_sheet(std::string_view css) {
  const std::string text = without_remarks(css);
  std::string_view rest = trim(text);
  for (const std::string_view mark : {"<![CDATA[", "<!--"}) {
    if (rest.starts_with(mark)) rest.remove_prefix(mark.size());
  }
  for (auto open = rest.find('{'); open != std::string_view::npos; open = rest.find('{')) {
    std::size_t close = open + 1;
    for (int depth = 1; close < rest.size() && depth > 0; ++close) {
      depth += rest[close] == '{' ? 1 : rest[close] == '}' ? -1 : 0;
    }
    auto selectors = rest.substr(0, open);
    if (const auto before = selectors.rfind(';'); before != std::string_view::npos) selectors.remove_prefix(before + 1);
    const auto body = rest.substr(open + 1, close - open - 1);
    rest.remove_prefix(close);
    if (trim(selectors).starts_with("@font-face")) continue;
    const bool is_group = trim(selectors).starts_with('@');
    for (const std::string_view word : {"display", "visibility", "transform"}) {
      if (is_group && body.find(word) != std::string_view::npos) return std::string(trim(selectors));
    }
    const SvgStyle style = parse_declarations(body.substr(0, body.find('}')));
    if (is_group || (style.display.empty() && style.visibility.empty() && style.geometry.empty())) continue;
    while (!selectors.empty()) {
      const auto end = std::min(selectors.find(','), selectors.size());
      const auto selector = trim(selectors.substr(0, end));
      selectors.remove_prefix(std::min(end + 1, selectors.size()));
      const auto name = class_in(selector);
      if (name.empty()) return std::string(selector);
      classes_[std::string(name)].override_by(style);
    }
  }
  return {};
}

SvgStyle SvgStyles::find(const SvgTag& tag) const {
  SvgStyle style;
  style.display = find_attribute(tag, "display").value_or("");
  style.visibility = find_attribute(tag, "visibility").value_or("");
  if (!classes_.empty()) {
    std::string_view names = find_attribute(tag, "class").value_or("");
    for (auto name = take_word(names); !name.empty(); name = take_word(names)) {
      if (const auto known = classes_.find(name); known != classes_.end()) style.override_by(known->second);
    }
  }
  if (const auto css = find_attribute(tag, "style")) style.override_by(parse_declarations(*css));
  return style;
}

}  // namespace holotone::io
