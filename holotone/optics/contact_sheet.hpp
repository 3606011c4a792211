#pragma once
#include <holotone/optics/tone.hpp>
#include <string>
#include <vector>

namespace holotone {

struct ContactSheetOptions {
  std::int64_t columns = 0;       ///< number of columns; 0: about the number of rows
  std::int64_t tile_width = 480;  ///< maximum width, pixels: wider pictures are averaged down, none is enlarged
  std::vector<std::string> captions = {};  ///< one for each picture, printable ASCII; or empty
  ToneOptions tone = {};                   ///< reference 0: default_reference of all pictures after averaging
};

/// Arranges pictures of equal shape in linear light on one 8-bit sheet, left to right and top to bottom, each above its
/// caption. All have the same tone curve. Pictures are averaged down in linear light, then tone-mapped. Host arrays. A
/// caption wider than its tile is truncated; characters that are not printable ASCII are drawn as '?'.
/// Throws invalid_argument without pictures, for unequal shapes, or if captions and pictures differ in number.
Array<std::uint8_t, 2> contact_sheet(std::span<const View<const float, 2>> intensities,
                                     const ContactSheetOptions& options = {});

/// Rows of the 5 x 7 glyph of a printable ASCII character (another: '?'), top first, bit 4 the leftmost pixel.
std::array<std::uint8_t, 7> caption_glyph(char character);

}  // namespace holotone
