#include <cctype>
#include <cli/options/values.hpp>
#include <cli/panel/panel_values.hpp>
#include <cmath>
#include <holotone/optics/field.hpp>
#include <numbers>

namespace holotone::cli {

PanelLength parse_panel_length(std::string_view option, std::string_view text) {
  std::string_view number = text;
  if (number.ends_with("px")) number.remove_suffix(2);
  const bool bare =
      !number.empty() && (std::isdigit(static_cast<unsigned char>(number.back())) != 0 || number.back() == '.');
  if (bare) return {number_between(option, number, -2.0 * largest_grid_side, 2.0 * largest_grid_side), true};
  const double length_m = parse_length(option, text);
  if (!(std::abs(length_m) <= max_distance_m)) {
    reject(option, fmt::format("at most {}", format_length(max_distance_m)), text);
  }
  return {length_m, false};
}

PanelPlace parse_place(std::string_view option, const std::string& text) {
  constexpr std::string_view expected = "X,Y as lengths or pixels such as 1mm,0";
  const auto pieces = list(option, text, expected);
  if (pieces.size() != 2) reject(option, expected, text);
  return {parse_panel_length(option, pieces[0]), parse_panel_length(option, pieces[1])};
}

double parse_direction(std::string_view option, std::string_view text) {
  return text == "0" ? 0 : parse_angle(option, text);
}

double parse_depth(std::string_view option, std::string_view text) {
  const double turns = parse_angle(option, text) / (2 * std::numbers::pi);
  if (!(turns > 0 && turns <= 1 + 1e-12)) reject(option, "a phase above 0, up to 2pi", text);
  return std::fmin(turns, 1);
}

OptionRow centre_option(PanelPlace& centre) {
  return {.names = "--centre,--center",
          .target = parsed(centre, parse_place, "0,0"),
          .value = "X,Y",
          .help = "Centre from the middle of the panel, x to the right and y up: lengths (1mm,0) or pixels",
          .common = true};
}

}  // namespace holotone::cli
