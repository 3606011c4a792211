#pragma once
#include <holotone/core/array.hpp>

namespace holotone::cli {

/// Order of a light field's views in their file names, estimated from three neighbouring views.
struct Parallax {
  bool opposite = false;  ///< shifts along x to `right` and along y to `next` have opposite signs
  bool swapped = false;   ///< shifts are vertical to `right` and horizontal to `next`
};

/// Estimates the shift from view to view along both axes in squares of 16 x 16 pixels: -sum of (dI/du dI/dx) / sum of
/// (dI/dx)^2. `opposite`: the weighted sum of the products of both shifts is negative. `swapped`: shifts across explain
/// more than twice as much of the change as shifts along, and more in each of both neighbours. Cost: O(pixels).
Parallax parallax_of(const Array<float, 3>& middle, const Array<float, 3>& right, const Array<float, 3>& next);

}  // namespace holotone::cli
