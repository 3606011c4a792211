#include <holotone/io/images/tiff/tiff_facts_detail.hpp>

#if HOLOTONE_TIFF
#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <holotone/io/images/pixel_aspect_detail.hpp>
#include <holotone/io/images/tiff/tiff_exif_detail.hpp>
#include <holotone/io/images/tiff/tiff_gdal_detail.hpp>
#include <string>
#include <vector>

namespace holotone::io {
namespace {

std::string find_profile(TIFF* file) {
  std::uint32_t count = 0;
  void* data = nullptr;
  if (TIFFGetField(file, TIFFTAG_ICCPROFILE, &count, &data) != 1 || data == nullptr) return {};
  return {static_cast<const char*>(data), count};
}

/// A curve of 2^bits values; of 16 bits every sixteenth, since Little CMS takes at most 65530.
std::vector<std::uint16_t> curve_of(const std::uint16_t* values, unsigned bits) {
  const std::size_t last = (std::size_t{1} << bits) - 1;
  const std::size_t steps = bits == 16 ? 4095 : last;
  std::vector<std::uint16_t> curve;
  for (std::size_t i = 0; i <= steps; ++i) curve.push_back(values[i * last / steps]);
  return curve;
}

std::vector<std::vector<std::uint16_t>> curves_of(TIFF* file) {
  std::uint16_t bits = 1;
  std::uint16_t samples = 1;
  std::uint16_t* values[3] = {};
  TIFFGetFieldDefaulted(file, TIFFTAG_BITSPERSAMPLE, &bits);
  TIFFGetFieldDefaulted(file, TIFFTAG_SAMPLESPERPIXEL, &samples);
  if ((bits != 8 && bits != 16) ||
      TIFFGetField(file, TIFFTAG_TRANSFERFUNCTION, &values[0], &values[1], &values[2]) != 1) {
    return {};
  }
  std::vector<std::vector<std::uint16_t>> curves;
  for (const auto* channel : values) {
    if (channel != nullptr) curves.push_back(curve_of(channel, bits));
  }
  if (curves.size() != 3) curves.resize(std::min<std::size_t>(curves.size(), 1));
  return curves;
}

/// NewSubfileType, or SubfileType of old files in its bits.
std::uint32_t find_kind(TIFF* file) {
  std::uint32_t kind = 0;
  std::uint16_t old = 0;
  if (TIFFGetField(file, TIFFTAG_SUBFILETYPE, &kind) == 1) return kind;
  return TIFFGetField(file, TIFFTAG_OSUBFILETYPE, &old) == 1 && old == OFILETYPE_REDUCEDIMAGE ? FILETYPE_REDUCEDIMAGE
                                                                                              : 0;
}

/// True for a picture that states to be neither a reduced copy nor a mask.
bool is_full(TIFF* file) {
  std::uint32_t kind = 0;
  return TIFFGetField(file, TIFFTAG_SUBFILETYPE, &kind) == 1 && (kind & (FILETYPE_REDUCEDIMAGE | FILETYPE_MASK)) == 0;
}

std::uint64_t count_pixels(TIFF* file) {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  TIFFGetField(file, TIFFTAG_IMAGEWIDTH, &width);
  TIFFGetField(file, TIFFTAG_IMAGELENGTH, &height);
  return std::uint64_t{width} * height;
}

}  // namespace

ColourClaim tiff_colours(const TiffInput& input) {
  TIFF* const file = input.get();
  ColourClaim claim{.profile = find_profile(file), .name = "TransferFunction"};
  if (!claim.profile.empty()) return claim;
  std::uint16_t photometric = PHOTOMETRIC_MINISBLACK;
  TIFFGetField(file, TIFFTAG_PHOTOMETRIC, &photometric);
  claim.curves = curves_of(file);
  const float* white = nullptr;
  const float* primaries = nullptr;
  const bool has_white = TIFFGetField(file, TIFFTAG_WHITEPOINT, &white) == 1 && white != nullptr;
  const bool has_primaries = TIFFGetField(file, TIFFTAG_PRIMARYCHROMATICITIES, &primaries) == 1 && primaries != nullptr;
  if (has_primaries) {
    claim.primaries = srgb_primaries;  // with its white, unless the file states another
    for (std::size_t i = 0; i < 6; ++i) (*claim.primaries)[2 + i] = static_cast<double>(primaries[i]);
    if (has_white) {
      (*claim.primaries)[0] = static_cast<double>(white[0]);
      (*claim.primaries)[1] = static_cast<double>(white[1]);
    }
    if (claim.curves.empty()) claim.name = "PrimaryChromaticities";
  }
  const bool inks = photometric == PHOTOMETRIC_MINISWHITE || photometric == PHOTOMETRIC_PALETTE;
  if (!claim.curves.empty() && inks) return {.unsupported = "TransferFunction of inverted or palette codes"};
  return claim.curves.empty() && !claim.primaries ? tiff_exif_colours(input) : claim;
}

std::string_view tiff_xmp(TIFF* file) {
  std::uint32_t count = 0;
  const char* data = nullptr;
  if (TIFFGetField(file, TIFFTAG_XMLPACKET, &count, &data) != 1 || data == nullptr) return {};
  return {data, count};
}

void note_reference_black(TIFF* file, Image& image, std::string_view path) {
  const float* range = nullptr;
  std::uint16_t photometric = PHOTOMETRIC_MINISBLACK;
  std::uint16_t bits = 1;
  TIFFGetField(file, TIFFTAG_PHOTOMETRIC, &photometric);
  TIFFGetFieldDefaulted(file, TIFFTAG_BITSPERSAMPLE, &bits);
  const bool is_ycbcr = photometric == PHOTOMETRIC_YCBCR;
  const bool is_direct = is_ycbcr || photometric == PHOTOMETRIC_RGB || photometric == PHOTOMETRIC_MINISBLACK;
  if (!is_direct || bits > 16 || TIFFGetField(file, TIFFTAG_REFERENCEBLACKWHITE, &range) != 1 || range == nullptr) {
    return;
  }
  const auto last = static_cast<float>((1U << bits) - 1);
  const auto middle = static_cast<float>(1U << (bits - 1));
  const std::size_t channels = photometric == PHOTOMETRIC_MINISBLACK ? 1 : 3;
  for (std::size_t i = 0; i < channels; ++i) {
    const float black = is_ycbcr && i > 0 ? middle : 0;
    if (range[2 * i] == black && range[2 * i + 1] == last) continue;
    image.notes.push_back(fmt::format("{}: its ReferenceBlackWhite {:g} to {:g} is not applied to the values", path,
                                      range[2 * i], range[2 * i + 1]));
    return;
  }
}

void note_tiff_facts(TIFF* file, Image& image, std::string_view path) {
  float columns = 0;
  float rows = 0;
  if (TIFFGetField(file, TIFFTAG_XRESOLUTION, &columns) == 1 && TIFFGetField(file, TIFFTAG_YRESOLUTION, &rows) == 1) {
    if (note_pixel_aspect(image, static_cast<double>(columns), static_cast<double>(rows), path)) return;
  }
  const auto [width, height] = geographic_sides(file);
  note_pixel_aspect(image, height, width, path);  // as many columns a length as the width goes into it
}

bool is_reduced_copy(TIFF* file) { return (find_kind(file) & FILETYPE_REDUCEDIMAGE) != 0; }

bool is_transparency_mask(TIFF* file) {
  return (find_kind(file) & (FILETYPE_REDUCEDIMAGE | FILETYPE_MASK)) == FILETYPE_MASK;
}

std::vector<std::uint64_t> sub_directories(TIFF* file) {
  std::uint16_t count = 0;
  const toff_t* offsets = nullptr;
  if (TIFFGetField(file, TIFFTAG_SUBIFD, &count, &offsets) != 1 || offsets == nullptr) return {};
  constexpr std::size_t most = 64;
  return {offsets, offsets + std::min<std::size_t>(count, most)};
}

bool enter_full_picture(TIFF* file) {
  const auto directories = sub_directories(file);
  if (directories.empty()) return false;
  const toff_t first = TIFFCurrentDirOffset(file);
  std::uint64_t found_pixels = is_reduced_copy(file) ? 0 : count_pixels(file);
  toff_t largest = 0;
  for (const toff_t offset : directories) {
    if (TIFFSetSubDirectory(file, offset) != 1 || !is_full(file) || count_pixels(file) <= found_pixels) continue;
    found_pixels = count_pixels(file);
    largest = offset;
  }
  return TIFFSetSubDirectory(file, largest != 0 ? largest : first) == 1 && largest != 0;
}

}  // namespace holotone::io
#endif
