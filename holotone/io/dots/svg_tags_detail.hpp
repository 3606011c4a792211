#pragma once
// The tags of an SVG, one after another, without an XML library. Not for users.
#include <holotone/io/dots/svg_text_detail.hpp>
#include <string>
#include <string_view>

namespace holotone::io {

class SvgTags {
 public:
  SvgTags(std::string_view text, std::string_view path) : text_(text), path_(path) {}
  /// Reads the next tag; skips text, comments, declarations and CDATA. False at the end of the text. Throws io.
  bool next(SvgTag& tag);
  /// The text from behind the last tag up to `end`, or to the end of all.
  [[nodiscard]] std::string_view text_to(std::string_view end) const;
  /// "line 7": the line of a position, which may not lie before that of the last call.
  [[nodiscard]] std::string line_at(std::size_t position);
  [[noreturn]] void fail(const SvgTag& tag, std::string_view expected, std::string_view got);
  /// True if a processing instruction names a style sheet of another file.
  [[nodiscard]] bool has_sheet_elsewhere() const { return sheet_elsewhere_; }
  /// Takes note of @import in a style sheet.
  void note_import(std::string_view css) {
    sheet_elsewhere_ = sheet_elsewhere_ || css.find("@import") != std::string_view::npos;
  }

 private:
  void skip_declaration(const SvgTag& tag);
  void refuse_entity(const SvgTag& tag, std::string_view between);
  void read_tag(SvgTag& tag);

  std::string_view text_;
  std::string_view path_;
  std::size_t position_ = 0;
  std::size_t counted_to_ = 0;
  std::ptrdiff_t line_ = 1;
  bool circles_in_entities_ = false;
  bool sheet_elsewhere_ = false;
};

}  // namespace holotone::io
