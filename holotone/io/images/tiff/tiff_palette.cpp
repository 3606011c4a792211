#include <holotone/io/images/tiff/tiff_palette_detail.hpp>

#if HOLOTONE_TIFF
#include <algorithm>
#include <holotone/core/error.hpp>

namespace holotone::io {

Palette read_tiff_palette(TIFF* file, int bits, std::string_view path) {
  std::uint16_t* red = nullptr;
  std::uint16_t* green = nullptr;
  std::uint16_t* blue = nullptr;
  if (TIFFGetField(file, TIFFTAG_COLORMAP, &red, &green, &blue) != 1) throw_io(path, "a palette", "none");
  const std::size_t count = std::size_t{1} << bits;
  const auto is_small = [count](const std::uint16_t* codes) {
    return std::all_of(codes, codes + count, [](std::uint16_t code) { return code < 256; });
  };
  // The standard requires 16 bits; old writers used 8.
  const int shift = is_small(red) && is_small(green) && is_small(blue) ? 0 : 8;
  Palette palette;
  for (std::size_t i = 0; i < count; ++i) {
    palette.push_back({static_cast<std::uint8_t>(red[i] >> shift), static_cast<std::uint8_t>(green[i] >> shift),
                       static_cast<std::uint8_t>(blue[i] >> shift)});
  }
  return palette;
}

std::vector<std::array<std::uint16_t, 3>> wide_palette(TIFF* file) {
  std::uint16_t bits = 1;
  std::uint16_t photometric = PHOTOMETRIC_MINISBLACK;
  std::uint16_t* codes[3] = {};
  TIFFGetFieldDefaulted(file, TIFFTAG_BITSPERSAMPLE, &bits);
  TIFFGetField(file, TIFFTAG_PHOTOMETRIC, &photometric);
  if (photometric != PHOTOMETRIC_PALETTE || bits > 8 ||
      TIFFGetField(file, TIFFTAG_COLORMAP, &codes[0], &codes[1], &codes[2]) != 1) {
    return {};
  }
  std::vector<std::array<std::uint16_t, 3>> palette(std::size_t{1} << bits);
  bool small = true;  // 8 bits in the low byte, as old writers have them
  bool round = true;  // 8 bits in the high byte, with or without a copy in the low one
  for (std::size_t i = 0; i < palette.size(); ++i) {
    for (std::size_t c = 0; c < 3; ++c) {
      const std::uint16_t code = palette[i][c] = codes[c][i];
      small = small && code < 256;
      round = round && ((code & 255) == 0 || (code & 255) == code >> 8);
    }
  }
  if (small || round) palette.clear();
  return palette;
}

Array<std::uint16_t, 3> expand_wide_palette(const Array<std::uint8_t, 3>& indices,
                                            const std::vector<std::array<std::uint16_t, 3>>& palette) {
  Array<std::uint16_t, 3> result({indices.shape()[0], indices.shape()[1], 3});
  std::uint16_t* target = result.data();
  for (const std::uint8_t index : indices.host()) target = std::ranges::copy(palette[index], target).out;
  return result;
}

}  // namespace holotone::io
#endif
