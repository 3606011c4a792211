#include <holotone/io/images/tiff/tiff_samples_detail.hpp>

#if HOLOTONE_TIFF
#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/io/images/image_formats_detail.hpp>
#include <limits>
#include <type_traits>
#include <vector>

namespace holotone::io {
namespace {

constexpr std::uint64_t largest_block_slack = std::uint64_t{1} << 24;

/// The number of an IEEE 754 half: sign, 5 bits of exponent, 10 of fraction.
float float_of_half(std::uint16_t half) {
  const int exponent = half >> 10 & 31;
  const int fraction = half & 1023;
  const float size = exponent == 31  ? (fraction == 0 ? std::numeric_limits<float>::infinity()
                                                      : std::numeric_limits<float>::quiet_NaN())
                     : exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                                     : std::ldexp(static_cast<float>(1024 + fraction), exponent - 25);
  return (half & 0x8000) != 0 ? -size : size;
}

class SampleReader {
 public:
  SampleReader(const TiffInput& input, const TiffTags& tags, TiffGaps& gaps)
      : input_(input), file_(input.get()), tags_(tags), gaps_(gaps) {}

  template <class T>
  Array<T, 3> read() {
    auto pixels = make_pixels<T>(tags_.ny, tags_.nx, tags_.samples);
    const bool tiled = TIFFIsTiled(file_) != 0;
    const bool separate = tags_.planar == PLANARCONFIG_SEPARATE && tags_.samples > 1;
    std::uint32_t tile_cols = static_cast<std::uint32_t>(tags_.nx);
    std::uint32_t tile_rows = static_cast<std::uint32_t>(tags_.ny);
    if (tiled) {
      TIFFGetField(file_, TIFFTAG_TILEWIDTH, &tile_cols);
      TIFFGetField(file_, TIFFTAG_TILELENGTH, &tile_rows);
    } else {
      TIFFGetFieldDefaulted(file_, TIFFTAG_ROWSPERSTRIP, &tile_rows);
      tile_rows = static_cast<std::uint32_t>(std::min<std::uint64_t>(tile_rows, tags_.ny));
    }
    const tmsize_t size = tiled ? TIFFTileSize(file_) : TIFFStripSize(file_);
    const tmsize_t stride = tiled ? TIFFTileRowSize(file_) : TIFFScanlineSize(file_);
    if (size <= 0 || stride <= 0 || tile_cols == 0 || tile_rows == 0) input_.fail();
    if (static_cast<std::uint64_t>(size) > 2 * pixels.bytes() + largest_block_slack) {
      throw_io(input_.path(), "strips or tiles not much larger than the image", fmt::format("{}", size));
    }
    std::vector<std::uint8_t> buffer(static_cast<std::size_t>(size));
    Block block;
    block.stride = static_cast<std::uint64_t>(stride);
    block.channels = separate ? 1 : tags_.samples;
    for (block.channel = 0; block.channel < tags_.samples; block.channel += block.channels) {
      for (block.row = 0; block.row < tags_.ny; block.row += tile_rows) {
        block.rows = std::min<std::uint64_t>(tile_rows, tags_.ny - block.row);
        for (block.col = 0; block.col < tags_.nx; block.col += tile_cols) {
          block.cols = std::min<std::uint64_t>(tile_cols, tags_.nx - block.col);
          if (decode(block, tiled, buffer)) {
            place(block, buffer, pixels);
          } else {
            fill(block, static_cast<T>(gaps_.value), pixels);
          }
        }
      }
    }
    if constexpr (std::is_integral_v<T>) {
      if (tags_.photometric == PHOTOMETRIC_MINISWHITE) invert(pixels);
    }
    return pixels;
  }

 private:
  // One block (strip or tile) of one plane, and its destination.
  struct Block {
    std::uint64_t row = 0;
    std::uint64_t col = 0;
    std::uint64_t rows = 0;
    std::uint64_t cols = 0;
    std::uint64_t stride = 0;   // bytes of a row of the block
    std::uint64_t channel = 0;  // first channel
    std::uint64_t channels = 1;
  };

