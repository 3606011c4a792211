#pragma once
#include <cstdint>
#include <holotone/core/array.hpp>
#include <holotone/core/bounds.hpp>

namespace holotone {

/// What a panel shows without a hologram. A flat panel sends all light into the zeroth order, which can burn what lies
/// there; a grating spreads it to the sides.
struct SafePattern {
  /// Pixels of a period of the blazed grating along x, 2 to 256: code(x) = floor(256 (x mod period) / period). Its
  /// light goes to sin(angle) = wavelength / (period pitch). 0: the flat `level`.
  int period_px = 4;
  int level = 0;  ///< code of a flat pattern, 0 to 255
};

template <>
inline constexpr Bounds bounds_of<&SafePattern::period_px>{2, 256};  // and 0
template <>
inline constexpr Bounds bounds_of<&SafePattern::level>{0, 255};

/// Codes {ny, nx} of the pattern. Throws invalid_argument.
Array<std::uint8_t, 2> safe_pattern(const SafePattern& pattern, Shape<2> shape);

}  // namespace holotone
