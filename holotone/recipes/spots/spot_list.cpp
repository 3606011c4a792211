// Lists of spots in files.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/units.hpp>
#include <holotone/io/atomic_file.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/table_text_detail.hpp>
#include <holotone/io/text_reader_detail.hpp>
#include <holotone/recipes/spots.hpp>
#include <holotone/recipes/spots/list_json.hpp>
#include <holotone/recipes/spots/placed_values.hpp>
#include <holotone/recipes/spots/spot_columns.hpp>
#include <numbers>
#include <optional>

namespace holotone {
namespace {

using spots::Column;
using spots::ColumnUnit;
using spots::Quantity;

/// Numbers of one spot by Quantity, and their columns.
struct Row {
  std::array<std::optional<double>, spots::quantity_count> values;
  std::array<Column, spots::quantity_count> columns;
  std::optional<double> value;  ///< of ListForm::value_name
};

constexpr std::size_t slot(Quantity quantity) { return static_cast<std::size_t>(quantity); }
constexpr std::string_view quantity_name(Quantity quantity) { return spots::quantity_names[slot(quantity)]; }

/// Quantities that give the coordinate of an axis; the second is another way to say the first.
constexpr std::array<std::array<Quantity, 2>, 3> axis_quantities{
    {{Quantity::x, Quantity::kx}, {Quantity::y, Quantity::ky}, {Quantity::z, Quantity::defocus}}};

/// How lists are read, of whatever form.
struct ListForm {
  const std::string& path;
  double unit_m = 0;        ///< of numbers without a unit; 0: none
  bool are_pixels = false;  ///< x and y without a unit
  const SpotLens& lens;
  const CameraMap& camera;
  bool states_unit = false;          ///< of numbers without a unit, in the file
  std::string_view value_name = {};  ///< column of PlacedValues, whose others are ignored; empty: of a list
};

/// Refuses columns that do not say a spot's place once. `has`: whether there is a column.
template <class Has>
void require_place(const ListForm& form, const std::string& place, Has has) {
  for (std::size_t axis = 0; axis < axis_quantities.size(); ++axis) {
    const auto [plain, other] = axis_quantities[axis];
    const int found = (has(plain) ? 1 : 0) + (has(other) ? 1 : 0);
    if (found > 1 || (axis < 2 && found == 0)) {
      throw_io(form.path, fmt::format("one column {} or {} ({})", quantity_name(plain), quantity_name(other), place),
               found == 0 ? "none" : "both");
    }
  }
  if (has(Quantity::kx) != has(Quantity::ky)) {
    throw_io(form.path, fmt::format("columns x and y, or kx and ky ({})", place), "one of each");
  }
}

/// Refuses a place beyond half of the diffraction order, by a lens that has all of it.
void require_within_order(const ListForm& form, const std::array<double, 3>& position, const std::string& place) {
  constexpr double far = 100;  // times the limit: of another unit
  const auto& lens = form.lens;
  if (!(lens.wavelength_m > 0 && lens.focal_length_m > 0 && lens.pitch_m > 0 && lens.magnification > 0)) return;
  const double limit_m = 0.5 * lens.wavelength_m * lens.focal_length_m / (lens.pitch_m * lens.magnification);
  const double aside_m = std::max(std::abs(position[0]), std::abs(position[1]));
  if (!(aside_m > limit_m * (1 + 1e-6))) return;
  throw_io(form.path,
           fmt::format("|x| and |y| of at most {}, half the diffraction order ({})", format_length(limit_m), place),
           fmt::format("x = {}, y = {}{}", format_length(position[0]), format_length(position[1]),
                       aside_m > far * limit_m ? "; is their unit right?" : ""));
}

/// Gathers spots and refuses what is none. `place`: "line 3" or "spot 2".
class Gatherer {
 public:
  explicit Gatherer(const ListForm& form) : form_(form) { spots_.are_angles = true; }

  void add(const Row& row, const std::string& place) {
    std::array<double, 3> position{};
    for (std::size_t axis = 0; axis < position.size(); ++axis) {
      for (const auto quantity : axis_quantities[axis]) {
        if (const auto value = row.values[slot(quantity)]) {
          const auto& column = row.columns[slot(quantity)];
          (column.unit == ColumnUnit::none && !form_.states_unit ? lacks_units_ : spots_.has_units) = true;
          position[axis] = *value * scale(column, *value);
        }
      }
    }
    if (is_pixel(row.columns[slot(Quantity::x)]) || is_pixel(row.columns[slot(Quantity::y)])) {
      move_to_plane(row, position, place);
    }
    std::array<float, 3> single{};
    for (std::size_t axis = 0; axis < single.size(); ++axis) {
      single[axis] = static_cast<float>(position[axis]);
      if (!std::isfinite(single[axis])) {
        throw_io(form_.path, fmt::format("finite coordinates in metres within float32 ({})", place),
                 fmt::format("{:g} m", position[axis]));
      }
    }
    if (form_.value_name.empty()) require_within_order(form_, position, place);
    const double intensity = row.values[slot(Quantity::intensity)].value_or(1);
    if (!(intensity >= 1e-30 && intensity <= 1e30)) {
      throw_io(form_.path, fmt::format("an intensity of 1e-30 to 1e30 ({})", place), fmt::format("{:g}", intensity));
    }
    spots_.position_m.push_back(single);
    spots_.intensity.push_back(static_cast<float>(intensity));
    if (form_.value_name.empty()) add_phase(row, place);
    if (!form_.value_name.empty()) add_value(row, place);
  }

