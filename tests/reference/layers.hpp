#pragma once
// Layers with occlusion, in float64, in the plainest form. Includes nothing of the library.
#include <tests/reference/propagation.hpp>

namespace reference {

/// A layer's own light and its mask, on the panel's pixels.
struct LayerImage {
  std::vector<Complex> light;
  std::vector<double> mask;
  double distance_m = 0;  ///< behind the panel
};

/// The field on the panel of layers from far to near. Layers behind the panel pass the light on from plane to plane. A
/// layer in front subtracts from the light on the panel the part through its mask, and adds its own.
inline std::vector<Complex> layer_field(const std::vector<LayerImage>& layers, const Plane& plane,
                                        double wavelength_m) {
  const auto move = [&](const std::vector<Complex>& field, double distance_m) {
    if (distance_m == 0) return field;
    return angular_spectrum(field, plane, wavelength_m, distance_m, padded_size(2 * plane.ny),
                            padded_size(2 * plane.nx), true);
  };
  std::vector<Complex> field(plane.size());
  double at = layers.front().distance_m;
  for (const auto& layer : layers) {
    if (layer.distance_m < 0) continue;
    field = move(field, at - layer.distance_m);
    at = layer.distance_m;
    for (std::size_t i = 0; i < field.size(); ++i) field[i] = (1 - layer.mask[i]) * field[i] + layer.light[i];
  }
  if (at > 0) field = move(field, at);
  for (const auto& layer : layers) {
    if (layer.distance_m >= 0) continue;
    auto there = move(field, -layer.distance_m);
    for (std::size_t i = 0; i < there.size(); ++i) there[i] = layer.light[i] - layer.mask[i] * there[i];
    const auto back = move(there, layer.distance_m);
    for (std::size_t i = 0; i < field.size(); ++i) field[i] += back[i];
  }
  return field;
}

}  // namespace reference
