#pragma once
#include <cli/hologram/layers/layers_depth.hpp>
#include <holotone/core/metadata.hpp>
#include <nlohmann/json.hpp>
#include <vector>

namespace holotone::cli {

/// What the files of a PictureJob hold.
struct DepthPicture {
  std::vector<Array<float, 2>> intensity;  ///< of each channel, linear
  std::vector<bool> dark;                  ///< of each channel: it has no light
  DepthMap depth;
  LayerSpacing spacing = LayerSpacing::inverse_distance;

  [[nodiscard]] RgbdPicture channel(const PictureJob& job, std::size_t number) const;
};

/// Throws io naming the file, invalid_argument naming the option.
DepthPicture read_picture(const PictureJob& job, const std::vector<Channel>& channels);

/// What a hologram's file and --json say of the picture.
Metadata depth_metadata(const DepthPicture& picture, const SlicedPicture& sliced);
nlohmann::json depth_facts(const PictureJob& job, const DepthPicture& picture, std::size_t layers);

/// That the scene lies many panels away; empty if it does not.
std::string far_warning(const PictureJob& job, const DepthMap& depth, const Panel& panel);
/// What became of pixels without a depth; empty if there are none.
std::string holes_remark(const PictureJob& job, const DepthMap& depth);

}  // namespace holotone::cli
