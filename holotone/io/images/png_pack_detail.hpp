#pragma once
// Filters and deflate streams of PNG bands. Not for users.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holotone::io {

/// Rows of PNG samples, the high byte of 16 bits first.
struct PngBand {
  const unsigned char* rows;
  const unsigned char* above;  ///< row above the first; null: none
  std::size_t count;
  std::size_t row_bytes;
  std::size_t step;  ///< bytes of a pixel
};

/// Applies one of PNG's filters to all rows and puts its number before each: at level 0 none, else the one whose bytes
/// have the least entropy in a sample of the rows. Without a level the first row takes one that needs no row above:
/// each band can be read by a thread of its own.
std::string filtered(const PngBand& band, std::optional<int> level);

/// Compresses a piece of a raw deflate stream, of less than 4 GiB, that ends at a whole byte; the last piece ends the
/// stream. `before`: the bytes before it, to which the piece may refer.
///
/// Without a level: noise (a sample shrinks by less than a fiftieth) is stored; bytes that hardly repeat are coded one
/// by one (huffman_coded); all others take level 3.
std::string deflated(std::string_view bytes, std::string_view before, std::optional<int> level, bool last,
                     std::string_view path);

}  // namespace holotone::io
