#include <algorithm>
#include <charconv>
#include <cli/options/values.hpp>
#include <cmath>
#include <filesystem>
#include <holotone/core/error.hpp>
#include <holotone/hologram/encode.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/optics/field.hpp>
#include <optional>

namespace holotone::cli {
namespace {

bool has_unit(std::string_view text, std::string_view unit) {
  return text.size() > unit.size() && text.substr(text.size() - unit.size()) == unit;
}

double grating_angle(std::string_view option, const std::string& text, double wavelength_m, double pitch_m) {
  if (text == "0") return 0;
  for (const std::string_view unit : {"deg", "rad", "pi", "°"}) {
    if (has_unit(text, unit)) {
      const double angle = parse_angle(option, text);
      if (std::abs(angle) < 1.5) return angle;
      reject(option, "an angle below 85.9 deg", text);
    }
  }
  const double period = has_unit(text, "px")
                            ? parse_number(option, std::string_view(text).substr(0, text.size() - 2)) * pitch_m
                            : parse_length(option, text);
  if (!(std::abs(period) >= 2 * pitch_m)) reject(option, "a period of at least two pixels", text);
  return steering_angle_rad(period, wavelength_m);
}

/// Whole number of "20000", "20k", "1.5M" or "2e4"; nullopt for other texts.
std::optional<std::int64_t> whole_value(std::string_view text) {
  double factor = 1;
  if (text.ends_with('k') || text.ends_with('K')) factor = 1e3;
  if (text.ends_with('M')) factor = 1e6;
  if (factor > 1) text.remove_suffix(1);
  std::int64_t value = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (factor == 1 && error == std::errc() && end == last) return value;
  if (factor == 1 && text.find_first_of("eE") == std::string_view::npos) return std::nullopt;
  constexpr double exact = 1LL << 53;
  double number = 0;
  const auto [end_of_number, error_of_number] = std::from_chars(text.data(), last, number);
  if (error_of_number != std::errc() || end_of_number != last) return std::nullopt;
  // 2.3 * 1000 is not 2300 in double.
  const double product = number * factor;
  const double whole = std::round(product);
  if (!(std::abs(product - whole) <= 1e-12 * std::abs(whole) && std::abs(whole) <= exact)) return std::nullopt;
  return static_cast<std::int64_t>(whole);
}

}  // namespace

std::string length_text(double metres) {
  std::string text = format_length(metres);
  std::erase(text, ' ');
  return parse_length("length", text) == metres ? text : fmt::format("{}m", metres);
}

void reject(std::string_view option, std::string_view expected, std::string_view got) {
  throw Error(ErrorCode::invalid_argument, fmt::format("{}: expected {}, got '{}'", option, expected, got));
}

bool names_option(const Error& error) noexcept { return std::string_view(error.what()).substr(0, 2) == "--"; }

double number_between(std::string_view option, std::string_view text, double low, double high) {
  const double value = parse_number(option, text);
  if (!(value >= low && value <= high)) reject(option, fmt::format("a number from {:g} to {:g}", low, high), text);
  return value;
}

double length_between(std::string_view option, std::string_view text, double low_m, double high_m) {
  const double value = parse_length(option, text);
  if (!(value >= low_m && value <= high_m)) {
    reject(option, fmt::format("a length from {} to {}", format_length(low_m), format_length(high_m)), text);
  }
  return value;
}

std::string short_length(double metres) { return format_length(parse_number("length", fmt::format("{:.3g}", metres))); }

double wavelength_of(std::string_view option, std::string_view text) {
  return length_between(option, text, min_wavelength_m, max_wavelength_m);
}

std::string wavelength_warning(double wavelength_m) {
  constexpr double shortest_m = 200e-9;
  constexpr double longest_m = 2e-6;
  if (wavelength_m >= shortest_m && wavelength_m <= longest_m) return {};
  return fmt::format("a wavelength of {} is outside {} to {}, the range of light modulators; check its unit",
                     format_length(wavelength_m), format_length(shortest_m), format_length(longest_m));
}

double pitch_of(std::string_view option, std::string_view text) {
  return length_between(option, text, min_length_m, max_length_m);
}

double distance_of(std::string_view option, std::string_view text) {
  return length_between(option, text, -max_distance_m, max_distance_m);
}

double positive_number(std::string_view option, std::string_view text) {
  const double value = parse_number(option, text);
  if (!(value > 0)) reject(option, "a number > 0", text);
  return value;
}

std::int64_t whole_number(std::string_view option, std::string_view text, std::int64_t low, std::int64_t high) {
  const auto value = whole_value(text);
  if (!value || *value < low || *value > high) {
    reject(option, fmt::format("a whole number from {} to {}", low, high), text);
  }
  return *value;
}

std::array<std::int64_t, 2> resolution(std::string_view option, std::string_view text, std::int64_t most) {
  constexpr std::string_view expected = "WIDTHxHEIGHT in pixels such as 1920x1080";
  const auto cross = text.find('x');
  if (cross == std::string_view::npos) reject(option, expected, text);
  const auto side = [&](std::string_view piece) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(piece.data(), piece.data() + piece.size(), value);
    const bool whole = !piece.empty() && end == piece.data() + piece.size() && value >= 0;
    if (!whole || (error != std::errc() && error != std::errc::result_out_of_range)) reject(option, expected, text);
    if (error != std::errc() || value < 1 || value > most) {
      reject(option, fmt::format("from 1 to {} pixels a side", most), text);
    }
    return value;
  };
  return {side(text.substr(0, cross)), side(text.substr(cross + 1))};
}

