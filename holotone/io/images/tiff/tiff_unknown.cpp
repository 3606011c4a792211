#include <holotone/io/images/tiff/tiff_unknown_detail.hpp>

#if HOLOTONE_TIFF
#include <algorithm>
#include <cctype>
#include <cmath>
#include <fmt/format.h>
#include <holotone/io/images/pixel_aspect_detail.hpp>
#include <holotone/io/images/tiff/tiff_exif_detail.hpp>
#include <holotone/io/images/tiff/tiff_lists_detail.hpp>
#include <holotone/io/metadata_text_detail.hpp>
#include <holotone/io/name_list_detail.hpp>
#include <holotone/io/stated_numbers_detail.hpp>
#include <holotone/io/text_reader_detail.hpp>
#include <optional>
#include <string>
#include <vector>

namespace holotone::io {
namespace {

/// First and last number of tags that are followed or named elsewhere, or do not change what pixels mean.
struct Tags {
  std::uint16_t first;
  std::uint16_t last;
};
constexpr Tags known_tags[] = {
    {254, 290},      // TIFF 6.0: structure, text, dates, resolution
    {292, 559},      // TIFF 6.0 and its supplements, JPEG, YCbCr, ReferenceBlackWhite
    {700, 700},      // XMP
    {18246, 18249},  // ratings
    {20480, 20999},  // GDI+: thumbnails, formats of text
    {32781, 32781},  // ImageID
    {32931, 32932},  // Wang annotations, and JPK
    {32953, 33306},  // Island, Matteing, DataType, ImageDepth, Pixar
    {33405, 33444},  // serial numbers, copyright, EXIF
    {33447, 33452},  // laboratories of gels: names and dates
    {33550, 33550},  // GeoTIFF
    {33628, 33631},  // MetaMorph
    {33723, 34032},  // IPTC, Intergraph, IT8
    {34118, 34118},  // Zeiss SEM
    {34232, 34232},  // list of strips of an image's slices
    {34263, 34264},  // GeoTIFF
    {34361, 34412},  // FluoView, Photoshop, Zeiss LSM
    {34665, 34687},  // EXIF, ICC, FEI
    {34732, 34929},  // GeoTIFF, layers, GPS, EXIF, fax
    {36864, 37438},  // EXIF
    {37440, 42037},  // EXIF, Windows' text
    {42080, 42113},  // EXIF, GDAL
    {42240, 42240},  // EXIF
    {43314, 43314},  // NIH Image
    {44992, 48132},  // thumbnails of phones, HD Photo
    {50215, 50679},  // Oce, PrintIM, LERC
    {50706, 51182},  // DNG, ImageJ, GeoTIFF of ESRI, Micro-Manager
    {52525, 52557},  // DNG
    {59932, 59933},  // padding
    {65420, 65462},  // Hamamatsu NDPI
};

constexpr std::uint16_t grey_response_curve = 291;

/// Width and height of the canvas that a cropped picture lies on, as Pixar and panorama programs write it.
constexpr std::uint32_t full_width = 33300;
constexpr std::uint32_t full_height = 33301;

/// JPK: a factor and an addend of each slot, of which the first is the default.
constexpr std::uint32_t jpk_scale = 32932;
constexpr std::uint32_t jpk_offset = 32933;
constexpr Tags of_jpk{32768, 33920};
constexpr Tags of_gatan{65000, 65030};
constexpr std::uint32_t gatan_width = 65009;
constexpr std::uint32_t gatan_height = 65010;
constexpr std::uint32_t gatan_offset = 65024;
constexpr std::uint32_t gatan_scale = 65025;
constexpr std::uint32_t fei_tags[] = {34680, 34682};

bool lies_in(std::uint16_t tag, const Tags& range) { return tag >= range.first && tag <= range.last; }

std::optional<double> find_number(TIFF* file, std::uint32_t tag) {
  std::uint32_t count = 0;
  const double* numbers = nullptr;
  const float* floats = nullptr;
  if (is_tiff_list(file, tag, TIFF_DOUBLE) && TIFFGetField(file, tag, &count, &numbers) == 1 && count == 1) {
    return *numbers;
  }
  if (is_tiff_list(file, tag, TIFF_FLOAT) && TIFFGetField(file, tag, &count, &floats) == 1 && count == 1) {
    return static_cast<double>(*floats);
  }
  return std::nullopt;
}

/// The number behind "key=" at the beginning of a line of an INI file; 0 without one.
double find_ini_number(std::string_view text, std::string_view key) {
  for (auto at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
    const bool begins_line = at == 0 || text[at - 1] == '\n' || text[at - 1] == '\r';
    std::string_view rest = text.substr(at + key.size());
    double value = 0;
    if (begins_line && rest.starts_with('=') &&
        parse_number(trim(rest.substr(1, rest.find_first_of("\r\n") - 1)), value))
      return value;
  }
  return 0;
}

void note_scale(double scale, double offset, std::string_view source, Image& image, std::string_view path) {
  if (scale == 1 && offset == 0) return;
  image.notes.push_back(fmt::format("{}: its scale {:g} and offset {:g} ({}) are not applied to the values", path,
                                    scale, offset, source));
}

void note_tiff_crop(TIFF* file, Image& image, std::string_view path) {
  PictureSides picture;
  PictureSides canvas;
  if (TIFFGetField(file, full_width, &canvas.width) != 1 || TIFFGetField(file, full_height, &canvas.height) != 1)
    return;
  (void)TIFFGetField(file, TIFFTAG_IMAGEWIDTH, &picture.width);
  (void)TIFFGetField(file, TIFFTAG_IMAGELENGTH, &picture.height);
  note_crop(image, picture, canvas, path);
}

/// True if the tags are JPK's.
bool note_jpk(TIFF* file, Image& image, std::string_view path) {
  const auto scale = find_number(file, jpk_scale);
  const auto offset = find_number(file, jpk_offset);
  if (!scale && !offset) return false;
  note_scale(scale.value_or(1), offset.value_or(0), "JPK", image, path);
  return true;
}

/// True if the tags are Gatan's.
bool note_gatan(TIFF* file, Image& image, std::string_view path) {
  const auto width = find_number(file, gatan_width);
  const auto height = find_number(file, gatan_height);
  if (!width || !height) return false;
  note_pixel_aspect(image, std::abs(*height), std::abs(*width), path);  // columns a length grow as the height
  note_scale(find_number(file, gatan_scale).value_or(1), find_number(file, gatan_offset).value_or(0),
             "Gatan DigitalMicrograph", image, path);
  return true;
}

void note_fei(TIFF* file, Image& image, std::string_view path) {
  for (const auto tag : fei_tags) {
    const std::string_view text = find_tiff_text(file, tag);
    const double width = find_ini_number(text, "PixelWidth");
    const double height = find_ini_number(text, "PixelHeight");
    if (width > 0 && height > 0) note_pixel_aspect(image, 1, width / height, path);
  }
}

bool has_dialect(std::string_view description) {
  for (const std::string_view begin : {"ImageJ=", "Aperio", "SI.", "scanimage."}) {
    if (description.starts_with(begin)) return true;
  }
  constexpr std::size_t head = 1000;
  const bool is_ome =
      description.starts_with('<') && description.substr(0, head).find("<OME") != std::string_view::npos;
  return is_ome || description.starts_with(metadata_first_line);
}

}  // namespace

void note_unknown_tags(const TiffInput& input, Image& image, std::string_view path) {
  TIFF* const file = input.get();
  note_tiff_crop(file, image, path);
  const bool is_jpk = note_jpk(file, image, path);
  const bool is_gatan = note_gatan(file, image, path);
  note_fei(file, image, path);
  std::vector<std::string> unknown;
  for (const std::uint16_t tag : list_tiff_tags(input)) {
    const bool is_known = std::ranges::any_of(known_tags, [&](const Tags& range) { return lies_in(tag, range); });
    if (is_known || (is_jpk && lies_in(tag, of_jpk)) || (is_gatan && lies_in(tag, of_gatan))) continue;
    if (tag == grey_response_curve) {
      image.notes.push_back(fmt::format("{}: its GrayResponseCurve is not applied to the values", path));
    } else {
      unknown.push_back(fmt::format("{}", tag));
    }
  }
  if (!unknown.empty()) image.notes.push_back(fmt::format("{}: ignored: {}", path, list_unknown("tag", unknown)));
}

void note_text_numbers(std::string_view text, std::string_view tag, Image& image, std::string_view path) {
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  const auto found = has_dialect(text) ? std::vector<std::string>{} : list_stated_numbers(text);
  if (found.empty()) return;
  image.notes.push_back(
      fmt::format("{}: not applied to the values: {} of its {}", path, list_unknown("number", found), tag));
}

}  // namespace holotone::io
#endif
