#pragma once
// Tags, numbers and transforms of SVG. Not for users.
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace holotone::io {

/// x' = a x + c y + e, y' = b x + d y + f
struct Affine {
  double a = 1, b = 0, c = 0, d = 1, e = 0, f = 0;
  [[nodiscard]] Affine operator*(const Affine& right) const {
    return {a * right.a + c * right.b, b * right.a + d * right.b,     a * right.c + c * right.d,
            b * right.c + d * right.d, a * right.e + c * right.f + e, b * right.e + d * right.f + f};
  }
};

/// One tag: name, unparsed attributes, kind of end.
struct SvgTag {
  std::string_view name;
  std::string_view attributes;
  bool closing = false;  ///< </name>
  bool empty = false;    ///< <name/>
  std::size_t position = 0;
};

/// True for what ends a name in a tag.
bool is_svg_name_end(char c);

/// Removes the first attribute, name and value quoted by ' or ", from `rest`. False at the end of the attributes.
bool take_attribute(std::string_view& rest, std::string_view& name, std::string_view& value);

/// Value of an attribute.
std::optional<std::string_view> find_attribute(const SvgTag& tag, std::string_view name);

/// Removes a number from the front of `text`; the rest, such as a unit, stays. False if there is no number.
bool take_svg_number(std::string_view& text, double& value);

/// Metres of mm, cm, in, pt, pc or q; 0 for another word.
double metres_of_svg_unit(std::string_view name);

/// A sequence of matrix, translate, scale, rotate, skewX and skewY. Otherwise sets `expected` to what an error names.
Affine parse_svg_transforms(std::string_view text, std::string_view& expected);

/// A viewBox, x y width height of positive size; none otherwise.
std::optional<std::array<double, 4>> parse_view_box(std::string_view text);

/// Maps a viewBox into a viewport of that size, under preserveAspectRatio ("xMidYMid meet" if empty). Otherwise sets
/// `expected`.
Affine fit_view_box(const std::array<double, 4>& box, double width, double height, std::string_view aspect,
                    std::string_view& expected);

}  // namespace holotone::io
