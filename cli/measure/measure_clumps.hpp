#pragma once
#include <cstdint>
#include <holotone/core/dots.hpp>

namespace holotone::cli {

/// Clumps: sets of pixels that touch along a side. They consist of dot pixels or, if these are the majority, of the
/// other pixels. In dark areas single-pixel dots touch as well, and the gaps between them are the clumps.
struct Clumps {
  bool gaps = false;  ///< clumps consist of the pixels that are not dots
  std::int64_t count = 0;
  std::int64_t median = 0;  ///< pixels
  std::int64_t large = 0;   ///< number with more than four times the median
  /// True if the clumps are discs or enlarged pixels rather than dots.
  [[nodiscard]] bool found() const { return median >= 4; }
};

/// `dots` as read_dots reads them from a picture: at pixel centres, row by row. Cost O(dots), or O(pixels) if dots are
/// more than half.
Clumps clumps_of(const Dots& dots);

}  // namespace holotone::cli
