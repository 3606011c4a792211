#include <cctype>
#include <cli/common/values.hpp>
#include <cli/panel/panel_values.hpp>
#include <cmath>
#include <holotone/optics/field.hpp>
#include <numbers>

namespace holotone::cli {

double pixels_or_length(std::string_view option, std::string_view text, double pitch_m) {
  std::string_view number = text;
  if (number.ends_with("px")) number.remove_suffix(2);
  const bool bare =
      !number.empty() && (std::isdigit(static_cast<unsigned char>(number.back())) != 0 || number.back() == '.');
  if (bare) return number_between(option, number, -2.0 * largest_grid_side, 2.0 * largest_grid_side) * pitch_m;
  const double length_m = parse_length(option, text);
  if (!(std::abs(length_m) <= most_distance_m)) {
    reject(option, fmt::format("at most {}", format_length(most_distance_m)), text);
  }
  return length_m;
}

double period_of(std::string_view option, std::string_view text, double pitch_m) {
  const double period_m = pixels_or_length(option, text, pitch_m);
  if (!(std::abs(period_m) >= 2 * pitch_m * (1 - 1e-12))) {
    reject(option, fmt::format("a period of at least two pixels, {}", format_length(2 * pitch_m)), text);
  }
  return period_m;
}

std::array<double, 2> centre_of(std::string_view option, const std::string& text, double pitch_m) {
  constexpr std::string_view expected = "X,Y as lengths or pixels such as 1mm,0";
  const auto pieces = list(option, text, expected);
  if (pieces.size() != 2) reject(option, expected, text);
  return {pixels_or_length(option, pieces[0], pitch_m), pixels_or_length(option, pieces[1], pitch_m)};
}

double angle_of(std::string_view option, std::string_view text) { return text == "0" ? 0 : parse_angle(option, text); }

double depth_of(std::string_view option, std::string_view text) {
  const double turns = parse_angle(option, text) / (2 * std::numbers::pi);
  if (!(turns > 0 && turns <= 1 + 1e-12)) reject(option, "a phase above 0, up to 2pi", text);
  return std::fmin(turns, 1);
}

}  // namespace holotone::cli
