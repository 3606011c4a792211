#pragma once
// What OME-XML states in the ImageDescription of a TIFF file's first directory. Not for users.
#include <holotone/io/images/image.hpp>
#include <optional>
#include <string_view>

namespace holotone::io {

/// Bits of a code that count (Pixels, SignificantBits); 0 if pictures of the file differ, none if it states none.
std::optional<int> ome_significant_bits(std::string_view description);

/// Planes of all pictures that OME-XML states, of `samples` channels each; files of a set hold some of them. 0 without.
std::int64_t ome_pictures(std::string_view description, int samples);

/// Notes a file of metadata that OME-XML names instead of any.
void note_ome_companion(std::string_view description, Image& image, std::string_view path);

/// Notes PhysicalSizeX and PhysicalSizeY that differ. True with a note.
bool note_ome_aspect(std::string_view description, Image& image, std::string_view path);

/// Takes codes of which `bits` bits count as codes of so many bits: image.bits. A note says that they are not, if one
/// is larger, the file states no bits for all (0), or its codes do not rise from black (`direct` is false). `source`
/// states the bits.
void take_significant_bits(Image& image, int bits, bool direct, std::string_view source, std::string_view path);

}  // namespace holotone::io
