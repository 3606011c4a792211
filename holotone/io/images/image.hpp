#pragma once
#include <cstdint>
#include <functional>
#include <holotone/core/array.hpp>
#include <holotone/core/metadata.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace holotone {

/// Pixels {ny, nx, channels} in host memory as stored in the file: codes of 1 to 16 bits, or float32; row 0 is the
/// top. Channels: 1 grey, 2 grey and alpha, 3 RGB, 4 RGB and alpha. Codes are 0 (black) to 2^bits - 1 (white, opaque),
/// also where a file has them the other way round (TIFF WhiteIsZero, palettes).
///
/// Metadata: Holotone's own keys ("wavelength_m", ...) and, under "text:<keyword>", text of other programs.
struct Image {
  std::variant<Array<std::uint8_t, 3>, Array<std::uint16_t, 3>, Array<float, 3>> pixels;
  Metadata metadata;
  std::vector<std::string> notes = {};  ///< what the file leaves open and how it was read, a line each with its name
  int bits = 0;                         ///< of a code, where below those of an element: 1, 2 or 4; 0: all of them
  bool lossy = false;                   ///< the file's compression changes pixels (JPEG, TIFF with JPEG)
  std::optional<double> no_data = {};   ///< stored value of pixels without data (TIFF, GDAL_NODATA)
};

/// Largest image in bytes that is read, independent of the file's header.
inline constexpr std::int64_t maximum_image_bytes = std::int64_t{1} << 32;
/// Rows or columns of a JPEG at most, as libjpeg has it.
inline constexpr std::int64_t maximum_jpeg_side = 65500;

/// Conditions that a picture's header has to meet before its pixels are decoded: a file of few bytes may declare many.
struct ImageReadOptions {
  /// Called with {ny, nx, channels}, 1 for a palette's; throws for a picture that the caller cannot use.
  std::function<void(const Shape<3>&)> accept = {};
  /// Bytes that the caller allocates for each pixel on top of the pixels themselves.
  double bytes_a_pixel = 0;
  /// The picture is light, not codes: colours of an ICC profile (PNG, JPEG, TIFF, BMP), of PNG's gAMA and cHRM, TIFF's
  /// TransferFunction and PrimaryChromaticities, BMP's LCS_CALIBRATED_RGB or Adobe RGB of EXIF (JPEG) become 16-bit
  /// codes of sRGB; those of sRGB stay as they are. What is ignored stands in the notes.
  bool as_light = false;
  /// The picture is measured light, to which codes are proportional, unless the file declares a curve: of sRGB (PNG's
  /// sRGB, EXIF, BMP), a gamma or tables (gAMA, TransferFunction, LCS_CALIBRATED_RGB), or those of an ICC profile. By a
  /// curve they become 16-bit codes that are proportional to light, with a note. Colours stay those of the file.
  bool as_measured = false;
  /// The picture is a map of depths: of an EXR file the channel Z or Depth, if it has one. Pixels outside its data
  /// window are NaN, not black.
  bool as_depth = false;
  /// Refuses a TIFF file of several pages unless one is named; else the first is read, with a note.
  bool one_page = false;
};

/// Reads PNG (1 to 16 bit, palette, interlaced), TIFF (1 to 16 bit, floats of 16, 32 and 64 bits as float32; strips or
/// tiles, every compression of the installed libtiff), JPEG (grey, RGB, CMYK of Adobe), BMP (1, 4, 8, 24, 32 bit), PFM
/// or OpenEXR (half and float, one part), recognised by content. PFM and OpenEXR are linear light in float32.
///
/// CMYK becomes RGB: as light by its ICC profile, otherwise R = (1 - C)(1 - K), G and B alike, with a note.
///
/// OpenEXR: channels R, G, B and A, Y and A, or the only one; with as_depth Z or Depth. The display window is the
/// picture; its pixels outside the data window are black. Colours are divided by alpha, as those of TIFF. A
/// program that begins main with guarded_child decodes it in a child process.
///
/// Palettes are expanded to RGB (a palette of greys to one channel), transparency to an alpha channel. Codes of 1, 2
/// or 4 bits stay codes (Image::bits); so do palettes of greys in even steps from black to white. EXIF and TIFF
/// orientations 1 to 8 are undone; a damaged EXIF block counts as none. Colours that are multiplied by alpha (TIFF,
/// ExtraSamples 1) are divided by it.
///
/// "s.tif:2" is page 2 of s.tif, unless a file has this very name. Reduced copies and masks are no pages.
///
/// Before memory is allocated, declared sizes are checked against maximum_image_bytes, against the length of the file
/// under its compression (PNG 1032 to one, JPEG 2000, TIFF and OpenEXR 32 MiB and 1100 to 2000 to one), and against the
/// free memory. Reads the whole file into memory. Throws io with file, expected and got; unsupported for a format
/// that is not in this build.
Image read_image(const std::string& path, const ImageReadOptions& options = {});

