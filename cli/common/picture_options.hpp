#pragma once
#include <array>
#include <cli/common/option_table.hpp>
#include <cli/common/values.hpp>
#include <cstdint>
#include <holotone/hologram/depth_map.hpp>
#include <holotone/hologram/layers.hpp>
#include <optional>
#include <string>
#include <vector>

namespace holotone::cli {

/// Pictures with distances, as typed.
struct PictureArguments {
  std::string image;
  std::vector<std::string> stack;
  std::string depth;
  std::string layers = "64";
  std::int64_t most_layers = 4096;
  std::string spacing;
  std::string depth_range;
  std::string disparity;
  std::string hole;
  GivenOptions given;  ///< of all options of the command
};

/// --image, --stack and the options of depth.
std::vector<OptionRow> picture_option_rows(PictureArguments& arguments);

/// Codes of a depth picture that mean no depth.
struct HoleCode {
  bool by_range = true;              ///< code 0, unless the range decreases: then 0 is the farthest
  std::optional<std::int64_t> code;  ///< otherwise this code, or none
};

/// Picture with its optional depth, and its placement.
struct PictureJob {
  std::string image;
  std::string depth;  ///< empty: a flat picture
  int layers = 1;
  std::optional<LayerSpacing> spacing;                 ///< none: inverse distance unless the scene crosses the panel
  std::optional<std::array<double, 2>> depth_range_m;  ///< distances of the least and the largest depth
  std::optional<StereoCamera> camera;
  HoleCode hole;
  double size_m = 0;
  double distance_m = 0;
  bool distance_given = false;
};

/// Picture of --image, without its size and distance. Throws invalid_argument naming the option.
PictureJob picture_job(const PictureArguments& arguments);

/// Flat pictures of --stack, each at its distance, without a size. Throws invalid_argument naming the option.
std::vector<PictureJob> stack_jobs(const PictureArguments& arguments);

/// Spacing of the layers of a scene from nearest_m to farthest_m. Throws invalid_argument for inverse spacing of a
/// scene that touches the panel.
LayerSpacing spacing_of(const PictureJob& job, double nearest_m, double farthest_m);

}  // namespace holotone::cli
