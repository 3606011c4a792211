#pragma once
// Halftoning cases shared by tests and benchmarks.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <holotone/core/array.hpp>

namespace cases {

/// A picture for `dots` dots at 0.6 dots per pixel on average: a ramp, flat fields, a chequerboard and a disc on waves.
inline holotone::Array<float, 2> halftone_ink(std::int64_t dots) {
  const auto side = std::max<std::int64_t>(1, std::llround(std::sqrt(static_cast<double>(dots) / 0.6)));
  holotone::Array<float, 2> ink({side, side});
  for (std::int64_t row = 0; row < side; ++row) {
    for (std::int64_t column = 0; column < side; ++column) {
      const double x = (static_cast<double>(column) + 0.5) / static_cast<double>(side);
      const double y = (static_cast<double>(row) + 0.5) / static_cast<double>(side);
      double value = 0.15 + 0.8 * x;
      if (y >= 0.7) {
        const bool disc = std::hypot(x - 0.5, y - 0.85) < 0.12;
        value = disc ? 0.95 : x < 0.25 ? 0.3 : 0.55 + 0.25 * std::sin(40 * x * x + 20 * y);
      } else if (y >= 0.4) {
        const bool dark = ((static_cast<int>(16 * x) + static_cast<int>(16 * y)) & 1) != 0;
        value = x < 0.5 ? 0.6 : dark ? 0.9 : 0.2;
      }
      ink(row, column) = static_cast<float>(value);
    }
  }
  return ink;
}

}  // namespace cases
