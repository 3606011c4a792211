#pragma once
#include <cstdint>
#include <holotone/core/dots.hpp>

namespace holotone::cli {

/// Pixels that touch along a side: of those that were taken for dots or, where these are more than half, of the others.
/// In the dark, dots of a pixel touch as well, and the gaps between them are pixels.
struct Clumps {
  bool gaps = false;  ///< of the others
  std::int64_t count = 0;
  std::int64_t median = 0;  ///< pixels
  std::int64_t large = 0;   ///< with more than four times the median
  /// Whether these are discs or enlarged pixels rather than dots.
  [[nodiscard]] bool found() const { return median >= 4; }
};

/// `dots` as read_dots reads them from a picture: at pixels' centres, row by row. Cost O(dots), or
/// O(pixels) where dots are more than half.
Clumps clumps_of(const Dots& dots);

}  // namespace holotone::cli
