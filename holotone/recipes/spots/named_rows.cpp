#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <holotone/core/error.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/table_text_detail.hpp>
#include <holotone/io/text_reader_detail.hpp>
#include <holotone/recipes/spots/list_json.hpp>
#include <holotone/recipes/spots/named_rows.hpp>
#include <holotone/recipes/spots/spot_columns.hpp>

namespace holotone {
namespace {

constexpr std::uint64_t max_rows = 10'000'000;

struct Reader {
  const std::string& path;
  std::span<const std::string_view> names;
  std::span<const std::size_t> unnamed;
  const std::function<void(const std::string&)>& set_unit;
  const std::function<void(const NamedRow&)>& use;
  NamedRow row{};

  [[nodiscard]] std::size_t index(const std::string& name) const {
    return static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
  }
  [[nodiscard]] std::string expected() const { return fmt::format("columns {}", fmt::join(names, ", ")); }

  void clear() {
    row.value.assign(names.size(), {});
    row.unit.resize(names.size());
  }
  void pass() {
    if (row.number > max_rows) throw_io(path, fmt::format("at most {} rows", max_rows), "more");
    use(row);
  }

  void read_table(std::string_view text) {
    io::LineReader lines(text);
    spots::TableComments comments(path);
    std::vector<std::size_t> columns;
    clear();
    for (std::string_view line; lines.next_filled(line);) {
      line = io::trim(line);
      if (comments.take(line)) continue;
      if (columns.empty() && !comments.unit().empty()) set_unit(comments.unit());
      row.number = lines.number();
      spots::refuse_decimal_commas(line, path, row.place());
      const auto words = spots::split_line(line);
      if (columns.empty() && take_names(words, columns)) continue;
      if (words.size() != columns.size()) {
        throw_io(path, fmt::format("{} numbers ({})", columns.size(), row.place()), fmt::format("{}", words.size()));
      }
      for (std::size_t i = 0; i < words.size(); ++i) {
        double number = 0;
        if (!io::parse_number(words[i], number)) {
          const auto name = names[columns[i]];
          throw_io(path, fmt::format("a {} as {} ({})", name == "id" ? "whole number" : "number", name, row.place()),
                   io::in_quotes(words[i]));
        }
        row.value[columns[i]] = number;
      }
      pass();
    }
  }

  /// False for a line of numbers, whose columns are in the names' order.
  bool take_names(const std::vector<std::string_view>& words, std::vector<std::size_t>& columns) {
    double number = 0;
    if (io::parse_number(words.front(), number)) {
      io::refuse_labels(words, path);
      if (words.size() > unnamed.size()) {
        throw_io(path, fmt::format("{} ({})", expected(), row.place()), fmt::format("{} numbers", words.size()));
      }
      for (std::size_t i = 0; i < words.size(); ++i) columns.push_back(unnamed[i]);
      return false;
    }
    for (const auto word : words) {
      spots::refuse_logarithm(word, {}, path, row.place());
      auto [name, unit, has_unit] = spots::split_column(word);
      const auto at = index(name);
      if (at == names.size()) {
        throw_io(path, fmt::format("{}, with units such as x_um ({})", expected(), row.place()), io::in_quotes(word));
      }
      if (std::ranges::count(columns, at) > 0) {
        throw_io(path, fmt::format("one column {} ({})", name, row.place()), "2");
      }
      columns.push_back(at);
      row.unit[at] = std::move(unit);
    }
    return true;
  }

  void read_list(const nlohmann::json& list) {
    row.is_json = true;
    for (const auto& one : list) {
      clear();
      std::ranges::fill(row.unit, std::string());
      const auto set = [&](std::size_t at, const nlohmann::json& value) {
        if (at >= names.size() || !value.is_number() || row.value[at]) {
          throw_io(path, fmt::format("numbers {}, each once ({})", fmt::join(names, ", "), row.place()), value.dump());
        }
        row.value[at] = value.get<double>();
      };
      if (one.is_array()) {
        for (std::size_t i = 0; i < one.size(); ++i) set(i < unnamed.size() ? unnamed[i] : names.size(), one[i]);
      } else if (one.is_object()) {
        for (const auto& [key, value] : one.items()) {
          spots::refuse_logarithm(key, {}, path, row.place());
          auto [name, unit, has_unit] = spots::split_column(key);
          const auto at = index(name);
          if (at == names.size()) throw_io(path, fmt::format("{} ({})", expected(), row.place()), io::in_quotes(key));
          set(at, value);
          row.unit[at] = std::move(unit);
        }
      } else {
        throw_io(path, fmt::format("an object or a list of numbers ({})", row.place()), "another value");
      }
      pass();
      ++row.number;
    }
  }
};

}  // namespace

std::string NamedRow::place() const { return fmt::format("{} {}", is_json ? "row" : "line", number); }

void read_named_rows(const std::string& path, std::span<const std::string_view> names,
                     std::span<const std::size_t> unnamed, std::string_view list,
                     const std::function<void(const std::string&)>& set_unit,
                     const std::function<void(const NamedRow&)>& use) {
  const auto text = io::read_bytes(path);
  io::require_text(path, std::string_view(text).substr(0, 512));
  Reader reader{path, names, unnamed, set_unit, use};
  const auto first = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  if (first == std::string::npos || (text[first] != '{' && text[first] != '[')) {
    return reader.read_table(io::TableText(text, path).get());
  }
  using nlohmann::json;
  const json root = spots::parse_json(std::string_view(text).substr(first), path);
  const json* rows = &root;
  if (root.is_object()) {
    if (!root.contains(list)) throw_io(path, fmt::format("a list \"{}\"", list), "an object without it");
    rows = &root[std::string(list)];
    for (const auto& [key, value] : root.items()) {
      if (key == list) continue;
      if (key != "unit" || !value.is_string()) {
        throw_io(path, fmt::format("\"{}\" and a \"unit\" such as \"um\"", list), io::in_quotes(key));
      }
      set_unit(value.get<std::string>());
    }
  }
  if (!rows->is_array()) throw_io(path, fmt::format("a list \"{}\"", list), "another value");
  reader.read_list(*rows);
}

double seconds_in(std::string_view unit) {
  if (unit == "s") return 1;
  if (unit == "ms") return 1e-3;
  if (unit == "us" || unit == "µs") return 1e-6;
  return unit == "min" ? 60 : 0;
}

}  // namespace holotone
