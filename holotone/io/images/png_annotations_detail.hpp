#pragma once
// EXIF and XMP in the text chunks of a PNG file. Not for users.
#include <string>
#include <string_view>

namespace holotone::io {

/// Blocks that text chunks hold; empty: none.
struct PngAnnotations {
  std::string exif;  ///< from its TIFF header on
  std::string xmp;
  std::string profile;  ///< ICC
  int chunks = 0;       ///< that were unpacked
};

/// Takes up a chunk tEXt, zTXt or iTXt: "Raw profile type exif", "APP1", "xmp", "icc" and "icm" of ImageMagick in
/// hexadecimal, and "XML:com.adobe.xmp". Damaged ones, and all but the first of each kind, are left out (of ICC taken
/// as a damaged profile); text is cut at 256 KiB.
void take_annotation(std::string_view type, std::string_view data, PngAnnotations& annotations);

}  // namespace holotone::io
