// Tables of measured light of spots.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <holotone/core/error.hpp>
#include <holotone/core/units.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/logarithm_unit_detail.hpp>
#include <holotone/io/table_text_detail.hpp>
#include <holotone/io/text_reader_detail.hpp>
#include <holotone/recipes/spot_camera.hpp>
#include <holotone/recipes/spots/list_json.hpp>
#include <holotone/recipes/spots/placed_values.hpp>
#include <holotone/recipes/spots/spot_columns.hpp>
#include <initializer_list>
#include <limits>
#include <optional>

namespace holotone {
namespace {

constexpr std::string_view value_name = "measured";
/// Distance in widths within which a row's place is a spot's: more than tables round to, less than spots merge at.
constexpr double same_place = 0.25;

float checked_measured(double value, const std::string& path, const std::string& place) {
  const auto single = static_cast<float>(value);
  if (!(single >= 0 && std::isfinite(single))) {
    throw_io(path, fmt::format("an intensity >= 0{}", place), fmt::format("{:g}", value));
  }
  return single;
}

std::vector<float> read_measured_json(const std::string& text, const std::string& path) {
  const auto root = spots::parse_json(text, path);
  if (!root.is_array()) throw_io(path, "a list of numbers", "an object");
  std::vector<float> values;
  for (const auto& one : root) {
    const auto place = fmt::format(" (spot {})", values.size());
    if (!one.is_number()) throw_io(path, fmt::format("a number{}", place), "another value");
    values.push_back(checked_measured(one.get<double>(), path, place));
  }
  return values;
}

/// Values in the order of their ids, which are 0, 1 and so on in any order.
std::vector<float> in_order(const std::vector<float>& values, const std::vector<double>& ids, const std::string& path) {
  std::vector<float> ordered(values.size(), -1);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const bool is_number = ids[i] >= 0 && ids[i] < static_cast<double>(ids.size()) && ids[i] == std::floor(ids[i]);
    if (!is_number || ordered[static_cast<std::size_t>(ids[i])] >= 0) {
      throw_io(path, fmt::format("ids 0 to {}, each once, as the spots of the list are counted", ids.size() - 1),
               fmt::format("{:g}", ids[i]));
    }
    ordered[static_cast<std::size_t>(ids[i])] = values[i];
  }
  return ordered;
}

/// A column's name in small letters, without quotes and what stands in brackets.
std::string plain_name(std::string_view word) {
  std::string name(word.substr(0, word.find_first_of("[(")));
  std::erase(name, '"');
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::string(io::trim(name));
}

/// Number of the only column of these names; none without one.
std::optional<std::size_t> find_column(const std::vector<std::string_view>& columns,
                                       std::initializer_list<std::string_view> names, const std::string& path) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (std::ranges::find(names, plain_name(columns[i])) == names.end()) continue;
    if (found) throw_io(path, fmt::format("one column {}", io::in_quotes(columns[*found])), "another");
    found = i;
  }
  return found;
}

/// Number of the column that counts the spots; none without one.
std::optional<std::size_t> find_id(const std::vector<std::string_view>& columns, const std::string& path) {
  const auto found = find_column(columns, {"id", "index", "number", "spot"}, path);
  return found ? found : find_column(columns, {"spot_id", "spot_index", "trap_id", "trap", "label", "n"}, path);
}

