#pragma once
#include <array>
#include <cstdint>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/units.hpp>
#include <holotone/recipes/metadata_keys.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Conversion of option texts to values. Errors are Error{invalid_argument} and name the option: `--option: expected
// ..., got '...'`.
namespace holotone::cli {

/// Text with a unit that reads back as the same length: "36mm"; with all digits in metres where it would not.
std::string length_text(double metres);

/// Length to three digits, enough to compare sizes: "1.23 mm".
std::string short_length(double metres);

[[noreturn]] void reject(std::string_view option, std::string_view expected, std::string_view got);

/// True if an error is about an option, not about the file that was read for it.
bool names_option(const Error& error) noexcept;

/// A length with its unit, low_m to high_m.
double length_between(std::string_view option, std::string_view text, double low_m, double high_m);

/// A wavelength, from min_wavelength_m to max_wavelength_m.
double wavelength_of(std::string_view option, std::string_view text);

/// Warning for a wavelength outside 200 nm to 2 um, the range of light modulators; else empty.
std::string wavelength_warning(double wavelength_m);

/// A pixel pitch.
double pitch_of(std::string_view option, std::string_view text);

/// A signed distance from the panel.
double distance_of(std::string_view option, std::string_view text);

/// A number, low to high.
double number_between(std::string_view option, std::string_view text, double low, double high);

/// A number > 0.
double positive_number(std::string_view option, std::string_view text);

/// A whole number in [low, high]: "20000", "20k" (k = 1000), "1.5M" (M = 1000000) or "2e4".
std::int64_t whole_number(std::string_view option, std::string_view text, std::int64_t low, std::int64_t high);

/// {nx, ny} from "1920x1080", each at most `most`; without it, at most largest_picture_side.
std::array<std::int64_t, 2> resolution(std::string_view option, std::string_view text, std::int64_t most);
std::array<std::int64_t, 2> resolution(std::string_view option, std::string_view text);

/// The pieces of "a,b,c"; at least one, none of them empty.
std::vector<std::string> list(std::string_view option, std::string_view text, std::string_view expected);

/// {low, high} from "low,high", low < high.
std::array<double, 2> rising_pair(std::string_view option, std::string_view text);

/// {x, y} in radians from "1deg" (x alone) or "1deg,0.5deg".
std::array<double, 2> angle_pair(std::string_view option, std::string_view text);

/// {x, y} in radians of a grating, each part an angle ("0.5deg") or a period ("64um", "8px": sin a = wavelength /
/// period; "0" for none).
std::array<double, 2> grating_pair(std::string_view option, std::string_view text, double wavelength_m, double pitch_m);

/// Three numbers, not all zero, from "x,y,z".
std::array<double, 3> direction(std::string_view option, std::string_view text);

/// Name of an option's value, and the value.
template <class T>
struct Choice {
  std::string_view name;
  T value;
};

/// " (did you mean 'x'?)" or nothing.
std::string suggestion(std::string_view text, std::span<const std::string_view> names);

/// "1 point", "2 points"
std::string counted(std::int64_t count, std::string_view noun);

/// "a, b or c"
std::string alternatives(std::span<const std::string_view> names);

template <class T, std::size_t N>
T choose(std::string_view option, std::string_view text, const Choice<T> (&choices)[N]) {
  std::array<std::string_view, N> names;
  for (std::size_t i = 0; i < N; ++i) {
    if (choices[i].name == text) return choices[i].value;
    names[i] = choices[i].name;
  }
  throw Error(ErrorCode::invalid_argument,
              fmt::format("{}: expected {}, got '{}'{}", option, alternatives(names), text, suggestion(text, names)));
}

}  // namespace holotone::cli
