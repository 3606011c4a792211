#pragma once
#include <holotone/core/device.hpp>
#include <holotone/hologram/view_source.hpp>
#include <holotone/smoe/render.hpp>
#include <memory>

namespace holotone {

/// Positions of the cameras of a model's light field, and its focus plane; like ViewGridOptions for captured views.
struct LightFieldGeometry {
  double view_distance_m = 0;  ///< distance of the cameras' plane in front of the panel: > 0
  double width_m = 0;          ///< width of the cameras' grid, u = -1 to u = 1 (the model's box): > 0
  double height_m = 0;         ///< height of the grid, v = 1 up to v = -1: > 0; ignored for models without v
  double margin_m = 0;         ///< largest distance of used light beyond the outermost cameras: >= 0
  double distance_m = 0;       ///< distance of the focus plane behind the panel: > -view_distance_m
  double size_m = 0;           ///< width of the picture in that plane: > 0
};

struct LightFieldOptions {
  LightFieldGeometry geometry = {};
  bool luminance = false;         ///< true: one channel, 0.2126 R + 0.7152 G + 0.0722 B
  double tolerance = 0.25 / 255;  ///< tolerance of the renderer, in units of the model's colours
};

/// A steered mixture of experts of a light field as rays, rendered on demand.
///
/// A ray's picture coordinates (x, y) and camera coordinates (u, v) are linear in its slopes cx / cz, cy / cz. The
/// rays through one point of the panel are therefore a plane through the model's four dimensions. The model is sheared
/// once so that such planes are slices of it. w = x - r u is the same for all rays through a point, and u is the
/// coordinate along them. If x varies more, w = u - x / r and x are used instead. SmoeRenderer renders each slice with
/// as many pixels as there are rays, evenly spaced in slope. Rays, evenly spaced in cosine, are interpolated by cubic
/// convolution (Keys 1981). Before that, colours are converted to linear light and clamped at 0. Distances are
/// those of the focus plane, because a model has none.
/// Cost: a slice and a picture of the model for each point of the panel. On a GPU, points run one after another.
class LightFieldViews final : public ViewSource {
 public:
  /// Throws invalid_argument for a model that is no light field (3 or 4 dimensions) of 1, 3 or 4 colours (the fourth
  /// is ignored) and for options out of range; unsupported as SmoeRenderer.
  LightFieldViews(const SmoeModel& model, const LightFieldOptions& options, Device device = {});
  ~LightFieldViews() override;

  [[nodiscard]] int channels() const override;
  [[nodiscard]] bool has_distances() const override { return true; }
  void look(const Rays& rays, int channel, View<float, 2> intensity, View<float, 2> distance_m) const override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace holotone
