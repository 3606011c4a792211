#include <algorithm>
#include <cmath>
#include <holotone/optics/contact_sheet.hpp>

namespace holotone {
namespace {

constexpr std::int64_t gap = 6;  // pixels between tiles and at the rim
constexpr std::uint8_t background_code = 24;
constexpr std::uint8_t caption_code = 224;
constexpr std::int64_t glyph_columns = 5;
constexpr std::int64_t glyph_rows = 7;
constexpr std::int64_t tile_width_per_scale = 200;  // captions scale with the tiles

struct Sheet {
  std::int64_t columns = 0;
  std::int64_t rows = 0;
  Shape<2> tile{};         ///< shape of a picture
  std::int64_t scale = 1;  ///< pixels per dot of the font
  std::int64_t strip = 0;  ///< height of the caption's strip, 0 without captions
  [[nodiscard]] Shape<2> shape() const {
    return {gap + rows * (tile[0] + strip + gap), gap + columns * (tile[1] + gap)};
  }
  [[nodiscard]] std::int64_t top(std::int64_t index) const { return gap + index / columns * (tile[0] + strip + gap); }
  [[nodiscard]] std::int64_t left(std::int64_t index) const { return gap + index % columns * (tile[1] + gap); }
};

void validate(std::span<const View<const float, 2>> intensities, const ContactSheetOptions& options) {
  if (intensities.empty()) throw_argument("contact_sheet", "intensities", "at least one picture", "none");
  for (const auto& picture : intensities) {
    if (picture.shape() != intensities[0].shape() || picture.empty()) {
      throw_argument("contact_sheet", "intensities", "pictures of one shape " + to_string<2>(intensities[0].shape()),
                     to_string<2>(picture.shape()));
    }
  }
  if (!options.captions.empty() && options.captions.size() != intensities.size()) {
    throw_argument("contact_sheet", "captions", std::to_string(intensities.size()),
                   std::to_string(options.captions.size()));
  }
  if (options.columns < 0) throw_argument("contact_sheet", "columns", ">= 0", std::to_string(options.columns));
  if (options.tile_width < 1) throw_argument("contact_sheet", "tile_width", ">= 1", std::to_string(options.tile_width));
}

Sheet plan_sheet(Shape<2> picture, std::int64_t count, const ContactSheetOptions& options) {
  Sheet sheet;
  sheet.columns = options.columns > 0 ? std::min(options.columns, count)
                                      : static_cast<std::int64_t>(std::ceil(std::sqrt(static_cast<double>(count))));
  sheet.rows = (count + sheet.columns - 1) / sheet.columns;
  sheet.tile[1] = std::min(options.tile_width, picture[1]);
  sheet.tile[0] = std::max<std::int64_t>(1, (picture[0] * sheet.tile[1] + picture[1] / 2) / picture[1]);
  sheet.scale = std::max<std::int64_t>(1, sheet.tile[1] / tile_width_per_scale);
  if (!options.captions.empty()) sheet.strip = (glyph_rows + 4) * sheet.scale;
  return sheet;
}

/// Writes text with its upper left dot at (top, left), cut before `right`.
void write_caption(View<std::uint8_t, 2> sheet, const std::string& text, std::int64_t scale, std::int64_t top,
                   std::int64_t left, std::int64_t right) {
  for (const char character : text) {
    if (left + glyph_columns * scale > right) return;
    const auto glyph = caption_glyph(character);
    for (std::int64_t y = 0; y < glyph_rows * scale; ++y) {
      for (std::int64_t x = 0; x < glyph_columns * scale; ++x) {
        const unsigned dots = glyph[static_cast<std::size_t>(y / scale)];
        if ((dots >> (glyph_columns - 1 - x / scale)) & 1U) sheet(top + y, left + x) = caption_code;
      }
    }
    left += (glyph_columns + 1) * scale;
  }
}

}  // namespace

Array<std::uint8_t, 2> contact_sheet(std::span<const View<const float, 2>> intensities,
                                     const ContactSheetOptions& options) {
  validate(intensities, options);
  const auto count = static_cast<std::int64_t>(intensities.size());
  const Sheet sheet = plan_sheet(intensities[0].shape(), count, options);
  std::vector<Array<float, 2>> tiles;
  std::vector<View<const float, 2>> views;
  for (const auto& picture : intensities) {
    tiles.push_back(area_average(picture, sheet.tile));
    views.emplace_back(tiles.back().view());
  }
  ToneOptions tone = options.tone;
  if (tone.reference == 0) tone.reference = default_reference(views);

  Array<std::uint8_t, 2> result(sheet.shape());
  std::fill_n(result.data(), result.size(), background_code);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto codes = tone_map(views[static_cast<std::size_t>(i)], tone);
    for (std::int64_t y = 0; y < sheet.tile[0]; ++y) {
      std::copy_n(&codes(y, 0), sheet.tile[1], &result(sheet.top(i) + y, sheet.left(i)));
    }
    if (sheet.strip > 0) {
      write_caption(result.view(), options.captions[static_cast<std::size_t>(i)], sheet.scale,
                    sheet.top(i) + sheet.tile[0] + 2 * sheet.scale, sheet.left(i), sheet.left(i) + sheet.tile[1]);
    }
  }
  return result;
}

}  // namespace holotone
