#include <algorithm>
#include <cctype>
#include <holotone/io/logarithm_unit_detail.hpp>
#include <initializer_list>
#include <string>

namespace holotone::io {
namespace {

constexpr std::size_t longest_text = 1000;

/// The next run of letters, in small ones; removes it and what stands before from the text. Empty at the end.
std::string take_letters(std::string_view& text) {
  const auto is_letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; };
  const auto* const begin = std::ranges::find_if(text, is_letter);
  const auto* const end = std::find_if_not(begin, text.end(), is_letter);
  std::string word(begin, end);
  text.remove_prefix(static_cast<std::size_t>(end - text.begin()));
  std::ranges::transform(word, word.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return word;
}

bool is_among(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

bool is_logarithm_word(std::string_view word) {
  constexpr std::size_t longest_decibel = 5;  // "dBuVm"
  return (word.starts_with("db") && word.size() <= longest_decibel) ||
         is_among(word, {"decibel", "decibels", "bel", "bels", "neper", "nepers", "np", "log", "logs", "lg", "ln",
                         "loge", "logarithm", "logarithms", "logarithmic", "od", "absorbance"});
}

bool is_light_word(std::string_view word) {
  constexpr std::string_view starts[] = {"amp",      "intensit", "irradianc", "radianc",      "power",      "magnitude",
                                         "measured", "modul",    "bright",    "reflectivity", "backscatter"};
  return std::ranges::any_of(starts, [&](std::string_view start) { return word.starts_with(start); });
}

/// "intensitydb" and "logamplitude".
bool is_logarithm_of_light(std::string_view word) {
  for (const std::string_view start : {"log", "ln"}) {
    if (word.starts_with(start) && is_light_word(word.substr(start.size()))) return true;
  }
  return is_light_word(word) && word.ends_with("db");
}

}  // namespace

bool is_logarithm(std::string_view unit) {
  unit = unit.substr(0, longest_text);
  std::string before;
  for (auto word = take_letters(unit); !word.empty(); word = take_letters(unit)) {
    const bool is_magnitude = is_among(word, {"mag", "mags", "dex"});  // of astronomy
    if (is_logarithm_word(word) || is_magnitude || (before == "optical" && word == "density")) return true;
    before = std::move(word);
  }
  return false;
}

bool names_logarithm(std::string_view text) {
  text = text.substr(0, longest_text);
  bool of_light = false;      // the word before names light
  bool of_logarithm = false;  // or a logarithm
  bool has_in = false;        // before this word
  for (auto word = take_letters(text); !word.empty(); word = take_letters(text)) {
    if (is_among(word, {"in", "is", "are", "of", "the", "as", "unit", "units"})) {
      has_in = has_in || word == "in";
      continue;
    }
    const bool light = is_light_word(word);
    const bool logarithm = is_logarithm_word(word) || (has_in && is_among(word, {"mag", "mags", "dex"}));
    has_in = false;
    if ((of_light && logarithm) || (of_logarithm && light) || is_logarithm_of_light(word)) return true;
    of_light = light;
    of_logarithm = logarithm;
  }
  return false;
}

}  // namespace holotone::io
