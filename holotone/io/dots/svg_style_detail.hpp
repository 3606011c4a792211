#pragma once
// The cascade of CSS for the properties that say whether and how a shape is seen. Not for users.
#include <array>
#include <cstdint>
#include <deque>
#include <holotone/io/dots/svg_text_detail.hpp>
#include <map>
#include <string>
#include <string_view>

namespace holotone::io {

enum class SvgProperty : std::uint8_t {
  display,
  visibility,
  opacity,
  fill,
  fill_opacity,
  stroke,
  stroke_opacity,
  stroke_width,
  color,          ///< value of currentColor
  vector_effect,  ///< such as non-scaling-stroke
  clip_path,
  mask,
  filter,
  blend_mode,
  paint_order,
  dash_array,
  background,  ///< of the outermost element
  page_size,   ///< width or height of the outermost element; the value is the name
  geometry,    ///< the value is the name of a property that moves or resizes a shape
  unread,      ///< the value is a text that is no plain value, such as var(--a)
  count
};

/// Compares keywords, which have no case; `lower` is in small letters.
bool is_keyword(std::string_view value, std::string_view lower);

/// True of a value that leaves a property as it is or as it was inherited: none at all, inherit, unset, revert.
bool is_inherited(std::string_view value);

/// Values of properties, empty where there are none; each with its rank in the cascade.
class SvgStyle {
 public:
  [[nodiscard]] std::string_view operator[](SvgProperty property) const {
    return values_[static_cast<std::size_t>(property)].text;
  }
  [[nodiscard]] bool empty() const;
  /// True if all that there is concerns the outermost element.
  [[nodiscard]] bool is_of_page() const;
  /// Sets a value unless the present one has a higher rank.
  void set(SvgProperty property, std::string_view text, std::uint64_t rank);
  /// Takes over the values of `other` whose rank is not lower.
  void join(const SvgStyle& other);

 private:
  struct Value {
    std::string_view text;
    std::uint64_t rank = 0;
  };
  std::array<Value, static_cast<std::size_t>(SvgProperty::count)> values_;
};

/// The styles of a picture: attributes, `style` attributes and style sheets, whose rules may name one element, class or
/// id. Values refer to the text of the picture and to the sheets.
class SvgStyles {
 public:
  /// Reads a style sheet. Returns the selector of a rule that hides, moves or paints and is of another kind, or has
  /// rules inside; empty if none.
  std::string add_sheet(std::string_view css);
  [[nodiscard]] SvgStyle find(const SvgTag& tag) const;
  /// Number of rules kept.
  [[nodiscard]] std::uint64_t rules() const { return rules_; }

 private:
  void join(SvgStyle& style, std::string_view selector) const;

  std::deque<std::string> sheets_;
  std::map<std::string, SvgStyle, std::less<>> selectors_;  // ".class", "#id", "circle", "*"
  std::uint64_t rules_ = 0;
};

}  // namespace holotone::io
