// Lists of spots in files.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/units.hpp>
#include <holotone/io/atomic_file.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/text_reader_detail.hpp>
#include <holotone/recipes/spots.hpp>
#include <nlohmann/json.hpp>
#include <optional>

namespace holotone {
namespace {

constexpr std::string_view column_names[] = {"x", "y", "z", "intensity"};
constexpr std::size_t column_count = std::size(column_names);
constexpr std::size_t intensity_column = 3;

/// Meaning of a column: one of column_names, and the size of its unit in metres, 0: not stated.
struct Column {
  std::size_t index = column_count;
  double unit_m = 0;
};

/// "x", "x_um", "x [um]" and "x (um)".
Column spot_column(std::string_view word) {
  std::string name(io::trim(word));
  std::erase(name, '"');
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto at = name.find_first_of("_[(");
  const auto known = std::ranges::find(column_names, io::trim(std::string_view(name).substr(0, at)));
  Column column{static_cast<std::size_t>(known - std::begin(column_names))};
  if (column.index >= intensity_column || at == std::string::npos) return column;
  const auto end = name.find_first_of("])", at);
  try {
    column.unit_m =
        parse_length("unit", fmt::format("1{}", io::trim(std::string_view(name).substr(at + 1, end - at - 1))));
  } catch (const Error&) {
    column.index = column_count;
  }
  return column;
}

std::vector<std::string_view> split(std::string_view line) {
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

/// Gathers spots and refuses what is none. `place`: "line 3" or "spot 2".
class Gatherer {
 public:
  Gatherer(const std::string& path, double unit_m) : path_(path), unit_m_(unit_m) {}

  void add(const std::array<double, column_count>& values, const std::array<double, 3>& units_m,
           const std::string& place) {
    std::array<float, 3> position{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      double unit = units_m[axis] > 0 ? units_m[axis] : unit_m_;
      if (values[axis] == 0) unit = 1;
      if (!(unit > 0)) {
        throw_io(path_, "a unit of x, y and z, such as a column x_um, or one by option", "numbers without a unit");
      }
      position[axis] = static_cast<float>(values[axis] * unit);
      if (!std::isfinite(position[axis])) throw_io(path_, fmt::format("finite coordinates ({})", place), "others");
    }
    const double intensity = values[intensity_column];
    if (!(intensity > 0 && intensity <= 1e30)) {
      throw_io(path_, fmt::format("an intensity > 0 ({})", place), fmt::format("{:g}", intensity));
    }
    spots_.position_m.push_back(position);
    spots_.intensity.push_back(static_cast<float>(intensity));
  }

  SpotList take() {
    if (spots_.position_m.empty()) throw_io(path_, "at least 1 spot", "0");
    return std::move(spots_);
  }

 private:
  const std::string& path_;
  double unit_m_;
  SpotList spots_;
};

SpotList read_table(std::string_view text, const std::string& path, double unit_m) {
  Gatherer gatherer(path, unit_m);
  io::LineReader lines(text);
  std::vector<Column> columns;
  std::array<double, 3> units_m{};
  for (std::string_view line; lines.next_filled(line);) {
    line = io::trim(line);
    if (line.starts_with('#')) continue;
    const auto words = split(line);
    const auto place = fmt::format("line {}", lines.number());
    double number = 0;
    if (columns.empty()) {
      const bool has_names = !io::parse_number(words.front(), number);
      for (std::size_t i = 0; i < words.size(); ++i) {
        columns.push_back(has_names ? spot_column(words[i]) : Column{i});
        const auto& column = columns.back();
        if (column.index >= column_count) {
          throw_io(path, fmt::format("columns x, y, z, intensity with units such as x_um ({})", place),
                   io::in_quotes(words[i]));
        }
        if (column.index < units_m.size()) units_m[column.index] = column.unit_m;
      }
      const auto has = [&](std::size_t index) { return std::ranges::count(columns, index, &Column::index); };
      for (std::size_t index = 0; index < column_count; ++index) {
        if (has(index) > 1 || (index < 2 && has(index) == 0)) {
          throw_io(path, fmt::format("one column {} ({})", column_names[index], place), fmt::format("{}", has(index)));
        }
      }
      if (has_names) continue;
    }
    if (words.size() != columns.size()) {
      throw_io(path, fmt::format("{} numbers ({})", columns.size(), place), fmt::format("{}", words.size()));
    }
    std::array<double, column_count> values{0, 0, 0, 1};
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (!io::parse_number(words[i], number))
        throw_io(path, fmt::format("a number ({})", place), io::in_quotes(words[i]));
      values[columns[i].index] = number;
    }
    gatherer.add(values, units_m, place);
  }
  return gatherer.take();
}

SpotList read_json(const std::string& text, const std::string& path, double unit_m) {
  using nlohmann::json;
  const json root = json::parse(text, nullptr, false);
  if (root.is_discarded()) throw_io(path, "JSON", "text that is none");
  const json* spots = &root;
  if (root.is_object()) {
    if (!root.contains("spots")) throw_io(path, "a list \"spots\"", "an object without it");
    spots = &root["spots"];
    for (const auto& [key, value] : root.items()) {
      if (key == "spots") continue;
      if (key != "unit" || !value.is_string())
        throw_io(path, "\"spots\" and a \"unit\" such as \"um\"", io::in_quotes(key));
      unit_m = parse_length("unit", fmt::format("1{}", value.get<std::string>()));
    }
  }
  if (!spots->is_array()) throw_io(path, "a list of spots", "another value");
  Gatherer gatherer(path, unit_m);
  std::size_t number = 0;
  for (const auto& spot : *spots) {
    const auto place = fmt::format("spot {}", number++);
    std::array<double, column_count> values{0, 0, 0, 1};
    std::array<double, 3> units_m{};
    const auto set = [&](std::size_t index, const json& value) {
      if (index >= column_count || !value.is_number()) {
        throw_io(path, fmt::format("numbers x, y, z, intensity ({})", place), "another value");
      }
      values[index] = value.get<double>();
    };
    if (spot.is_array() && spot.size() >= 2) {
      for (std::size_t i = 0; i < spot.size(); ++i) set(i, spot[i]);
    } else if (spot.is_object()) {
      std::array<bool, column_count> found{};
      for (const auto& [key, value] : spot.items()) {
        const auto column = spot_column(key);
        set(column.index, value);
        if (column.index < units_m.size()) units_m[column.index] = column.unit_m;
        found[column.index] = true;
      }
      if (!found[0] || !found[1]) throw_io(path, fmt::format("x and y ({})", place), "an object without them");
    } else {
      throw_io(path, fmt::format("an object or a list of two to four numbers ({})", place), "another value");
    }
    gatherer.add(values, units_m, place);
  }
  return gatherer.take();
}

}  // namespace

SpotList read_spots(const std::string& path, double unit_m) {
  const auto text = io::read_bytes(path);
  const auto first = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  const bool is_json = first != std::string::npos && (text[first] == '{' || text[first] == '[');
  if (is_json) return read_json(text.substr(first), path, unit_m);
  if (text.find('\0') != std::string::npos) throw_io(path, "a table of spots as text, or JSON", "a binary file");
  return read_table(text, path, unit_m);
}

SpotList spot_lattice(std::int64_t columns, std::int64_t rows, double spacing_m, SpotLattice lattice,
                      std::array<double, 3> centre_m) {
  constexpr const char* where = "spot_lattice";
  constexpr std::int64_t most = 1'000'000;
  if (columns < 1 || rows < 1 || columns > most || rows > most || columns * rows > most) {
    throw_argument(where, "columns", fmt::format("1 to {} spots", most), fmt::format("{} x {}", columns, rows));
  }
  if (!(spacing_m > 0 && std::isfinite(spacing_m))) {
    throw_argument(where, "spacing_m", "> 0", fmt::format("{:g}", spacing_m));
  }
  const bool hexagonal = lattice == SpotLattice::hexagonal;
  const double down_m = hexagonal ? spacing_m * std::sqrt(0.75) : spacing_m;
  SpotList spots;
  for (std::int64_t row = 0; row < rows; ++row) {
    const double shift = hexagonal ? (row % 2 == 0 ? -0.25 : 0.25) : 0;
    for (std::int64_t column = 0; column < columns; ++column) {
      const double x = static_cast<double>(column) - 0.5 * static_cast<double>(columns - 1) + shift;
      const double y = 0.5 * static_cast<double>(rows - 1) - static_cast<double>(row);
      spots.position_m.push_back({static_cast<float>(centre_m[0] + spacing_m * x),
                                  static_cast<float>(centre_m[1] + down_m * y), static_cast<float>(centre_m[2])});
      spots.intensity.push_back(1);
    }
  }
  return spots;
}

void write_spots(const std::string& path, const SpotList& spots, const SpotLight& light) {
  double sum = 0;
  for (std::size_t m = 0; m < light.intensity.size(); ++m) {
    sum += light.intensity[m] / static_cast<double>(spots.intensity[m]);
  }
  const double mean = sum / static_cast<double>(light.intensity.size());
  std::string text = "x_m,y_m,z_m,intensity,share,ratio\n";
  for (std::size_t m = 0; m < light.intensity.size(); ++m) {
    const auto& [x, y, z] = spots.position_m[m];
    text += fmt::format("{:.9g},{:.9g},{:.9g},{:.9g},{:.9g},{:.9g}\n", x, y, z, spots.intensity[m], light.intensity[m],
                        light.intensity[m] / static_cast<double>(spots.intensity[m]) / mean);
  }
  write_file(path, text);
}

}  // namespace holotone
