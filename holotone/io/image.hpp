#pragma once
#include <cstdint>
#include <functional>
#include <holotone/core/array.hpp>
#include <holotone/core/metadata.hpp>
#include <string>
#include <variant>

namespace holotone {

/// Pixels {ny, nx, channels} in host memory as the file stores them: 8-bit or 16-bit codes, or float32; row 0
/// is the top. Channels: 1 grey, 2 grey and alpha, 3 RGB, 4 RGB and alpha.
///
/// Metadata: Holotone's own keys ("wavelength_m", ...) and, under "text:<keyword>", text that other programs
/// left.
struct Image {
  std::variant<Array<std::uint8_t, 3>, Array<std::uint16_t, 3>, Array<float, 3>> pixels;
  Metadata metadata;
};

/// More than this many bytes of pixels is refused on reading, whatever the file declares.
inline constexpr std::int64_t maximum_image_bytes = std::int64_t{1} << 32;

/// What a picture's header has to pass before memory is taken for its pixels: a file of few bytes may declare a great
/// many.
struct ImageReadOptions {
  /// Called with {ny, nx, channels}, 1 for a palette's; throws for a picture that is of no use.
  std::function<void(const Shape<3>&)> accept = {};
  /// What the caller takes for each pixel on top of the pixels themselves.
  double bytes_a_pixel = 0;
};

/// Reads PNG (1 to 16 bit, palette, interlaced), TIFF (1 to 16 bit, float32 and float64 as float32; strips or
/// tiles, every compression of the installed libtiff), JPEG (grey, RGB) or BMP (1, 4, 8, 24, 32 bit), told
/// apart by content.
///
/// Palettes are expanded to RGB (a palette of greys to one channel), 1 to 7 bits scaled to 8, transparency to
/// an alpha channel. Declared sizes are checked against maximum_image_bytes and against what the file's
/// length can hold under its compression (PNG 1032 to one, JPEG 2000, TIFF 32 MiB and 1100 to 2000 to one), and
/// against the free memory, before memory is taken. Reads the whole file into memory. Throws io naming the file, what
/// was expected and what came; unsupported for a format this build leaves out.
Image read_image(const std::string& path, const ImageReadOptions& options = {});

/// How hard the writer squeezes: speed against size.
struct ImageWriteOptions {
  /// zlib level of PNG and TIFF, 0 (none, fastest) to 9 (smallest); BMP ignores it. PNG is packed by all CPU threads, and up to
  /// level 5 bands that look like noise, as holograms of many points do, are stored.
  int compression = 3;
};

/// Writes PNG (8/16 bit), TIFF (8/16 bit, float32) or BMP (8-bit grey or 24-bit RGB; no metadata) by the
/// name's extension, to a temporary name that is renamed when complete.
///
/// PNG carries each metadata key as a text chunk "holotone:<key>", TIFF as lines "key: value" of
/// ImageDescription. Throws io if it cannot be written, unsupported for a format that cannot hold the pixels
/// or that this build leaves out, invalid_argument for an empty image, another number of channels than 1 to
/// 4, a compression out of range, or a metadata key the format cannot hold (PNG: longer than 70 bytes or not
/// printable ASCII; any: empty, with a line break or ": ").
void write_image(const std::string& path, const Image& image, const ImageWriteOptions& options = {});

/// {ny, nx, channels}
Shape<3> shape_of(const Image& image);

/// The pixels as float32, codes divided by 255 or 65535 (0..1), float32 files as they are. Gamma is left
/// alone.
Array<float, 3> to_float(const Image& image);

/// One value a pixel {ny, nx} as to_float gives it: the only channel, the grey of grey and alpha, or the mean
/// of R, G and B (alpha is dropped). For correction maps, look-up tables and phase holograms read back.
Array<float, 2> to_grey(const Image& image);

}  // namespace holotone
