#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/units.hpp>
#include <numbers>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace holotone {
namespace {

/// A unit is factor * 10^exponent metres or radians.
struct Unit {
  std::string_view name;
  double factor;
  int exponent;
};

constexpr Unit length_units[] = {{"nm", 1, -9}, {"um", 1, -6}, {"µm", 1, -6},     {"μm", 1, -6},  {"mm", 1, -3},
                                 {"cm", 1, -2}, {"m", 1, 0},   {"inch", 254, -4}, {"in", 254, -4}};
constexpr Unit angle_units[] = {{"deg", std::numbers::pi / 180, 0},
                                {"°", std::numbers::pi / 180, 0},
                                {"mrad", 1, -3},
                                {"rad", 1, 0},
                                {"pi", std::numbers::pi, 0}};

/// The leading number of `text`, NaN without one; sets `end` to the position after it.
double leading_number(const std::string& text, std::size_t& end) {
  char* stop = nullptr;
  const double value = std::strtod(text.c_str(), &stop);
  end = static_cast<std::size_t>(stop - text.c_str());
  return end == 0 ? std::nan("") : value;
}

/// number * 10^exponent by moving the decimal exponent in the text, so that "6.4um" is the same double as 6.4e-6.
double scaled(const std::string& number, double value, int exponent) {
  if (exponent == 0 || number.find_first_not_of("+-.0123456789eE") != std::string::npos) {
    return value * std::pow(10.0, exponent);  // hexadecimal, for example
  }
  const auto e = number.find_first_of("eE");
  const long stated =
      e == std::string::npos ? 0 : std::clamp(std::strtol(number.c_str() + e + 1, nullptr, 10), -9999L, 9999L);
  return std::strtod(fmt::format("{}e{}", number.substr(0, e), stated + exponent).c_str(), nullptr);
}

double parse_with_units(std::string_view what, std::string_view text, std::span<const Unit> units,
                        std::string_view expected) {
  const std::string copy(text);
  std::size_t end = 0;
  const double value = leading_number(copy, end);
  const std::string number = copy.substr(0, end);
  while (end < copy.size() && copy[end] == ' ') ++end;
  const std::string_view suffix = std::string_view(copy).substr(end);
  const auto unit = std::find_if(units.begin(), units.end(), [&](const Unit& known) { return known.name == suffix; });
  if (!std::isfinite(value) || unit == units.end()) {
    throw Error(ErrorCode::invalid_argument, fmt::format("{}: expected {}, got '{}'", what, expected, text));
  }
  return scaled(number, value, unit->exponent) * unit->factor;
}

/// `value` rounded to `digits` significant decimal digits.
double rounded(double value, int digits) { return std::strtod(fmt::format("{:.{}g}", value, digits).c_str(), nullptr); }

}  // namespace

double parse_length(std::string_view what, std::string_view text) {
  return parse_with_units(what, text, length_units, "a length with its unit such as 532nm, 8um, 8mm, 20cm or 1m");
}

double parse_angle(std::string_view what, std::string_view text) {
  return parse_with_units(what, text, angle_units, "an angle with its unit such as 3deg, 50mrad, 0.1rad or 2pi");
}

double parse_number(std::string_view what, std::string_view text) {
  const std::string copy(text);
  std::size_t end = 0;
  const double value = leading_number(copy, end);
  if (!std::isfinite(value) || end != copy.size()) {
    throw Error(ErrorCode::invalid_argument, fmt::format("{}: expected a number, got '{}'", what, text));
  }
  return value;
}

std::string format_length(double metres) { return rounded(metres, 6) == 0 ? "0 m" : format_length(metres, metres); }

std::string format_length(double metres, double like_m) {
  // The unit is chosen after rounding to the six digits shown, so that 1e-6 less an ulp does not read "1000 nm".
  const double size = rounded(std::abs(like_m), 6);
  if (size == 0) return fmt::format("{:.6g} m", metres);
  if (size < 1e-6) return fmt::format("{:.6g} nm", metres * 1e9);
  if (size < 1e-3) return fmt::format("{:.6g} um", metres * 1e6);
  if (size < 1e-2) return fmt::format("{:.6g} mm", metres * 1e3);
  if (size < 1) return fmt::format("{:.6g} cm", metres * 1e2);
  return fmt::format("{:.6g} m", metres);
}

std::string format_bytes(double bytes) {
  constexpr std::string_view names[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < std::size(names)) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", bytes, unit == 0 ? 0 : 1, names[unit]);
}

std::string format_duration(double seconds) {
  const double shown = rounded(seconds, 3);
  if (shown < 1e-3) return fmt::format("{:.3g} us", shown * 1e6);
  if (shown < 1) return fmt::format("{:.3g} ms", shown * 1e3);
  if (shown < 60) return fmt::format("{:.3g} s", shown);
  const auto whole = std::llround(seconds);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

namespace {

/// Edits from a to b: letters inserted, deleted or replaced, and two neighbours swapped.
std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  std::vector<std::size_t> above(row.size());
  std::vector<std::size_t> above_that(row.size());
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::swap(above_that, above);
    std::swap(above, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] != b[j - 1])});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], above_that[j - 2] + 1);
    }
  }
  return row[b.size()];
}

/// Maximum edits of a typing error; more edits mean another word.
std::size_t slips_allowed(std::size_t letters) { return letters <= 4 ? 1 : letters <= 7 ? 2 : 3; }

}  // namespace

std::string nearest_name(std::string_view name, const std::string_view* candidates, std::size_t count) {
  std::string_view best;
  std::size_t best_distance = std::string_view::npos;
  std::string_view holding;
  std::size_t holders = 0;
  for (const auto candidate : std::span(candidates, count)) {
    const auto d = edits(name, candidate);
    if (d <= slips_allowed(std::max(name.size(), candidate.size())) && d < best_distance) {
      best_distance = d;
      best = candidate;
    }
    if (name.size() >= 3 && candidate.find(name) != std::string_view::npos) {
      holding = candidate;
      ++holders;
    }
  }
  return std::string(best.empty() && holders == 1 ? holding : best);
}

}  // namespace holotone
