#pragma once
// Parallel loop over rows for this module's CPU code. Not for users.
#include <algorithm>
#include <holotone/core/parallel.hpp>

namespace holotone {

/// Calls body(first, last) for blocks of rows on all threads. Up to 2^16 elements, all rows run in the calling thread:
/// starting threads costs more than it saves. `row_length`: elements per row.
template <class Body>
void parallel_rows(std::int64_t rows, std::int64_t row_length, const Body& body) {
  constexpr std::int64_t little = std::int64_t{1} << 16;
  constexpr std::int64_t at_once = 8;  // enough rows to share scratch memory, few enough to balance
  if (rows * row_length <= little) {
    if (rows > 0) body(std::int64_t{0}, rows);
    return;
  }
  parallel_for(0, (rows + at_once - 1) / at_once,
               [&](std::int64_t block) { body(block * at_once, std::min(rows, (block + 1) * at_once)); });
}

}  // namespace holotone
