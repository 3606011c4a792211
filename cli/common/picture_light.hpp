#pragma once
#include <holotone/core/array.hpp>
#include <holotone/io/images/image.hpp>
#include <string>

namespace holotone::cli {

/// Reads a picture. Throws io, or out_of_memory if its values do not fit: small files may hold many pixels.
Image read_picture_file(const std::string& path);

/// Linear light {ny, nx} of a picture: one colour, or its luminance for -1. Codes are sRGB, floats are linear; alpha
/// multiplies the light. Throws io for light that is negative, not finite or above max_field_value.
Array<float, 2> intensity_of(const std::string& path, const Image& image, int colour);

}  // namespace holotone::cli
