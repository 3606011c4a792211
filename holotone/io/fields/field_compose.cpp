#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/io/fields/field_numbers_detail.hpp>
#include <holotone/io/fields/field_units_detail.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/file_part_detail.hpp>
#include <holotone/io/printable_detail.hpp>
#include <numbers>

namespace holotone::io {
namespace {

constexpr std::string_view where = "read_field";

std::string place_text(const Array<double, 2>& numbers, std::size_t at) {
  const auto nx = static_cast<std::size_t>(numbers.shape()[1]);
  return fmt::format("{:g} at row {}, column {}", numbers.data()[at], at / nx, at % nx);
}

/// Throws io for numbers below zero; of integers it says what they may be.
void require_no_less(const std::string& path, const FieldNumbers& numbers, std::string_view what) {
  const auto values = numbers.real.host();
  const auto negative = std::ranges::find_if(values, [](double value) { return value < 0; });
  if (negative == values.end()) return;
  const bool are_marks = std::ranges::all_of(values, [](double value) { return value >= -2; });
  const std::string cause = numbers.type == "int16" && !are_marks ? "; codes above 32767 that are stored as int16?"
                            : numbers.whole && are_marks          ? "; do -1 and -2 mark masked pixels?"
                                                                  : "";
  throw_io(path, fmt::format("{} of at least 0", what),
           place_text(numbers.real, static_cast<std::size_t>(negative - values.begin())) + cause);
}

/// Puts phases into radians by the unit that the file states. Throws io for another unit, and for phases of an integer
/// type without one; notes those without a unit that may not be in radians.
void put_into_radians(const std::string& path, FieldNumbers& numbers, std::vector<std::string>& notes) {
  constexpr double usual_rad = 6 * std::numbers::pi;
  constexpr double wrapped_rad = 5;  // nearly a turn, which phases modulo 2 pi fill
  std::string unit = take_unit(numbers.metadata);
  const auto named = split_part(path);
  if (unit.empty()) unit = unit_of_name(named.part);
  if (unit.empty()) unit = unit_of_name(std::filesystem::path(named.file).stem().string());
  if (!unit.empty()) {
    const auto scale = parse_phase_unit(unit);
    if (!scale) throw_io(path, "phases in rad, deg, mrad, waves or pi, as the file's unit", in_quotes(unit));
    for (double& value : numbers.real.host()) value *= *scale;
    if (*scale != 1) notes.push_back(fmt::format("{}: phases in {}, as the file states", path, printable(unit)));
    return;
  }
  if (numbers.whole) {
    throw_io(path, "phases in radians as floating point numbers", fmt::format("{} numbers", numbers.type));
  }
  const auto values = numbers.real.host();
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const double span = *high - *low;
  if (span > usual_rad) {
    notes.push_back(fmt::format("{}: phases from {:.6g} to {:.6g}, taken as radians", path, *low, *high));
  } else if (span < wrapped_rad) {
    notes.push_back(
        fmt::format("{}: phases from {:.6g} to {:.6g} without a unit, taken as radians, not waves", path, *low, *high));
  }
}

/// Reads another file of real numbers, of the shape of the first.
FieldNumbers read_beside(const std::string& other, const std::string& path, Shape<2> shape, const ReadNumbers& read) {
  FieldNumbers numbers = read(other);
  if (numbers.real.empty()) throw_io(other, "real numbers", "complex ones");
  if (numbers.real.shape() == shape) return numbers;
  throw_io(other, fmt::format("the {} of {}", to_string<2>(shape), path), to_string<2>(numbers.real.shape()));
}

void require_consistent(const FieldReadOptions& options) {
  const auto given = [&](FieldContent content) { return options.read && *options.read == content; };
  const bool modulus = given(FieldContent::amplitude) || given(FieldContent::intensity);
  if (!options.phase_file.empty() && !options.imaginary_file.empty()) {
    throw_argument(where, "imaginary_file", "none beside a phase_file", fmt::format("'{}'", options.imaginary_file));
  }
  if (!options.phase_file.empty() && !modulus) {
    throw_argument(where, "read", "amplitude or intensity with a phase_file",
                   options.read ? fmt::format("'{}'", name_of(*options.read)) : "none");
  }
  if (!options.imaginary_file.empty() && options.read && !given(FieldContent::field)) {
    throw_argument(where, "read", "field with an imaginary_file", fmt::format("'{}'", name_of(*options.read)));
  }
}

std::complex<float> narrow(std::complex<double> value) {
  return {static_cast<float>(value.real()), static_cast<float>(value.imag())};
}

}  // namespace

bool is_given(const FieldReadOptions& options) {
  return options.read || !options.phase_file.empty() || !options.imaginary_file.empty();
}

bool asks_what_numbers_are(const Error& error) {
  return error.expected().ends_with(" read as phase, amplitude, intensity or field");
}

void note_largest_values(FieldNumbers& numbers, std::string_view type, std::string_view path) {
  constexpr std::array<std::pair<std::string_view, double>, 4> types = {
      {{"uint32", 4294967295.0}, {"int32", 2147483647.0}, {"uint64", 0x1p64}, {"int64", 0x1p63}}};  // as float64
  const auto* const found = std::ranges::find(types, type, &std::pair<std::string_view, double>::first);
  if (found == types.end()) return;
  const auto count = std::ranges::count(numbers.real.host(), found->second);
  if (count == 0) return;
  numbers.notes.push_back(fmt::format("{}: {} {:.0f}, the largest of {}, as detectors mark masked pixels", path,
                                      count == 1 ? "1 value is" : fmt::format("{} values are", count), found->second,
                                      type));
}

void throw_real(std::string_view path, std::string_view type, Shape<2> shape) {
  throw_io(path, "complex numbers, or real ones that are read as phase, amplitude, intensity or field",
           fmt::format("{} of shape {}", type, to_string<2>(shape)));
}

FieldFile compose_field(const std::string& path, const FieldReadOptions& options, const ReadNumbers& read) {
  require_consistent(options);
  FieldNumbers numbers = read(path);
  if (options.read != FieldContent::phase) refuse_logarithms(path, numbers.metadata);
  FieldFile field{{}, {}, std::move(numbers.notes)};
  const bool pair = !options.phase_file.empty() || !options.imaginary_file.empty();
  if (numbers.real.empty()) {
    if (pair || (options.read && *options.read != FieldContent::field)) {
      throw_io(path, fmt::format("real numbers, read as {}", name_of(options.read.value_or(FieldContent::field))),
               "complex ones");
    }
    field.values = std::move(numbers.values);
    field.metadata = std::move(numbers.metadata);
    return field;
  }
  const Shape<2> shape = numbers.real.shape();
  if (!options.read && !pair) throw_real(path, numbers.type, shape);
  const FieldContent content = options.read.value_or(FieldContent::field);
  if (content == FieldContent::phase) put_into_radians(path, numbers, field.notes);
  if (content == FieldContent::amplitude) require_no_less(path, numbers, "amplitudes");
  if (content == FieldContent::intensity) require_no_less(path, numbers, "intensities");
  field.metadata = std::move(numbers.metadata);
  FieldNumbers other;
  if (!options.phase_file.empty()) {
    other = read_beside(options.phase_file, path, shape, read);
    put_into_radians(options.phase_file, other, field.notes);
  } else if (!options.imaginary_file.empty()) {
    other = read_beside(options.imaginary_file, path, shape, read);
    refuse_logarithms(options.imaginary_file, other.metadata);
  }
  std::ranges::move(other.notes, std::back_inserter(field.notes));
  field.values = Array<std::complex<float>, 2>(shape);
  for (std::int64_t i = 0; i < field.values.size(); ++i) {
    const double value = numbers.real.data()[i];
    const double second = other.real.empty() ? 0 : other.real.data()[i];
    std::complex<double> light;
    switch (content) {
      case FieldContent::field: light = {value, second}; break;
      case FieldContent::phase: light = {std::cos(value), std::sin(value)}; break;
      case FieldContent::amplitude: light = std::complex(value * std::cos(second), value * std::sin(second)); break;
      case FieldContent::intensity:
        light = std::complex(std::sqrt(value) * std::cos(second), std::sqrt(value) * std::sin(second));
        break;
    }
    field.values.data()[i] = narrow(light);
  }
  return field;
}

}  // namespace holotone::io
