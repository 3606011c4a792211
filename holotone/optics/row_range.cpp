#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/optics/row_range.hpp>

namespace holotone {

void require_rows(std::string_view where, const RowRange& part, std::int64_t all_rows) {
  // Without sums, which could overflow: both numbers are still unchecked.
  if (part.rows >= 1 && part.rows <= all_rows && part.first_row >= 0 && part.first_row <= all_rows - part.rows) return;
  throw_argument(where, "part", fmt::format("1 or more rows within rows 0 to {}", all_rows - 1),
                 fmt::format("{} rows from row {}", part.rows, part.first_row));
}

}  // namespace holotone
