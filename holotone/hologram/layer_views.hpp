#pragma once
#include <holotone/hologram/layers.hpp>
#include <holotone/hologram/view_source.hpp>
#include <vector>

namespace holotone {

/// The layers of a picture with depth as rays, for holograms that are made hogel by hogel.
///
/// A ray from (x, y) on the panel along (cx, cy, cz) comes from (x - d cx / cz, y - d cy / cz) on a layer at d. Its intensity is that of the pixel there
/// of the first layer, from the viewer on, that has a pixel at its place: near things hide far ones, dark ones too, and what a layer hides from straight
/// ahead no ray comes from. Cost: O(layers) a ray.
class LayerViews final : public ViewSource {
 public:
  /// `channels`: 1 or 3 pictures by slice_picture on a grid of `pitch_m`, the same layers in each. The grid need not be the panel's: its middle lies
  /// on the panel's axis. Throws invalid_argument for another number, or shapes or layers that differ.
  LayerViews(std::vector<SlicedPicture> channels, double pitch_m);

  [[nodiscard]] int channels() const override { return static_cast<int>(channels_.size()); }
  [[nodiscard]] bool has_distances() const override { return true; }
  void look(const Rays& rays, int channel, View<float, 2> intensity, View<float, 2> distance_m) const override;

 private:
  std::vector<SlicedPicture> channels_;
  double pitch_m_;
};

}  // namespace holotone
