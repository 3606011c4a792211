#pragma once
// Discs of light on a grid of pixels, for focal_stack. Not for users.
#include <cstdint>
#include <holotone/core/array.hpp>

namespace holotone {

/// Disc of light around the centre of a pixel: weight {2 reach[0] + 1, 2 reach[1] + 1}, the share of the disc's area
/// on each pixel. The weights sum to 1 unless the reach is cut off.
struct BlurDisc {
  Shape<2> reach{};
  Array<float, 2> weight;
};

/// Number of pixels besides its own that a disc lights along each axis, at most `most`.
Shape<2> disc_reach(double diameter_px, const Shape<2>& most);

/// Disc of a diameter >= 0, cut off beyond `most` pixels along each axis. Cost O(diameter^2).
BlurDisc blur_disc(double diameter_px, const Shape<2>& most);

}  // namespace holotone