  spots::PlacedValues take() {
    if (spots_.position_m.empty()) throw_io(form_.path, "at least 1 spot", "0");
    if (lacks_units_) spots_.has_units = false;
    placed_.spots = std::move(spots_);
    return std::move(placed_);
  }

 private:
  void add_phase(const Row& row, const std::string& place) {
    const auto value = row.values[slot(Quantity::phase)];
    const bool all_before = spots_.phase_rad.size() + 1 == spots_.position_m.size();
    if (value ? !all_before : !spots_.phase_rad.empty()) {
      throw_io(form_.path, fmt::format("a phase of every spot or of none ({})", place), value ? "one" : "none");
    }
    if (!value) return;
    if (!std::isfinite(*value)) {
      throw_io(form_.path, fmt::format("a finite phase ({})", place), fmt::format("{:g}", *value));
    }
    const double phase_rad = *value * row.columns[slot(Quantity::phase)].size;
    spots_.phase_rad.push_back(static_cast<float>(std::remainder(phase_rad, 2 * std::numbers::pi)));
  }

  void add_value(const Row& row, const std::string& place) {
    if (!row.value) throw_io(form_.path, fmt::format("a column {} ({})", form_.value_name, place), "none");
    const auto single = static_cast<float>(*row.value);
    if (!(single >= 0 && std::isfinite(single))) {
      throw_io(form_.path, fmt::format("an intensity >= 0 ({})", place), fmt::format("{:g}", *row.value));
    }
    placed_.value.push_back(single);
    placed_.place.push_back(place);
    placed_.has_depths |= row.values[slot(Quantity::z)].has_value() || row.values[slot(Quantity::defocus)].has_value();
  }

  [[nodiscard]] bool is_pixel(const Column& column) const {
    const bool plain = column.quantity == Quantity::x || column.quantity == Quantity::y;
    return plain && (column.unit == ColumnUnit::camera_pixel || (column.unit == ColumnUnit::none && form_.are_pixels));
  }

  /// Metres of a column's unit; 1 for pixels, which are moved later, and for 0, which needs no unit.
  double scale(const Column& column, double value) {
    if (is_pixel(column)) return 1;
    if (column.unit == ColumnUnit::none || column.unit == ColumnUnit::length) {
      if (value == 0) return 1;
      spots_.are_angles = false;
    }
    if (column.unit != ColumnUnit::none) return spots::metres_per_unit(column, form_.lens);
    if (!(form_.unit_m > 0)) {
      throw_io(form_.path, "a unit of x, y and z, such as a column x_um, or one by option", "numbers without a unit");
    }
    return form_.unit_m;
  }

  void move_to_plane(const Row& row, std::array<double, 3>& position, const std::string& place) {
    if (!is_pixel(row.columns[slot(Quantity::x)]) || !is_pixel(row.columns[slot(Quantity::y)])) {
      throw_io(form_.path, fmt::format("x and y both in pixels ({})", place), "one of them");
    }
    if (!has_map(form_.camera)) throw_io(form_.path, "a camera map for places in pixels", "none");
    const auto [x, y] = place_of_pixel(form_.camera, {position[0], position[1]});
    position[0] = x;
    position[1] = y;
    if (!form_.camera.has_angles) spots_.are_angles = false;
  }

