#pragma once
#include <cli/common/picture_options.hpp>
#include <holotone/io/images/image.hpp>

namespace holotone::cli {

/// Distances of a picture's pixels from the panel.
struct DepthMap {
  Array<float, 2> distance_m;
  std::int64_t holes = 0;  ///< pixels without a depth, filled from their neighbours
  bool codes = false;      ///< the file holds codes, not metres or disparities
  double nearest_m = 0;
  double farthest_m = 0;
  double scale = 1;  ///< metres of the scene per metre (codes: per code) of the file's depth
};

/// Reads, fills and places the depth of a picture of this shape; a flat one without --depth. Throws io naming the file.
///
/// Depths Z in metres are distances; --distance moves them so that their middle lies there. --depth-range maps code 0
/// and the largest code, or the least and the largest Z, to NEAR and FAR. For disparities without --depth-range the
/// scene keeps its proportions:
///   d = distance + s (Z - Zm),  s = size f / (N Zm),
/// with Zm the mean of the least and the largest Z, and N the larger of the picture's sides in pixels.
DepthMap read_depth(const PictureJob& job, const Shape<2>& shape);

}  // namespace holotone::cli
