#include <algorithm>
#include <cctype>
#include <cmath>
#include <fmt/format.h>
#include <holotone/io/json_text_detail.hpp>
#include <holotone/io/stated_numbers_detail.hpp>
#include <holotone/io/text_reader_detail.hpp>
#include <initializer_list>
#include <optional>

namespace holotone::io {
namespace {

using nlohmann::json;
using Words = std::initializer_list<std::string_view>;

constexpr std::size_t longest_text = 1 << 20;
constexpr std::size_t longest_key = 60;
constexpr std::size_t longest_value = 60;
constexpr std::size_t max_found = 100;
constexpr int max_depth = 16;

/// What a key says: a factor, which 1 leaves as it is, an addend, which 0 does, a unit, or sides of pixels.
enum class Meaning : std::uint8_t { none, factor, addend, unit, sides };

bool is_any(std::string_view word, Words words) { return std::ranges::find(words, word) != words.end(); }

template <class Test>
bool has_word(std::string_view name, Test test) {
  const auto words = split_name_words(name);
  return std::ranges::any_of(words, test);
}

bool names_axes(std::string_view name) {
  return has_word(name, [](std::string_view word) {
    return is_any(word, {"dimension", "dimensions", "dimensional", "axis", "axes", "spatial", "pixel", "coordinate",
                         "coordinates", "grid", "time", "temporal", "x", "y", "t"});
  });
}

bool names_values(std::string_view name) {
  return has_word(name, [](std::string_view word) {
    return is_any(word, {"intensity", "intensities", "data", "value", "values", "phase", "signal", "amplitude",
                         "height", "z", "calibration", "calibrations"});
  });
}

Meaning find_meaning(std::string_view key) {
  auto words = split_name_words(key);
  std::erase(words, "");
  if (words.empty()) return Meaning::none;
  const std::string last = words.back();
  words.pop_back();
  const std::string before = words.empty() ? "" : words.back();
  if (is_any(before,
             {"gray", "grey", "colour", "color", "time", "zone", "timezone", "utc", "display", "x", "y", "t"})) {
    return Meaning::none;
  }
  if (is_any(last, {"scale", "slope", "factor", "scaling", "scalefactor", "gain", "multiplier", "calibration"})) {
    return Meaning::factor;
  }
  if (is_any(last, {"offset", "intercept", "bias", "baseline"})) return Meaning::addend;
  if (is_any(last, {"zunit", "zunits", "bunit"})) return Meaning::unit;
  if (last == "unit" || last == "units") return before.empty() || names_values(before) ? Meaning::unit : Meaning::none;
  const bool is_size = last == "size" && is_any(before, {"pixel", "voxel"});
  return is_size || is_any(last, {"spacing", "spacings", "pixelsize"}) ? Meaning::sides : Meaning::none;
}

/// The numbers of "0.5", "'[0.6, 1.4]'" and "(1 2)"; empty if something else stands among them.
std::vector<double> parse_numbers(std::string_view text) {
  std::string plain(text.substr(0, longest_text));
  std::ranges::replace_if(
      plain, [](char c) { return std::string_view("[](){}'\",").find(c) != std::string_view::npos; }, ' ');
  std::vector<double> numbers;
  std::string_view rest = plain;
  for (auto word = take_word(rest); !word.empty(); word = take_word(rest)) {
    double value = 0;
    if (!parse_number(word, value)) return {};
    numbers.push_back(value);
  }
  return numbers;
}

std::string_view without_quotes(std::string_view text) {
  text = trim(text);
  const bool is_quoted =
      text.size() >= 2 && (text.front() == '"' || text.front() == '\'') && text.back() == text.front();
  return is_quoted ? trim(text.substr(1, text.size() - 2)) : text;
}

/// The comma behind the first item, outside of quotes and brackets; the end without one.
std::size_t find_end_of_item(std::string_view text) {
  int open = 0;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      quote = c == quote ? '\0' : quote;  // '' is an end and a beginning
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '[' || c == '{' || c == '(') {
      ++open;
    } else if (c == ']' || c == '}' || c == ')') {
      --open;
    } else if (c == ',' && open == 0) {
      return i;
    }
  }
  return text.size();
}

