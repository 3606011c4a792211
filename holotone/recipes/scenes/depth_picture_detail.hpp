#pragma once
// Pictures with their depth, from files. Not for users.
#include <array>
#include <cstdint>
#include <holotone/core/array.hpp>
#include <holotone/hologram/depth_map.hpp>
#include <holotone/hologram/layers.hpp>
#include <optional>
#include <string>

namespace holotone {

/// Codes of a depth picture that mean no depth.
struct HoleCode {
  bool by_range = true;              ///< code 0, unless the range decreases: then 0 is the farthest
  std::optional<std::int64_t> code;  ///< otherwise this code, or none
};

/// Picture with its optional depth, and its placement.
struct PlacedPicture {
  std::string image;
  std::string depth;  ///< empty: a flat picture
  int layers = 64;
  std::optional<LayerSpacing> spacing;                 ///< none: inverse distance unless the scene crosses the panel
  std::optional<std::array<double, 2>> depth_range_m;  ///< distances of the least and the largest depth
  std::optional<StereoCamera> camera;
  HoleCode hole;
  double size_m = 0;
  double distance_m = 0;
  bool distance_given = false;
};

/// Distances of a picture's pixels from the panel: offset_m + scale times the file's depth.
struct DepthMap {
  Array<float, 2> depth;  ///< empty: flat
  double offset_m = 0;
  std::int64_t holes = 0;  ///< pixels without a depth, filled from their neighbours
  bool codes = false;      ///< the file holds codes, not metres or disparities
  double nearest_m = 0;
  double farthest_m = 0;
  double scale = 1;  ///< metres of the scene per metre (codes: per code) of the file's depth
};

/// Reads, fills and places the depth of a picture of this shape; a flat one without a depth. Throws io naming the file,
/// invalid_argument naming a member.
///
/// Depths Z in metres are distances; a given distance_m moves them so that their middle lies there. depth_range_m are
/// the distances of code 0 and the largest code, or of the least and the largest Z. For disparities without it the
/// scene keeps its proportions:
///   d = distance + s (Z - Zm),  s = size f / (N Zm),
/// with Zm the mean of the least and the largest Z, and N the larger of the picture's sides in pixels.
DepthMap read_depth(const PlacedPicture& job, const Shape<2>& shape);

/// Spacing of the layers of a scene from nearest_m to farthest_m. Throws invalid_argument for inverse spacing of a
/// scene that touches the panel.
LayerSpacing spacing_of(const PlacedPicture& job, double nearest_m, double farthest_m);

}  // namespace holotone
