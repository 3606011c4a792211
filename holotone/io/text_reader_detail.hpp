#pragma once
// Lines, words and numbers of text files, without locale. Not for users.
#include <cstddef>
#include <string_view>

namespace holotone::io {

/// Byte order mark that some programs write before UTF-8 text.
inline constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

/// Throws io unless `first`, the first bytes of a file, can be text of one byte or more a character: for UTF-16 and
/// UTF-32, whose characters hold zeros, and for other bytes of zero.
void require_text(std::string_view path, std::string_view first);

/// Splits text, without a byte order mark, into lines at "\n", "\r\n" or "\r".
class LineReader {
 public:
  explicit LineReader(std::string_view text) : text_(text), position_(text.starts_with(byte_order_mark) ? 3 : 0) {}
  /// Reads the next line, without its end. Returns false at the end of the text.
  bool next(std::string_view& line);
  /// Reads the next line with more than blanks. Returns false at the end of the text.
  bool next_filled(std::string_view& line);
  /// Number of the last line read, from 1.
  [[nodiscard]] std::size_t number() const { return number_; }
  /// Byte after the last line read.
  [[nodiscard]] std::size_t position() const { return position_; }

 private:
  std::string_view text_;
  std::size_t position_;
  std::size_t number_ = 0;
};

inline bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\v' || c == '\f'; }

/// Returns `text` without blanks at both ends.
std::string_view trim(std::string_view text);

/// Removes the next blank-separated word from `rest` and returns it; empty at the end.
std::string_view take_word(std::string_view& rest);

/// Parses the whole of `word` as a number: decimal or scientific, with optional sign, or nan or inf. Overflow becomes
/// infinite, underflow zero. Returns false if it is not a number.
bool parse_number(std::string_view word, double& value);

/// True for a line with commas in numbers and another separator: "0,5;1,2" or "0,5 1,2".
bool has_decimal_commas(std::string_view line);

/// True for a line whose fields end at tabs, since they may hold blanks, as "Centroid X" does: it has tabs, no field is
/// empty, and not all its words are numbers.
bool is_split_at_tabs(std::string_view line);

/// Returns the number of lines with more than blanks.
std::size_t count_filled_lines(std::string_view text);

}  // namespace holotone::io
