#pragma once
// Not for users. Rows of numbers under named columns, from CSV or JSON.
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace holotone {

struct NamedRow {
  std::vector<std::optional<double>> value;  ///< one for each name
  std::vector<std::string> unit;             ///< as it is written behind the name
  std::uint64_t number = 0;                  ///< of the line, or of the row in JSON

  [[nodiscard]] std::string place() const;
  bool is_json = false;
};

/// Calls `use` for every row of a file. CSV has columns such as x, x_um, "x [um]" in any order, or without names in the
/// order `unnamed` of them; JSON is a list of objects or of arrays, alone or as `list` beside a "unit". `set_unit` gets
/// that, or the unit of lengths that a comment of a CSV states. Throws io naming file and line.
void read_named_rows(const std::string& path, std::span<const std::string_view> names,
                     std::span<const std::size_t> unnamed, std::string_view list,
                     const std::function<void(const std::string&)>& set_unit,
                     const std::function<void(const NamedRow&)>& use);

/// Seconds in a unit of time, s, ms, us or min; 0 for another text.
double seconds_in(std::string_view unit);

}  // namespace holotone
