#pragma once
// Loops over the rows of pictures that may be small. Not for users.
#include <cstdint>
#include <holotone/core/array.hpp>
#include <holotone/core/parallel.hpp>

namespace holotone::io {

/// Calls body(row) for each row of a picture, on all CPU threads if it has more than `small` elements: below, a second
/// thread does not pay.
template <class Body>
void for_each_row(const Shape<3>& shape, std::int64_t small, const Body& body) {
  if (element_count(shape) > small) return parallel_for(0, shape[0], body);
  for (std::int64_t row = 0; row < shape[0]; ++row) body(row);
}

}  // namespace holotone::io
