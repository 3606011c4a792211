#pragma once
// What styles say of shapes: hidden or shown. Not for users.
#include <holotone/io/dots/svg_text_detail.hpp>
#include <map>
#include <string>
#include <string_view>

namespace holotone::io {

/// Values of properties of CSS, empty where there are none.
struct SvgStyle {
  std::string display;
  std::string visibility;
  std::string geometry;  ///< name of a property that moves or resizes a shape

  /// Takes over what `stronger` has.
  void override_by(const SvgStyle& stronger);
};

/// The styles of a picture: attributes, `style` attributes and style sheets, whose rules may name classes.
class SvgStyles {
 public:
  /// Reads a style sheet. Returns the selector of a rule that hides, shows or moves and names no class; empty if none.
  std::string add_sheet(std::string_view css);
  [[nodiscard]] SvgStyle find(const SvgTag& tag) const;

 private:
  std::map<std::string, SvgStyle, std::less<>> classes_;
};

}  // namespace holotone::io
