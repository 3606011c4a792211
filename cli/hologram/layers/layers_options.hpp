#pragma once
#include <cli/hologram/common/scene_job.hpp>

namespace holotone::cli {

/// --image, --stack and their options.
std::vector<OptionRow> layer_options(SceneJob& scene);

/// Job of pictures.
struct LayerJob {
  HologramJob& hologram;
  std::vector<PlacedPicture> pictures;  ///< one, or a stack of flat ones
  LayerPhase phase = LayerPhase::random;
};

/// Completes the hologram of the scene. Throws invalid_argument or io naming the option.
LayerJob layer_job(SceneJob& scene);

/// The picture of --image, placed. Throws invalid_argument naming the option.
PlacedPicture placed_picture(const SceneJob& scene);

}  // namespace holotone::cli
