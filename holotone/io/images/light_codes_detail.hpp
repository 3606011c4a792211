#pragma once
// Colours of a picture by what it is read for: codes, light, or measured light. Not for users.
#include <holotone/io/images/colour_profile_detail.hpp>
#include <holotone/io/images/image.hpp>
#include <string_view>

namespace holotone::io {

/// make_srgb with `as_light`, make_proportional with `as_measured`; otherwise leaves the codes.
void take_colours(Image& image, const ColourClaim& claim, const ImageReadOptions& options, std::string_view path);

/// Makes codes of 16 bits that are proportional to light by the curve that the file declares: of sRGB, an exponent,
/// a table, or those of an ICC profile; a note says so. Each channel has its own light: primaries do not count. Codes
/// without a curve, or with one that is a line, stay. A profile without curves is named, as are all in builds without
/// Little CMS.
void make_proportional(Image& image, const ColourClaim& claim, std::string_view path);

}  // namespace holotone::io
