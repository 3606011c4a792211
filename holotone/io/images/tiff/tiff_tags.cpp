#include <holotone/io/images/tiff/tiff_tags_detail.hpp>

#if HOLOTONE_TIFF
#include <algorithm>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/images/image_formats_detail.hpp>
#include <holotone/io/images/tag_words_detail.hpp>
#include <string>

namespace holotone::io {
namespace {

// Blank pages: a fax code can state a row of any length in one bit, Zstandard 128 KiB in four bytes. Compressed files
// of any kind may therefore expand to this size.
constexpr std::uint64_t repetitive_bytes = std::uint64_t{1} << 25;

// Maximum number of bytes of pixels per byte of the file.
std::uint64_t ratio_of(unsigned compression) {
  switch (compression) {
    case COMPRESSION_NONE: return 1;
    case COMPRESSION_PACKBITS: return 64;
    case COMPRESSION_LZW: return 1400;  // 3838 codes of 12 bits for 2 to 3839 equal bytes each
    case COMPRESSION_DEFLATE:
    case COMPRESSION_ADOBE_DEFLATE: return 1032;
    case COMPRESSION_JPEG:
    case COMPRESSION_OJPEG: return 2000;
    default: return 1100;
  }
}

/// Refuses what is not read.
class TagCheck {
 public:
  TagCheck(TIFF* file, const TiffTags& tags, std::string_view path) : file_(file), tags_(tags), path_(path) {}

  void check() const {
    const unsigned photometric = tags_.photometric;
    const bool grey = photometric == PHOTOMETRIC_MINISBLACK || photometric == PHOTOMETRIC_MINISWHITE;
    const bool palette = photometric == PHOTOMETRIC_PALETTE;
    require(grey || palette || photometric == PHOTOMETRIC_RGB || tags_.is_cmyk(), "grey, RGB, palette or CMYK pixels",
            describe_photometric(photometric));
    require(TIFFIsCODECConfigured(tags_.compression) == 1, "a compression that this build of libtiff decodes",
            describe_tiff_compression(tags_.compression));
    if (tags_.is_cmyk()) check_inks();
    const std::string samples = counted(tags_.samples, "sample");
    if (grey) require(tags_.samples == 1 || tags_.samples == 2, "1 or 2 samples a grey pixel", samples);
    if (palette) {
      require(tags_.samples == 1 && tags_.bits <= 8, "1 sample of at most 8 bits a palette pixel",
              fmt::format("{} of {}", samples, counted(tags_.bits, "bit")));
    }
    if (photometric == PHOTOMETRIC_RGB) {
      require(tags_.samples == 3 || tags_.samples == 4, "3 or 4 samples an RGB pixel", samples);
    }
    check_numbers();
  }

 private:
  void require(bool condition, std::string_view expected, const std::string& got) const {
    if (!condition) throw_io(path_, expected, got);
  }

  void check_numbers() const {
    const unsigned bits = tags_.bits;
    if (tags_.format == SAMPLEFORMAT_IEEEFP) {
      require(bits == 16 || bits == 32 || bits == 64, "floats of 16, 32 or 64 bits", counted(bits, "bit"));
      require(tags_.photometric != PHOTOMETRIC_MINISWHITE, "floats of which 0 is black",
              describe_photometric(tags_.photometric));
      return;
    }
    require(tags_.format == SAMPLEFORMAT_UINT || tags_.format == SAMPLEFORMAT_VOID, "unsigned integers or floats",
            describe_sample_format(tags_.format));
    require(bits == 1 || bits == 2 || bits == 4 || bits == 8 || bits == 16, "integers of 1, 2, 4, 8 or 16 bits",
            counted(bits, "bit"));
  }