std::array<std::int64_t, 2> resolution(std::string_view option, std::string_view text) {
  return resolution(option, text, largest_picture_side);
}

std::vector<std::string> list(std::string_view option, std::string_view text, std::string_view expected) {
  std::vector<std::string> pieces;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const auto end = std::min(text.find(',', begin), text.size());
    pieces.emplace_back(text.substr(begin, end - begin));
    if (pieces.back().empty()) reject(option, expected, text);
    begin = end + 1;
  }
  return pieces;
}

std::array<double, 2> rising_pair(std::string_view option, std::string_view text) {
  constexpr std::string_view expected = "two rising numbers MIN,MAX";
  const auto pieces = list(option, std::string(text), expected);
  if (pieces.size() != 2) reject(option, expected, text);
  const auto number = [&](const std::string& piece) {
    return number_between(option, piece, -max_field_value, max_field_value);
  };
  const std::array<double, 2> pair{number(pieces[0]), number(pieces[1])};
  if (!(static_cast<float>(pair[1]) > static_cast<float>(pair[0]))) reject(option, expected, text);
  return pair;
}

std::array<double, 2> angle_pair(std::string_view option, std::string_view text) {
  const auto pieces = list(option, text, "one or two angles such as 1deg or 1deg,0.5deg");
  if (pieces.size() > 2) reject(option, "one or two angles such as 1deg or 1deg,0.5deg", text);
  std::array<double, 2> angles{};
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    angles[i] = pieces[i] == "0" ? 0 : parse_angle(option, pieces[i]);
    if (!(std::abs(angles[i]) < 1.5)) reject(option, "angles below 85.9 deg", text);
  }
  return angles;
}

std::array<double, 2> grating_pair(std::string_view option, std::string_view text, double wavelength_m,
                                   double pitch_m) {
  constexpr std::string_view expected = "one or two angles or periods such as 0.5deg, 64um or 8px,0";
  const auto pieces = list(option, text, expected);
  if (pieces.size() > 2) reject(option, expected, text);
  std::array<double, 2> angles{};
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    angles[i] = grating_angle(option, pieces[i], wavelength_m, pitch_m);
  }
  return angles;
}

std::array<double, 3> direction(std::string_view option, std::string_view text) {
  constexpr std::string_view expected = "a direction X,Y,Z toward the light such as 1,1,1";
  const auto pieces = list(option, text, expected);
  if (pieces.size() != 3) reject(option, expected, text);
  std::array<double, 3> result{};
  for (std::size_t i = 0; i < 3; ++i) result[i] = parse_number(option, pieces[i]);
  if (!(std::hypot(result[0], result[1], result[2]) > 0)) reject(option, expected, text);
  return result;
}

std::string suggestion(std::string_view text, std::span<const std::string_view> names) {
  const std::string nearest = nearest_name(text, names.data(), names.size());
  return nearest.empty() ? std::string() : fmt::format(" (did you mean '{}'?)", nearest);
}

std::string counted(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string alternatives(std::span<const std::string_view> names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " or " : ", ";
    text += names[i];
  }
  return text;
}

}  // namespace holotone::cli
