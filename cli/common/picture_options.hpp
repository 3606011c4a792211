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

/// Pictures with distances: one with its optional depth, or a stack of flat ones.
struct PictureOptions {
  PictureJob picture;  ///< of --image
  std::vector<std::string> stack;
};

/// --image, --stack and the options of depth. `layers`: bounds of the number of layers.
std::vector<OptionRow> picture_option_rows(PictureOptions& options, const Bounds& layers);

/// Flat pictures of --stack, each at its distance, without a size. Throws invalid_argument naming the option.
std::vector<PictureJob> stack_jobs(const PictureOptions& options);

/// Spacing of the layers of a scene from nearest_m to farthest_m. Throws invalid_argument for inverse spacing of a
/// scene that touches the panel.
LayerSpacing spacing_of(const PictureJob& job, double nearest_m, double farthest_m);

}  // namespace holotone::cli
