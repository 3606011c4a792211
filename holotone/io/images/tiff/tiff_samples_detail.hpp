#pragma once
// Strips and tiles of a TIFF directory as pixels. Empty if HOLOTONE_TIFF is off. Not for users.
#include <holotone/io/images/tiff/tiff_input_detail.hpp>
#if HOLOTONE_TIFF
#include <cstdint>
#include <holotone/core/array.hpp>
#include <holotone/io/images/tiff/tiff_tags_detail.hpp>

namespace holotone::io {

/// Strips or tiles that a file states with offset 0 and no bytes.
struct TiffGaps {
  double value = 0;         ///< of their pixels
  std::uint64_t count = 0;  ///< found
};

/// Pixels {ny, nx, samples} of the directory that `input` is at, of T uint8_t, uint16_t or float: codes of few bits in
/// the low bits of an element, floats of any size as float32, "white is zero" inverted. Throws io for damaged ones.
template <class T>
Array<T, 3> read_tiff_samples(const TiffInput& input, const TiffTags& tags, TiffGaps& gaps);

}  // namespace holotone::io
#endif
