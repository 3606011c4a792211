#pragma once
#include <cli/reconstruct/plane_view.hpp>
#include <holotone/optics/fourier_lens.hpp>

// reconstruct --focal-length, or a file with focal_length_m: the focal plane of a lens with the panel in its other
// focal plane (holotone/optics/fourier_lens.hpp).
namespace holotone::cli {

/// True if a hologram states the focal length of a lens.
bool has_lens(const Metadata& metadata);

/// The focal length that such a hologram states. Throws io naming the file for one out of range.
double focal_length_of(const HologramLight& light);

/// Pictures near the focal plane, max(nx, ny) square pixels a side. The distance of a picture is that beyond the focal
/// plane; 0 unless the file states it.
class LensView final : public HologramView {
 public:
  /// `lights`: of lights_of. Throws invalid_argument for options that a lens excludes.
  LensView(const ReconstructJob& job, std::vector<HologramLight> lights);

  Picture picture(double distance_m, std::size_t frame, Progress& progress) override;
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

}  // namespace holotone::cli
