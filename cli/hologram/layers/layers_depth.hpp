#pragma once
#include <cli/hologram/layers/layers_options.hpp>
#include <holotone/io/image.hpp>

namespace holotone::cli {

/// Where the pixels of a picture lie.
struct DepthMap {
  Array<float, 2> distance_m;
  std::int64_t holes = 0;  ///< pixels without a depth, filled from their neighbours
  bool codes = false;      ///< the file holds codes, not metres or disparities
  double nearest_m = 0;
  double farthest_m = 0;
  double scale = 1;  ///< metres of the scene a metre of the file's depth
};

/// Reads, fills and places the depth of a picture of this shape; a flat one without --depth. Throws io naming the file.
///
/// Depths Z in metres stay as they are, or move with --distance so that their middle lies there. --depth-range maps
/// code 0 and the largest code, or the least and the largest Z, to NEAR and FAR. Of disparities without it the scene
/// keeps its proportions:
///   d = distance + s (Z - Zm),  s = size f / (N Zm),  Zm the middle of all Z, N the larger of the picture's sides.
DepthMap read_depth(const PictureJob& job, const Shape<2>& shape);

/// Linear light {ny, nx} of a picture: one colour, or its luminance for -1. Codes are sRGB, floats are linear; what is
/// transparent is dark.
/// Throws io for light that is negative or not finite.
Array<float, 2> intensity_of(const std::string& path, const Image& image, int colour);

}  // namespace holotone::cli
