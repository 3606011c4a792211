#pragma once
#include <cli/common/hologram_job.hpp>
#include <cli/common/picture_options.hpp>

namespace holotone::cli {

/// Arguments of `holotone hologram --image` and `--stack` in addition to those of points, as typed.
struct LayerArguments : PictureArguments {
  std::string phase = "random";
};

/// --image, --stack and their options.
std::vector<OptionRow> layer_options(LayerArguments& arguments);

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
