#pragma once
// The tags of a TIFF directory that say how its pixels are stored. Empty if HOLOTONE_TIFF is off. Not for users.
#if HOLOTONE_TIFF
#include <cstdint>
#include <holotone/io/images/image.hpp>
#include <string_view>
#include <tiffio.h>

namespace holotone::io {

enum class TiffSamples : std::uint8_t { codes, codes16, floats };

/// How the pixels of a directory are stored.
struct TiffTags {
  std::uint64_t nx = 0;
  std::uint64_t ny = 0;
  std::uint16_t bits = 1;
  std::uint16_t samples = 1;
  std::uint16_t format = SAMPLEFORMAT_UINT;
  std::uint16_t planar = PLANARCONFIG_CONTIG;
  std::uint16_t compression = COMPRESSION_NONE;
  std::uint16_t orientation = ORIENTATION_TOPLEFT;
  std::uint16_t photometric = PHOTOMETRIC_MINISBLACK;
  TiffSamples kind = TiffSamples::codes;

  [[nodiscard]] bool is_cmyk() const { return photometric == PHOTOMETRIC_SEPARATED; }
  [[nodiscard]] std::uint64_t element_bytes() const {
    return kind == TiffSamples::floats ? 4 : kind == TiffSamples::codes16 ? 2 : 1;
  }
  [[nodiscard]] bool is_jpeg() const { return compression == COMPRESSION_JPEG || compression == COMPRESSION_OJPEG; }
};

/// Reads the tags; colours of JPEG become RGB. Throws io for pixels that are not read, by name.
TiffTags read_tiff_tags(TIFF* file, std::string_view path);

/// The same of a transparency mask, whose samples of 0 are transparent. Throws io for others than one sample of 1 or 8
/// bits.
TiffTags read_tiff_mask_tags(TIFF* file, std::string_view path);

/// Throws io unless elements of `element_bytes` are at most `most` bytes that `file_bytes` of the file can hold.
void check_tiff_extents(const TiffTags& tags, std::uint64_t element_bytes, std::uint64_t file_bytes,
                        std::string_view path, std::uint64_t most = maximum_image_bytes);

}  // namespace holotone::io
#endif