bool differ(double a, double b) { return std::abs(std::abs(a) - std::abs(b)) > 0.01 * std::abs(a); }

/// True if numbers are not what they would be without the key.
bool counts(Meaning meaning, std::string_view text) {
  const auto numbers = parse_numbers(text);
  const auto has_other = [&](double none) {
    return std::ranges::any_of(numbers, [&](double value) { return value != none; });
  };
  switch (meaning) {
    case Meaning::factor: return has_other(1) && numbers != std::vector<double>{0, 1};  // the ends of a scaling
    case Meaning::addend: return has_other(0);
    case Meaning::unit:
      return numbers.empty() && !text.empty() && text != "none" && text != "None" && text != "null" && text != "~";
    case Meaning::sides: return numbers.size() == 2 && differ(numbers[0], numbers[1]);
    case Meaning::none: break;
  }
  return false;
}

class Finder {
 public:
  void read_json(const json& value, const std::string& name, bool is_of_axes, int depth) {
    if (depth > max_depth) return;
    if (value.is_array() && is_of_axes) add_axes(value, name);
    if (value.is_array()) {
      for (const auto& one : value) {
        if (one.is_structured()) read_json(one, name, is_of_axes, depth + 1);
      }
    }
    if (!value.is_object()) return;
    for (const auto& [key, member] : value.items()) {
      const std::string full = name.empty() ? key : fmt::format("{}.{}", name, key);
      const bool has_structures =
          member.is_object() || (member.is_array() && std::ranges::any_of(member, &json::is_structured));
      if (has_structures) {
        read_json(member, full, is_of_axes || names_axes(key), depth + 1);
      } else if (!is_of_axes) {
        const auto meaning = find_meaning(key);
        const bool is_other = meaning == Meaning::unit && !name.empty() && !names_values(name);
        if (!is_other) add(meaning, full, member.is_string() ? member.get<std::string>() : json_text(member));
      }
    }
  }

  void read_xml(std::string_view text) {
    for (auto at = text.find('<'); at != std::string_view::npos; at = text.find('<', at + 1)) {
      if (text.substr(at).starts_with("<!--")) {
        at = std::min(text.find("-->", at), text.size());
        continue;
      }
      const auto end = text.find('>', at);
      if (end == std::string_view::npos) return;
      std::string_view tag = text.substr(at + 1, end - at - 1);
      if (tag.empty() || tag.starts_with('/') || tag.starts_with('?') || tag.starts_with('!')) continue;
      const auto name = tag.substr(0, tag.find_first_of(" \t\r\n/"));
      if (names_axes(name)) continue;
      read_attributes(tag.substr(name.size()), name);
      const auto inside = text.substr(end + 1, text.find('<', end) - end - 1);
      if (!tag.ends_with('/')) add(find_meaning(name), name, trim(inside));
    }
  }

  /// A mapping of YAML in braces, {key: value, key: [1, 2]}: what stands between them.
  void read_flow(std::string_view text, const std::string& name, int depth) {
    if (depth > max_depth) return;
    while (!text.empty()) {
      const auto end = find_end_of_item(text);
      const auto item = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      const auto colon = item.find(": ");
      if (colon == std::string_view::npos) continue;
      const auto key = trim(item.substr(0, colon));
      const auto value = trim(item.substr(colon + 1));
      const auto full = name.empty() ? std::string(key) : fmt::format("{}.{}", name, key);
      if (value.starts_with('{') && value.ends_with('}')) {
        if (!names_axes(key)) read_flow(value.substr(1, value.size() - 2), full, depth + 1);
      } else {
        add(find_meaning(key), full, value);
      }
    }
  }

