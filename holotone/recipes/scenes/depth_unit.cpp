#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/units.hpp>
#include <holotone/recipes/scenes/depth_unit_detail.hpp>

namespace holotone {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Removes a number from the front of `text`; 0 if there is none.
double take_number(std::string_view& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return 0;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

void skip_blanks(std::string_view& text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
}

struct NamedLength {
  std::string_view name;
  double metres;
};
constexpr double survey_foot = 1200.0 / 3937.0;
constexpr NamedLength named_lengths[] = {
    {"m", 1},           {"metre", 1},          {"meter", 1},           {"km", 1e3},
    {"kilometre", 1e3}, {"dm", 0.1},           {"cm", 1e-2},           {"centimetre", 1e-2},
    {"mm", 1e-3},       {"millimetre", 1e-3},  {"um", 1e-6},           {"\u00b5m", 1e-6},
    {"\u03bcm", 1e-6},  {"micron", 1e-6},      {"micrometre", 1e-6},   {"nm", 1e-9},
    {"ft", 0.3048},     {"foot", 0.3048},      {"feet", 0.3048},       {"international foot", 0.3048},
    {"in", 0.0254},     {"inch", 0.0254},      {"inches", 0.0254},     {"yd", 0.9144},
    {"yard", 0.9144},   {"ftus", survey_foot}, {"us-ft", survey_foot}, {"us survey foot", survey_foot}};

}  // namespace

std::optional<DepthUnit> named_depth_unit(std::string_view name) {
  std::string plain(name);
  if (plain.size() > 2) {  // "M" and "MM" are others
    for (char& c : plain) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 'a' - 'A') : c;
  }
  if (plain.ends_with("meter")) plain.replace(plain.size() - 2, 2, "re");
  if (plain.ends_with("meters")) plain.replace(plain.size() - 3, 3, "re");
  if (plain.ends_with("metres") || plain.ends_with("microns") || plain.ends_with("yards")) plain.pop_back();
  for (const auto& [text, metres] : named_lengths) {
    if (plain == text) return DepthUnit{.size = metres, .text = std::string(name)};
  }
  return std::nullopt;
}

std::optional<DepthUnit> parse_depth_unit(std::string_view text) {
  DepthUnit unit;
  unit.text = text;
  unit.size = take_number(text);
  if (text.size() > 1 && text[0] == '/' && is_digit(text[1])) {
    text.remove_prefix(1);
    unit.size /= take_number(text);
  }
  skip_blanks(text);
  if (text == "px") {
    unit.of = DepthUnit::Of::pixel;
  } else {
    if (text.starts_with('/')) {
      unit.of = DepthUnit::Of::inverse_length;
      text.remove_prefix(1);
      skip_blanks(text);
    }
    if (text.empty() || is_digit(text.front())) return std::nullopt;
    try {
      const double metres = parse_length("unit", fmt::format("1{}", text));
      unit.size = unit.of == DepthUnit::Of::length ? unit.size * metres : unit.size / metres;
    } catch (const Error&) {
      return std::nullopt;
    }
  }
  if (!(unit.size > 0) || !std::isfinite(unit.size)) return std::nullopt;
  return unit;
}

}  // namespace holotone
