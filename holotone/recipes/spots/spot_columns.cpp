#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/units.hpp>
#include <holotone/io/text_reader_detail.hpp>
#include <holotone/recipes/spots/spot_columns.hpp>
#include <numbers>
#include <optional>

namespace holotone::spots {
namespace {

std::optional<double> length_of(std::string_view unit) {
  try {
    return parse_length("unit", fmt::format("1{}", unit));
  } catch (const Error&) {
    return std::nullopt;
  }
}

void take(std::string_view& text, std::string_view start) {
  if (text.starts_with(start)) text.remove_prefix(start.size());
}

/// "per_mm", "rad_per_px", "norm": of kx and ky. `text` has no slashes.
Column frequency_column(Quantity quantity, std::string_view text) {
  if (text == "norm" || text == "knorm") return {quantity, ColumnUnit::sine};
  double turns = 1;
  if (text.starts_with("rad")) turns = 0.5 / std::numbers::pi;
  for (const std::string_view start : {"rad", "cycles", "_"}) take(text, start);
  if (!text.starts_with("per_")) return {};
  take(text, "per_");
  if (text == "px" || text == "pixel") return {quantity, ColumnUnit::pixel_frequency, turns};
  const auto length = length_of(text);
  return length ? Column{quantity, ColumnUnit::frequency, turns / *length} : Column{};
}

void require(double value, const char* member) {
  if (!(value > 0)) throw_argument("read_spots", fmt::format("lens.{}", member), "> 0", fmt::format("{:g}", value));
}

}  // namespace

Column parse_column(std::string_view word) {
  std::string name(io::trim(word));
  std::erase(name, '"');
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto at = name.find_first_of("_[(");
  const auto known = std::ranges::find(quantity_names, io::trim(std::string_view(name).substr(0, at)));
  const auto quantity = static_cast<Quantity>(known - std::begin(quantity_names));
  std::string unit;
  if (at != std::string::npos) {
    const auto end = name.find_first_of("])", at);
    unit = io::trim(std::string_view(name).substr(at + 1, end - at - 1));
  }
  switch (quantity) {
    case Quantity::unknown: return {};
    case Quantity::intensity: return {quantity};
    case Quantity::x:
    case Quantity::y:
    case Quantity::z: {
      if (at == std::string::npos) return {quantity};
      auto column = parse_unit(unit);
      if (column.unit == ColumnUnit::camera_pixel && quantity == Quantity::z) return {};
      if (column.unit != ColumnUnit::none) column.quantity = quantity;
      return column;
    }
    case Quantity::kx:
    case Quantity::ky:
    case Quantity::defocus: break;
  }
  if (unit.starts_with("1/")) {
    unit.replace(0, 2, "per_");
  } else if (const auto slash = unit.find('/'); slash != std::string::npos) {
    unit.replace(slash, 1, "_per_");
  }
  const auto column = frequency_column(quantity, unit);
  // A curvature is neither an angle nor counted in cycles.
  if (quantity == Quantity::defocus && (column.unit != ColumnUnit::frequency || !unit.starts_with("per_"))) return {};
  return column;
}

Column parse_unit(std::string_view word) {
  if (word == "px") return {Quantity::unknown, ColumnUnit::camera_pixel};
  const auto length = length_of(word);
  return length ? Column{Quantity::unknown, ColumnUnit::length, *length} : Column{};
}

double metres_per_unit(const Column& column, const SpotLens& lens) {
  if (column.unit == ColumnUnit::length) return column.size;
  require(lens.focal_length_m, "focal_length_m");
  require(lens.magnification, "magnification");
  const double reach_m = lens.focal_length_m / lens.magnification;
  if (column.quantity == Quantity::defocus) {
    require(lens.refractive_index, "refractive_index");
    return column.size * lens.refractive_index * reach_m * reach_m;
  }
  if (column.unit == ColumnUnit::sine) return reach_m;
  require(lens.wavelength_m, "wavelength_m");
  if (column.unit == ColumnUnit::frequency) return column.size * lens.wavelength_m * reach_m;
  require(lens.pitch_m, "pitch_m");
  return column.size / lens.pitch_m * lens.wavelength_m * reach_m;
}

std::vector<std::string_view> split_line(std::string_view line) {
  const char separator = line.find(',') != std::string_view::npos   ? ','
                         : line.find(';') != std::string_view::npos ? ';'
                                                                    : ' ';
  std::vector<std::string_view> words;
  if (separator == ' ') {
    for (auto word = io::take_word(line); !word.empty(); word = io::take_word(line)) words.push_back(word);
    return words;
  }
  for (;;) {
    const auto end = line.find(separator);
    words.push_back(io::trim(line.substr(0, end)));
    if (end == std::string_view::npos) return words;
    line.remove_prefix(end + 1);
  }
}

}  // namespace holotone::spots
