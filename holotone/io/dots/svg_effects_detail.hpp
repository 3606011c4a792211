#pragma once
// What else than paint changes how an SVG shows, and dots do not have: named. Not for users.
#include <holotone/io/dots/svg_style_detail.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace holotone::io {

/// Names of effects, each once, in the order of the picture.
class SvgEffects {
 public:
  void add(std::string_view name);
  /// Adds the effects of a style of something that is shown.
  void add_those_of(const SvgStyle& style);
  /// "filter, animations"
  [[nodiscard]] std::string list() const;

 private:
  std::vector<std::string> names_;
};

}  // namespace holotone::io
