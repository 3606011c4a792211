#pragma once
// What the application segments of a JPEG file state. Not for users.
#include <holotone/io/images/colour_profile_detail.hpp>
#include <holotone/io/images/image.hpp>
#include <string_view>
#include <vector>

namespace holotone::io {

/// Data of a segment APP1 to APP15.
struct JpegSegment {
  int number = 1;
  std::string_view data;
};

/// The first EXIF block; empty without one.
std::string_view jpeg_exif(const std::vector<JpegSegment>& segments);

/// XMP (Adobe, XMP specification part 3); empty without it.
std::string_view jpeg_xmp(const std::vector<JpegSegment>& segments);

/// ICC profile in numbered parts, in any order (ICC.1:2010, B.4); of one with a part missing, the parts before.
ColourClaim jpeg_profile(const std::vector<JpegSegment>& segments);

/// Adds a note of a gain map, of two views side by side (JPS), or of further pictures (CIPA DC-007, MPO) that are no
/// previews.
void note_jpeg_pictures(Image& image, const std::vector<JpegSegment>& segments, std::string_view path);

/// Adds a line of the segments that are neither known nor harmless.
void note_unknown_segments(Image& image, const std::vector<JpegSegment>& segments, std::string_view path);

}  // namespace holotone::io
