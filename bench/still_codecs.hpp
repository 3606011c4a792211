#pragma once
// Other codecs for still pictures, in memory: baselines of .smoe files.
#include <functional>
#include <holotone/core/array.hpp>
#include <string>
#include <vector>

namespace bench {

/// 8-bit codes {ny, nx, channels}: 1 channel (grey) or 3 (RGB).
using Codes = holotone::Array<std::uint8_t, 3>;

/// A decoded picture, and its file's size in bytes.
struct Coded {
  std::int64_t bytes = 0;
  Codes picture;
};

/// A codec and the settings that make its curve.
struct StillCodec {
  std::string name;
  std::string version;                 ///< of its library, such as "libjpeg-turbo 2.1.5"
  std::vector<double> settings;        ///< for single pictures
  std::vector<double> settings_views;  ///< for many views, where the codec is slow
  /// Encodes and decodes; throws std::runtime_error.
  std::function<Coded(const Codes& picture, double setting)> code;
};

/// JPEG, quality 1 to 100: chroma at half the resolution along both axes, Huffman tables optimized for the picture, the
/// shorter of the sequential and the progressive file.
StillCodec jpeg_codec();
/// JPEG XL, Butteraugli distance 0.1 to 25: effort 7, without a container. Built if libjxl is there.
StillCodec jpeg_xl_codec();
/// WebP, quality 0 to 100: method 6; chroma at half the resolution, as always in lossy WebP. Built if libwebp is there.
StillCodec webp_codec();
/// AVIF by libaom, quantizer 63 to 0: speed 4, chroma at full resolution as avifenc has it (at half of it, kodim23 has
/// 0.7 dB less at 0.36 bits a pixel, and 0.003 more SSIM). Built if libavif is there.
StillCodec avif_codec();

/// Those that this build has, JPEG first.
std::vector<StillCodec> still_codecs();

}  // namespace bench
