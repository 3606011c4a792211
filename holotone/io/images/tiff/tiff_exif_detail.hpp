#pragma once
// The EXIF directory of a TIFF file. Empty if HOLOTONE_TIFF is off. Not for users.
#if HOLOTONE_TIFF
#include <cstdint>
#include <holotone/io/images/colour_profile_detail.hpp>
#include <holotone/io/images/tiff/tiff_input_detail.hpp>
#include <vector>

namespace holotone::io {

/// What ColorSpace and the interoperability index of the current directory's EXIF directory say, as exif_colours has
/// it; nothing without one, and for a damaged one.
ColourClaim tiff_exif_colours(const TiffInput& input);

/// Numbers of the current directory's tags, as they stand in the file.
std::vector<std::uint16_t> list_tiff_tags(const TiffInput& input);

}  // namespace holotone::io
#endif
