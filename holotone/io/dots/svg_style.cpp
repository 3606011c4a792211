// Source: CSS 2.2, "Syntax" and "The cascade", for selectors of one name.
#include <algorithm>
#include <holotone/io/dots/svg_style_detail.hpp>
#include <holotone/io/text_reader_detail.hpp>
#include <iterator>
#include <utility>

namespace holotone::io {
namespace {

/// Rank of a value: importance, then this, then the number of its rule.
enum class Level : std::uint64_t { attribute = 1, any, element, of_class, id, style };
constexpr int level_bit = 40;
constexpr std::uint64_t important = std::uint64_t{1} << 62;

std::uint64_t cascade_rank(Level level, std::uint64_t rule = 0) {
  return (static_cast<std::uint64_t>(level) << level_bit) + rule;
}

constexpr std::pair<std::string_view, SvgProperty> properties[] = {
    {"display", SvgProperty::display},
    {"visibility", SvgProperty::visibility},
    {"opacity", SvgProperty::opacity},
    {"fill", SvgProperty::fill},
    {"fill-opacity", SvgProperty::fill_opacity},
    {"stroke", SvgProperty::stroke},
    {"stroke-opacity", SvgProperty::stroke_opacity},
    {"stroke-width", SvgProperty::stroke_width},
    {"color", SvgProperty::color},
    {"vector-effect", SvgProperty::vector_effect},
};

void set_if_known(SvgStyle& style, std::string_view name, std::string_view value, std::uint64_t rank) {
  const auto* const known = std::ranges::find(properties, name, &std::pair<std::string_view, SvgProperty>::first);
  if (known != std::end(properties)) style.set(known->second, value, rank);
}

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

void parse_declarations(std::string_view css, std::uint64_t rank, SvgStyle& style) {
  constexpr std::string_view moving[] = {"transform", "translate", "rotate",           "scale",       "cx",  "cy", "r",
                                         "rx",        "ry",        "transform-origin", "offset-path", "zoom"};
  while (!css.empty()) {
    const auto end = std::min(css.find(';'), css.size());
    const auto one = css.substr(0, end);
    css.remove_prefix(std::min(end + 1, css.size()));
    const auto colon = one.find(':');
    if (colon == std::string_view::npos) continue;
    const auto name = trim(one.substr(0, colon));
    auto value = one.substr(colon + 1);
    const auto mark = value.find('!');
    const std::uint64_t rank_here = rank + (mark == std::string_view::npos ? 0 : important);
    value = trim(value.substr(0, mark));
    const auto* const moves = std::ranges::find(moving, name);
    if (moves != std::end(moving) && value != "none" && value != "auto") {
      style.set(SvgProperty::geometry, *moves, rank_here);
    } else {
      set_if_known(style, name, value, rank_here);
    }
  }
}

/// Level of a selector of one name, such as ".name"; none for another.
std::optional<Level> selector_level(std::string_view selector) {
  if (selector == "*") return Level::any;
  const bool marked = selector.starts_with('.') || selector.starts_with('#');
  const auto name = selector.substr(marked ? 1 : 0);
  if (name.empty() || name.find_first_of(" .#:>+~[*\t\r\n\f") != std::string_view::npos) return std::nullopt;
  return selector[0] == '.' ? Level::of_class : selector[0] == '#' ? Level::id : Level::element;
}

/// True for rules that apply under a pointer alone.
bool is_of_pointer(std::string_view selector) {
  return selector.find(":hover") != std::string_view::npos || selector.find(":active") != std::string_view::npos ||
         selector.find(":focus") != std::string_view::npos;
}

}  // namespace

bool SvgStyle::empty() const {
  return std::ranges::all_of(values_, [](const Value& value) { return value.text.empty(); });
}

void SvgStyle::set(SvgProperty property, std::string_view text, std::uint64_t rank) {
  Value& value = values_[static_cast<std::size_t>(property)];
  if (rank >= value.rank) value = {text, rank};
}

void SvgStyle::join(const SvgStyle& other) {
  for (std::size_t i = 0; i < values_.size(); ++i) {
    if (!other.values_[i].text.empty() && other.values_[i].rank >= values_[i].rank) values_[i] = other.values_[i];
  }
}

std::string SvgStyles::add_sheet(std::string_view css) {
  const std::string& text = sheets_.emplace_back(without_remarks(css));
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
    auto body = rest.substr(open + 1, close - open - 1);
    body = body.substr(0, body.rfind('}'));
    rest.remove_prefix(close);
    if (trim(selectors).starts_with("@font-face")) continue;
    const bool is_group = trim(selectors).starts_with('@');
    for (const std::string_view word : {"display", "visibility", "transform", "fill", "stroke", "opacity"}) {
      if (is_group && body.find(word) != std::string_view::npos) return std::string(trim(selectors));
    }
    SvgStyle probe;
    parse_declarations(body, 0, probe);
    if (is_group || probe.empty()) continue;
    ++rules_;
    while (!selectors.empty()) {
      const auto end = std::min(selectors.find(','), selectors.size());
      const auto selector = trim(selectors.substr(0, end));
      selectors.remove_prefix(std::min(end + 1, selectors.size()));
      if (is_of_pointer(selector)) continue;
      const auto level = selector_level(selector);
      if (!level) return std::string(selector);
      SvgStyle style;
      parse_declarations(body, cascade_rank(*level, rules_), style);
      selectors_[std::string(selector)].join(style);
    }
  }
  return {};
}

void SvgStyles::join(SvgStyle& style, std::string_view selector) const {
  if (const auto known = selectors_.find(selector); known != selectors_.end()) style.join(known->second);
}

SvgStyle SvgStyles::find(const SvgTag& tag) const {
  SvgStyle style;
  std::string_view rest = tag.attributes;
  std::string_view name;
  std::string_view value;
  auto marked = [selector = std::string()](char mark, std::string_view word) mutable -> std::string_view {
    selector.clear();
    selector.push_back(mark);
    return selector.append(word);
  };
  while (take_attribute(rest, name, value)) {
    set_if_known(style, name, trim(value), cascade_rank(Level::attribute));
    if (name == "style") parse_declarations(value, cascade_rank(Level::style), style);
    if (selectors_.empty()) continue;
    if (name == "id") join(style, marked('#', trim(value)));
    if (name != "class") continue;
    std::string_view names = value;
    for (auto word = take_word(names); !word.empty(); word = take_word(names)) {
      join(style, marked('.', word));
    }
  }
  if (selectors_.empty()) return style;
  join(style, "*");
  join(style, tag.name);
  return style;
}

}  // namespace holotone::io
