#pragma once
#include <holotone/core/array.hpp>

namespace holotone::cli {

/// What three neighbouring views of a light field tell of the names of their files.
struct Parallax {
  bool opposite = false;  ///< things shift one way from `middle` to `right`, the other way from `middle` to `next`
  bool swapped = false;   ///< they shift up or down to `right`, and to a side to `next`
};

/// In small squares of the pictures the shift from view to view, -sum of (dI/du dI/dx) / sum of (dI/dx)^2, is taken
/// along both axes.
/// `opposite` by the sum of the products of both; `swapped` where shifts across explain more than twice as much of the
/// change as shifts along do, in both neighbours more. Cost: O(pixels).
Parallax parallax_of(const Array<float, 3>& middle, const Array<float, 3>& right, const Array<float, 3>& next);

}  // namespace holotone::cli
