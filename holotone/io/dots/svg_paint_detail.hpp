#pragma once
// Fill and stroke of SVG: what of a shape is seen on the page. Not for users.
#include <holotone/io/dots/svg_style_detail.hpp>
#include <optional>
#include <string_view>

namespace holotone::io {

/// Paint of an element: what it inherits, and its own style (SVG 2, section 13).
struct SvgPaint {
  std::string_view fill = "black";
  std::string_view stroke = "none";
  std::string_view stroke_width = "1";
  std::string_view color = "black";
  double fill_opacity = 1;
  double stroke_opacity = 1;
  double opacity = 1;         ///< the product of its own and of all that it is in
  bool scales_stroke = true;  ///< false: vector-effect of the element itself is non-scaling-stroke

  void apply(const SvgStyle& style);
  [[nodiscard]] bool is_filled() const;
  [[nodiscard]] bool is_stroked() const;
  /// The fill in which currentColor is resolved.
  [[nodiscard]] std::string_view fill_colour() const;
  friend bool operator==(const SvgPaint&, const SvgPaint&) = default;
};

/// Opacity of a plain colour from 0 to 1; none for what is no colour.
std::optional<double> opacity_of_colour(std::string_view text);

enum class SvgMark : std::uint8_t {
  nothing,  ///< nothing is painted
  page,     ///< in the page's colour alone
  disc,
  ring  ///< a stroke without a fill that differs from the page
};

/// What a circle shows on a page of a colour.
struct SvgLook {
  SvgMark mark = SvgMark::disc;
  double margin = 0;         ///< of the radius, in widths of the stroke: 0.5, 0 or -0.5
  bool translucent = false;  ///< what shows is not opaque
};
SvgLook look_of(const SvgPaint& paint, bool has_width, std::string_view page_colour);

}  // namespace holotone::io
