// Sources: TIFF 6.0 and its supplements; the registered compressions as in libtiff's tiff.h; BITMAPINFOHEADER.
#include <algorithm>
#include <fmt/format.h>
#include <holotone/io/images/tag_words_detail.hpp>
#include <span>
#include <string_view>

namespace holotone::io {
namespace {

struct Word {
  std::uint32_t value;
  std::string_view text;
};

constexpr Word photometrics[] = {
    {0, "grey, 0 is white"},
    {1, "grey, 0 is black"},
    {2, "RGB"},
    {3, "palette"},
    {4, "a mask"},
    {5, "CMYK"},
    {6, "YCbCr"},
    {8, "CIE L*a*b*"},
    {9, "ICC L*a*b*"},
    {10, "ITU L*a*b*"},
    {32803, "a colour filter array (raw)"},
    {32844, "LogL"},
    {32845, "LogLuv"},
    {34892, "linear raw"},
};
constexpr Word sample_formats[] = {
    {1, "unsigned integers"}, {2, "signed integers"},  {3, "floats"},
    {4, "undefined"},         {5, "complex integers"}, {6, "complex floats"},
};
constexpr Word tiff_compressions[] = {
    {1, "none"},
    {2, "CCITT RLE"},
    {3, "CCITT fax group 3"},
    {4, "CCITT fax group 4"},
    {5, "LZW"},
    {6, "old JPEG"},
    {7, "JPEG"},
    {8, "deflate"},
    {9, "JBIG"},
    {10, "JBIG"},
    {32766, "NeXT"},
    {32771, "CCITT RLEW"},
    {32773, "PackBits"},
    {32809, "ThunderScan"},
    {32908, "Pixar film"},
    {32909, "Pixar log"},
    {32946, "deflate"},
    {33003, "JPEG 2000"},
    {33004, "JPEG 2000"},
    {33005, "JPEG 2000"},
    {34661, "JBIG"},
    {34676, "SGI LogLuv"},
    {34677, "SGI LogLuv"},
    {34712, "JPEG 2000"},
    {34887, "LERC"},
    {34892, "lossy JPEG"},
    {34925, "LZMA"},
    {34926, "Zstandard"},
    {34927, "WebP"},
    {50000, "Zstandard"},
    {50001, "WebP"},
    {50002, "JPEG XL"},
    {52546, "JPEG XL"},
};
constexpr Word bmp_compressions[] = {
    {0, "none"},
    {1, "run-length coding of 8 bits"},
    {2, "run-length coding of 4 bits"},
    {3, "colour masks"},
    {4, "JPEG"},
    {5, "PNG"},
    {6, "colour and alpha masks"},
};

std::string describe(std::span<const Word> words, std::string_view tag, std::uint32_t value) {
  const auto known = std::ranges::find(words, value, &Word::value);
  return fmt::format("{} ({} {})", known == words.end() ? "an unknown one" : known->text, tag, value);
}

}  // namespace

std::string describe_photometric(unsigned value) { return describe(photometrics, "PhotometricInterpretation", value); }

std::string describe_sample_format(unsigned value) { return describe(sample_formats, "SampleFormat", value); }

std::string describe_tiff_compression(unsigned value) { return describe(tiff_compressions, "compression", value); }

std::string describe_bmp_compression(std::uint32_t value) { return describe(bmp_compressions, "compression", value); }

}  // namespace holotone::io
