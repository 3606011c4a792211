#pragma once
// Pixels that are not square. Not for users.
#include <cstdint>
#include <holotone/io/images/image.hpp>
#include <string_view>

namespace holotone::io {

/// Adds a note if a file states different densities, `columns` and `rows` on the same length, by more than 1 %. Numbers
/// that are not positive state nothing. True with a note.
bool note_pixel_aspect(Image& image, double columns, double rows, std::string_view path);

/// Width and height in pixels.
struct PictureSides {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  bool operator==(const PictureSides&) const = default;
};

/// Notes a picture that is smaller than the canvas from which it was cropped; zeros: not stated.
void note_crop(Image& image, PictureSides picture, PictureSides canvas, std::string_view path);

}  // namespace holotone::io
