#pragma once
// What OME-XML states in the ImageDescription of a TIFF file's first directory. Not for users.
#include <holotone/io/images/image.hpp>
#include <optional>
#include <string_view>

namespace holotone::io {

/// Bits of a code that count (Pixels, SignificantBits); 0 if pictures of the file differ, none if it states none.
std::optional<int> ome_significant_bits(std::string_view description);

/// Takes codes of which `bits` bits count as codes of so many bits: image.bits. A note says that they are not, if one
/// is larger, the file states no bits for all (0), or its codes do not rise from black (`direct` is false). `source`
/// states the bits.
void take_significant_bits(Image& image, int bits, bool direct, std::string_view source, std::string_view path);

}  // namespace holotone::io
