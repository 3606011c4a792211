#pragma once
// Readers and writers of read_image and write_image. Not for users.
#include <algorithm>
#include <array>
#include <functional>
#include <holotone/core/error.hpp>
#include <holotone/io/images/image.hpp>
#include <holotone/io/tiff_pages_detail.hpp>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace holotone::io {

bool is_png(std::string_view bytes);
bool is_jpeg(std::string_view bytes);
bool is_bmp(std::string_view bytes);
bool is_pfm(std::string_view bytes);
bool is_exr(std::string_view bytes);

Image read_png(std::string_view bytes, std::string_view path, const ImageReadOptions& options);
Image read_tiff(std::string_view bytes, std::string_view path, const ImageReadOptions& options);
/// Reads a page of a TIFF file, FILE:PAGE, without the rest of the file.
Image read_tiff_page(const std::string& path, const ImageReadOptions& options);
Image read_jpeg(std::string_view bytes, std::string_view path, const ImageReadOptions& options);
Image read_bmp(std::string_view bytes, std::string_view path, const ImageReadOptions& options);
Image read_pfm(std::string_view bytes, std::string_view path, const ImageReadOptions& options);
Image read_exr(std::string_view bytes, const std::string& path, const ImageReadOptions& options);

/// What a picture's file says of its pixels.
struct ImageHead {
  Shape<3> shape;         ///< as that of Image
  int element_bytes = 1;  ///< 1 or 2: codes, 4: floats
  int bits = 8;           ///< as code_bits
  Metadata metadata;
  std::uint64_t pixels_end = 0;  ///< byte of the file
  std::uint64_t file_bytes = 0;
  std::vector<std::string> notes = {};
};
/// Reads a TIFF file's head alone, of any size. Throws io as read_tiff does before it reads pixels. Does not compare
/// pixels_end with the file's length.
ImageHead read_tiff_head(const std::string& path);

void write_png(const std::string& path, const Image& image, std::optional<int> compression);
/// Passes a PNG file's bytes to `sink`, part by part. Errors name `where` or `path`.
void put_png(std::string_view where, const std::string& path, const Image& image, std::optional<int> compression,
             const std::function<void(std::string_view)>& sink);
std::string write_jpeg(const Array<std::uint8_t, 3>& pixels, int quality);
void write_tiff(const std::string& path, const Image& image, int compression);
void write_bmp(const std::string& path, const Image& image);

/// Colours of pixels whose last channel is alpha, from colours times alpha; 0 where alpha is 0. `opaque`: largest code.
template <class T>
void divide_by_alpha(Array<T, 3>& pixels, std::uint64_t opaque = (std::uint64_t{1} << 8 * sizeof(T)) - 1) {
  using Wide = std::conditional_t<std::is_integral_v<T>, std::uint64_t, double>;
  const std::int64_t channels = pixels.shape()[2];
  for (std::int64_t i = 0; i < pixels.size(); i += channels) {
    T* const pixel = pixels.data() + i;
    const Wide alpha = static_cast<Wide>(pixel[channels - 1]);
    for (std::int64_t c = 0; c + 1 < channels; ++c) {
      if (alpha == 0) {
        pixel[c] = 0;
      } else if constexpr (std::is_integral_v<T>) {
        pixel[c] = static_cast<T>(std::min(opaque, (Wide{pixel[c]} * opaque + alpha / 2) / alpha));
      } else {
        pixel[c] = static_cast<T>(static_cast<Wide>(pixel[c]) / alpha);
      }
    }
  }
}

/// Throws io unless ny x nx x channels elements of `element_bytes` are at least one, at most `most`, and
/// at most `slack` bytes plus what `available` bytes of the file can hold at compression `ratio`.
void check_extents(std::uint64_t ny, std::uint64_t nx, std::uint64_t channels, std::uint64_t element_bytes,
                   std::uint64_t available, std::uint64_t ratio, std::string_view path, std::uint64_t slack = 64,
                   std::uint64_t most = maximum_image_bytes);

/// Throws the errors of options.accept, and io unless the free memory holds the pixels and the caller's own bytes per
/// pixel.
void require_accepted(const Shape<3>& shape, std::int64_t element_bytes, const ImageReadOptions& options,
                      std::string_view path);

/// Returns uninitialised pixels. Call check_extents first.
template <class T>
Array<T, 3> make_pixels(std::uint64_t ny, std::uint64_t nx, std::uint64_t channels) {
  return Array<T, 3>(
      {static_cast<std::int64_t>(ny), static_cast<std::int64_t>(nx), static_cast<std::int64_t>(channels)});
}

/// RGB entries of a palette.
using Palette = std::vector<std::array<std::uint8_t, 3>>;

/// Replaces 8-bit pixels {ny, nx, 1} that are indices of `index_bits` bits by their colours: three channels, or one if
/// every entry is grey; opaque greys of even steps by codes of the indices' bits. With `alpha`, of the first entries
/// (the others are opaque), another channel follows. Throws io for an index outside the palette.
void expand_palette(Image& image, const Palette& palette, int index_bits, std::string_view path,
                    const std::vector<std::uint8_t>& alpha = {});

}  // namespace holotone::io
