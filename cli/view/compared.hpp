#pragma once
#include <cli/view/document.hpp>

namespace holotone::cli {

/// Difference of two pictures of one size, code by code: 128 where they are equal, 1 and 255 where they differ most;
/// facts: PSNR of the codes, and the largest difference. One channel of each is compared with three by its grey. Throws
/// invalid_argument for pictures of two sizes.
Raster difference_of(Raster first, Raster second);

}  // namespace holotone::cli
