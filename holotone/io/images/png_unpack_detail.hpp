#pragma once
// PNG as PngBands writes it, read by all threads. Not for users.
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace holotone::io {

/// Rows of a PNG whose codes lie in the file as they do in memory, but for the order of the bytes of 16 bits.
struct PngLayout {
  std::size_t rows = 0;
  std::size_t row_bytes = 0;
  std::size_t step = 1;  ///< bytes of a pixel
  int bits = 8;          ///< 8 or 16
};

enum class Unpacked {
  yes,
  no,        ///< a file of another kind, or damaged: libpng reads it, or says what is wrong
  wrong_sum  ///< whole bands whose checksum is another, which libpng does not read where it has a chunk of its own
};

/// Reads the rows of a whole file in native order, if its bands of rows do not depend on each other: each in an IDAT
/// chunk of its own, packed without references to the band before, as PngBands packs what hardly repeats.
/// Otherwise the rows may hold anything.
Unpacked unpack_png(std::string_view file, const PngLayout& layout, std::uint8_t* rows);

}  // namespace holotone::io
