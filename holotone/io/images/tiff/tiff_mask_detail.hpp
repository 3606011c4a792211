#pragma once
// Transparency masks of TIFF files (TIFF 6.0, NewSubfileType), as GDAL writes them. Empty if HOLOTONE_TIFF is off.
// Not for users.
#include <holotone/io/images/tiff/tiff_input_detail.hpp>
#if HOLOTONE_TIFF
#include <cstdint>
#include <holotone/core/array.hpp>
#include <holotone/io/images/image.hpp>

namespace holotone::io {

/// A mask {ny, nx, 1} of the directory that `input` is at, 0 (transparent) to `opaque`.
struct TransparencyMask {
  Array<std::uint8_t, 3> codes;
  int opaque = 1;
};

/// Reads the mask. Throws io for another kind of samples, and for damaged ones.
TransparencyMask read_tiff_mask(const TiffInput& input);

/// Multiplies alpha, which is added to an opaque image, by the mask of the image's shape; a mask without transparent
/// pixels changes nothing.
void apply_mask(Image& image, const TransparencyMask& mask);

}  // namespace holotone::io
#endif
