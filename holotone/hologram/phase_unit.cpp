#include <algorithm>
#include <array>
#include <cctype>
#include <holotone/hologram/phase_unit_detail.hpp>
#include <utility>
#include <vector>

namespace holotone {
namespace {

struct Word {
  std::string text;
  char before;  ///< character before it
  int bracket;  ///< number of the brackets around it; 0: none
};

std::vector<Word> find_words(const std::string& text) {
  std::vector<Word> words;
  int brackets = 0;
  int bracket = 0;
  bool inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      if (!inside) words.push_back({"", i > 0 ? text[i - 1] : ' ', bracket});
      words.back().text += c;
      inside = true;
      continue;
    }
    inside = false;
    if (c == '[' || c == '(') bracket = ++brackets;
    if (c == ']' || c == ')') bracket = 0;
  }
  return words;
}

/// Unit of a word, with the word before it: "2 pi".
std::optional<PhaseUnit> unit_of_word(const std::string& word, const std::string& before) {
  static constexpr std::array<std::pair<std::string_view, PhaseUnit>, 18> units = {{{"rad", PhaseUnit::rad},
                                                                                    {"rads", PhaseUnit::rad},
                                                                                    {"radian", PhaseUnit::rad},
                                                                                    {"radians", PhaseUnit::rad},
                                                                                    {"deg", PhaseUnit::deg},
                                                                                    {"degs", PhaseUnit::deg},
                                                                                    {"degree", PhaseUnit::deg},
                                                                                    {"degrees", PhaseUnit::deg},
                                                                                    {"wave", PhaseUnit::waves},
                                                                                    {"waves", PhaseUnit::waves},
                                                                                    {"turn", PhaseUnit::waves},
                                                                                    {"turns", PhaseUnit::waves},
                                                                                    {"cycle", PhaseUnit::waves},
                                                                                    {"cycles", PhaseUnit::waves},
                                                                                    {"lambda", PhaseUnit::waves},
                                                                                    {"lambdas", PhaseUnit::waves},
                                                                                    {"2pi", PhaseUnit::waves},
                                                                                    {"pi", PhaseUnit::pi}}};
  if (word == "pi" && before == "2") return PhaseUnit::waves;
  const auto known = std::ranges::find(units, word, [](const auto& unit) { return unit.first; });
  return known == units.end() ? std::nullopt : std::optional(known->second);
}

bool is_other_unit(const std::string& word) {
  static constexpr std::array<std::string_view, 9> units = {"mrad", "urad", "grad",   "gon",   "nm",
                                                            "um",   "mm",   "arcmin", "arcsec"};
  return std::ranges::find(units, word) != units.end();
}

/// `counts(i)`: whether word i may state the unit.
template <class Counts>
StatedUnit unit_of_words(const std::vector<Word>& words, const Counts& counts) {
  std::vector<PhaseUnit> units;
  StatedUnit stated;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!counts(i)) continue;
    const std::string before = i > 0 ? words[i - 1].text : "";
    const auto unit = unit_of_word(words[i].text, before);
    const bool alone = words[i].bracket != 0 && words[i].before != ' ';
    if (!unit && is_other_unit(words[i].text) && (alone || words[i].before == '_')) stated.other = words[i].text;
    if (unit && std::ranges::find(units, *unit) == units.end()) units.push_back(*unit);
  }
  if (units.size() == 2) std::erase(units, PhaseUnit::rad);  // "pi rad", "2pi rad"
  if (units.size() == 1) stated.unit = units.front();
  if (units.size() > 1) stated.other = "several";
  return stated;
}

}  // namespace

std::string in_plain_letters(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 5> signs = {
      {{"\u03C0", "pi "}, {"\u03BB", " lambda "}, {"\u00B0", " deg "}, {"\u00B5", "u"}, {"\u03BC", "u"}}};
  std::string plain;
  while (!text.empty()) {
    const auto sign = std::ranges::find_if(signs, [&](const auto& known) { return text.starts_with(known.first); });
    if (sign != signs.end()) {
      plain += sign->second;
      text.remove_prefix(sign->first.size());
    } else {
      plain += static_cast<char>(std::tolower(static_cast<unsigned char>(text.front())));
      text.remove_prefix(1);
    }
  }
  return plain;
}

StatedUnit unit_in_heading(std::string_view text) {
  return unit_of_words(find_words(in_plain_letters(text)), [](std::size_t) { return true; });
}

StatedUnit unit_in_comment(std::string_view text) {
  const auto words = find_words(in_plain_letters(text));
  const auto is_of_unit = [&](std::size_t i) {
    return words[i].text == "2" || is_other_unit(words[i].text) || unit_of_word(words[i].text, "").has_value();
  };
  const auto counts = [&](std::size_t i) {
    if (words[i].before == '_') return true;
    if (words[i].bracket != 0) {
      for (std::size_t k = 0; k < words.size(); ++k) {
        if (words[k].bracket == words[i].bracket && !is_of_unit(k)) return false;
      }
      return true;
    }
    std::size_t first = i;
    while (first > 0 && is_of_unit(first - 1)) --first;  // "in units of 2 pi"
    while (first > 0 && (words[first - 1].text == "of" || words[first - 1].text == "multiples")) --first;
    return first > 0 &&
           (words[first - 1].text == "in" || words[first - 1].text == "unit" || words[first - 1].text == "units");
  };
  return unit_of_words(words, counts);
}

std::string other_quantity(std::string_view text, bool is_comment) {
  static constexpr std::array<std::string_view, 11> codes = {
      "code", "codes", "gray", "grey", "graylevel", "greylevel", "level", "index", "gv", "value", "input"};
  static constexpr std::array<std::string_view, 8> phases = {"phase",       "phases", "phi",   "retardance",
                                                             "retardation", "delay",  "shift", "stroke"};
  static constexpr std::array<std::string_view, 14> others = {
      "intensity", "intensities", "irradiance",   "power",         "voltage",     "voltages",  "volt",
      "volts",     "current",     "transmission", "transmittance", "reflectance", "amplitude", "counts"};
  const auto words = find_words(in_plain_letters(text));
  const auto is_in = [](const auto& names) {
    return [&names](const Word& word) { return std::ranges::find(names, word.text) != names.end(); };
  };
  constexpr std::size_t longest_heading = 5;
  if (is_comment && (words.empty() || words.size() > longest_heading || !is_in(codes)(words.front()))) return {};
  if (std::ranges::any_of(words, is_in(phases))) return {};
  const auto found = std::ranges::find_if(words, is_in(others));
  return found == words.end() ? std::string() : found->text;
}

}  // namespace holotone