  const ListForm& form_;
  SpotList spots_;
  spots::PlacedValues placed_;
  bool lacks_units_ = false;
};

/// The columns of a table's first line: its names, or those of a table without.
std::vector<Column> columns_of(const std::vector<std::string_view>& words, bool has_names, const ListForm& form,
                               const std::string& place) {
  std::vector<Column> columns;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (has_names) spots::refuse_logarithm(words[i], form.value_name, form.path, place);
    columns.push_back(has_names ? spots::parse_column(words[i])
                                : Column{i < spots::unnamed_count ? static_cast<Quantity>(i) : Quantity::unknown});
    if (columns.back().quantity == Quantity::unknown && form.value_name.empty()) {
      throw_io(form.path,
               fmt::format("columns x, y, z, intensity with units such as x_um, or kx_per_mm, ky_norm, defocus_per_m, "
                           "phase_deg ({})",
                           place),
               io::in_quotes(words[i]));
    }
  }
  for (const auto& column : columns) {
    if (column.quantity == Quantity::unknown) continue;
    const auto same = std::ranges::count(columns, column.quantity, &Column::quantity);
    if (same > 1) {
      throw_io(form.path, fmt::format("one column {} ({})", quantity_name(column.quantity), place),
               fmt::format("{}", same));
    }
  }
  require_place(form, place, [&](Quantity quantity) {
    return std::ranges::find(columns, quantity, &Column::quantity) != columns.end();
  });
  return columns;
}

void set_unit(ListForm& form, const Column& unit) {
  form.are_pixels = unit.unit == ColumnUnit::camera_pixel;
  form.unit_m = form.are_pixels ? 0 : unit.size;
  form.states_unit = true;
}

/// Number of the column of ListForm::value_name. Throws io unless there is one.
std::size_t find_value(const std::vector<std::string_view>& words, const ListForm& form, const std::string& place) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (spots::split_column(words[i]).name == form.value_name) found.push_back(i);
  }
  if (found.size() != 1) {
    throw_io(form.path, fmt::format("one column {} ({})", form.value_name, place), fmt::format("{}", found.size()));
  }
  return found.front();
}

spots::PlacedValues read_table(std::string_view text, ListForm form) {
  Gatherer gatherer(form);
  spots::TableComments comments(form.path);
  io::LineReader lines(text);
  std::vector<Column> columns;
  std::string_view names;
  auto value_column = std::string::npos;
  Row row;
  for (std::string_view line; lines.next_filled(line);) {
    line = io::trim(line);
    if (comments.take(line)) continue;
    if (columns.empty() && !comments.unit().empty()) set_unit(form, spots::parse_unit(comments.unit()));
    const auto place = fmt::format("line {}", lines.number());
    spots::refuse_decimal_commas(line, form.path, place);
    const auto words = spots::split_line(line);
    double number = 0;
    if (columns.empty()) {
      const bool has_names = !io::parse_number(words.front(), number);
      const bool are_named = !has_names && comments.names().size() == words.size();  // by a comment
      if (!has_names && !are_named) io::refuse_labels(words, form.path);
      const std::vector<std::string_view> known(comments.names().begin(), comments.names().end());
      columns = columns_of(are_named ? known : words, has_names || are_named, form, are_named ? "a comment" : place);
      if (!form.value_name.empty()) value_column = find_value(words, form, place);
      for (const auto& column : columns) {
        if (column.quantity != Quantity::unknown) row.columns[slot(column.quantity)] = column;
      }
      if (has_names) {
        names = line;
        continue;
      }
    }
    if (words.size() != columns.size()) {
      const std::string of_names = names.empty() ? "" : " as the names " + io::in_quotes(names);
      throw_io(form.path, fmt::format("{} numbers{} ({})", columns.size(), of_names, place),
               fmt::format("{}", words.size()));
    }
    for (std::size_t i = 0; i < words.size(); ++i) {
      const bool is_known = columns[i].quantity != Quantity::unknown;
      if (!is_known && i != value_column) continue;
      if (!io::parse_number(words[i], number)) {
        throw_io(form.path, fmt::format("a number ({})", place), io::in_quotes(words[i]));
      }
      (is_known ? row.values[slot(columns[i].quantity)] : row.value) = number;
    }
    gatherer.add(row, place);
  }
  return gatherer.take();
}

/// One spot of a JSON list.
Row json_row(const nlohmann::json& spot, const ListForm& form, const std::string& place) {
  Row row;
  const auto set = [&](const Column& column, const nlohmann::json& value, const std::string& name) {
    if (column.quantity == Quantity::unknown && !form.value_name.empty()) return;
    const auto index = slot(column.quantity);
    if (column.quantity == Quantity::unknown || !value.is_number() || row.values[index]) {
      const bool is_known = column.quantity != Quantity::unknown;
      throw_io(form.path, fmt::format("numbers x, y, z, intensity, or kx_norm and others with units ({})", place),
               is_known && row.values[index] ? "another value of " + name
               : is_known                    ? name + " that is no number"
                                             : name);
    }
    row.columns[index] = column;
    row.values[index] = value.get<double>();
  };
  if (spot.is_array() && spot.size() >= 2) {
    for (std::size_t i = 0; i < spot.size(); ++i) {
      set({i < spots::unnamed_count ? static_cast<Quantity>(i) : Quantity::unknown}, spot[i],
          fmt::format("number {}", i + 1));
    }
  } else if (spot.is_object()) {
    for (const auto& [key, value] : spot.items()) {
      spots::refuse_logarithm(key, form.value_name, form.path, place);
      set(spots::parse_column(key), value, io::in_quotes(key));
      if (key == form.value_name && value.is_number()) row.value = value.get<double>();
    }
  } else {
    throw_io(form.path, fmt::format("an object or a list of two to four numbers ({})", place), "another value");
  }
  require_place(form, place, [&](Quantity quantity) { return row.values[slot(quantity)].has_value(); });
  return row;
}