std::vector<float> read_measured_table(std::string_view text, const std::string& path) {
  std::vector<float> values;
  std::vector<double> ids;
  io::LineReader lines(text);
  std::size_t width = 0;  // words of a line
  std::size_t at = 0;
  std::optional<std::size_t> id_at;
  for (std::string_view line; lines.next_filled(line);) {
    line = io::trim(line);
    const auto place = fmt::format(" (line {})", lines.number());
    if (line.starts_with('#')) {
      if (io::names_logarithm(line))
        throw_io(path, fmt::format("{}{}", io::linear_numbers, place), io::in_quotes(line));
      continue;
    }
    spots::refuse_decimal_commas(line, path, fmt::format("line {}", lines.number()));
    const auto words = spots::split_line(line);
    double number = 0;
    if (width == 0) {
      width = words.size();
      if (!io::parse_number(words.front(), number)) {
        for (const auto word : words)
          spots::refuse_logarithm(word, value_name, path, place.substr(2, place.size() - 3));
        const auto found = find_column(words, {value_name}, path);
        if (!found) throw_io(path, fmt::format("a column \"measured\"{}", place), "none");
        at = *found;
        id_at = find_id(words, path);
        continue;
      }
      if (width != 1) throw_io(path, fmt::format("a column named \"measured\", or one column{}", place), "others");
    }
    if (words.size() != width) {
      throw_io(path, fmt::format("{} numbers{}", width, place), fmt::format("{}", words.size()));
    }
    if (!io::parse_number(words[at], number)) {
      throw_io(path, fmt::format("a number{}", place), io::in_quotes(words[at]));
    }
    values.push_back(checked_measured(number, path, place));
    if (!id_at) continue;
    if (!io::parse_number(words[*id_at], number)) {
      throw_io(path, fmt::format("a number{}", place), io::in_quotes(words[*id_at]));
    }
    ids.push_back(number);
  }
  return id_at ? in_order(values, ids, path) : values;
}

bool is_json(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  return first != std::string_view::npos && (text[first] == '[' || text[first] == '{');
}

/// Words of a table's first line behind comments.
std::vector<std::string_view> first_words(std::string_view text) {
  io::LineReader lines(text);
  for (std::string_view line; lines.next_filled(line);) {
    if (!io::trim(line).starts_with('#')) return spots::split_line(io::trim(line));
  }
  return {};
}

/// Whether a table's first line, or a list's first spot, has a coordinate.
bool has_places(std::string_view text) {
  const auto is_coordinate = [](std::string_view word) {
    const auto name = spots::split_column(word).name;
    return name == "x" || name == "y" || name == "kx" || name == "ky";
  };
  if (is_json(text)) {
    const auto begin = text.find_first_of("[{");
    const auto root = nlohmann::json::parse(text.substr(begin), nullptr, false);
    return root.is_object() || (root.is_array() && !root.empty() && root.front().is_object());
  }
  return std::ranges::any_of(first_words(text), is_coordinate);
}

std::string place_text(const std::array<float, 3>& place) {
  return fmt::format("x = {}, y = {}, z = {}", format_length(place[0]), format_length(place[1]),
                     format_length(place[2]));
}

/// Spots in widths, by x.
class PlaceFinder {
 public:
  PlaceFinder(const SpotList& spots, const SpotOptions& options) : width_m_(spot_width_m(options)) {
    for (std::size_t m = 0; m < spots.position_m.size(); ++m) places_.push_back({in_widths(spots.position_m[m]), m});
    std::ranges::sort(places_, {}, [](const Place& place) { return place.at[0]; });
  }

  /// Numbers of the nearest spot and of the second within same_place, in two or three dimensions; as many as there are.
  [[nodiscard]] std::vector<std::size_t> nearest(const std::array<float, 3>& place, bool has_depths) const {
    const auto at = in_widths(place);
    std::vector<std::pair<double, std::size_t>> near;
    auto other = std::ranges::lower_bound(places_, at[0] - same_place, {}, [](const Place& one) { return one.at[0]; });
    for (; other != places_.end() && other->at[0] <= at[0] + same_place; ++other) {
      double square = 0;
      for (std::size_t axis = 0; axis < (has_depths ? 3U : 2U); ++axis)
        square += std::pow(other->at[axis] - at[axis], 2);
      if (square <= same_place * same_place) near.emplace_back(square, other->number);
    }
    std::ranges::sort(near);
    std::vector<std::size_t> numbers;
    for (std::size_t i = 0; i < std::min<std::size_t>(near.size(), 2); ++i) numbers.push_back(near[i].second);
    return numbers;
  }
  [[nodiscard]] double width_m() const { return width_m_[0]; }

