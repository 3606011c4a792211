#pragma once
// Other codecs for still pictures, in memory: baselines of .smoe files.
#include <holotone/core/array.hpp>
#include <string>
#include <vector>

namespace bench {

/// 8-bit codes {ny, nx, 3}.
using Codes = holotone::Array<std::uint8_t, 3>;

/// A decoded picture, and its file's size in bytes.
struct Coded {
  std::int64_t bytes = 0;
  Codes picture;
};

/// libjpeg's quality 1 to 100, chroma at half the resolution along both axes, Huffman tables optimized for the
/// picture: the shorter of the sequential and the progressive file. Throws std::runtime_error.
Coded jpeg(const Codes& picture, int quality);

/// Name and version of the library, such as "libjpeg-turbo 2.1.5".
std::string jpeg_name();

/// True if the build has libjxl.
bool has_jpeg_xl();
/// Butteraugli distance 0.1 to 25, effort 7, without a container. Throws std::runtime_error, also without libjxl.
Coded jpeg_xl(const Codes& picture, double distance);
/// "libjxl 0.7.0", or "none".
std::string jpeg_xl_name();

}  // namespace bench
