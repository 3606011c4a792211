#pragma once
// Colours that a BMP file states. Not for users.
#include <holotone/io/images/colour_profile_detail.hpp>
#include <string_view>

namespace holotone::io {

/// What the header of a BMP file of version 4 or 5 says of the colours (BITMAPV5HEADER): an embedded ICC profile, or
/// the endpoints and gammas of LCS_CALIBRATED_RGB. Nothing for sRGB, for endpoints of 0 and in older headers. `bytes`:
/// the file.
ColourClaim bmp_colours(std::string_view bytes);

}  // namespace holotone::io
