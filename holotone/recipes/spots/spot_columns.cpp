#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/length_names.hpp>
#include <holotone/core/units.hpp>
#include <holotone/hologram/phase_lut.hpp>
#include <holotone/io/column_comment_detail.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/logarithm_unit_detail.hpp>
#include <holotone/io/text_reader_detail.hpp>
#include <holotone/recipes/spots/spot_columns.hpp>
#include <numbers>
#include <optional>

namespace holotone::spots {
namespace {

std::optional<double> length_of(std::string_view unit) {
  try {
    const double metres = parse_length("unit", one_of_unit(unit));
    return metres > 0 ? std::optional(metres) : std::nullopt;
  } catch (const Error&) {
    return named_length_m(unit);
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

ColumnName split_column(std::string_view word) {
  std::string text(io::trim(word));
  std::erase(text, '"');
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto at = text.find_first_of("_[(");
  ColumnName column{std::string(io::trim(std::string_view(text).substr(0, at))), {}, at != std::string::npos};
  if (column.has_unit) {
    const auto end = text.find_first_of("])", at);
    column.unit = io::trim(std::string_view(text).substr(at + 1, end - at - 1));
  }
  return column;
}

bool TableComments::take(std::string_view line) {
  if (!line.starts_with('#')) return false;
  if (io::names_logarithm(line))
    throw_io(path_, fmt::format("{} in its comments", io::linear_numbers), io::in_quotes(line));
  const auto stated = io::find_comment_unit(line.substr(1));
  keep_names(stated.rest);
  const bool is_pixel = parse_unit(stated.text).unit == ColumnUnit::camera_pixel;
  if (!stated.metres && !is_pixel) return true;
  if (parse_unit(stated.text).unit == ColumnUnit::none || stated.text.find_first_of("0123456789") == 0) {
    throw_io(path_, "a unit of length such as um in its comments", io::in_quotes(stated.text));
  }
  io::merge_comment_unit(unit_, stated, path_);
  return true;
}

void TableComments::keep_names(std::string_view comment) {
  auto names = io::list_field_names(comment);
  if (names.empty()) {
    const auto words = split_line(io::trim(io::skip_heading(comment)));
    names.assign(words.begin(), words.end());
  }
  const auto has = [&](Quantity quantity) {
    return std::ranges::any_of(names, [&](const auto& name) {
      const auto column = parse_column(name);
      return column.quantity == quantity ||
             (column.quantity == Quantity::unknown &&
              split_column(name).name == quantity_names[static_cast<std::size_t>(quantity)]);
    });
  };
  if ((has(Quantity::x) && has(Quantity::y)) || (has(Quantity::kx) && has(Quantity::ky))) names_ = std::move(names);
}

Column parse_column(std::string_view word) {
  auto [name, unit, has_unit] = split_column(word);
  const auto known = std::ranges::find(quantity_names, name);
  const auto quantity = static_cast<Quantity>(known - std::begin(quantity_names));
  switch (quantity) {
    case Quantity::unknown: return {};
    case Quantity::intensity: return {quantity};
    case Quantity::x:
    case Quantity::y:
    case Quantity::z: {
      if (!has_unit) return {quantity};
      auto column = parse_unit(unit);
      if (column.unit == ColumnUnit::camera_pixel && quantity == Quantity::z) return {};
      if (column.unit != ColumnUnit::none) column.quantity = quantity;
      return column;
    }
    case Quantity::phase: {
      const auto angle = find_value<PhaseUnit>(unit);
      if (!angle || *angle == PhaseUnit::automatic) return {};
      return {quantity, ColumnUnit::angle, radians_in(*angle)};
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
  if (word == "px" || word == "pix" || word == "pixel" || word == "pixels")
    return {Quantity::unknown, ColumnUnit::camera_pixel};
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

void refuse_logarithm(std::string_view word, std::string_view value_name, const std::string& path,
                      const std::string& place) {
  const auto [name, unit, has_unit] = split_column(word);
  const bool is_logarithm = (name == "intensity" || name == value_name) && io::is_logarithm(unit);
  if (!is_logarithm && !io::names_logarithm(word)) return;
  throw_io(path, fmt::format("{} as {} ({})", io::linear_numbers, name == value_name ? value_name : "intensity", place),
           io::in_quotes(word));
}

std::vector<std::string_view> split_line(std::string_view line) {
  const char separator = line.find(',') != std::string_view::npos   ? ','
                         : line.find(';') != std::string_view::npos ? ';'
                         : io::is_split_at_tabs(line)               ? '\t'
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

void refuse_decimal_commas(std::string_view line, const std::string& path, const std::string& place) {
  const auto is_digit = [&](std::size_t at) { return at < line.size() && line[at] >= '0' && line[at] <= '9'; };
  bool decimal = false;  // every comma is between digits
  for (auto at = line.find(','); at != std::string_view::npos; at = line.find(',', at + 1)) {
    if (at == 0 || !is_digit(at - 1) || !is_digit(at + 1)) return;
    decimal = true;
  }
  if (!decimal || line.find_first_of("; \t") == std::string_view::npos) return;
  throw_io(path, fmt::format("numbers with a point, such as 300.5 ({})", place),
           fmt::format("decimal commas in {}", io::in_quotes(line)));
}

}  // namespace holotone::spots
