// Source: CSS 2.2, "Syntax" and "The cascade", for selectors of one name.
#include <algorithm>
#include <cctype>
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

struct Property {
  std::string_view name;
  SvgProperty property;
  bool is_attribute = true;  ///< may also stand as an attribute
};

constexpr Property properties[] = {
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
    {"clip-path", SvgProperty::clip_path},
    {"mask", SvgProperty::mask},
    {"mask-image", SvgProperty::mask, false},
    {"filter", SvgProperty::filter},
    {"paint-order", SvgProperty::paint_order},
    {"stroke-dasharray", SvgProperty::dash_array},
    {"mix-blend-mode", SvgProperty::blend_mode, false},
    {"background", SvgProperty::background, false},
    {"background-color", SvgProperty::background, false},
    {"background-image", SvgProperty::background, false},
};

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c); });
  return lower;
}

/// True unless a value is computed: var(), calc(), light-dark() and others.
bool is_plain(std::string_view value) {
  constexpr std::string_view plain[] = {"rgb", "rgba", "hsl", "hsla", "url"};
  for (auto open = value.find('('); open != std::string_view::npos; open = value.find('(', open + 1)) {
    auto begin = open;
    while (begin > 0 && (std::isalnum(static_cast<unsigned char>(value[begin - 1])) != 0 || value[begin - 1] == '-')) {
      --begin;
    }
    if (std::ranges::find(plain, lower_case(value.substr(begin, open - begin))) == std::end(plain)) return false;
  }
  return true;
}

void set_if_known(SvgStyle& style, std::string_view name, std::string_view value, std::uint64_t rank,
                  bool is_attribute) {
  const auto* const known = std::ranges::find(properties, name, &Property::name);
  if (known == std::end(properties) || (is_attribute && !known->is_attribute)) return;
  style.set(known->property, value, rank);
  if (known->property <= SvgProperty::vector_effect && !is_plain(value)) style.set(SvgProperty::unread, value, rank);
}

/// True of a length that the viewer's window does not change.
bool is_fixed_length(std::string_view value) {
  return !value.empty() && std::isdigit(static_cast<unsigned char>(value.front())) != 0 && !value.ends_with('%') &&
         value.find('v') == std::string_view::npos;
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
  constexpr std::string_view moving[] = {
      "transform", "translate",   "rotate", "scale",           "cx", "cy", "r", "rx", "ry",
      "offset",    "offset-path", "zoom",   "transform-origin"};
  constexpr std::string_view neutral[] = {"none", "auto", "initial", "inherit", "unset", "revert", "revert-layer"};
  while (!css.empty()) {
    const auto end = std::min(css.find(';'), css.size());
    const auto one = css.substr(0, end);
    css.remove_prefix(std::min(end + 1, css.size()));
    const auto colon = one.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string name = lower_case(trim(one.substr(0, colon)));
    auto value = one.substr(colon + 1);
    const auto mark = value.find('!');
    const std::uint64_t rank_here = rank + (mark == std::string_view::npos ? 0 : important);
    value = trim(value.substr(0, mark));
    const auto* const moves = std::ranges::find(moving, name);
    const bool is_neutral = std::ranges::find(neutral, lower_case(value)) != std::end(neutral);
    if (moves != std::end(moving)) {
      if (!is_neutral) style.set(SvgProperty::geometry, *moves, rank_here);
    } else if (name == "width" || name == "height") {
      if (is_fixed_length(value)) style.set(SvgProperty::page_size, name == "width" ? "width" : "height", rank_here);
    } else if (name == "all" || name.find('\\') != std::string::npos) {
      style.set(SvgProperty::unread, trim(one), rank_here);
    } else {
      set_if_known(style, name, value, rank_here, false);
    }
  }
}

/// True if rules inside of another, or of a group such as @media, hide, move or paint.
bool declares_inside(std::string_view body) {
  std::string flat(body);
  std::ranges::replace_if(
      flat, [](char c) { return c == '{' || c == '}'; }, ';');
  SvgStyle style;
  parse_declarations(flat, 0, style);
  return !style.empty();
}

/// Level of a selector of one name, such as ".name"; none for another.
std::optional<Level> selector_level(std::string_view selector) {
  if (selector == "*") return Level::any;
  const bool marked = selector.starts_with('.') || selector.starts_with('#');
  const auto name = selector.substr(marked ? 1 : 0);
  if (name.empty() || name.find_first_of(" .#:>+~[*\\\t\r\n\f") != std::string_view::npos) return std::nullopt;
  return selector[0] == '.' ? Level::of_class : selector[0] == '#' ? Level::id : Level::element;
}

/// True for rules that apply under a pointer alone.
bool is_of_pointer(std::string_view selector) {
  if (selector.find(":not(") != std::string_view::npos) return false;
  return selector.find(":hover") != std::string_view::npos || selector.find(":active") != std::string_view::npos ||
         selector.find(":focus") != std::string_view::npos;
}

}  // namespace

bool is_keyword(std::string_view value, std::string_view lower) {
  return value.size() == lower.size() && lower_case(value) == lower;
}

bool is_inherited(std::string_view value) {
  return value.empty() || is_keyword(value, "inherit") || is_keyword(value, "unset") || is_keyword(value, "revert") ||
         is_keyword(value, "revert-layer");
}

bool SvgStyle::empty() const {
  return std::ranges::all_of(values_, [](const Value& value) { return value.text.empty(); });
}

bool SvgStyle::is_of_page() const {
  SvgStyle rest = *this;
  for (const auto property : {SvgProperty::background, SvgProperty::page_size}) {
    rest.values_[static_cast<std::size_t>(property)] = {};
  }
  return rest.empty();
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
    const bool has_rules = body.find('{') != std::string_view::npos;
    if (is_group || has_rules) {
      if (declares_inside(body)) return std::string(trim(selectors));
      continue;
    }
    SvgStyle probe;
    parse_declarations(body, 0, probe);
    if (probe.empty()) continue;
    ++rules_;
    while (!selectors.empty()) {
      const auto end = std::min(selectors.find(','), selectors.size());
      const auto selector = trim(selectors.substr(0, end));
      selectors.remove_prefix(std::min(end + 1, selectors.size()));
      if (is_of_pointer(selector)) continue;
      const auto level = selector_level(selector);
      const bool is_inside = selector.find_first_of(" >+~") != std::string_view::npos;  // of another element
      if (!level && is_inside && probe.is_of_page()) continue;
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
    set_if_known(style, name, trim(value), cascade_rank(Level::attribute), true);
    if (name == "style") {
      parse_declarations(value, cascade_rank(Level::style), style);
      if (value.find("/*") != std::string_view::npos) style.set(SvgProperty::unread, value, important);
    }
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
