#include <algorithm>
#include <cctype>
#include <charconv>
#include <holotone/core/length_names.hpp>
#include <holotone/hologram/stated_wavelength_detail.hpp>
#include <optional>
#include <utility>

namespace holotone {
namespace {

constexpr double min_light_m = 100e-9;
constexpr double max_light_m = 20e-6;

/// A word, a number or a sign of the text.
struct Token {
  std::size_t begin;
  std::size_t end;
  std::string word;
  std::optional<double> number{};
};

std::vector<Token> find_tokens(const std::string& text) {
  std::vector<Token> tokens;
  const auto is_letter = [&](std::size_t at) { return std::isalpha(static_cast<unsigned char>(text[at])) != 0; };
  for (std::size_t at = 0; at < text.size();) {
    if (std::isspace(static_cast<unsigned char>(text[at])) != 0) {
      ++at;
      continue;
    }
    double value = 0;
    const auto parsed = std::from_chars(text.data() + at, text.data() + text.size(), value);
    std::size_t end = at;
    if (!is_letter(at) && text[at] != '-' && parsed.ec != std::errc::invalid_argument) {
      end = static_cast<std::size_t>(parsed.ptr - text.data());
      tokens.push_back({at, end, {}, parsed.ec == std::errc{} ? std::optional(value) : std::nullopt});
    } else {
      while (end < text.size() && is_letter(end)) ++end;
      end = std::max(end, at + 1);
      tokens.push_back({at, end, text.substr(at, end - at)});
    }
    at = end;
  }
  return tokens;
}

/// Units that wavelengths are stated in: "in" is a word here.
std::optional<double> length_unit(const std::string& word) {
  const auto metres = named_length_m(word);
  return metres && (*metres <= 1e-3 || *metres == 1) ? metres : std::nullopt;
}

bool is_light(double metres) { return metres >= min_light_m && metres <= max_light_m; }

bool is_keyword(const std::string& word) {
  return word == "wavelength" || word == "wavelengths" || word == "lambda" || word == "wl";
}

class Scanner {
 public:
  explicit Scanner(const std::string& text) : text_(text), tokens_(find_tokens(text)) {}

  StatedWavelengths scan() {
    for (std::size_t i = 0; i < tokens_.size();) i = std::max(i + 1, take_from(i));
    stated_.rest += text_.substr(kept_);
    return std::move(stated_);
  }

 private:
  [[nodiscard]] bool is(std::size_t i, std::string_view word) const {
    return i < tokens_.size() && tokens_[i].word == word;
  }
  [[nodiscard]] bool has_number(std::size_t i) const { return i < tokens_.size() && tokens_[i].number.has_value(); }
  [[nodiscard]] std::optional<double> unit_at(std::size_t i) const {
    return i < tokens_.size() ? length_unit(tokens_[i].word) : std::nullopt;
  }

  /// Takes what token `first` begins; returns the token after it, or `first`.
  std::size_t take_from(std::size_t first) {
    if (!is_keyword(tokens_[first].word)) {  // "at 633 nm", not "400-700 nm"
      const bool in_range = first > 0 && (is(first - 1, "-") || is(first - 1, "to"));
      return has_number(first) && !in_range ? take_numbers(first, first, std::nullopt, true) : first;
    }
    constexpr std::size_t longest = 8;  // "wavelength (nm) of the laser: 633"
    std::optional<double> unit;
    for (std::size_t i = first + 1; i < std::min(tokens_.size(), first + longest); ++i) {
      if (is_keyword(tokens_[i].word)) return i;
      if (has_number(i)) return take_numbers(first, i, unit, false);
      if (const auto stated = unit_at(i)) unit = stated;
    }
    return first;
  }

  /// Numbers from token `at` on, with the unit behind one or the last, or else `unit`. `bare`: without a keyword, so
  /// that only nanometres of visible or nearly visible light count.
  std::size_t take_numbers(std::size_t first, std::size_t at, std::optional<double> unit, bool bare) {
    constexpr double min_bare_m = 200e-9;
    constexpr double max_bare_m = 2e-6;
    std::vector<double> numbers;
    std::size_t end = at;
    for (std::size_t i = at; has_number(i);) {
      numbers.push_back(*tokens_[i].number);
      end = ++i;
      if (is(i, "-") && unit_at(i + 1)) ++i;  // "633-nm"
      if (is(i, "-") || is(i, "to") || (is(i, ".") && is(i + 1, "."))) return end;
      if (const auto stated = unit_at(i)) {
        unit = stated;
        end = ++i;
      }
      while (is(i, ",") || is(i, "/") || is(i, "and") || is(i, ";")) ++i;
    }
    if (bare && unit != 1e-9) return first;
    for (const double number : numbers) {
      double metres = number * unit.value_or(1);
      for (const double guess : {1e-9, 1e-6}) {
        if (!unit && is_light(number * guess)) metres = number * guess;
      }
      const bool counts = is_light(metres) && (!bare || (metres >= min_bare_m && metres <= max_bare_m));
      if (counts && std::ranges::find(stated_.metres, metres) == stated_.metres.end()) stated_.metres.push_back(metres);
    }
    remove(first, at, end);
    return end;
  }

  /// Leaves tokens out of the rest, but lambda as a unit: "in units of lambda (633 nm)".
  void remove(std::size_t first, std::size_t number, std::size_t end) {
    const bool is_unit =
        is(first, "lambda") && first + 1 != number && !is(first + 1, "=") && !is(first + 1, ":") && !is(first + 1, "_");
    const std::size_t begin = is_unit ? tokens_[first].end : tokens_[first].begin;
    stated_.rest += text_.substr(kept_, begin - kept_);
    kept_ = tokens_[end - 1].end;
  }

  const std::string& text_;
  std::vector<Token> tokens_;
  StatedWavelengths stated_;
  std::size_t kept_ = 0;  // of the text: what comes before is in the rest or left out
};

}  // namespace

StatedWavelengths take_wavelengths(const std::string& text) { return Scanner(text).scan(); }

}  // namespace holotone
