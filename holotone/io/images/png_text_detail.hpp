#pragma once
// Metadata as the text chunks of a PNG file. Not for users.
#include <holotone/core/metadata.hpp>
#include <png.h>
#include <string>
#include <string_view>
#include <vector>

namespace holotone::io {

/// Text chunks and the text they point into. The keyword is "holotone:KEY", or the original one of foreign text.
class PngText {
 public:
  /// Throws invalid_argument naming `where` for a key that is no valid PNG keyword.
  PngText(std::string_view where, const Metadata& metadata);
  PngText(const PngText&) = delete;
  PngText& operator=(const PngText&) = delete;
  [[nodiscard]] png_textp chunks() { return chunks_.data(); }
  [[nodiscard]] int count() const { return static_cast<int>(chunks_.size()); }

 private:
  std::vector<std::string> text_;  // keyword, value, keyword, ...
  std::vector<png_text> chunks_;
};

}  // namespace holotone::io
