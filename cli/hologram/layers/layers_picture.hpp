#pragma once
#include <cli/hologram/layers/layers_options.hpp>
#include <holotone/core/metadata.hpp>
#include <holotone/recipes/scenes/depth_picture_detail.hpp>
#include <nlohmann/json.hpp>
#include <vector>

namespace holotone::cli {

/// Content of a PlacedPicture's files.
struct DepthPicture {
  std::vector<Array<float, 2>> intensity;  ///< linear light of each channel
  std::vector<bool> dark;                  ///< true for channels without light
  DepthMap depth;
  LayerSpacing spacing = LayerSpacing::inverse_distance;

  [[nodiscard]] RgbdPicture channel(const PlacedPicture& job, std::size_t number) const;
};

/// Warns of what the picture leaves open. Throws io naming the file, invalid_argument naming the option.
DepthPicture read_picture(const ConsoleOptions& console, const PlacedPicture& job,
                          const std::vector<Channel>& channels);

/// Properties of the picture for a hologram's metadata and for --json.
Metadata depth_metadata(const DepthPicture& picture, const SlicedPicture& sliced);
nlohmann::json depth_facts(const PlacedPicture& job, const DepthPicture& picture, std::size_t layers);

/// Warning that the scene lies farther than 50 times the panel's larger side; else empty.
std::string far_warning(const PlacedPicture& job, const DepthMap& depth, const Panel& panel);

}  // namespace holotone::cli
