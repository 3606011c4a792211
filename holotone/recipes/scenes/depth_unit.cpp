#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/length_names.hpp>
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

}  // namespace

std::optional<DepthUnit> named_depth_unit(std::string_view name) {
  const auto metres = named_length_m(name);
  return metres ? std::optional(DepthUnit{.size = *metres, .text = std::string(name)}) : std::nullopt;
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
