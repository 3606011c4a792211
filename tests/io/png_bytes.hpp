#pragma once
// PNG files of any depth and colour type, written without the library.
#include <array>
#include <cstdint>
#include <string>
#include <tests/io/png_checksums.hpp>
#include <vector>

namespace io_fixtures {

struct PngParts {
  std::uint32_t nx = 1;
  std::uint32_t ny = 1;
  int depth = 8;
  int colour_type = 0;
  bool interlaced = false;
  std::string chunks{};  ///< before the pixels
};

inline std::string big_number(std::uint32_t value) {
  std::string bytes(4, '\0');
  store_big_endian(bytes, 0, value);
  return bytes;
}

/// A zlib stream of one stored block.
inline std::string stored_stream(const std::string& data) {
  std::uint32_t a = 1;
  std::uint32_t b = 0;
  for (const char c : data) {
    a = (a + static_cast<std::uint8_t>(c)) % 65521;
    b = (b + a) % 65521;
  }
  const auto size = static_cast<std::uint16_t>(data.size());
  std::string bytes("\x78\x01\x01", 3);
  for (const auto word : {size, static_cast<std::uint16_t>(~size)}) {
    bytes += static_cast<char>(word & 0xff);
    bytes += static_cast<char>(word >> 8);
  }
  return bytes + data + big_number(b << 16 | a);
}

/// Rows of samples, packed, without a filter; every `step_x`-th sample group from `first_x` on.
inline std::string png_rows(const PngParts& png, const std::vector<int>& samples, int channels,
                            const std::array<std::uint32_t, 4>& pass) {
  const auto [first_x, first_y, step_x, step_y] = pass;
  std::string rows;
  if (first_x >= png.nx) return rows;
  for (std::uint32_t y = first_y; y < png.ny; y += step_y) {
    rows += '\0';
    int free = 0;
    for (std::uint32_t x = first_x; x < png.nx; x += step_x) {
      for (int c = 0; c < channels; ++c) {
        const int value =
            samples[(y * png.nx + x) * static_cast<std::uint32_t>(channels) + static_cast<std::uint32_t>(c)];
        if (png.depth == 16) rows += static_cast<char>(value >> 8);
        if (png.depth >= 8) {
          rows += static_cast<char>(value & 0xff);
          continue;
        }
        if (free == 0) {
          rows += '\0';
          free = 8;
        }
        free -= png.depth;
        rows.back() = static_cast<char>(rows.back() | value << free);
      }
    }
  }
  return rows;
}

inline std::string make_png(const PngParts& png, const std::vector<int>& samples) {
  static constexpr std::array<int, 7> channels_of_type = {1, 0, 3, 1, 2, 0, 4};
  static constexpr std::array<std::array<std::uint32_t, 4>, 7> passes = {
      {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}}};
  const int channels = channels_of_type[static_cast<std::size_t>(png.colour_type)];
  std::string rows;
  if (png.interlaced) {
    for (const auto& pass : passes) rows += png_rows(png, samples, channels, pass);
  } else {
    rows = png_rows(png, samples, channels, {0, 0, 1, 1});
  }
  std::string header = big_number(png.nx) + big_number(png.ny);
  for (const int byte : {png.depth, png.colour_type, 0, 0, png.interlaced ? 1 : 0}) header += static_cast<char>(byte);
  return "\x89PNG\r\n\x1a\n" + png_chunk("IHDR", header) + png.chunks + png_chunk("IDAT", stored_stream(rows)) +
         png_chunk("IEND", "");
}

/// A palette of greys.
inline std::string grey_palette(const std::vector<int>& greys) {
  std::string entries;
  for (const int grey : greys) entries += std::string(3, static_cast<char>(grey));
  return png_chunk("PLTE", entries);
}

}  // namespace io_fixtures
