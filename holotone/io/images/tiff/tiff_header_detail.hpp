#pragma once
// The head of a TIFF file whose rows follow uncompressed. Not for users.
#include <cstdint>
#include <holotone/core/array.hpp>
#include <holotone/core/metadata.hpp>
#include <string>

namespace holotone::io {

/// Everything before the first row of a grey, uncompressed TIFF file of one picture in strips of whole rows; BigTIFF
/// above 3.9 GB. libtiff can only write it together with the rows, from top to bottom.
std::string tiff_header(Shape<2> shape, int bits, const Metadata& metadata);

}  // namespace holotone::io
