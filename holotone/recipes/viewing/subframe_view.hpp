#pragma once
// Not for users. Pictures of subframes shown in turn: the mean of their light.
#include <holotone/recipes/viewing/hologram_view.hpp>

namespace holotone {

class SubframeView final : public HologramView {
 public:
  /// Throws as open_hologram, and io for a subframe of another panel.
  SubframeView(std::vector<HologramSources> subframes, HologramViewOptions options);

  LightPicture picture(double distance_m, std::size_t frame, Progress& progress) override;
  [[nodiscard]] PropagationMethod method_for(double distance_m) const override {
    return first_->method_for(distance_m);
  }
  [[nodiscard]] std::vector<double> light_shares() const override { return first_->light_shares(); }

 private:
  std::vector<HologramSources> subframes_;
  HologramViewOptions view_options_;
  std::unique_ptr<HologramView> first_;
};

}  // namespace holotone
