#pragma once
// Not for users. Intensity in a plane, without or with a circular aperture in the paraxial approximation.
#include <holotone/recipes/viewing/hologram_view.hpp>

namespace holotone {

class PlaneView final : public HologramView {
 public:
  /// `lights`: of read_lights.
  PlaneView(const HologramViewOptions& options, std::vector<HologramLight> lights);

  LightPicture picture(double distance_m, std::size_t frame, Progress& progress) override;
  Array<Complex, 2> field(double distance_m) override;
  bool set_aperture(const std::optional<Aperture>& aperture) override;
  [[nodiscard]] PropagationMethod method_for(double distance_m) const override {
    return channels_.front().plan.method_for(distance_m);
  }
  [[nodiscard]] std::span<const HologramLight> lights() const override { return lights_; }

 private:
  struct Channel {
    ReconstructionPlan plan;
    Array<Complex, 2> field;  ///< that leaves the panel, on the queue's device
    double factor = 1;        ///< intensity factor: its unit times its weight among three
  };

  void add(HologramLight& light, const HologramViewOptions& options, bool colour);
  [[nodiscard]] PropagationMethod choose_method(const FieldGrid& grid, bool any_distance) const;

  Queue queue_;
  Array<float, 2> intensity_;  ///< on the queue's device
  std::vector<Channel> channels_;
  std::vector<HologramLight> lights_;
};

}  // namespace holotone
