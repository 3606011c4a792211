#pragma once
// Scenes as functions of rays, for stereograms.
#include <functional>
#include <holotone/hologram/stereogram.hpp>
#include <holotone/hologram/view_grid.hpp>
#include <tests/support/on_each_device.hpp>
#include <utility>

namespace stereograms {

/// Intensity of a ray and the distance of its origin. A scene gets the ray's crossing of the panel and its slopes cx /
/// cz and cy / cz.
struct Light {
  double intensity = 0;
  double distance_m = 0;
};
using Scene = std::function<Light(double x, double y, double slope_x, double slope_y)>;

class SceneSource final : public holotone::ViewSource {
 public:
  explicit SceneSource(Scene scene, bool distances = true) : scene_(std::move(scene)), distances_(distances) {}
  [[nodiscard]] int channels() const override { return 1; }
  [[nodiscard]] bool has_distances() const override { return distances_; }
  void look(const holotone::Rays& rays, int /*channel*/, holotone::View<float, 2> intensity,
            holotone::View<float, 2> distance_m) const override {
    for (std::int64_t row = 0; row < rays.shape[0]; ++row) {
      for (std::int64_t column = 0; column < rays.shape[1]; ++column) {
        double x = 0;
        double y = 0;
        holotone::slopes_of(rays, row, column, x, y);
        const Light light = std::isfinite(x) ? scene_(rays.x_m, rays.y_m, x, y) : Light{};
        intensity(row, column) = static_cast<float>(light.intensity);
        if (!distance_m.empty()) distance_m(row, column) = static_cast<float>(light.distance_m);
      }
    }
  }

 private:
  Scene scene_;
  bool distances_;
};

/// Field of the whole panel in host memory.
inline holotone::Array<holotone::Complex, 2> whole_field(const holotone::ViewSource& source,
                                                         const holotone::StereogramOptions& options,
                                                         holotone::Device device = {}) {
  return holotone::stereogram_field(source, 0, options, device).to(holotone::Device{});
}

/// Mean of |field|^2.
inline double mean_power(const holotone::Array<holotone::Complex, 2>& field) {
  double sum = 0;
  for (const auto value : field.host()) sum += std::norm(support::Complex64(value));
  return sum / static_cast<double>(field.size());
}

}  // namespace stereograms
