#pragma once
#include <cstdint>
#include <holotone/core/array.hpp>

namespace holotone {

/// Two equal parallel cameras, as in stereo data sets: Middlebury's calib.txt has focal length, baseline and `doffs`.
struct StereoCamera {
  double focal_px = 0;    ///< focal length in pixels of the picture, > 0
  double baseline_m = 0;  ///< distance between the cameras, > 0
  double offset_px = 0;   ///< difference of the principal points' x, added to every disparity
};

/// Converts disparities to depths in place: Z = baseline f / (d + offset), in metres from the camera.
/// `values` {ny, nx} in host memory: disparities in pixels, then depths. NaN marks pixels without depth: disparities
/// that are not finite or zero, and those with d + offset <= 0. Throws invalid_argument for a camera out of range.
/// Cost O(nx ny).
/// Source: Scharstein et al., "High-resolution stereo datasets with subpixel-accurate ground truth", GCPR 2014, and
/// the data's page.
void depth_of_disparity(View<float, 2> values, const StereoCamera& camera);

/// Fills the holes of a depth map in place and returns their number. Holes are values that are not finite, or zero if
/// `zero_is_hole`. A run of holes in a row gets the larger (farther) of the values at its two ends, or the only one at
/// the picture's edge. Reason: holes are background that a near object occludes. Rows without depth get, column by
/// column, the larger of the nearest rows above and below. `depth` {ny, nx} in host memory. Throws invalid_argument
/// for a map without any depth. Cost O(nx ny).
std::int64_t fill_depth_holes(View<float, 2> depth, bool zero_is_hole = true);

}  // namespace holotone
