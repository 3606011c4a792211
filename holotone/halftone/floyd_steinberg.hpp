#pragma once
#include <algorithm>
#include <cstdint>
#include <holotone/core/array.hpp>
#include <holotone/core/dots.hpp>
#include <vector>

namespace holotone {

/// Floyd and Steinberg's error diffusion of ink to a bitmap, the classic baseline.
///
/// In serpentine order (even rows to the right, odd ones to the left) a pixel becomes 1 (a dot) if its ink plus the
/// errors it received is at least 1/2. The error goes to the next pixel (7/16) and the three below (3/16, 5/16, 1/16).
/// At borders the weights outside are redistributed to the others, so that the bitmap has the ink's sum to within 1/2.
/// float64.
///
/// `ink`: {ny, nx} in host memory, 0..1. Returns {ny, nx} of 0 and 1. Throws invalid_argument for an ink on a GPU,
/// empty, not finite or out of range. Cost: O(pixels), serial.
/// Source: R. W. Floyd and L. Steinberg, "An adaptive algorithm for spatial greyscale" (1976); serpentine: R.
/// Ulichney, Digital Halftoning (1987), 8.3.
Array<std::uint8_t, 2> floyd_steinberg(View<const float, 2> ink);

/// Places a dot at the centre of each non-zero pixel, row by row. Throws invalid_argument for a bitmap on a GPU.
Dots dots_of_bitmap(View<const std::uint8_t, 2> bitmap);

/// Recurrence of error diffusion: diffuses `value(row, col)`; `quantise(row, col, value)` returns the quantized value
/// of pixel (row, col), and the difference is passed on. Returns the remaining error of the last pixel.
template <class Value, class Quantise>
double diffuse_errors(const Shape<2>& shape, const Value& value, const Quantise& quantise) {
  const auto [ny, nx] = shape;
  // One pixel of margin on each side: a neighbour outside has weight 0.
  std::vector<double> here(static_cast<std::size_t>(nx) + 2);
  std::vector<double> below(here.size());
  double lost = 0;
  for (std::int64_t row = 0; row < ny; ++row) {
    const std::int64_t step = row % 2 == 0 ? 1 : -1;
    const std::int64_t first = step > 0 ? 0 : nx - 1;
    const bool last_row = row + 1 == ny;
    for (std::int64_t i = 0, col = first; i < nx; ++i, col += step) {
      const auto at = static_cast<std::size_t>(col) + 1;
      const auto ahead = static_cast<std::size_t>(col + 1 + step);
      const auto behind = static_cast<std::size_t>(col + 1 - step);
      const double wanted = value(row, col) + here[at];
      const double error = wanted - quantise(row, col, wanted);
      const double next = i + 1 < nx ? 7 : 0;
      const double back = !last_row && i > 0 ? 3 : 0;
      const double down = last_row ? 0 : 5;
      const double corner = !last_row && i + 1 < nx ? 1 : 0;
      const double sum = next + back + down + corner;
      if (sum == 0) {
        lost = error;
        continue;
      }
      here[ahead] += error * (next / sum);
      below[behind] += error * (back / sum);
      below[at] += error * (down / sum);
      below[ahead] += error * (corner / sum);
    }
    here.swap(below);
    std::fill(below.begin(), below.end(), 0.0);
  }
  return lost;
}

}  // namespace holotone