  void check_inks() const {
    std::uint16_t ink_set = INKSET_CMYK;
    TIFFGetFieldDefaulted(file_, TIFFTAG_INKSET, &ink_set);
    require(ink_set == INKSET_CMYK, "inks of CMYK (InkSet 1)", fmt::format("InkSet {}", ink_set));
    require(tags_.samples == 4, "4 samples a CMYK pixel", counted(tags_.samples, "sample"));
    require(tags_.format == SAMPLEFORMAT_UINT && (tags_.bits == 8 || tags_.bits == 16), "CMYK of 8 or 16 bits",
            fmt::format("{} of {}", describe_sample_format(tags_.format), counted(tags_.bits, "bit")));
    // Writers differ in what no ink is.
    require(tags_.compression != COMPRESSION_JPEG, "CMYK that is not compressed by JPEG",
            describe_tiff_compression(tags_.compression));
    std::uint16_t none = 0;
    std::uint16_t full = 0;
    if (TIFFGetField(file_, TIFFTAG_DOTRANGE, &none, &full) != 1) return;
    require(none == 0 && full == (1U << tags_.bits) - 1, "inks from 0 to all bits (DotRange)",
            fmt::format("{} to {}", none, full));
  }

  TIFF* file_;
  const TiffTags& tags_;
  std::string_view path_;
};

/// The tags as they stand.
TiffTags take_tags(TIFF* file, std::string_view path) {
  TiffTags tags;
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  if (TIFFGetField(file, TIFFTAG_IMAGEWIDTH, &width) != 1 || TIFFGetField(file, TIFFTAG_IMAGELENGTH, &height) != 1) {
    throw_io(path, "width and height", "none");
  }
  tags.nx = width;
  tags.ny = height;
  TIFFGetFieldDefaulted(file, TIFFTAG_BITSPERSAMPLE, &tags.bits);
  TIFFGetFieldDefaulted(file, TIFFTAG_SAMPLESPERPIXEL, &tags.samples);
  TIFFGetFieldDefaulted(file, TIFFTAG_SAMPLEFORMAT, &tags.format);
  TIFFGetFieldDefaulted(file, TIFFTAG_PLANARCONFIG, &tags.planar);
  TIFFGetFieldDefaulted(file, TIFFTAG_COMPRESSION, &tags.compression);
  TIFFGetFieldDefaulted(file, TIFFTAG_ORIENTATION, &tags.orientation);
  if (TIFFGetField(file, TIFFTAG_PHOTOMETRIC, &tags.photometric) != 1) {
    tags.photometric = tags.samples >= 3 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK;
  }
  if (tags.photometric == PHOTOMETRIC_YCBCR && tags.compression == COMPRESSION_JPEG) {
    TIFFSetField(file, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);  // libjpeg converts the colours
    tags.photometric = PHOTOMETRIC_RGB;
  }
  return tags;
}

}  // namespace

TiffTags read_tiff_tags(TIFF* file, std::string_view path) {
  TiffTags tags = take_tags(file, path);
  TagCheck(file, tags, path).check();
  tags.kind = tags.format == SAMPLEFORMAT_IEEEFP ? TiffSamples::floats
              : tags.bits == 16                  ? TiffSamples::codes16
                                                 : TiffSamples::codes;
  return tags;
}

TiffTags read_tiff_mask_tags(TIFF* file, std::string_view path) {
  TiffTags tags = take_tags(file, path);
  const bool shares = tags.samples == 1 && tags.format == SAMPLEFORMAT_UINT && (tags.bits == 1 || tags.bits == 8);
  if (!shares || TIFFIsCODECConfigured(tags.compression) != 1) {
    throw_io(path, "a mask of one sample of 1 or 8 bits",
             fmt::format("{} of {}, {}", counted(tags.samples, "sample"), counted(tags.bits, "bit"),
                         describe_tiff_compression(tags.compression)));
  }
  if (tags.photometric == PHOTOMETRIC_MASK) tags.photometric = PHOTOMETRIC_MINISBLACK;
  return tags;
}

void check_tiff_extents(const TiffTags& tags, std::uint64_t element_bytes, std::uint64_t file_bytes,
                        std::string_view path, std::uint64_t most) {
  const std::uint64_t growth = std::max<std::uint64_t>(8 * element_bytes / tags.bits, 1);  // packed bits become bytes
  check_extents(tags.ny, tags.nx, tags.samples, element_bytes, file_bytes, ratio_of(tags.compression) * growth, path,
                tags.compression == COMPRESSION_NONE ? 64 : repetitive_bytes, most);
}

}  // namespace holotone::io
#endif
