#pragma once
#include <cstdint>
#include <holotone/core/array.hpp>

namespace holotone {

struct SmoeCodes {
  int bits = 8;              ///< bits of a code: 1 to those of its type
  bool linear = false;       ///< colours are linear light: converted to sRGB, except alpha (channel 2 of 2, 4 of 4)
  bool whole_range = false;  ///< codes of fewer bits are scaled to the range of their type: white is its maximum
};

/// Converts pictures to code values: floor(c (2^bits - 1) + 1/2) for colours c clamped to 0 and 1; NaN becomes 0.
///
/// `colours`: {pictures, ny, nx, channels}. `codes`: the same, or four channels for textures, with grey repeated three
/// times and pictures without alpha opaque. Both on the queue's device. Throws invalid_argument. Cost O(pixels).
/// Source of sRGB: IEC 61966-2-1, 1999.
void smoe_codes(View<const float, 4> colours, View<std::uint8_t, 4> codes, const SmoeCodes& options = {},
                const Queue& queue = {});
void smoe_codes(View<const float, 4> colours, View<std::uint16_t, 4> codes, const SmoeCodes& options,
                const Queue& queue = {});

}  // namespace holotone
