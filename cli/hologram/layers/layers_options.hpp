#pragma once
#include <cli/common/hologram_job.hpp>
#include <holotone/hologram/depth_map.hpp>
#include <holotone/hologram/layers.hpp>

namespace holotone::cli {

/// Arguments of `holotone hologram --image` and `--stack` in addition to those of points, as typed.
struct LayerArguments {
  std::string image;
  std::vector<std::string> stack;
  std::string depth;
  std::string layers = "64";
  std::string spacing;
  std::string depth_range;
  std::string disparity;
  std::string hole;
  std::string phase = "random";
  GivenOptions given;  ///< of all options of the command
};

/// --image, --stack and their options.
std::vector<OptionRow> layer_options(LayerArguments& arguments);

/// Codes of a depth picture that mean no depth.
struct HoleCode {
  bool by_range = true;              ///< code 0, unless the range decreases: then 0 is the farthest
  std::optional<std::int64_t> code;  ///< otherwise this code, or none
};

/// Picture with its optional depth, and its placement.
struct PictureJob {
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

/// Job of pictures, checked as HologramJob is.
struct LayerJob {
  HologramJob hologram;
  std::vector<PictureJob> pictures;  ///< one, or a stack of flat ones
  LayerPhase phase = LayerPhase::random;
};

/// Throws invalid_argument for options of pictures without --image, and for a picture as IN.
void refuse_layer_options(const LayerArguments& arguments, const std::string& input);

/// Throws invalid_argument for options of points if `source`, an option with its value, replaces the points.
void refuse_point_options(const LayerArguments& arguments, const std::string& source);

/// Throws invalid_argument naming the option.
PictureJob picture_job(const HologramArguments& arguments, const LayerArguments& layers);

/// Throws invalid_argument or io naming the option.
LayerJob layer_job(const HologramArguments& arguments, const LayerArguments& layers);

}  // namespace holotone::cli