  /// False for a block that the file does not hold.
  [[nodiscard]] bool decode(const Block& block, bool tiled, std::vector<std::uint8_t>& buffer) {
    const auto row = static_cast<std::uint32_t>(block.row);
    const auto plane = static_cast<std::uint16_t>(block.channel);
    const auto size = static_cast<tmsize_t>(buffer.size());
    const auto index = tiled ? TIFFComputeTile(file_, static_cast<std::uint32_t>(block.col), row, 0, plane)
                             : TIFFComputeStrip(file_, row, plane);
    if (TIFFGetStrileOffset(file_, index) == 0) {
      if (TIFFGetStrileByteCount(file_, index) != 0)
        throw_io(input_.path(), "strips and tiles behind the header", "offset 0");
      ++gaps_.count;
      return false;
    }
    const tmsize_t got = tiled ? TIFFReadEncodedTile(file_, index, buffer.data(), size)
                               : TIFFReadEncodedStrip(file_, index, buffer.data(), size);
    if (got < 0) input_.fail();
    const std::uint64_t needed = block.stride * block.rows;
    if (static_cast<std::uint64_t>(got) < needed) {
      throw_io(input_.path(), fmt::format("{} bytes in the block at row {}", needed, block.row),
               fmt::format("{}", got));
    }
    return true;
  }

  template <class T>
  void fill(const Block& block, T value, Array<T, 3>& pixels) const {
    for (std::uint64_t r = 0; r < block.rows; ++r) {
      for (std::uint64_t c = 0; c < block.cols; ++c) {
        T* target = pixels.data() + ((block.row + r) * tags_.nx + block.col + c) * tags_.samples + block.channel;
        std::fill_n(target, block.channels, value);
      }
    }
  }

  template <class T>
  void place(const Block& block, const std::vector<std::uint8_t>& buffer, Array<T, 3>& pixels) const {
    if ((block.cols * block.channels * tags_.bits + 7) / 8 > block.stride) input_.fail();
    for (std::uint64_t r = 0; r < block.rows; ++r) {
      const std::uint8_t* source = buffer.data() + r * block.stride;
      for (std::uint64_t c = 0; c < block.cols; ++c) {
        T* target = pixels.data() + ((block.row + r) * tags_.nx + block.col + c) * tags_.samples + block.channel;
        for (std::uint64_t k = 0; k < block.channels; ++k) target[k] = sample<T>(source, c * block.channels + k);
      }
    }
  }

  template <class T>
  [[nodiscard]] T sample(const std::uint8_t* row, std::uint64_t index) const {
    if constexpr (std::is_same_v<T, std::uint8_t>) {
      if (tags_.bits == 8) return row[index];
      const std::uint64_t bit = index * tags_.bits;
      return static_cast<std::uint8_t>((row[bit / 8] >> (8 - tags_.bits - bit % 8)) & ((1u << tags_.bits) - 1));
    } else if constexpr (std::is_same_v<T, float>) {
      if (tags_.bits == 16) {
        std::uint16_t half = 0;
        std::memcpy(&half, row + 2 * index, 2);
        return float_of_half(half);
      }
      if (tags_.bits == 64) {
        double value = 0;
        std::memcpy(&value, row + 8 * index, 8);
        return static_cast<float>(value);
      }
    }
    T value;
    std::memcpy(&value, row + sizeof(T) * index, sizeof(T));
    return value;
  }

  template <class T>
  void invert(Array<T, 3>& pixels) const {
    const auto most = static_cast<T>((1U << tags_.bits) - 1);
    T* code = pixels.data();
    for (std::int64_t i = 0; i < pixels.size(); i += tags_.samples)
      code[i] = static_cast<T>(most - code[i]);  // not alpha
  }

  const TiffInput& input_;
  TIFF* file_;
  const TiffTags& tags_;
  TiffGaps& gaps_;
};

}  // namespace

template <class T>
Array<T, 3> read_tiff_samples(const TiffInput& input, const TiffTags& tags, TiffGaps& gaps) {
  return SampleReader(input, tags, gaps).read<T>();
}

template Array<std::uint8_t, 3> read_tiff_samples(const TiffInput&, const TiffTags&, TiffGaps&);
template Array<std::uint16_t, 3> read_tiff_samples(const TiffInput&, const TiffTags&, TiffGaps&);
template Array<float, 3> read_tiff_samples(const TiffInput&, const TiffTags&, TiffGaps&);

}  // namespace holotone::io
#endif
