#pragma once
// What tags of a TIFF directory say beside its pixels. Empty if HOLOTONE_TIFF is off. Not for users.
#if HOLOTONE_TIFF
#include <cstdint>
#include <holotone/io/images/colour_profile_detail.hpp>
#include <holotone/io/images/image.hpp>
#include <holotone/io/images/tiff/tiff_input_detail.hpp>
#include <string_view>
#include <tiffio.h>
#include <vector>

namespace holotone::io {

/// The ICC profile, else TransferFunction, WhitePoint and PrimaryChromaticities (TIFF 6.0, section 20), else the EXIF
/// directory's.
ColourClaim tiff_colours(const TiffInput& input);

/// XMP (tag 700); empty without it.
std::string_view tiff_xmp(TIFF* file);

/// Adds a note of codes that are black and white by ReferenceBlackWhite (TIFF 6.0, section 20), unless these are the
/// first and the last of RGB and grey, or JPEG's of YCbCr.
void note_reference_black(TIFF* file, Image& image, std::string_view path);

/// Adds a note of pixels that are not square, by the resolution or by GeoTIFF.
void note_tiff_facts(TIFF* file, Image& image, std::string_view path);

/// True for a reduced copy of another picture (NewSubfileType, bit 0).
bool is_reduced_copy(TIFF* file);

/// True for a mask of another picture's transparency (NewSubfileType, bit 2), not of a reduced copy.
bool is_transparency_mask(TIFF* file);

/// Offsets of the directories in SubIFDs, at most 64.
std::vector<std::uint64_t> sub_directories(TIFF* file);

/// Goes from a page that is a reduced copy, or smaller, to the largest picture of full resolution (NewSubfileType 0) in
/// its SubIFDs, where a camera's raw file has it. True if there is one.
bool enter_full_picture(TIFF* file);

}  // namespace holotone::io
#endif
