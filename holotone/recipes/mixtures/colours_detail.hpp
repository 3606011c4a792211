#pragma once
// Not for users. Colours of a mixture's pictures as codes.
#include <holotone/core/array.hpp>
#include <holotone/io/images/image.hpp>

namespace holotone::mixtures {

/// Colours as codes of 8 bits, or of 10, 12 or 16 bits in files of 16 bits a pixel. A code c of 0 to 2^bits - 1 is
/// written as the integer nearest to c 65535 / (2^bits - 1), so that white is white. Linear light becomes sRGB codes;
/// colours are clipped to 0 to 1.
Image coded(View<const float, 3> colours, bool linear, int bits);

}  // namespace holotone::mixtures
