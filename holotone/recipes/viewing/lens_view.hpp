#pragma once
// Not for users. The focal plane of a lens with the panel in its other focal plane (optics/fourier_lens.hpp).
#include <holotone/optics/fourier_lens.hpp>
#include <holotone/recipes/viewing/hologram_view.hpp>

namespace holotone {

/// The focal length that a hologram of has_lens states. Throws io naming the file for one out of range.
double focal_length_of(const HologramLight& light);

/// Pictures near the focal plane, max(nx, ny) square pixels a side. The distance of a picture is that beyond the focal
/// plane; 0 unless the file states it. On the CPU.
class LensView final : public HologramView {
 public:
  /// `lights`: of read_lights. Throws invalid_argument for options that a lens excludes.
  LensView(const HologramViewOptions& options, std::vector<HologramLight> lights);

  LightPicture picture(double distance_m, std::size_t frame, Progress& progress) override;
  [[nodiscard]] PropagationMethod method_for(double /*distance_m*/) const override {
    return PropagationMethod::fresnel;
  }
  [[nodiscard]] std::span<const HologramLight> lights() const override { return lights_; }

 private:
  struct Channel {
    FourierLensPlan plan;
    double factor = 1;  ///< of the intensity
  };

  [[nodiscard]] Array<float, 2> squared_pixels(const Channel& channel, const Array<float, 2>& intensity) const;

  std::vector<HologramLight> lights_;
  std::vector<Channel> channels_;  ///< of the lights
};

}  // namespace holotone
