#pragma once
// Palettes of TIFF files (TIFF 6.0, ColorMap). Empty if HOLOTONE_TIFF is off. Not for users.
#if HOLOTONE_TIFF
#include <array>
#include <cstdint>
#include <holotone/core/array.hpp>
#include <holotone/io/images/image_formats_detail.hpp>
#include <string_view>
#include <tiffio.h>
#include <vector>

namespace holotone::io {

/// The palette of indices of `bits` bits, 8 bits a colour. Throws io without one.
Palette read_tiff_palette(TIFF* file, int bits, std::string_view path);

/// Colours of a palette that 8 bits a channel would round; empty for others.
std::vector<std::array<std::uint16_t, 3>> wide_palette(TIFF* file);

/// Colours {ny, nx, 3} of indices {ny, nx, 1}, each below the palette's size.
Array<std::uint16_t, 3> expand_wide_palette(const Array<std::uint8_t, 3>& indices,
                                            const std::vector<std::array<std::uint16_t, 3>>& palette);

}  // namespace holotone::io
#endif
