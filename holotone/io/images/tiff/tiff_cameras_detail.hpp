#pragma once
// What programs that run cameras state in tags of their own: MetaMorph, Micro-Manager. Empty if HOLOTONE_TIFF is off.
// Not for users.
#if HOLOTONE_TIFF
#include <cstdint>
#include <optional>
#include <tiffio.h>

namespace holotone::io {

/// Planes of a MetaMorph stack, which lie behind each other under one directory; 0 if the file states none.
std::int64_t metamorph_pictures(TIFF* file);

/// Planes of a volume (ImageDepth of SGI), which lie as those; 0 if the file states none.
std::int64_t planes_of_volume(TIFF* file);

/// Bits of a code that count (BitDepth of Micro-Manager's metadata).
std::optional<int> micro_manager_bits(TIFF* file);

}  // namespace holotone::io
#endif