/// Returns the number of pages of a TIFF file; 1 for other files, and for the name of a page. Throws io for a file that
/// cannot be read.
std::int64_t page_count(const std::string& path);

/// Trade-off between speed of writing and file size.
struct ImageWriteOptions {
  /// zlib level of PNG and TIFF, 0 (none, fastest) to 9 (smallest); BMP ignores it. PNG is compressed by all CPU
  /// threads. None: 3 for TIFF; for PNG chosen for each band of rows: noise is stored, bytes that hardly repeat, as in
  /// most holograms, are coded one by one, all others take level 3.
  std::optional<int> compression{};
  /// Codes of this many bits, 1 to 7, of 8-bit pixels are written from black to white, as 255 code / (2^bits - 1)
  /// rounded, for viewers of pictures; metadata `scaled_codes` says so to read_hologram. 0: codes as they are.
  int scaled_bits = 0;
};

/// Writes PNG (8/16 bit), TIFF (8/16 bit, float32) or BMP (8-bit grey or 24-bit RGB; no metadata) by the name's
/// extension, to a temporary name that is renamed when complete. Grey codes of 1, 2 or 4 bits are written so to PNG and
/// TIFF, codes of fewer bits with other channels, or to BMP, as 8 bits from 0 to 255.
///
/// PNG stores each metadata key as a text chunk "holotone:<key>", TIFF as lines "key: value" of ImageDescription.
/// Throws io on a write error; unsupported for a format that does not support the pixels or is not in this build;
/// invalid_argument for an empty image, channels outside 1 to 4, options out of range, codes beyond their bits, or a
/// metadata key the format does not support (PNG: longer than 70 bytes or not printable ASCII; any: empty, with a line
/// break or ": ").
void write_image(const std::string& path, const Image& image, const ImageWriteOptions& options = {});

/// Returns a PNG file's bytes, as write_image writes them. Throws as that.
std::string png_bytes(const Image& image, const ImageWriteOptions& options = {});

/// Returns a JPEG file's bytes: 8-bit codes of 1 or 3 channels, without metadata, colours in full detail. `quality`:
/// 1 to 100. Throws invalid_argument for other pixels, an extent above 65500 or another quality; out_of_memory.
std::string jpeg_bytes(const Image& image, int quality);

/// Returns {ny, nx, channels}.
Shape<3> shape_of(const Image& image);

/// Returns the bits of a code: image.bits, or all of an element's, 8 or 16; 0 for float32.
int code_bits(const Image& image);

/// Returns the pixels as float32, codes divided by the largest, 2^bits - 1 (0..1), float32 files unchanged. Gamma is
/// not converted.
Array<float, 3> to_float(const Image& image);

/// Returns the pixels as float32 in linear light: srgb_to_linear of codes divided by the largest; alpha, and float32
/// files, unchanged but for that division.
Array<float, 3> to_linear(const Image& image);

/// Returns one value a pixel {ny, nx}, scaled as in to_float: the only channel, the grey of grey and alpha, or the mean
/// of R, G and B (alpha is dropped). For correction maps, look-up tables and phase holograms.
Array<float, 2> to_grey(const Image& image);

}  // namespace holotone
