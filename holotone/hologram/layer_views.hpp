#pragma once
#include <holotone/hologram/layers.hpp>
#include <holotone/hologram/view_source.hpp>
#include <vector>

namespace holotone {

/// Layers of a picture with depth as rays, for holograms computed hogel by hogel.
///
/// A ray from (x, y) on the panel along (cx, cy, cz) starts at (x - d cx / cz, y - d cy / cz) on a layer at d. Its
/// intensity is that of the first layer, from the viewer on, that has a pixel there. Near objects hide far ones, even
/// if dark. Areas that a layer hides along the axis emit no rays. Cost: O(layers) a ray.
class LayerViews final : public ViewSource {
 public:
  /// `channels`: 1 or 3 pictures by slice_picture on a grid of `pitch_m`, with the same layers. The grid may differ
  /// from the panel's; its centre is on the panel's axis. Throws invalid_argument for another number, or shapes or
  /// layers that differ.
  LayerViews(std::vector<SlicedPicture> channels, double pitch_m);

  [[nodiscard]] int channels() const override { return static_cast<int>(channels_.size()); }
  [[nodiscard]] bool has_distances() const override { return true; }
  void look(const Rays& rays, int channel, View<float, 2> intensity, View<float, 2> distance_m) const override;

 private:
  std::vector<SlicedPicture> channels_;
  double pitch_m_;
};

}  // namespace holotone
