#pragma once
#include <cstdint>
#include <vector>

namespace holotone {

/// Dots on a page: output of halftoning, input of printers and metrics.
///
/// Lengths are in pixels of the source picture. x runs right from its left edge, y DOWN from its top edge. Pixel (row,
/// col) covers [col, col + 1) x [row, row + 1); the page is [0, width] x [0, height]. `radius` and `colour_class` are
/// empty (all dots equal) or have one entry for each dot.
struct Dots {
  double width = 0;                        ///< width of the page, pixels
  double height = 0;                       ///< height of the page, pixels
  std::vector<float> position;             ///< x, y of each dot, interleaved
  std::vector<float> radius;               ///< radius of each dot, pixels
  std::vector<std::uint8_t> colour_class;  ///< index of each dot's ink
  double pixel_m = 0;                      ///< side of a pixel in metres, 0 if unknown

  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(position.size() / 2); }
};

}  // namespace holotone