spots::PlacedValues read_json(const std::string& text, ListForm form) {
  using nlohmann::json;
  const json root = spots::parse_json(text, form.path);
  const json* spots = &root;
  if (root.is_object()) {
    if (!root.contains("spots")) throw_io(form.path, "a list \"spots\"", "an object without it");
    spots = &root["spots"];
    for (const auto& [key, value] : root.items()) {
      if (key == "spots") continue;
      const auto unit = key == "unit" && value.is_string() ? spots::parse_unit(value.get<std::string>()) : Column{};
      if (unit.unit == ColumnUnit::none) {
        throw_io(form.path, "\"spots\" and a \"unit\" such as \"um\" or \"px\"",
                 io::in_quotes(key == "unit" ? value.dump() : key));
      }
      set_unit(form, unit);
    }
  }
  if (!spots->is_array()) throw_io(form.path, "a list of spots", "another value");
  Gatherer gatherer(form);
  std::size_t number = 0;
  for (const auto& spot : *spots) {
    const auto place = fmt::format("spot {}", number++);
    gatherer.add(json_row(spot, form, place), place);
  }
  return gatherer.take();
}

}  // namespace

SpotList read_spots(const std::string& path, double unit_m, const SpotLens& lens, const CameraMap& camera) {
  return spots::read_placed_values(path, {}, unit_m, lens, camera).spots;
}

spots::PlacedValues spots::read_placed_values(const std::string& path, std::string_view name, double unit_m,
                                              const SpotLens& lens, const CameraMap& camera) {
  const auto text = io::read_bytes(path);
  const ListForm form{
      .path = path, .unit_m = unit_m, .are_pixels = false, .lens = lens, .camera = camera, .value_name = name};
  const auto first = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  const bool is_json = first != std::string::npos && (text[first] == '{' || text[first] == '[');
  if (is_json) return read_json(text.substr(first), form);
  if (text.find('\0') != std::string::npos) throw_io(path, "a table of spots as text, or JSON", "a binary file");
  return read_table(io::TableText(text, path).get(), form);
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

SpotList spot_ring(std::int64_t count, double radius_m, std::array<double, 3> centre_m) {
  constexpr const char* where = "spot_ring";
  constexpr std::int64_t most = 1'000'000;
  if (count < 1 || count > most) {
    throw_argument(where, "count", fmt::format("1 to {} spots", most), fmt::format("{}", count));
  }
  if (!(radius_m > 0 && std::isfinite(radius_m))) {
    throw_argument(where, "radius_m", "> 0", fmt::format("{:g}", radius_m));
  }
  SpotList spots;
  for (std::int64_t i = 0; i < count; ++i) {
    const double angle_rad = 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(count);
    spots.position_m.push_back({static_cast<float>(centre_m[0] + radius_m * std::cos(angle_rad)),
                                static_cast<float>(centre_m[1] + radius_m * std::sin(angle_rad)),
                                static_cast<float>(centre_m[2])});
    spots.intensity.push_back(1);
  }
  return spots;
}

void write_spots(const std::string& path, const SpotList& spots, const SpotLight& light,
                 const std::vector<float>& measured) {
  double sum = 0;
  for (std::size_t m = 0; m < light.intensity.size(); ++m) {
    sum += light.intensity[m] / static_cast<double>(spots.intensity[m]);
  }
  const double mean = sum / static_cast<double>(light.intensity.size());
  if (!measured.empty() && measured.size() != spots.position_m.size()) {
    throw_argument("write_spots", "measured", fmt::format("{} intensities", spots.position_m.size()),
                   fmt::format("{}", measured.size()));
  }
  const bool has_phases = !spots.phase_rad.empty();
  std::string text = fmt::format("x_m,y_m,z_m,intensity{},share,ratio{}\n", has_phases ? ",phase_rad" : "",
                                 measured.empty() ? "" : ",measured");
  for (std::size_t m = 0; m < light.intensity.size(); ++m) {
    const auto& [x, y, z] = spots.position_m[m];
    text += fmt::format("{:.9g},{:.9g},{:.9g},{:.9g}", x, y, z, spots.intensity[m]);
    if (has_phases) text += fmt::format(",{:.9g}", spots.phase_rad[m]);
    text += fmt::format(",{:.9g},{:.9g}", light.intensity[m],
                        light.intensity[m] / static_cast<double>(spots.intensity[m]) / mean);
    text += measured.empty() ? "\n" : fmt::format(",{:.9g}\n", measured[m]);
  }
  write_file(path, text);
}

}  // namespace holotone
