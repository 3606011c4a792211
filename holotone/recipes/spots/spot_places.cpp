#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/text_reader_detail.hpp>
#include <holotone/recipes/spots/list_json.hpp>
#include <holotone/recipes/spots/spot_columns.hpp>
#include <optional>

namespace holotone {
namespace {

using nlohmann::json;
using spots::Quantity;
using Row = std::array<double, 3>;

double determinant(const CameraMap& map) {
  const auto& [x, y] = map.to_spots_m;
  return x[0] * y[1] - x[1] * y[0];
}

/// The map from its rows by name.
class MapRows {
 public:
  MapRows(const std::string& path, const SpotLens& lens) : path_(path), lens_(lens) {}

  void add(std::string_view name, const Row& numbers, const std::string& place) {
    const auto column = spots::parse_column(name);
    const bool horizontal = column.quantity == Quantity::x || column.quantity == Quantity::kx;
    const bool vertical = column.quantity == Quantity::y || column.quantity == Quantity::ky;
    if (!(horizontal || vertical) || column.unit == spots::ColumnUnit::none ||
        column.unit == spots::ColumnUnit::camera_pixel) {
      throw_io(path_, fmt::format("rows x and y with units, such as x_um or kx_norm{}", place), io::in_quotes(name));
    }
    auto& row = rows_[horizontal ? 0 : 1];
    if (row) throw_io(path_, fmt::format("one row each of x and y{}", place), fmt::format("{} again", name));
    row.emplace();
    const double unit_m = spots::metres_per_unit(column, lens_);
    for (std::size_t i = 0; i < numbers.size(); ++i) (*row)[i] = numbers[i] * unit_m;
    if (column.unit == spots::ColumnUnit::length) has_lengths_ = true;
  }

  CameraMap take() {
    if (!rows_[0] || !rows_[1]) throw_io(path_, "rows x and y", rows_[0] ? "no y" : "no x");
    return {{*rows_[0], *rows_[1]}, !has_lengths_};
  }

 private:
  const std::string& path_;
  const SpotLens& lens_;
  std::array<std::optional<Row>, 2> rows_;
  bool has_lengths_ = false;
};

CameraMap read_table(std::string_view text, const std::string& path, const SpotLens& lens) {
  MapRows rows(path, lens);
  io::LineReader lines(text);
  for (std::string_view line; lines.next_filled(line);) {
    line = io::trim(line);
    if (line.starts_with('#')) continue;
    const auto place = fmt::format(" (line {})", lines.number());
    if (const auto at = line.find_first_of(",;"); at != std::string_view::npos) {
      spots::refuse_decimal_commas(io::trim(line.substr(at + 1)), path, fmt::format("line {}", lines.number()));
    }
    const auto words = spots::split_line(line);
    Row numbers{};
    if (words.size() != numbers.size() + 1) {
      throw_io(path, fmt::format("the name of a coordinate and three numbers{}", place),
               fmt::format("{} words", words.size()));
    }
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (!io::parse_number(words[i + 1], numbers[i]) || !std::isfinite(numbers[i])) {
        throw_io(path, fmt::format("a finite number{}", place), io::in_quotes(words[i + 1]));
      }
    }
    rows.add(words.front(), numbers, place);
  }
  return rows.take();
}

/// Numbers of a list, or of a list of lists, as many as are expected.
template <std::size_t n>
std::array<double, n> parse_numbers(const json& value, const std::string& path, std::string_view name) {
  std::array<double, n> numbers{};
  std::size_t found = 0;
  const auto add = [&](const json& one) {
    if (!one.is_number() || found == n) throw_io(path, fmt::format("{} numbers as \"{}\"", n, name), "another value");
    numbers[found++] = one.get<double>();
  };
  for (const auto& one : value.is_array() ? value : json::array({value})) {
    if (!one.is_array()) {
      add(one);
      continue;
    }
    for (const auto& inner : one) add(inner);
  }
  if (found != n) throw_io(path, fmt::format("{} numbers as \"{}\"", n, name), fmt::format("{}", found));
  return numbers;
}

/// k = M^-1 (pixel - b) + a, whose vertical axis points down.
CameraMap of_slmsuite(const json& root, const std::string& path, const SpotLens& lens) {
  for (const auto& [key, value] : root.items()) {
    if (key != "M" && key != "b" && key != "a") throw_io(path, "\"M\", \"b\" and \"a\" alone", io::in_quotes(key));
  }
  for (const char* key : {"b", "a"}) {
    if (!root.contains(key)) throw_io(path, fmt::format("\"{}\" beside \"M\"", key), "none");
  }
  const auto m = parse_numbers<4>(root["M"], path, "M");
  const auto b = parse_numbers<2>(root["b"], path, "b");
  const auto a = parse_numbers<2>(root["a"], path, "a");
  const double area = m[0] * m[3] - m[1] * m[2];
  const double scale_m = spots::metres_per_unit({Quantity::kx, spots::ColumnUnit::sine}, lens);
  const std::array<std::array<double, 2>, 2> inverse{{{m[3] / area, -m[1] / area}, {-m[2] / area, m[0] / area}}};
  CameraMap map{.has_angles = true};
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const double unit_m = axis == 0 ? scale_m : -scale_m;
    const auto& [along_column, along_row] = inverse[axis];
    map.to_spots_m[axis] = {unit_m * along_column, unit_m * along_row,
                            unit_m * (a[axis] - along_column * b[0] - along_row * b[1])};
  }
  return map;
}

CameraMap read_json(const std::string& text, const std::string& path, const SpotLens& lens) {
  const json root = spots::parse_json(text, path);
  if (!root.is_object()) throw_io(path, "an object with rows x and y", "a list");
  if (root.contains("M")) return of_slmsuite(root, path, lens);
  MapRows rows(path, lens);
  for (const auto& [key, value] : root.items()) rows.add(key, parse_numbers<3>(value, path, key), "");
  return rows.take();
}

}  // namespace

bool has_map(const CameraMap& map) { return map.to_spots_m != CameraMap{}.to_spots_m; }

CameraMap read_camera_map(const std::string& path, const SpotLens& lens) {
  const auto text = io::read_bytes(path);
  io::require_text(path, std::string_view(text).substr(0, 512));
  const auto first = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  const bool is_json = first != std::string::npos && (text[first] == '{' || text[first] == '[');
  const auto map = is_json ? read_json(text.substr(first), path, lens) : read_table(text, path, lens);
  const double area = determinant(map);
  if (!(std::abs(area) > 1e-40 && std::isfinite(area))) {
    throw_io(path, "a map that has an inverse", fmt::format("one of determinant {:g}", area));
  }
  return map;
}

std::array<double, 2> place_of_pixel(const CameraMap& map, std::array<double, 2> pixel) {
  std::array<double, 2> place{};
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const auto& row = map.to_spots_m[axis];
    place[axis] = row[0] * pixel[0] + row[1] * pixel[1] + row[2];
  }
  return place;
}

std::array<double, 2> pixel_of_place(const CameraMap& map, std::array<double, 2> place_m) {
  const double area = determinant(map);
  if (!(std::abs(area) > 0)) throw_argument("pixel_of_place", "map", "one that has an inverse", "determinant 0");
  const auto& [x, y] = map.to_spots_m;
  const double right = place_m[0] - x[2];
  const double up = place_m[1] - y[2];
  return {(y[1] * right - x[1] * up) / area, (x[0] * up - y[0] * right) / area};
}

}  // namespace holotone