 private:
  struct Place {
    std::array<double, 3> at;
    std::size_t number;
  };
  [[nodiscard]] std::array<double, 3> in_widths(const std::array<float, 3>& place) const {
    std::array<double, 3> at{};
    for (std::size_t axis = 0; axis < 3; ++axis) at[axis] = static_cast<double>(place[axis]) / width_m_[axis];
    return at;
  }

  std::array<double, 3> width_m_;
  std::vector<Place> places_;
};

}  // namespace

std::vector<float> read_measured_spots(const std::string& path, std::int64_t count) {
  const auto text = io::read_bytes(path);
  io::require_text(path, std::string_view(text).substr(0, 512));
  auto values = is_json(text) ? read_measured_json(text.substr(text.find_first_of("[{")), path)
                              : read_measured_table(io::TableText(text, path).get(), path);
  if (std::ssize(values) != count) {
    throw_io(path, fmt::format("{} measured intensities, one a spot", count), fmt::format("{}", values.size()));
  }
  return values;
}

std::vector<float> read_measured_light(const std::string& path, const SpotList& spots, const SpotOptions& options,
                                       double unit_m, const SpotLens& lens, const CameraMap& camera) {
  const auto text = io::read_bytes(path);
  io::require_text(path, std::string_view(text).substr(0, 512));
  if (!has_places(text)) return read_measured_spots(path, std::ssize(spots.position_m));
  const auto table = spots::read_placed_values(path, value_name, unit_m, lens, camera);
  const PlaceFinder finder(spots, options);
  constexpr float none = -1;
  std::vector<float> light(spots.position_m.size(), none);
  for (std::size_t i = 0; i < table.value.size(); ++i) {
    const auto& at = table.spots.position_m[i];
    const auto found = finder.nearest(at, table.has_depths);
    if (found.empty()) {
      throw_io(path,
               fmt::format("a place within a quarter of a spot's width, {}, of a spot of the list ({})",
                           format_length(same_place * finder.width_m()), table.place[i]),
               place_text(at));
    }
    if (found.size() > 1 && !table.has_depths) {
      throw_io(
          path,
          fmt::format("a column z, as spots {} and {} have the same x and y ({})", found[0], found[1], table.place[i]),
          "none");
    }
    auto& value = light[found.front()];
    if (value != none) throw_io(path, fmt::format("one row of spot {} ({})", found.front(), table.place[i]), "another");
    value = table.value[i];
  }
  const auto missing = std::ranges::find(light, none);
  if (missing == light.end()) return light;
  const auto m = static_cast<std::size_t>(missing - light.begin());
  throw_io(path, fmt::format("a row of spot {} at {}", m, place_text(spots.position_m[m])), "none");
}

std::vector<std::string> measured_notes(const std::string& path) {
  const auto bytes = io::read_bytes(path);
  io::require_text(path, std::string_view(bytes).substr(0, 512));
  if (is_json(bytes)) return {};
  const io::TableText text(bytes, path);
  const auto words = first_words(text.get());
  double number = 0;
  if (words.empty() || io::parse_number(words.front(), number)) return {};
  const auto id = find_id(words, path);
  const bool are_placed = has_places(text.get());
  std::vector<std::string> ignored;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool is_place = are_placed && spots::parse_column(words[i]).quantity != spots::Quantity::unknown;
    if (is_place || i == id || spots::split_column(words[i]).name == value_name) continue;
    ignored.push_back(words[i].empty() ? "''" : io::in_quotes(words[i]));
  }
  if (ignored.empty()) return {};
  return {fmt::format("{}: ignored: {}", path, fmt::join(ignored, ", "))};
}

}  // namespace holotone
