#pragma once
// Attributes that show an element to some readers alone. Not for users.
#include <holotone/io/dots/svg_text_detail.hpp>

namespace holotone::io {

enum class SvgCondition : std::uint8_t {
  shown,
  other_language,  ///< systemLanguage without English
  extension        ///< requiredExtensions that no SVG needs
};

/// The outcome for a reader of English without extensions but those of XHTML and MathML (SVG 2, section 5.9).
SvgCondition condition_of(const SvgTag& tag);

}  // namespace holotone::io
