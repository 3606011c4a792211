#pragma once
// Still pictures by other codecs, in memory: what .smoe files are compared with.
#include <holotone/core/array.hpp>
#include <string>
#include <vector>

namespace bench {

/// 8-bit codes {ny, nx, 3}.
using Codes = holotone::Array<std::uint8_t, 3>;

/// A picture as a codec gave it back, and the bytes of its file.
struct Coded {
  std::int64_t bytes = 0;
  Codes picture;
};

/// libjpeg's quality 1 to 100: chroma at half the resolution both ways, Huffman tables made for the picture; of the sequential and the
/// progressive file the shorter. Throws std::runtime_error.
Coded jpeg(const Codes& picture, int quality);

/// "libjpeg-turbo 2.1.5" or what else it calls itself.
std::string jpeg_name();

/// Whether CMake found libjxl.
bool has_jpeg_xl();
/// Butteraugli distance 0.1 to 25, effort 7, without a container. Throws std::runtime_error, also without libjxl.
Coded jpeg_xl(const Codes& picture, double distance);
/// "libjxl 0.7.0", or "none".
std::string jpeg_xl_name();

}  // namespace bench
