#pragma once
// Viewports of SVG: the page, pictures inside it, and lengths in them. Not for users.
#include <holotone/io/dots/svg_tags_detail.hpp>

namespace holotone::io {

/// Size in user units of the innermost viewport; 0: not stated.
struct SvgViewport {
  double width = 0;
  double height = 0;
};

/// The page of the outermost <svg>. A pixel of it is a user unit; where the scales of x and y differ
/// (preserveAspectRatio none), it is as wide as a user unit.
struct SvgPage {
  double width = 0;  ///< in pixels; 0: not stated
  double height = 0;
  double pixel_m = 0;  ///< 0: no physical unit is stated
  Affine to_page;      ///< from user units to pixels
  SvgViewport view;    ///< in user units
  double view_x = 0;   ///< of the corner of the viewBox
  double view_y = 0;
  bool squeezed = false;  ///< circles are ellipses on the page
};
SvgPage read_svg_page(SvgTags& tags, const SvgTag& tag);

/// Enters an <svg> inside another: extends the transform and sets the viewport.
void enter_svg_viewport(SvgTags& tags, const SvgTag& tag, Affine& transform, SvgViewport& viewport);

/// A length in user units from the text of an attribute or property; without "%". Throws io.
double parse_svg_length(SvgTags& tags, const SvgTag& tag, std::string_view name, std::string_view text);

/// The same of an attribute.
double svg_length(SvgTags& tags, const SvgTag& tag, std::string_view name, double otherwise);

/// A length that may be a share of a viewport's side, in per cent.
double svg_share(SvgTags& tags, const SvgTag& tag, std::string_view name, double whole, double otherwise);

}  // namespace holotone::io
