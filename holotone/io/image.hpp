#pragma once
#include <cstdint>
#include <holotone/core/array.hpp>
#include <holotone/core/metadata.hpp>
#include <string>
#include <variant>

namespace holotone {

/// Pixels {ny, nx, channels} as the file stores them: 8-bit or 16-bit codes, or float32; row 0 is the top.
struct Image {
  std::variant<Array<std::uint8_t, 3>, Array<std::uint16_t, 3>, Array<float, 3>> pixels;
  Metadata metadata;
};

/// Reads PNG, TIFF, JPEG or BMP, told apart by content. Every declared size is checked against limits and the file's
/// length before memory is taken. Throws io naming the file, what was expected and what came.
Image read_image(const std::string& path);

/// Writes PNG (8/16 bit), TIFF (8/16/32f), BMP (8 bit; no metadata) by the name's extension, to a temporary name
/// that is renamed when complete. Throws io, or unsupported for a format that cannot hold the pixels.
void write_image(const std::string& path, const Image& image);

}  // namespace holotone
