#pragma once
#include <cstdint>
#include <string_view>

namespace holotone {

/// A part of a panel: rows first_row to first_row + rows - 1, counted from the panel's top.
struct RowRange {
  std::int64_t first_row = 0;
  std::int64_t rows = 0;
  [[nodiscard]] std::int64_t end() const { return first_row + rows; }
  friend bool operator==(const RowRange&, const RowRange&) = default;
};

/// Throws invalid_argument, naming `part`, unless it has at least one row and lies within rows 0 to all_rows - 1.
void require_rows(std::string_view where, const RowRange& part, std::int64_t all_rows);

}  // namespace holotone
