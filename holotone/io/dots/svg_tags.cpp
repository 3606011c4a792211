#include <algorithm>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/io/dots/svg_tags_detail.hpp>
#include <holotone/io/file_bytes_detail.hpp>

namespace holotone::io {

std::string SvgTags::line_at(std::size_t position) {
  // Tags are in order: continues the count of the last call.
  line_ += std::count(text_.begin() + static_cast<std::ptrdiff_t>(counted_to_),
                      text_.begin() + static_cast<std::ptrdiff_t>(std::max(position, counted_to_)), '\n');
  counted_to_ = std::max(position, counted_to_);
  return fmt::format("line {}", line_);
}

void SvgTags::fail(const SvgTag& tag, std::string_view expected, std::string_view got) {
  throw_io(path_, fmt::format("{} ({})", expected, line_at(tag.position)), in_quotes(got));
}

std::string_view SvgTags::text_to(std::string_view end) const {
  return text_.substr(position_, std::min(text_.find(end, position_), text_.size()) - position_);
}

bool SvgTags::next(SvgTag& tag) {
  for (;;) {
    const auto begin = text_.find('<', position_);
    if (begin == std::string_view::npos) return false;
    tag = {};
    tag.position = begin;
    if (circles_in_entities_) refuse_entity(tag, text_.substr(position_, begin - position_));
    const auto rest = text_.substr(begin);
    const auto skip_to = [&](std::string_view end) {
      const auto stop = text_.find(end, begin);
      if (stop == std::string_view::npos) fail(tag, fmt::format("'{}'", end), rest.substr(0, 20));
      position_ = stop + end.size();
    };
    if (rest.starts_with("<!--")) {
      skip_to("-->");
    } else if (rest.starts_with("<![CDATA[")) {
      skip_to("]]>");
    } else if (rest.starts_with("<?")) {
      sheet_elsewhere_ = sheet_elsewhere_ || rest.starts_with("<?xml-stylesheet");
      skip_to("?>");
    } else if (rest.starts_with("<!")) {
      skip_declaration(tag);
    } else {
      read_tag(tag);
      return true;
    }
  }
}

/// Skips <!DOCTYPE ...[ ... ]>. Entities are not expanded, so none may be used if some contain circles.
void SvgTags::skip_declaration(const SvgTag& tag) {
  int brackets = 0;
  for (std::size_t i = tag.position; i < text_.size(); ++i) {
    if (text_[i] == '[') ++brackets;
    if (text_[i] == ']') --brackets;
    if (text_[i] == '>' && brackets <= 0) {
      position_ = i + 1;
      const auto inside = text_.substr(tag.position, position_ - tag.position);
      for (const std::string_view element : {"<circle", "<ellipse", "<use"}) {
        circles_in_entities_ = circles_in_entities_ || inside.find(element) != std::string_view::npos;
      }
      return;
    }
  }
  fail(tag, "'>'", text_.substr(tag.position, 20));
}

/// Refuses text between tags that uses an entity, if some entities contain circles.
void SvgTags::refuse_entity(const SvgTag& tag, std::string_view between) {
  constexpr std::string_view characters[] = {"&lt;", "&gt;", "&amp;", "&quot;", "&apos;", "&#"};
  for (auto at = between.find('&'); at != std::string_view::npos; at = between.find('&', at + 1)) {
    constexpr std::size_t longest_name = 64;
    auto name = between.substr(at, longest_name);
    name = name.substr(0, name.find(';') + 1);
    const bool plain = std::any_of(std::begin(characters), std::end(characters),
                                   [&](auto character) { return name.starts_with(character); });
    if (!plain && !name.empty()) fail(tag, "circles that stand for themselves", name);
  }
}

void SvgTags::read_tag(SvgTag& tag) {
  char quote = 0;
  std::size_t end = tag.position + 1;
  for (; end < text_.size() && (quote != 0 || text_[end] != '>'); ++end) {
    const char c = text_[end];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '<') {
      break;
    }
  }
  if (end >= text_.size() || text_[end] != '>') fail(tag, "a tag's '>'", text_.substr(tag.position, 20));
  std::string_view inside = text_.substr(tag.position + 1, end - tag.position - 1);
  position_ = end + 1;
  tag.closing = inside.starts_with('/');
  if (tag.closing) inside.remove_prefix(1);
  tag.empty = inside.ends_with('/');
  std::size_t name_end = 0;
  while (name_end < inside.size() && !is_svg_name_end(inside[name_end])) ++name_end;
  tag.name = inside.substr(0, name_end);
  if (const auto colon = tag.name.rfind(':'); colon != std::string_view::npos) tag.name.remove_prefix(colon + 1);
  tag.attributes = inside.substr(name_end);
  if (tag.name.empty()) fail(tag, "an element's name", text_.substr(tag.position, 20));
}

}  // namespace holotone::io
