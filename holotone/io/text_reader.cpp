#include <algorithm>
#include <charconv>
#include <holotone/core/error.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/text_reader_detail.hpp>
#include <limits>
#include <system_error>

namespace holotone::io {

void require_text(std::string_view path, std::string_view first) {
  constexpr std::string_view little("\xFF\xFE", 2);
  constexpr std::string_view big("\xFE\xFF", 2);
  constexpr std::string_view big_words("\0\0\xFE\xFF", 4);
  if (first.starts_with(little) || first.starts_with(big) || first.starts_with(big_words)) {
    const bool words = first.starts_with(big_words) || first.substr(2).starts_with(std::string_view("\0\0", 2));
    throw_io(path, "text in UTF-8 or ASCII", words ? "UTF-32; save it as UTF-8" : "UTF-16; save it as UTF-8");
  }
  if (const auto zero = first.find('\0'); zero != std::string_view::npos) {
    const auto line = first.rfind('\n', zero) + 1;  // npos + 1 is the first character
    const auto begin = std::max(line, zero - std::min<std::size_t>(zero, 16));
    throw_io(path, "text", "binary data: " + in_quotes(first.substr(begin, zero - begin + 4)));
  }
}

bool LineReader::next(std::string_view& line) {
  if (position_ >= text_.size()) return false;
  const char* begin = text_.data() + position_;
  const char* end = text_.data() + text_.size();
  const char* stop = begin;
  while (stop != end && *stop != '\n' && *stop != '\r') ++stop;
  line = {begin, static_cast<std::size_t>(stop - begin)};
  if (stop != end) ++stop;
  if (stop != end && stop[-1] == '\r' && *stop == '\n') ++stop;
  position_ = static_cast<std::size_t>(stop - text_.data());
  ++number_;
  return true;
}

bool LineReader::next_filled(std::string_view& line) {
  while (next(line)) {
    if (!std::all_of(line.begin(), line.end(), is_blank)) return true;
  }
  return false;
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string_view take_word(std::string_view& rest) {
  std::size_t begin = 0;
  while (begin < rest.size() && is_blank(rest[begin])) ++begin;
  std::size_t end = begin;
  while (end < rest.size() && !is_blank(rest[end])) ++end;
  const auto word = rest.substr(begin, end - begin);
  rest.remove_prefix(end);
  return word;
}

bool parse_number(std::string_view word, double& value) {
  if (word.starts_with('+') && word.size() > 1 && word[1] != '-') word.remove_prefix(1);
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (end != word.data() + word.size() || word.empty()) return false;
  if (error == std::errc{}) return true;
  if (error != std::errc::result_out_of_range) return false;
  // from_chars leaves the value unchanged. It is too small if its exponent is negative or, without an exponent, its
  // first digit is zero (a text of 300 digits can be either).
  const auto exponent = word.find_first_of("eE");
  const bool negative = word.front() == '-';
  const bool small = exponent != std::string_view::npos ? word.substr(exponent + 1).starts_with('-')
                                                        : word.substr(negative ? 1 : 0).starts_with('0');
  value = small ? 0.0 : std::numeric_limits<double>::infinity();
  if (negative) value = -value;
  return true;
}

bool has_decimal_commas(std::string_view line) {
  line = trim(line);
  const auto is_digit = [&](std::size_t at) { return at < line.size() && line[at] >= '0' && line[at] <= '9'; };
  bool in_number = false;
  bool separated = false;
  for (std::size_t i = 1; i + 1 < line.size(); ++i) {
    in_number = in_number || (line[i] == ',' && is_digit(i - 1) && is_digit(i + 1));
    const bool between = is_blank(line[i]) && line[i - 1] != ',' && line[i + 1] != ',';
    separated = separated || line[i] == ';' || between;
  }
  return in_number && separated;
}

bool is_split_at_tabs(std::string_view line) {
  line = trim(line);
  if (line.find('\t') == std::string_view::npos) return false;
  for (auto rest = line; !rest.empty();) {
    const auto end = std::min(rest.find('\t'), rest.size());
    if (trim(rest.substr(0, end)).empty()) return false;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  double number = 0;
  bool are_numbers = true;
  for (auto word = take_word(line); !word.empty(); word = take_word(line)) {
    are_numbers = are_numbers && parse_number(word, number);
  }
  return !are_numbers;
}

std::size_t count_filled_lines(std::string_view text) {
  std::size_t count = 0;
  bool filled = false;
  for (char c : text) {
    if (c == '\n' || c == '\r') {
      count += filled;
      filled = false;
    } else if (!is_blank(c)) {
      filled = true;
    }
  }
  return count + filled;
}

}  // namespace holotone::io
