#pragma once
// Pictures with their depth, from files. Not for users.
#include <array>
#include <cstdint>
#include <holotone/core/array.hpp>
#include <holotone/core/enum_names.hpp>
#include <holotone/hologram/depth_map.hpp>
#include <holotone/hologram/layers.hpp>
#include <holotone/recipes/scenes/depth_tail_detail.hpp>
#include <holotone/recipes/scenes/depth_unit_detail.hpp>
#include <optional>
#include <string>
#include <vector>

namespace holotone {

/// What a map's values count.
enum class DepthKind {
  depth,    ///< distance, larger is farther
  inverse,  ///< 1 / distance, larger is nearer
};
template <>
inline constexpr auto enum_names<DepthKind> =
    std::array{EnumName<DepthKind>{DepthKind::depth, "depth"}, EnumName<DepthKind>{DepthKind::inverse, "inverse"}};

/// Values of a map that mean no depth, besides those that are not finite or negative.
struct HoleCode {
  bool by_range = true;          ///< 0, unless it is the farthest: in codes of a decreasing range, or inverse depths
  std::optional<double> code{};  ///< otherwise this value, or none
  bool far = false;              ///< also a tail (find_depth_tail), and what is farther than max_distance_m
};

/// Picture with its optional depth, and its placement.
struct PlacedPicture {
  std::string image;
  std::string depth;  ///< empty: a flat picture
  int layers = 64;
  std::optional<LayerSpacing> spacing;                 ///< none: inverse distance unless the scene crosses the panel
  std::optional<std::array<double, 2>> depth_range_m;  ///< distances of the least and the largest depth
  std::optional<DepthUnit> unit;  ///< of the file's values; none: as the file states, or metres, pixels, the range's
  DepthKind kind = DepthKind::depth;
  std::optional<StereoCamera> camera;
  HoleCode hole;
  double size_m = 0;
  double distance_m = 0;
  bool distance_given = false;
};

/// Pixels without a depth, by what the file has in their place.
struct DepthHoles {
  std::int64_t not_finite = 0;
  std::int64_t negative = 0;
  std::int64_t code = 0;  ///< 0, or the value that was named
  std::int64_t far = 0;
  std::int64_t beyond_camera = 0;  ///< disparities that no distance has
};

/// Distances of a picture's pixels from the panel: offset_m + scale times the file's depth.
struct DepthMap {
  Array<float, 2> depth;  ///< empty: flat
  double offset_m = 0;
  std::int64_t holes = 0;  ///< pixels without a depth, filled from their neighbours
  DepthHoles of_holes{};
  bool codes = false;  ///< the file holds codes, not metres or disparities
  double nearest_m = 0;
  double farthest_m = 0;
  double scale = 1;                  ///< metres of the scene per metre (codes: per code) of the file's depth
  std::optional<DepthTail> tail{};   ///< a tail that job.hole does not decide about
  std::vector<std::string> notes{};  ///< Image::notes of the map
};

/// Reads, fills and places the depth of a picture of this shape; a flat one without a depth. Throws io naming the file,
/// invalid_argument naming a member.
///
/// Depths Z in metres, in `unit`, or in the unit that a TIFF states (GDAL, ImageJ) are distances; a given distance_m
/// moves them so that their middle lies there. Inverse depths in `unit` are Z = 1 / (value unit). depth_range_m are the
/// distances of code 0 and the largest code,
/// or of the least and the largest Z. Inverse depths without a unit have
///   1/d = 1/d0 + (value - v0) / (v1 - v0) (1/d1 - 1/d0)
/// with v0, v1 code 0 and the largest at depth_range_m, or the largest and the least of floats at NEAR and FAR. For
/// disparities without a range the scene keeps its proportions:
///   d = distance + s (Z - Zm),  s = size f / (N Zm),
/// with Zm the mean of the least and the largest Z, and N the larger of the picture's sides in pixels.
DepthMap read_depth(const PlacedPicture& given, const Shape<2>& shape);

/// Spacing of the layers of a scene from nearest_m to farthest_m. Throws invalid_argument for inverse spacing of a
/// scene that touches the panel.
LayerSpacing spacing_of(const PlacedPicture& job, double nearest_m, double farthest_m);

}  // namespace holotone
