#pragma once
// Colours that an EXIF block states. Not for users.
#include <cstdint>
#include <holotone/io/images/colour_profile_detail.hpp>
#include <string_view>

namespace holotone::io {

/// What an EXIF block, a TIFF header and directories, says of the colours: nothing for sRGB, for a damaged block or for
/// none. ColorSpace 65535 ("uncalibrated") with the interoperability index "R03" is Adobe RGB (DCF 2.0), as is
/// ColorSpace 2 of some cameras; without the index it is a claim that is not supported.
ColourClaim exif_colours(std::string_view block);

/// The same of the numbers: ColorSpace, and the interoperability index or nothing.
ColourClaim claim_of_exif(std::uint16_t colour_space, std::string_view index);

}  // namespace holotone::io
