#pragma once
// Pixels that are not square. Not for users.
#include <holotone/io/images/image.hpp>
#include <string_view>

namespace holotone::io {

/// Adds a note if a file states different densities, `columns` and `rows` on the same length, by more than 1 %. Numbers
/// that are not positive state nothing. True with a note.
bool note_pixel_aspect(Image& image, double columns, double rows, std::string_view path);

}  // namespace holotone::io