  void read_lines(std::string_view text) {
    std::string key;  // before the lines "- 1" of a list in YAML
    std::string list;
    const auto end_list = [&] {
      if (!list.empty()) add(find_meaning(key), key, trim(list));
      list.clear();
    };
    while (!text.empty()) {
      const auto end = std::min(text.find_first_of("\r\n;|"), text.size());
      const auto line = trim(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
      if (line.starts_with("- ") && !key.empty()) {
        list += fmt::format("{} ", line.substr(2));
        continue;
      }
      end_list();
      const auto sign = line.find_first_of("=:");
      key.clear();
      if (sign > longest_key) continue;  // or none
      const auto name = trim(line.substr(0, sign));
      const auto value = trim(line.substr(sign + 1));
      if (name.find(',') != std::string_view::npos) continue;  // prose
      if (value.empty()) key = name;
      if (value.starts_with('{') && value.ends_with('}') && !names_axes(name)) {
        read_flow(value.substr(1, value.size() - 2), std::string(name), 1);
      } else {
        add(find_meaning(name), name, value);
      }
    }
    end_list();
  }

  std::vector<std::string> take() { return std::move(found_); }

 private:
  void add(Meaning meaning, std::string_view name, std::string_view value) {
    value = without_quotes(value);
    if (found_.size() >= max_found || !counts(meaning, value)) return;
    auto text = fmt::format("{} {}", name, value.substr(0, longest_value));
    if (std::ranges::find(found_, text) == found_.end()) found_.push_back(std::move(text));
  }

  /// The scales of the last two axes, if they differ.
  void add_axes(const json& axes, const std::string& name) {
    std::vector<double> scales;
    for (const auto& axis : axes) {
      if (!axis.is_object()) return;
      for (const auto& [key, value] : axis.items()) {
        if (value.is_number() && find_meaning(key) == Meaning::factor) scales.push_back(value.get<double>());
      }
    }
    if (scales.size() != axes.size() || scales.size() < 2) return;
    const double rows = scales[scales.size() - 2];
    const double columns = scales.back();
    if (differ(rows, columns)) found_.push_back(fmt::format("{}.scale {:g}, {:g}", name, rows, columns));
  }

  void read_attributes(std::string_view text, std::string_view tag) {
    std::string_view key_inside;  // <parameter name="scale" value="2"/>
    std::string_view value_inside;
    for (auto sign = text.find('='); sign != std::string_view::npos; sign = text.find('=')) {
      const auto key = trim(text.substr(0, sign));
      text = trim(text.substr(sign + 1));
      if (text.empty() || (text.front() != '"' && text.front() != '\'')) return;
      const auto end = text.find(text.front(), 1);
      if (end == std::string_view::npos) return;
      const auto value = text.substr(1, end - 1);
      text.remove_prefix(end + 1);
      const auto meaning = find_meaning(key);
      if (meaning != Meaning::unit || names_values(tag)) add(meaning, fmt::format("{}.{}", tag, key), value);
      if (key == "name" || key == "id" || key == "key") key_inside = value;
      if (key == "value") value_inside = value;
    }
    if (!key_inside.empty() && !value_inside.empty()) add(find_meaning(key_inside), key_inside, value_inside);
  }

  std::vector<std::string> found_;
};

}  // namespace

std::vector<std::string> split_name_words(std::string_view name) {
  std::vector<std::string> words{""};
  bool was_small = false;
  for (const char c : name) {
    const auto letter = static_cast<unsigned char>(c);
    if (std::isalpha(letter) == 0) {
      words.emplace_back();
      was_small = false;
      continue;
    }
    if (std::isupper(letter) != 0 && was_small) words.emplace_back();
    was_small = std::islower(letter) != 0;
    words.back() += static_cast<char>(std::tolower(letter));
  }
  return words;
}

bool is_structured(std::string_view text) {
  text = trim(text);
  return text.starts_with('{') || text.starts_with('[') || text.starts_with('<') ||
         text.find('\n') != std::string_view::npos;
}

std::vector<std::string> list_stated_numbers(std::string_view text) {
  text = trim(text.substr(0, longest_text));
  Finder finder;
  if (text.starts_with('<')) {
    finder.read_xml(text);
    return finder.take();
  }
  if (text.starts_with('{') || text.starts_with('[')) {
    const json value = json::parse(text, nullptr, false);
    if (!value.is_discarded()) {
      finder.read_json(value, "", false, 0);
      return finder.take();
    }
    if (text.starts_with('{') && text.ends_with('}')) {
      finder.read_flow(text.substr(1, text.size() - 2), "", 0);
      return finder.take();
    }
  }
  finder.read_lines(text);
  return finder.take();
}

}  // namespace holotone::io
