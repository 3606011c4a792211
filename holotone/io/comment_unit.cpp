#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/length_names.hpp>
#include <holotone/io/comment_unit_detail.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <utility>
#include <vector>

namespace holotone::io {
namespace {

constexpr std::size_t max_comment = 1000;

bool is_letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || (c & 0x80) != 0; }

std::string in_small_letters(std::string_view text) {
  std::string small(text);
  std::ranges::transform(small, small.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return small;
}

/// The word at `at`; its end is its size later.
std::string_view word_at(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && is_letter(text[end])) ++end;
  return text.substr(at, end - at);
}

std::size_t skip(std::string_view text, std::size_t at, std::string_view signs) {
  return std::min(text.find_first_not_of(signs, at), text.size());
}

class Finder {
 public:
  explicit Finder(std::string_view comment) : text_(comment.substr(0, max_comment)), small_(in_small_letters(text_)) {}

  CommentUnit find() {
    bool of_places = false;       // a word such as x or coordinates has come
    std::size_t other_begin = 0;  // of the word before, if it is another quantity
    bool is_other = false;
    std::string_view before;  // the two words before, the nearer one last
    std::string_view last;
    for (std::size_t at = 0; at < text_.size() && unit_.text.empty();) {
      const auto word = word_at(small_, at);
      if (word.empty()) {
        ++at;
        continue;
      }
      const std::size_t end = at + word.size();
      const bool is_unit = word == "unit" || word == "units";
      if (is_unit && is_other) return take_other(other_begin, end);
      if (is_unit && last == "as") take_before(before, end);  // "centimeters as units"
      if (is_unit && !unit_.text.empty()) break;
      if (is_unit) take_named(at, end);
      if (word == "in" && (last == "phase" || last == "phases") && states_phase(end))
        return take_other(other_begin, end);
      if (word == "in" && of_places) take_length(at, skip(text_, end, " ([\t"));
      of_places = of_places || is_of_places(word);
      is_other = is_other_quantity(word);
      other_begin = at;
      before = std::exchange(last, word);
      at = end;
    }
    if (unit_.text.empty()) unit_.rest = text_;
    return std::move(unit_);
  }

 private:
  static bool is_of_places(std::string_view word) {
    static constexpr std::array<std::string_view, 17> words = {
        "x",       "y",      "z",        "xyz",       "coordinate", "coordinates", "position", "positions", "length",
        "lengths", "points", "vertices", "dimension", "dimensions", "distances",   "places",   "numbers"};
    return std::ranges::find(words, word) != words.end();
  }

  static bool is_other_quantity(std::string_view word) {
    static constexpr std::array<std::string_view, 7> words = {"wavelength", "phase",     "intensity", "time",
                                                              "angle",      "amplitude", "pitch"};
    return std::ranges::find(words, word) != words.end();
  }

  /// True if a unit of phases but radians follows.
  [[nodiscard]] bool states_phase(std::size_t end) const {
    static constexpr std::array<std::string_view, 12> units = {"deg",   "degs", "degree", "degrees", "mrad",   "wave",
                                                               "waves", "turn", "turns",  "cycle",   "cycles", "pi"};
    return std::ranges::find(units, word_at(small_, skip(text_, end, " \t([=:"))) != units.end();
  }

  /// "phase unit: deg", which is named and not applied.
  CommentUnit take_other(std::size_t begin, std::size_t end) {
    const auto word = word_at(text_, skip(text_, end, " \t([=:"));
    const auto stop = static_cast<std::size_t>(word.data() + word.size() - text_.data());
    set(begin, stop, std::string_view(text_).substr(begin, stop - begin), std::nullopt);
    return std::move(unit_);
  }

  /// A length whose word stands in the comment before the words that end at `end`.
  void take_before(std::string_view word, std::size_t end) {
    const auto metres = named_length_m(word);
    if (!metres) return;
    const auto begin = static_cast<std::size_t>(word.data() - small_.data());
    set(begin, end, std::string_view(text_).substr(begin, word.size()), *metres);
  }

  /// What follows the word unit, which begins at `begin`.
  void take_named(std::size_t begin, std::size_t end) {
    bool is_stated = false;
    for (;;) {
      const std::size_t next = skip(text_, end, " \t([=:");
      const auto between = std::string_view(text_).substr(end, next - end);
      is_stated = is_stated || between.find_first_of("=:") != std::string_view::npos;
      end = next;
      auto word = word_at(small_, end);
      if (word == "used") {  // "units used in this file are centimeters"
        const auto verb = small_.find(" are ", end);
        if (verb == std::string::npos) break;
        end = verb + 1;
        word = word_at(small_, end);
      }
      if (word != "of" && word != "is" && word != "are" && word != "measure" && word != "length" && word != "lengths" &&
          (word != "in" || word_at(small_, skip(text_, end + 2, " ")).empty())) {
        break;
      }
      end += word.size();
    }
    take_length(begin, end);
    const auto word = word_at(text_, end);
    if (unit_.text.empty() && is_stated && !word.empty()) set(begin, end + word.size(), word, std::nullopt);
  }

  /// A length, with a number before it or not, at `at`.
  void take_length(std::size_t begin, std::size_t at) {
    double factor = 1;
    const auto parsed = std::from_chars(text_.data() + at, text_.data() + text_.size(), factor);
    const bool has_number = parsed.ec == std::errc{} && factor > 0 && factor < 1e30;
    const std::size_t first = has_number ? skip(text_, static_cast<std::size_t>(parsed.ptr - text_.data()), " *") : at;
    const auto word = word_at(text_, first);
    const auto metres = named_length_m(word);
    if (!metres) return;
    const std::size_t end = first + word.size();
    set(begin, end, std::string_view(text_).substr(at, end - at), *metres * (has_number ? factor : 1));
  }

  void set(std::size_t begin, std::size_t end, std::string_view word, std::optional<double> metres) {
    unit_.text = word;
    unit_.metres = metres;
    while (begin > 0 && std::string_view(" \t([").find(text_[begin - 1]) != std::string_view::npos) --begin;
    unit_.rest = text_.substr(0, begin) + text_.substr(skip(text_, end, ")] \t"));
  }

  std::string text_;
  std::string small_;
  CommentUnit unit_;
};

}  // namespace

CommentUnit find_comment_unit(std::string_view comment) { return Finder(comment).find(); }

void merge_comment_unit(CommentUnit& unit, const CommentUnit& other, std::string_view path) {
  if (other.text.empty()) return;
  if (unit.text.empty()) unit = other;
  const bool same = unit.metres ? unit.metres == other.metres : unit.text == other.text;
  if (!same) {
    throw_io(path, "one unit in its comments", fmt::format("{} and {}", in_quotes(unit.text), in_quotes(other.text)));
  }
}

}  // namespace holotone::io
