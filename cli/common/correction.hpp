#pragma once
#include <cstdint>
#include <holotone/core/array.hpp>
#include <string>

namespace holotone::cli {

/// A wavefront correction map {ny, nx} in radians: an image of codes whose full range is one wave (2 pi), or radians as
/// a float32 TIFF or a real NPY array. Throws io if the file is neither or has another size.
Array<float, 2> read_correction(const std::string& path, std::int64_t nx, std::int64_t ny);

}  // namespace holotone::cli
