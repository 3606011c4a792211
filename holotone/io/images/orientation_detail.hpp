#pragma once
// The turns of pictures that cameras and scanners leave to the reader. Not for users.
#include <cstdint>
#include <holotone/core/array.hpp>
#include <holotone/io/images/image.hpp>
#include <string_view>

namespace holotone::io {

/// Where the first stored row and column of a picture stand when it is shown, as tag 274 numbers it (TIFF 6.0; EXIF).
enum class Orientation : std::uint8_t {
  top_left = 1,
  top_right,
  bottom_right,
  bottom_left,
  left_top,
  right_top,
  right_bottom,
  left_bottom
};

/// Returns top_left for a number outside 1 to 8.
Orientation orientation_of(std::uint32_t number);

/// Orientation of an EXIF block, which is a TIFF header and directory; top_left if there is none or it is damaged.
Orientation exif_orientation(std::string_view block);

/// Orientation of a packet of XMP, tiff:Orientation; top_left if it states none.
Orientation xmp_orientation(std::string_view packet);

/// Adds a note if XMP states an orientation that is not the one applied.
void note_xmp_orientation(Image& image, Orientation stated, Orientation applied, std::string_view path);

/// Shape of the picture as shown.
Shape<3> turned(const Shape<3>& stored, Orientation orientation);

/// Turns the pixels as they are shown; top_left costs nothing, others a second copy.
void turn(Image& image, Orientation orientation);

/// Memory that a picture's elements occupy while it is turned.
std::int64_t turning_bytes(std::int64_t element_bytes, Orientation orientation);

}  // namespace holotone::io
